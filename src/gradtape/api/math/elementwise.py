"""Elementwise arithmetic: sums, products, quotients, remainders, extrema, rounding."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...core.errors import InvalidArgumentError
from ...core.shapes import TensorShape
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, is_tensor_like
from ...engine.run.convert import to_tensor, to_tensors, with_default
from ...engine.run.namespace import ops
from ...ops.elementwise import arithmetic

NAMESPACES = ("math", "")
__all__ = [
    "abs", "accumulate_n", "add", "add_n", "ceil", "divide", "divide_no_nan", "floor", "floordiv", "floormod",
    "maximum", "minimum", "multiply", "multiply_no_nan", "negative", "nextafter", "polyval", "realdiv",
    "reciprocal", "reciprocal_no_nan", "rint", "round", "scalar_mul", "sign", "squared_difference",
    "subtract", "truediv", "truncatediv", "truncatemod",
]  # fmt: skip


def abs(x: Any, name: str | None = None) -> Tensor:
    """Returns the absolute value of each element; for complex values the modulus, a real number.

    >>> import gradtape as tf
    >>> tf.abs([-1.5, 2.0]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    return arithmetic.absolute.call(x)


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Computes `x + y` elementwise.

    >>> import gradtape as tf
    >>> tf.add([1.0, 2.0], 0.5).numpy()
    array([1.5, 2.5], dtype=float32)
    """
    return arithmetic.add.call(x, y)


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Computes `x - y` elementwise.

    >>> import gradtape as tf
    >>> tf.subtract([1.0, 2.0], 0.5).numpy()
    array([0.5, 1.5], dtype=float32)
    """
    return arithmetic.sub.call(x, y)


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Computes `x * y` elementwise.

    >>> import gradtape as tf
    >>> tf.multiply([1.0, 2.0], 3.0).numpy()
    array([3., 6.], dtype=float32)
    """
    return arithmetic.mul.call(x, y)


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Computes `x / y` elementwise; integers are divided as floats.

    >>> import gradtape as tf
    >>> tf.divide([7, 8], 2).numpy()
    array([3.5, 4. ])
    """
    return arithmetic.div.call(x, y)


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Computes `x / y` elementwise; integers are divided as floats.

    >>> import gradtape as tf
    >>> tf.truediv(7, 2).numpy()
    np.float64(3.5)
    """
    return arithmetic.div.call(x, y)


def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y` for real numbers.

    >>> import gradtape as tf
    >>> tf.realdiv([7.0, 8.0], 2.0).numpy()
    array([3.5, 4. ], dtype=float32)
    """
    return arithmetic.div.call(x, y)


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x // y`: the quotient rounded toward minus infinity.

    >>> import gradtape as tf
    >>> tf.math.floordiv([7, -7], 2).numpy()
    array([ 3, -4], dtype=int32)
    """
    return arithmetic.floordiv.call(x, y)


def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x % y`: the remainder of `floordiv`, which has the sign of `y`.

    >>> import gradtape as tf
    >>> tf.math.floormod([7, -7], 3).numpy()
    array([1, 2], dtype=int32)
    """
    return arithmetic.mod.call(x, y)


def truncatediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient rounded toward 0.

    >>> import gradtape as tf
    >>> tf.truncatediv([7, -7], 2).numpy()
    array([ 3, -3], dtype=int32)
    """
    return arithmetic.truncatediv.call(x, y)


def truncatemod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of `truncatediv`, which has the sign of `x`.

    >>> import gradtape as tf
    >>> tf.truncatemod([7, -7], 3).numpy()
    array([ 1, -1], dtype=int32)
    """
    return arithmetic.truncatemod.call(x, y)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x * y`, and 0 where `y` is 0 even if `x` is infinite or NaN.

    >>> import gradtape as tf
    >>> tf.math.multiply_no_nan([float("inf"), 2.0], [0.0, 3.0]).numpy()
    array([0., 6.], dtype=float32)
    """
    return arithmetic.multiply_no_nan.call(x, y)


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y`, and 0 where `y` is 0.

    >>> import gradtape as tf
    >>> tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
    return arithmetic.divide_no_nan.call(x, y)


def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """Computes `1 / x` elementwise.

    >>> import gradtape as tf
    >>> tf.math.reciprocal([2.0, 4.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
    return arithmetic.reciprocal.call(x)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """`1 / x`, and 0 where `x` is 0.

    >>> import gradtape as tf
    >>> tf.math.reciprocal_no_nan([2.0, 0.0]).numpy()
    array([0.5, 0. ], dtype=float32)
    """
    x = to_tensor(x)
    return arithmetic.divide_no_nan.call(ops.ones_like(x), x)


def negative(x: Any, name: str | None = None) -> Tensor:
    """Computes `-x` elementwise.

    >>> import gradtape as tf
    >>> tf.negative([1.0, -2.0]).numpy()
    array([-1.,  2.], dtype=float32)
    """
    return arithmetic.neg.call(x)


def squared_difference(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`(x - y)**2`; for complex values the squared modulus of the difference.

    >>> import gradtape as tf
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


def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of `x` and `y`; at a tie the gradient goes to `x`.

    >>> import gradtape as tf
    >>> tf.maximum([1.0, 5.0], 3.0).numpy()
    array([3., 5.], dtype=float32)
    """
    return arithmetic.maximum.call(x, y)


def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of `x` and `y`; at a tie the gradient goes to `x`.

    >>> import gradtape as tf
    >>> tf.minimum([1.0, 5.0], 3.0).numpy()
    array([1., 3.], dtype=float32)
    """
    return arithmetic.minimum.call(x, y)


def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1; for complex values `x / abs(x)`, and 0 at 0.

    >>> import gradtape as tf
    >>> tf.sign([-2.0, 0.0, 3.0]).numpy()
    array([-1.,  0.,  1.], dtype=float32)
    """
    return arithmetic.sign.call(x)


def floor(x: Any, name: str | None = None) -> Tensor:
    """Rounds down to an integer. It has no gradient.

    >>> import gradtape as tf
    >>> tf.floor([1.7, -1.2]).numpy()
    array([ 1., -2.], dtype=float32)
    """
    return arithmetic.floor.call(x)


def ceil(x: Any, name: str | None = None) -> Tensor:
    """Rounds up to an integer. It has no gradient.

    >>> import gradtape as tf
    >>> tf.math.ceil([1.2, -1.7]).numpy()
    array([ 2., -1.], dtype=float32)
    """
    return arithmetic.ceil.call(x)


def rint(x: Any, name: str | None = None) -> Tensor:
    """Rounds to the nearest integer, and to the even one at a tie. It has no gradient.

    >>> import gradtape as tf
    >>> tf.math.rint([0.5, 1.5, 2.2]).numpy()
    array([0., 2., 2.], dtype=float32)
    """
    return arithmetic.rint.call(x)


def round(x: Any, name: str | None = None) -> Tensor:
    """Rounds to the nearest integer, and to the even one at a tie; integers are unchanged. It has no gradient.

    >>> import gradtape as tf
    >>> tf.round([0.5, 1.5, 2.2]).numpy()
    array([0., 2., 2.], dtype=float32)
    """
    x = to_tensor(x)
    return x if x.dtype.is_integer else arithmetic.rint.call(x)


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """Returns the next representable number after `x1` in the direction of `x2`.

    >>> import gradtape as tf
    >>> (tf.math.nextafter(tf.constant(1.0, tf.float64), 2.0) - 1.0).numpy()
    np.float64(2.220446049250313e-16)
    """
    if not is_tensor_like(x1) and not is_tensor_like(x2):
        x1 = with_default(x1, dtypes.float32, dtypes.FLOAT)
    return arithmetic.nextafter.call(x1, x2)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Multiplies `x`, which may be IndexedSlices, by a scalar tensor.

    >>> import gradtape as tf
    >>> tf.scalar_mul(2.0, tf.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)
    """
    values = x.values if isinstance(x, IndexedSlices) else to_tensor(x)
    scalar = to_tensor(scalar, dtype=values.dtype)
    if scalar.dims:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    product = arithmetic.mul.call(scalar, values)
    return IndexedSlices(product, x.indices, x.dense_shape) if isinstance(x, IndexedSlices) else product


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """Sums a list of tensors of the same shape and dtype.

    >>> import gradtape as tf
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


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Tensor:
    """Sums a list of tensors; checks `shape` and `tensor_dtype` if given.

    >>> import gradtape as tf
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


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """Evaluates the polynomial with the coefficients `coeffs`, highest power first.

    >>> import gradtape as tf
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
