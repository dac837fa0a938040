"""Comparisons and logic."""

from typing import Any

from ...core import dtypes
from ...core.tensor import is_tensor_like
from ...engine.run.convert import to_tensor
from ...ops.elementwise import logic
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
