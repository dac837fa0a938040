"""`tensorflow.python.training.experimental.mixed_precision`: the rewriting of graphs for mixed precision.

Graphs are never rewritten here: mixed precision is a policy of Keras' layers.
"""

from __future__ import annotations

from typing import Any


def register_loss_scale_wrapper(optimizer_cls: type, wrapper_fn: Any, wrapper_cls: Any = None) -> None:
    """Does nothing: no optimizer is wrapped."""


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Returns False."""
    return False


def set_using_mixed_precision_policy(is_using: bool) -> None:
    """Does nothing: a policy does not exclude anything."""
