"""Dtype conversions."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from ...core import dtypes, logger
from ...core.dtypes import DType, as_dtype
from ...core.errors import InvalidArgumentError, UnimplementedError
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...core.type_hints import Composite, DTypeLike, TensorLike, ValueLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...ops.elementwise import bits
from ...sparse.tensor import SparseTensor
from ...state.variable import Variable

NAMESPACES = ("dtypes", "")
__all__ = ["bitcast", "cast", "saturate_cast"]




@overload
def cast(x: Composite, dtype: DTypeLike, name: str | None = None) -> Composite: ...  # type: ignore[overload-overlap]
@overload
def cast(x: ValueLike, dtype: DTypeLike, name: str | None = None) -> Tensor: ...
def cast(x: ValueLike, dtype: DTypeLike, name: str | None = None) -> Any:
    """Converts `x` to another dtype; fractions are truncated, and of a complex value the real part is kept.

    A value that already has this dtype is returned unchanged, including a variable. Floats beyond the limits of an 8-
    or 16-bit integer saturate.

    - Shape: that of `x`.
    - Dtypes: `bool`, `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result is `dtype`.
    - Derivative: between floating and complex dtypes the gradient is cast back; from or to other dtypes none.

    Returns:
      A tensor of the shape of `x`; a sparse or ragged tensor, or `tf.IndexedSlices`, stays one.

    >>> tf.cast([1.7, -1.7], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    target = as_dtype(dtype)
    if isinstance(x, Variable) and x.dtype is target:
        return x
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, target), x.indices, x.dense_shape)
    if isinstance(x, SparseTensor):
        return x.with_values(cast(x.values, target))
    x = to_tensor(x)
    if x.dtype is target:
        return x
    if dtypes.string in (x.dtype, target):
        raise UnimplementedError(
            f"Cast {x.dtype.kernel_name()} to {target.kernel_name()} is not supported [Op:Cast]. Use "
            "tf.strings.to_number or tf.strings.as_string"
        )
    if x.dtype.is_complex and not target.is_complex:
        logger.warning(
            "You are casting an input of type %s to an incompatible dtype %s. This will discard the imaginary part and "
            "may not be what you intended.", x.dtype.name, target.name,
        )  # fmt: skip
    return ops.cast(x, dtype=target)


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Converts `value` to another dtype and replaces values outside its range by its limits.

    >>> tf.saturate_cast([300.0, -5.0], tf.uint8).numpy()
    array([255,   0], dtype=uint8)
    """
    target = as_dtype(dtype)
    x = to_tensor(value)
    if x.dtype.is_complex and not target.is_complex:
        x = ops.real(x)
    if not x.dtype.is_complex:
        return cast(_clamp(x, target.real_dtype), target)
    if target.real_dtype.max < x.dtype.real_dtype.max:
        parts = [_clamp(part, target.real_dtype) for part in (ops.real(x), ops.imag(x))]
        x = ops.complex(*parts)
    return cast(x, target)


def _clamp(x: Tensor, target: DType) -> Tensor:
    """Clips `x` to the numbers that both dtypes represent; there is no infinity among them."""
    (low, high), (least, most) = _range(x.dtype), _range(target)
    if x.dtype.is_integer and target.is_integer and least <= low and high <= most:
        return x
    return ops.minimum(ops.maximum(x, _round_inward(max(low, least), x.dtype)), _round_inward(min(high, most), x.dtype))


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """Reinterprets the bits of `input` as another dtype; a dtype of another size adds or removes a last axis.

    >>> tf.bitcast(1.0, tf.int32).numpy()
    np.int32(1065353216)
    """
    target = as_dtype(type)
    if target in (dtypes.string, dtypes.bool):
        raise InvalidArgumentError(
            f"Value for attr 'type' of {target.name} is not in the list of allowed values: numbers only [Op:Bitcast]"
        )
    return bits.bitcast(to_tensor(input), dtype=target)


def _range(dtype: DType) -> tuple[Any, Any]:
    if not dtype.is_numeric:
        raise TypeError(f"Cannot find minimum value of {dtype} with type {dtype}.")
    number = int if dtype.is_integer else float
    return number(dtype.min), number(dtype.max)


def _round_inward(limit: Any, dtype: DType) -> Any:
    """Returns the number of this dtype closest to the limit but not beyond it."""
    if dtype.is_integer:
        return int(limit)
    nearest = np.asarray(limit).astype(dtype.numpy)[()]
    return np.nextafter(nearest, dtype.numpy.type(0)) if abs(float(nearest)) > abs(limit) else nearest
