"""Cache keys of calls: calls with equal keys share a trace. Also extracts the tensors and variables of a call.

Tensors and variables are keyed by shape and dtype, Python values by type and value, other objects by identity.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...core import nest
from ...core.composites import CompositeTensor
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ...state.specs import TensorSpec, TypeSpec, spec_of
from ...state.variable import Variable
from .trace_types import TypeKey, type_key

_PLAIN = (bool, int, complex, str, bytes, type(None), type, type(Ellipsis))


class TakesElements(Exception):
    """An argument of a function is an iterator that supplies elements."""

    is_signal = True


class IdentityKey:
    """A key by object identity. Holds the object by a weak reference where its type supports one."""

    __slots__ = ("_at", "_object")

    def __init__(self, value: object) -> None:
        self._at = id(value)
        try:
            self._object: Any = weakref.ref(value)
        except TypeError:
            self._object = lambda: value

    def __eq__(self, other: object) -> bool:
        return type(other) is IdentityKey and self._at == other._at and self._object() is other._object() is not None

    def __hash__(self) -> int:
        return self._at

    def __repr__(self) -> str:
        return f"<{type(self._object()).__name__} at {self._at:#x}>"


def key_of(value: Any, tensors: list[Tensor], variables: list[Variable]) -> Any:
    """Returns the key of an argument; append its tensors (including arrays) and variables to the lists."""
    kind = type(value)
    if kind is Tensor:
        tensors.append(value)
        return value.array.shape, value.dtype
    if kind in _PLAIN:
        return kind, value
    if kind is float:
        return kind, value or str(value)  # 0.0 == -0.0, but a trace must distinguish them
    if isinstance(value, np.ndarray | np.generic):
        value = to_tensor(value)
    if isinstance(value, Tensor):
        tensors.append(value)
        return value.dims, value.dtype
    if isinstance(value, Variable):  # one variable passed twice differs from two variables
        number = next((i for i, v in enumerate(variables) if v is value), len(variables))
        variables.append(value)
        return Variable, value.shape, value.dtype, value.trainable, number
    if isinstance(value, TensorSpec):
        return None if value.shape.rank is None else tuple(value.shape), value.dtype
    if nest.is_composite(value):  # a spec has the key of its values
        spec = getattr(value, "_type_spec", value)
        known = TypeKey(spec) if isinstance(spec, TypeSpec) else None
        return getattr(value, "value_type", kind), known, keys_of(nest.parts(value), tensors, variables)
    if nest.is_nested(value):
        names = tuple(sorted(value)) if isinstance(value, Mapping) else None
        return kind, names, keys_of(nest.parts(value), tensors, variables)
    return _key_of_object(value, kind)


def keys_of(values: Iterable[Any], tensors: list[Tensor], variables: list[Variable]) -> tuple[Any, ...]:
    """The keys of several arguments."""
    return tuple([key_of(value, tensors, variables) for value in values])


def _key_of_object(value: object, kind: Any) -> Any:
    if supplies_elements(value) and thread.trace is None:
        raise TakesElements
    own = type_key(value)
    if own is not None:
        return own
    if isinstance(value, weakref.ref):
        raise TypeError(f"weakref input {value} not supported for tf.function. Give what it refers to")
    if kind.__eq__ is object.__eq__ or hasattr(value, "_as_tensor"):
        return IdentityKey(value)
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"Could not generate a generic TraceType for {value!r}. Please verify that it is immutable/hashable: a "
            "tf.function is traced for the values of its Python arguments. Otherwise, consider a tuple or a frozenset"
        ) from None
    return kind, value


def supplies_elements(value: object) -> bool:
    """Whether a value is an iterator whose elements become inputs of the graph."""
    return getattr(type(value), "supplies_elements", False)


def is_tensor_like_leaf(value: object) -> bool:
    """Whether a leaf of the arguments is passed to the graph at each call instead of being part of the key."""
    return isinstance(value, Tensor | Variable | TensorSpec | np.ndarray | np.generic)


def is_given_tensor(value: object) -> bool:
    """Whether such a leaf is, or is converted to, a tensor; variables are passed separately."""
    return is_tensor_like_leaf(value) and not isinstance(value, Variable)


def without_tensors(value: object) -> Any:
    """Replace a tensor or a composite leaf by its spec."""
    return spec_of(value) if is_given_tensor(value) or isinstance(value, CompositeTensor) else value


def relaxed(key: object, other: object) -> Any:
    """Returns the most specific key that covers both, with None for sizes that differ; None if there is none."""
    if key == other:
        return key
    if type(key) is TypeKey:
        return key.relaxed(other)
    if not (type(key) is type(other) is tuple and len(key) == len(other)):
        return None
    if is_tensor_key(key) and is_tensor_key(other):
        if key[1] is not other[1]:
            return None
        if key[0] is None or other[0] is None or len(key[0]) != len(other[0]):
            return None, key[1]
        return tuple(n if n == k else None for n, k in zip(key[0], other[0], strict=True)), key[1]
    parts = [relaxed(mine, its) for mine, its in zip(key, other, strict=True)]
    return None if any(p is None and k is not None for p, k in zip(parts, key, strict=True)) else tuple(parts)


def is_tensor_key(key: tuple[Any, ...]) -> bool:
    """Whether a key is that of a tensor: shape and dtype."""
    return len(key) == 2 and type(key[1]) is DType and (key[0] is None or type(key[0]) is tuple)


def serves(key: object, other: object) -> bool:
    """Whether a graph traced for `key`, in which None matches any size, accepts calls with the key `other`."""
    if key == other:
        return True
    if type(key) is TypeKey:
        return key.serves(other)
    if not (type(key) is type(other) is tuple and len(key) == len(other)):
        return False
    if is_tensor_key(key) and is_tensor_key(other):
        if key[1] is not other[1]:
            return False
        if key[0] is None or other[0] is None:
            return key[0] is None
        return len(key[0]) == len(other[0]) and all(n is None or n == k for n, k in zip(key[0], other[0], strict=True))
    return all(serves(mine, its) for mine, its in zip(key, other, strict=True))


def is_open(key: object) -> bool:
    """Whether it may accept other keys: it has an unknown size or a user-defined type."""
    if type(key) is not tuple:
        return type(key) is TypeKey
    if is_tensor_key(key):
        return key[0] is None or None in key[0]
    return any(map(is_open, key))
