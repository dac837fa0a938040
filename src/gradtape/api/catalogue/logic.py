"""Comparisons, logic and bitwise operations."""

from typing import Any

from ...core import dtypes
from ...core.tensor import is_tensor_like
from ...engine.run.convert import to_tensor
from ...ops.elementwise import bits, logic
from .row import binary, unary


def _truth(x: Any) -> Any:
    """Python values must be bools; numbers in NumPy arrays are converted."""
    return x if is_tensor_like(x) else to_tensor(x, dtype=dtypes.bool)


# fmt: off
equal = binary("math.equal equal", logic.equal, "Returns elementwise whether two values are equal: `z = x == y`.",
    "tf.equal([1, 2], [1, 3]).numpy()", "array([ True, False])", parameters="x: ValueLike, y: ValueLike")
not_equal = binary("math.not_equal not_equal", logic.not_equal,
    "Returns elementwise whether two values differ: `z = x != y`.",
    "tf.not_equal([1, 2], [1, 3]).numpy()", "array([False,  True])", parameters="x: ValueLike, y: ValueLike")
less = binary("math.less less", logic.less, "Returns elementwise whether `x` is less than `y`: `z = x < y`.",
    "tf.less([1, 2], 2).numpy()", "array([ True, False])")
less_equal = binary("math.less_equal less_equal", logic.less_equal,
    "Returns elementwise whether `x` is at most `y`: `z = x <= y`.",
    "tf.less_equal([1, 2], 1).numpy()", "array([ True, False])")
greater = binary("math.greater greater", logic.greater,
    "Returns elementwise whether `x` is greater than `y`: `z = x > y`.",
    "tf.greater([1, 2], 1).numpy()", "array([False,  True])")
greater_equal = binary("math.greater_equal greater_equal", logic.greater_equal,
    "Returns elementwise whether `x` is at least `y`: `z = x >= y`.",
    "tf.greater_equal([1, 2], 2).numpy()", "array([False,  True])")
is_finite = unary("math.is_finite", logic.is_finite,
    "Returns elementwise whether `x` is neither infinite nor NaN: `y = abs(x) < inf`.",
    'tf.math.is_finite([1.0, float("nan")]).numpy()', "array([ True, False])")
is_inf = unary("math.is_inf", logic.is_inf, "Returns elementwise whether `x` is infinite: `y = abs(x) == inf`.",
    'tf.math.is_inf([1.0, float("inf")]).numpy()', "array([False,  True])")
is_nan = unary("math.is_nan", logic.is_nan, "Returns elementwise whether `x` is NaN: `y = x != x`.",
    'tf.math.is_nan([1.0, float("nan")]).numpy()', "array([False,  True])")
logical_and = binary("math.logical_and logical_and", lambda x, y: logic.logical_and.call(_truth(x), _truth(y)),
    "Logical AND, elementwise: `z = x and y`.",
    "tf.logical_and([True, False], True).numpy()", "array([ True, False])", node="LogicalAnd", record=logic.logical_and)
logical_or = binary("math.logical_or logical_or", lambda x, y: logic.logical_or.call(_truth(x), _truth(y)),
    "Logical OR, elementwise: `z = x or y`.",
    "tf.logical_or([True, False], False).numpy()", "array([ True, False])", node="LogicalOr", record=logic.logical_or)
logical_not = unary("math.logical_not logical_not", lambda x: logic.logical_not.call(_truth(x)),
    "Logical NOT, elementwise: `y = not x`.",
    "tf.logical_not([True, False]).numpy()", "array([False,  True])", node="LogicalNot", record=logic.logical_not)
logical_xor = binary("math.logical_xor", lambda x, y: logic.logical_xor.call(_truth(x), _truth(y)),
    "Logical exclusive OR, elementwise: `z = x != y`.",
    "tf.math.logical_xor([True, False], True).numpy()", "array([False,  True])", default_name="LogicalXor",
    record=logic.logical_xor)
bitwise_and = binary("bitwise.bitwise_and", bits.bitwise_and, "Bitwise AND: `z = x & y`.",
    "tf.bitwise.bitwise_and([12, 10], 6).numpy()", "array([4, 2], dtype=int32)")
bitwise_or = binary("bitwise.bitwise_or", bits.bitwise_or, "Bitwise OR: `z = x | y`.",
    "tf.bitwise.bitwise_or([12, 10], 6).numpy()", "array([14, 14], dtype=int32)")
bitwise_xor = binary("bitwise.bitwise_xor", bits.bitwise_xor, "Bitwise exclusive OR: `z = x ^ y`.",
    "tf.bitwise.bitwise_xor([12, 10], 6).numpy()", "array([10, 12], dtype=int32)")
invert = unary("bitwise.invert", bits.invert, "Bitwise complement: `y = ~x`.",
    "tf.bitwise.invert([0, 5]).numpy()", "array([-1, -6], dtype=int32)")
left_shift = binary("bitwise.left_shift", bits.left_shift,
    "Shifts the bits of `x` left by `y`, at most the width of the dtype minus 1: `z = x << y`.",
    "tf.bitwise.left_shift([1, 3], 2).numpy()", "array([ 4, 12], dtype=int32)")
right_shift = binary("bitwise.right_shift", bits.right_shift,
    "Shifts the bits of `x` right by `y`, at most the width of the dtype minus 1: `z = x >> y`; the sign is preserved.",
    "tf.bitwise.right_shift([8, -8], 2).numpy()", "array([ 2, -2], dtype=int32)")
