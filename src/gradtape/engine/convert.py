"""Values into tensors: Python numbers and lists, NumPy arrays, variables, and what users register.

Python numbers are weak: they take the dtype asked for, float32 or int32 if none is. NumPy values keep their dtype
unless one is asked for. Tensors are never converted to another dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import DType
from ..tensor import Tensor, wrap

_PYTHON_NUMBERS = (bool, int, float, complex)
_registered: list[tuple[int, Any, Callable[..., Any]]] = []


def register(base_type: Any, conversion: Callable[..., Any], priority: int = 100) -> None:
    """`conversion(value, dtype)` makes tensors of `base_type`; a lower priority is tried first."""
    _registered.append((priority, base_type, conversion))
    _registered.sort(key=lambda entry: entry[0])


def to_tensor(value: Any, dtype: DType | None = None, hint: DType | None = None) -> Tensor:
    """`value` as a tensor of `dtype`; `hint` is a dtype to prefer where the value leaves the choice."""
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    kind = type(value)
    if kind in _PYTHON_NUMBERS:
        return wrap(_number(value, dtype or _fitting(kind, hint)), dtype or _fitting(kind, hint) or _default(value))
    if kind is np.ndarray or isinstance(value, np.generic):
        return _from_numpy(value, dtype)
    for _, base, conversion in _registered:
        if isinstance(value, base):
            converted = conversion(value, dtype)
            if converted is not NotImplemented:
                return converted if isinstance(converted, Tensor) else to_tensor(converted, dtype)
    if isinstance(value, str | bytes):
        return _from_numpy(np.array(_bytes(value), dtype=object), dtype)
    if isinstance(value, Sequence):
        return _from_sequence(value, dtype, hint)
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype)
    raise _unsupported(value)


def to_array(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """The value of something that must be known now (an axis, a shape), as an array."""
    return np.asarray(value.array if type(value) is Tensor else value, dtype=dtype)


def _default(value: Any) -> DType:
    kind = type(value)
    if kind is int:
        return dtypes.int32 if -(2**31) <= value < 2**31 else dtypes.int64
    return {bool: dtypes.bool, float: dtypes.float32, complex: dtypes.complex128}[kind]


def _fitting(kind: type, hint: DType | None) -> DType | None:
    """The hint, if a Python number of this kind can become it."""
    if hint is None:
        return None
    fits = {bool: hint.is_bool, int: hint.is_numeric, float: hint.is_floating or hint.is_complex, complex: hint.is_complex}
    return hint if fits[kind] else None


def _number(value: Any, dtype: DType | None) -> Any:
    dtype = dtype or _default(value)
    if _fitting(type(value), dtype) is None:
        raise TypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}. Use tf.cast, or write the number as a "
            f"{dtype.name}"
        )
    try:
        return dtype.as_numpy_dtype(value)
    except OverflowError:
        raise OverflowError(f"{value!r} does not fit into {dtype.name}. Use a wider dtype, such as tf.int64") from None


def _from_numpy(value: Any, dtype: DType | None) -> Tensor:
    own = dtypes.of_numpy(value.dtype)
    if own is dtypes.string:
        if dtype not in (None, dtypes.string):
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
        return wrap(_as_strings(value), dtypes.string)
    target = dtype or own
    if target is dtypes.string:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
    if own.is_complex and not target.is_complex:
        raise TypeError(f"Cannot convert a {own.name} array to EagerTensor of dtype {target.name}. Use tf.math.real")
    if not value.shape:
        return wrap(value.astype(target.numpy)[()], target)
    return wrap(np.array(value, dtype=target.numpy, order="C"), target)


def _as_strings(value: Any) -> Any:
    flat = [_bytes(item) for item in np.asarray(value).ravel().tolist()]
    if any(not isinstance(item, bytes) for item in flat):
        raise ValueError(
            "Failed to convert a NumPy array to a Tensor (Unsupported object type "
            f"{next(type(item).__name__ for item in flat if not isinstance(item, bytes))})."
        )
    array = np.empty(np.shape(value), dtype=object)
    array.ravel()[:] = flat
    return array


def _bytes(item: Any) -> Any:
    return item.encode() if isinstance(item, str) else item


def _from_sequence(value: Sequence[Any], dtype: DType | None, hint: DType | None) -> Tensor:
    leaves = list(_leaves(value))
    if any(_is_tensor_like(leaf) for leaf in leaves):
        return _pack(value, dtype or next((leaf.dtype for leaf in leaves if isinstance(leaf, Tensor)), None))
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {value!r}") from None
    if any(leaf is None for leaf in leaves):
        raise _unsupported(None)
    if array.dtype.kind in "SUO":
        if not all(isinstance(leaf, str | bytes) for leaf in leaves):
            mixed = next((leaf for leaf in leaves if not isinstance(leaf, str | bytes)), leaves[0])
            raise ValueError(
                f"Can't convert Python sequence with mixed types to Tensor: found {mixed!r} of type "
                f"{type(mixed).__name__!r}"
            )
        return _from_numpy(np.array(value, dtype=object), dtype)
    kinds = {type(leaf) for leaf in leaves}
    if kinds <= set(_PYTHON_NUMBERS):
        widest = max(kinds, key=_PYTHON_NUMBERS.index, default=float)
        dtype = dtype or _fitting(widest, hint) or _default_of(widest, array)
        if _fitting(widest, dtype) is None:
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
        if bool in kinds and len(kinds) > 1:
            raise ValueError(f"Can't convert Python sequence with mixed types to Tensor: {value!r}")
    return _from_numpy(array, dtype)


def _default_of(widest: type, array: np.ndarray[Any, Any]) -> DType:
    if widest is int:
        return dtypes.int32 if array.size == 0 or abs(array).max() < 2**31 else dtypes.int64
    return {bool: dtypes.bool, float: dtypes.float32, complex: dtypes.complex128}[widest]


def _leaves(value: Any) -> Any:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, np.ndarray):
        yield value.dtype.type()
    else:
        yield value


def _is_tensor_like(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) or any(isinstance(leaf, base) for _, base, _ in _registered)


def _pack(value: Any, dtype: DType | None) -> Tensor:
    """A nest of tensors and numbers stacked into one tensor, recorded like any op."""
    from .op import ops

    if isinstance(value, list | tuple):
        return ops.stack(*[_pack(item, dtype) for item in value], axis=0)
    return to_tensor(value, dtype)


def _unsupported(value: Any) -> Exception:
    return ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.")
