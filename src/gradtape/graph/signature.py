"""What a call of a function looks like: its leaves, and a key that is equal for calls that one graph can serve.

Tensors count by shape and dtype, Python values by what they are, variables and other objects by identity.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import nest
from ..engine.convert import to_tensor
from ..tensor import Tensor

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type, type(Ellipsis))


class Identity:
    """A key for an object that counts by identity. It does not keep the object alive, where that can be avoided."""

    __slots__ = ("_at", "_object")

    def __init__(self, value: Any) -> None:
        self._at = id(value)
        try:
            self._object: Any = weakref.ref(value)
        except TypeError:
            self._object = lambda: value

    def __eq__(self, other: Any) -> bool:
        return type(other) is Identity and self._at == other._at and self._object() is other._object() is not None

    def __hash__(self) -> int:
        return self._at

    def __repr__(self) -> str:
        return f"<{type(self._object()).__name__} at {self._at:#x}>"


def key_of(value: Any, leaves: list[Any]) -> Any:
    """The key of an argument, whose leaves are appended to `leaves`, arrays among them as tensors."""
    kind = type(value)
    if kind is Tensor:
        leaves.append(value)
        return value.array.shape, value.dtype
    if kind in _PLAIN:
        leaves.append(value)
        return kind, value
    if isinstance(value, np.ndarray | np.generic):
        value = to_tensor(value)
    if isinstance(value, Tensor):
        leaves.append(value)
        return value.dims, value.dtype
    if nest.is_nested(value) or isinstance(value, nest.Composite):
        names = tuple(sorted(value)) if isinstance(value, Mapping) else None
        return kind, names, tuple([key_of(part, leaves) for part in nest.parts(value)])
    leaves.append(value)
    return _key_of_object(value, kind)


def _key_of_object(value: Any, kind: type) -> Any:
    if hasattr(value, "_as_tensor") or kind.__eq__ is object.__eq__:
        return Identity(value)
    try:
        hash(value)
    except TypeError:
        return Identity(value)
    return kind, value


def relaxed(key: Any, other: Any) -> Any:
    """The key of both calls, with None for sizes that differ; None if they differ in anything else."""
    if key == other:
        return key
    if not (type(key) is type(other) is tuple and len(key) == len(other)):
        return None
    if is_tensor_key(key) and is_tensor_key(other):
        if key[1] is not other[1] or len(key[0]) != len(other[0]):
            return None
        return tuple(n if n == k else None for n, k in zip(key[0], other[0], strict=True)), key[1]
    parts = [relaxed(mine, its) for mine, its in zip(key, other, strict=True)]
    return None if any(p is None and k is not None for p, k in zip(parts, key, strict=True)) else tuple(parts)


def is_tensor_key(key: Any) -> bool:
    """Whether a key is that of a tensor: its shape and dtype."""
    return len(key) == 2 and type(key[0]) is tuple and type(key[1]).__name__ == "DType"


def serves(key: Any, other: Any) -> bool:
    """Whether a graph for `key`, in which None stands for any size, serves calls with the key `other`."""
    if key == other:
        return True
    if not (type(key) is type(other) is tuple and len(key) == len(other)):
        return False
    if is_tensor_key(key) and is_tensor_key(other):
        same_rank = key[1] is other[1] and len(key[0]) == len(other[0])
        return same_rank and all(n is None or n == k for n, k in zip(key[0], other[0], strict=True))
    return all(serves(mine, its) for mine, its in zip(key, other, strict=True))
