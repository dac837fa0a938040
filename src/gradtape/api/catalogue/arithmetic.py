"""Elementwise arithmetic: sums, products, quotients, remainders, extrema, rounding."""

from math import inf

from ...ops.elementwise import arithmetic
from .row import binary, unary

_DIVIDED = dict.fromkeys(("int8", "int16", "uint8", "uint16"), "float32")
_DIVIDED |= dict.fromkeys(("int32", "int64", "uint32", "uint64"), "float64")

# fmt: off
abs = unary("math.abs abs", arithmetic.absolute,
    "Returns the absolute value of each element, `y = abs(x)`; for complex values the modulus, a real number.",
    "tf.abs([-1.5, 2.0]).numpy()", "array([1.5, 2. ], dtype=float32)", own_dtypes="uint8 uint16 uint32 uint64",
    casts={"complex64": "float32", "complex128": "float64"}, edges={0: 0})
add = binary("math.add add", arithmetic.add, "Computes the sum elementwise: `z = x + y`. Strings are joined.",
    "tf.add([1.0, 2.0], 0.5).numpy()", "array([1.5, 2.5], dtype=float32)", node="AddV2", casts={"string": "string"})
subtract = binary("math.subtract subtract", arithmetic.sub, "Computes the difference elementwise: `z = x - y`.",
    "tf.subtract([1.0, 2.0], 0.5).numpy()", "array([0.5, 1.5], dtype=float32)", numpy="subtract", operands="promote",
    zeros="union")
multiply = binary("math.multiply multiply", arithmetic.mul, "Computes the product elementwise: `z = x * y`.",
    "tf.multiply([1.0, 2.0], 3.0).numpy()", "array([3., 6.], dtype=float32)", numpy="multiply", operands="promote",
    zeros="intersection", casts={"bool": "bool"}, own_dtypes="bool")
divide = binary("math.divide divide", arithmetic.div,
    "Computes the quotient elementwise: `z = x / y`; integers are divided as floats.",
    "tf.divide([7, 8], 2).numpy()", "array([3.5, 4. ])", node="", numpy="divide", zeros="quotient", casts=_DIVIDED)
truediv = binary("math.truediv truediv", arithmetic.div,
    "Computes the quotient elementwise: `z = x / y`; integers are divided as floats.",
    "tf.truediv(7, 2).numpy()", "np.float64(3.5)", node="", numpy="true_divide", zeros="quotient", casts=_DIVIDED)
realdiv = binary("realdiv", arithmetic.div, "The quotient of real numbers: `z = x / y`.",
    "tf.realdiv([7.0, 8.0], 2.0).numpy()", "array([3.5, 4. ], dtype=float32)", node="RealDiv", casts=_DIVIDED)
floordiv = binary("math.floordiv", arithmetic.floordiv, "The quotient rounded toward minus infinity: `z = x // y`.",
    "tf.math.floordiv([7, -7], 2).numpy()", "array([ 3, -4], dtype=int32)", node="FloorDiv")
floormod = binary("math.floormod math.mod", arithmetic.mod,
    "The remainder of `floordiv`, which has the sign of `y`: `z = x - y * (x // y)`.",
    "tf.math.floormod([7, -7], 3).numpy()", "array([1, 2], dtype=int32)", node="FloorMod", numpy="mod",
    operands="promote_numeric")
truncatediv = binary("truncatediv", arithmetic.truncatediv, "The quotient rounded toward 0: `z = trunc(x / y)`.",
    "tf.truncatediv([7, -7], 2).numpy()", "array([ 3, -3], dtype=int32)", node="TruncateDiv")
truncatemod = binary("truncatemod", arithmetic.truncatemod,
    "The remainder of `truncatediv`, which has the sign of `x`: `z = x - y * trunc(x / y)`.",
    "tf.truncatemod([7, -7], 3).numpy()", "array([ 1, -1], dtype=int32)", node="TruncateMod",
    own_dtypes="int8 int16 uint8 uint16 uint32 uint64")
multiply_no_nan = binary("math.multiply_no_nan", arithmetic.multiply_no_nan,
    "The product, which is 0 where `y` is 0 even if `x` is infinite or NaN: `z = x * y if y != 0 else 0`.",
    'tf.math.multiply_no_nan([float("inf"), 2.0], [0.0, 3.0]).numpy()', "array([0., 6.], dtype=float32)",
    node="MulNoNan")
divide_no_nan = binary("math.divide_no_nan", arithmetic.divide_no_nan,
    "The quotient, which is 0 where `y` is 0: `z = x / y if y != 0 else 0`.",
    "tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy()", "array([0. , 0.5], dtype=float32)", node="DivNoNan",
    casts=_DIVIDED)
reciprocal = unary("math.reciprocal", arithmetic.reciprocal, "Computes the reciprocal elementwise: `y = 1 / x`.",
    "tf.math.reciprocal([2.0, 4.0]).numpy()", "array([0.5 , 0.25], dtype=float32)", numpy="reciprocal", operands="real",
    edges={0: -inf})
negative = unary("math.negative negative", arithmetic.neg, "Computes the negative elementwise: `y = -x`.",
    "tf.negative([1.0, -2.0]).numpy()", "array([-1.,  2.], dtype=float32)", numpy="negative", operands="tensor",
    zeros="linear", own_dtypes="uint8 uint16 uint32 uint64")
maximum = binary("math.maximum maximum", arithmetic.maximum,
    "The larger of two numbers: `z = max(x, y)`; at a tie the gradient goes to `x`.",
    "tf.maximum([1.0, 5.0], 3.0).numpy()", "array([3., 5.], dtype=float32)")
minimum = binary("math.minimum minimum", arithmetic.minimum,
    "The smaller of two numbers: `z = min(x, y)`; at a tie the gradient goes to `x`.",
    "tf.minimum([1.0, 5.0], 3.0).numpy()", "array([1., 3.], dtype=float32)")
sign = unary("math.sign sign", arithmetic.sign,
    "-1, 0 or 1: `y = (x > 0) - (x < 0)`; for complex values `x / abs(x)`, and 0 at 0.",
    "tf.sign([-2.0, 0.0, 3.0]).numpy()", "array([-1.,  0.,  1.], dtype=float32)",
    own_dtypes="uint8 uint16 uint32 uint64", casts={"complex64": "complex64", "complex128": "complex128"})
floor = unary("math.floor floor", arithmetic.floor, "Rounds down to an integer: `y = floor(x)`. It has no gradient.",
    "tf.floor([1.7, -1.2]).numpy()", "array([ 1., -2.], dtype=float32)")
ceil = unary("math.ceil", arithmetic.ceil, "Rounds up to an integer: `y = ceil(x)`. It has no gradient.",
    "tf.math.ceil([1.2, -1.7]).numpy()", "array([ 2., -1.], dtype=float32)")
rint = unary("math.rint", arithmetic.rint,
    "Rounds to the nearest integer, and to the even one at a tie: `y = round(x)`. It has no gradient.",
    "tf.math.rint([0.5, 1.5, 2.2]).numpy()", "array([0., 2., 2.], dtype=float32)")
