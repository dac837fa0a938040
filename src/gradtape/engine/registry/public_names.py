"""The public names of ops, for messages: `tf.reduce_sum` is the public name of `sum`.

The table of public names belongs to a layer above; the public package sets its loader, which runs on the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

_load: Callable[[], ModuleType]


def set_loader(load: Callable[[], ModuleType]) -> None:
    """Sets the loader of the table of public names."""
    global _load
    _load = load


def public_name(op: str) -> str:
    """The TensorFlow name of an op."""
    return str(_load().public_name(op))


def names_of(op: str) -> frozenset[str]:
    """The last components of all public names of an op."""
    return frozenset(_load().names_of(op))


def is_public(name: str) -> bool:
    """Whether `name` is the last component of a public name."""
    return bool(_load().is_public(name))
