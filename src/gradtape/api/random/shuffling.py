"""`tf.random.experimental`'s order at random that is a function of the seed given, as TensorFlow's."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from .arguments import scrambled

NAMESPACES = ("random.experimental",)
__all__ = ["stateless_shuffle"]


def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None) -> Tensor:
    """`value` with its first axis in random order: the same seed, the same order. It has no gradient.

    >>> import gradtape as tf
    >>> print(tf.random.experimental.stateless_shuffle([1, 2, 3, 4, 5], seed=[1, 2]))
    tf.Tensor([1 3 2 5 4], shape=(5,), dtype=int32)
    """
    state, value = scrambled(seed, alg), to_tensor(value)
    return ops.random_shuffle(state, value) if value.dims else ops.stop_gradient(value)
