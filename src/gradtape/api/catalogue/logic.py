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
equal = binary("math.equal equal", logic.equal, "Returns `x == y` elementwise.",
    "tf.equal([1, 2], [1, 3]).numpy()", "array([ True, False])",
    parameters="x: ValueLike, y: ValueLike")
not_equal = binary("math.not_equal not_equal", logic.not_equal, "Returns `x != y` elementwise.",
    "tf.not_equal([1, 2], [1, 3]).numpy()", "array([False,  True])",
    parameters="x: ValueLike, y: ValueLike")
less = binary("math.less less", logic.less, "Returns `x < y` elementwise.",
    "tf.less([1, 2], 2).numpy()", "array([ True, False])")
less_equal = binary("math.less_equal less_equal", logic.less_equal, "Returns `x <= y` elementwise.",
    "tf.less_equal([1, 2], 1).numpy()", "array([ True, False])")
greater = binary("math.greater greater", logic.greater, "Returns `x > y` elementwise.",
    "tf.greater([1, 2], 1).numpy()", "array([False,  True])")
greater_equal = binary("math.greater_equal greater_equal", logic.greater_equal, "Returns `x >= y` elementwise.",
    "tf.greater_equal([1, 2], 2).numpy()", "array([False,  True])")
is_finite = unary("math.is_finite", logic.is_finite, "Returns elementwise whether `x` is neither infinite nor NaN.",
    'tf.math.is_finite([1.0, float("nan")]).numpy()', "array([ True, False])")
is_inf = unary("math.is_inf", logic.is_inf, "Returns elementwise whether `x` is infinite.",
    'tf.math.is_inf([1.0, float("inf")]).numpy()', "array([False,  True])")
is_nan = unary("math.is_nan", logic.is_nan, "Returns elementwise whether `x` is NaN.",
    'tf.math.is_nan([1.0, float("nan")]).numpy()', "array([False,  True])")
logical_and = binary("math.logical_and logical_and", lambda x, y: logic.logical_and.call(_truth(x), _truth(y)),
    "Logical AND.", "tf.logical_and([True, False], True).numpy()", "array([ True, False])", node="LogicalAnd")
logical_or = binary("math.logical_or logical_or", lambda x, y: logic.logical_or.call(_truth(x), _truth(y)),
    "Logical OR.", "tf.logical_or([True, False], False).numpy()", "array([ True, False])", node="LogicalOr")
logical_not = unary("math.logical_not logical_not", lambda x: logic.logical_not.call(_truth(x)),
    "Logical NOT.", "tf.logical_not([True, False]).numpy()", "array([False,  True])", node="LogicalNot")
logical_xor = binary("math.logical_xor", lambda x, y: logic.logical_xor.call(_truth(x), _truth(y)),
    "Logical exclusive OR.", "tf.math.logical_xor([True, False], True).numpy()", "array([False,  True])",
    default_name="LogicalXor")
bitwise_and = binary("bitwise.bitwise_and", bits.bitwise_and, "Bitwise AND.",
    "tf.bitwise.bitwise_and([12, 10], 6).numpy()", "array([4, 2], dtype=int32)")
bitwise_or = binary("bitwise.bitwise_or", bits.bitwise_or, "Bitwise OR.",
    "tf.bitwise.bitwise_or([12, 10], 6).numpy()", "array([14, 14], dtype=int32)")
bitwise_xor = binary("bitwise.bitwise_xor", bits.bitwise_xor, "Bitwise exclusive OR.",
    "tf.bitwise.bitwise_xor([12, 10], 6).numpy()", "array([10, 12], dtype=int32)")
invert = unary("bitwise.invert", bits.invert, "Bitwise complement.",
    "tf.bitwise.invert([0, 5]).numpy()", "array([-1, -6], dtype=int32)")
left_shift = binary("bitwise.left_shift", bits.left_shift,
    "Shifts the bits of `x` left by `y`, at most the width of the dtype minus 1.",
    "tf.bitwise.left_shift([1, 3], 2).numpy()", "array([ 4, 12], dtype=int32)")
right_shift = binary("bitwise.right_shift", bits.right_shift,
    "Shifts the bits of `x` right by `y`, at most the width of the dtype minus 1; the sign is preserved.",
    "tf.bitwise.right_shift([8, -8], 2).numpy()", "array([ 2, -2], dtype=int32)")
