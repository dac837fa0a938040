"""Elementwise functions that are more than one op: selection, sums, polynomials, rounding, checks of dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...core.errors import InvalidArgumentError
from ...core.shapes import TensorShape
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, is_tensor_like
from ...core.type_hints import DTypeLike, ShapeLike, TensorLike, ValueLike
from ...engine.run.convert import to_tensor, to_tensors, with_default, wrong_input
from ...engine.run.namespace import ops
from ...ops.elementwise import arithmetic, logic

NAMESPACES = ("math", "")
__all__ = [
    "accumulate_n", "add_n", "nextafter", "polyval", "reciprocal_no_nan", "round", "scalar_mul", "squared_difference",
    "where",
]  # fmt: skip


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal, which is 0 where `x` is 0: `y = 1 / x if x != 0 else 0`.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128` (TensorFlow does not take `int8`, `int16`, `int32`, `int64`, `uint8`, `uint16`, `uint32` and
      `uint64`); the result has that of `x`, but `int8`, `int16`, `uint8` and `uint16` give `float32` and `int32`,
      `int64`, `uint32` and `uint64` give `float64`.
    - Derivative: `dy/dx = -y * y`, so that it is 0 at 0.

    >>> tf.math.reciprocal_no_nan([2.0, 0.0]).numpy()
    array([0.5, 0. ], dtype=float32)
    """
    x = to_tensor(x)
    return arithmetic.divide_no_nan.call(ops.ones_like(x), x)


def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`(x - y)**2`; for complex values the squared modulus of the difference.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128` (TensorFlow does
      not take `int8` and `int16`); the result has that of `x`.
    - Derivative: `∂z/∂x = 2 * (x - y)`, `∂z/∂y = -2 * (x - y)`.

    >>> tf.math.squared_difference([1.0, 5.0], 3.0).numpy()
    array([4., 4.], dtype=float32)
    """
    return refuse_unsigned(arithmetic.squared_difference.call(x, y), "SquaredDifference")


def refuse_unsigned(x: Tensor, title: str) -> Tensor:
    """Returns `x` unless it holds unsigned integers, whose differences and negatives wrap around."""
    if x.dtype.is_unsigned:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {x.dtype.kernel_name()} is not in the list of allowed values of [Op:{title}]. Use "
            "tf.cast(x, tf.int32) or another signed dtype"
        )
    return x


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """Rounds to the nearest integer, and to the even one at a tie; integers are unchanged. It has no gradient.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of
      `x`.
    - Derivative: none; gradients are `None`.

    >>> tf.round([0.5, 1.5, 2.2]).numpy()
    array([0., 2., 2.], dtype=float32)
    """
    x = to_tensor(x)
    return x if x.dtype.is_integer else arithmetic.rint.call(x)


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """Returns the next representable number after `x1` in the direction of `x2`.

    >>> (tf.math.nextafter(tf.constant(1.0, tf.float64), 2.0) - 1.0).numpy()
    np.float64(2.220446049250313e-16)
    """
    if not is_tensor_like(x1) and not is_tensor_like(x2):
        x1 = with_default(x1, dtypes.float32, dtypes.FLOAT)
    return arithmetic.nextafter.call(x1, x2)


@overload
def scalar_mul(  # type: ignore[overload-overlap]
    scalar: TensorLike, x: IndexedSlices, name: str | None = None
) -> IndexedSlices: ...
@overload
def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor: ...
def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor | IndexedSlices:
    """Multiplies `x`, which may be IndexedSlices, by a scalar tensor.

    >>> tf.scalar_mul(2.0, tf.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)
    """
    values = x.values if isinstance(x, IndexedSlices) else to_tensor(x)
    factor = to_tensor(scalar, dtype=values.dtype)
    if factor.dims:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    product = arithmetic.mul.call(factor, values)
    return IndexedSlices(product, x.indices, x.dense_shape) if isinstance(x, IndexedSlices) else product


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Sums a list of tensors of the same shape and dtype: `y = inputs[0] + inputs[1] + ...`.

    - Shape: that of each input.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `inputs`.
    - Derivative: 1 for every input.

    >>> tf.add_n([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]).numpy()
    array([4., 6.], dtype=float32)
    """
    tensors = to_tensors(inputs, "AddN")
    if not tensors:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    for i, x in enumerate(tensors):
        if x.dims != tensors[0].dims:
            raise InvalidArgumentError(
                "Inputs to operation AddN must have the same size and shape. Input 0: "
                f"{list(tensors[0].dims)} != input {i}: {list(x.dims)} [Op:AddN]"
            )
    return tensors[0] if len(tensors) == 1 else ops.add_n(*tensors)


def accumulate_n(
    inputs: Sequence[TensorLike], shape: ShapeLike | None = None, tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Sums a list of tensors; checks `shape` and `tensor_dtype` if given.

    >>> tf.math.accumulate_n([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]).numpy()
    array([4., 6.], dtype=float32)
    """
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    tensors = to_tensors(inputs, "AccumulateNV2")
    expected = tensors[0].shape if shape is None else TensorShape(shape)
    for x in tensors:
        if not expected.is_compatible_with(x.shape):
            raise ValueError(f"Shapes {expected} and {x.shape} are not compatible")
    if tensor_dtype is not None and as_dtype(tensor_dtype) is not tensors[0].dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {as_dtype(tensor_dtype)}, but `input` is of type {tensors[0].dtype}. "
            "These must be equal. Try casting the input to the desired type."
        )
    return add_n(tensors)


def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Evaluates the polynomial with the coefficients `coeffs`, highest power first.

    >>> tf.math.polyval([1.0, 2.0, 3.0], 2.0).numpy()
    np.float32(11.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = to_tensor(x)
    if not coeffs:
        return ops.zeros_like(x)
    first, *rest = (to_tensor(c) for c in coeffs)
    value = first
    for c in rest:
        value = c + value * x
    return value


def where(
    condition: TensorLike, x: ValueLike | None = None, y: ValueLike | None = None, name: str | None = None
) -> Tensor:
    """Selects `x` where `condition` is true and `y` elsewhere; without them, returns the indices of true elements.

    - Shape: `condition`, `x` and `y` broadcast; without `x` and `y`, `[count, rank]`.
    - Dtypes: any; the result has that of `x`.
    - Derivative: the gradient goes to `x` where `condition` is true, to `y` elsewhere.

    >>> tf.where([True, False], [1.0, 2.0], 0.0).numpy()
    array([1., 0.], dtype=float32)
    """
    if x is None and y is None:
        condition = to_tensor(condition)
        if not condition.dims or condition.dtype is dtypes.string:
            raise InvalidArgumentError(
                f"where(condition) takes numbers or bools in at least 1 dimension, got {condition!r} [Op:Where]"
            )
        return ops.nonzero(condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    known = is_tensor_like(condition)
    condition = to_tensor(condition, None if known else dtypes.bool)
    if not condition.dtype.is_bool:
        raise InvalidArgumentError(
            f"{wrong_input('SelectV2', 0, dtypes.bool, condition.dtype)}. Compare it with something, or use "
            "tf.cast(x, tf.bool)"
        )
    return logic.where.call(condition, x, y)
