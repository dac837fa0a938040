"""Elementwise arithmetic: sums, products, quotients, remainders, extrema, rounding."""

from ...ops.elementwise import arithmetic
from .row import binary, unary

# fmt: off
abs = unary("math.abs abs", arithmetic.absolute,
    "Returns the absolute value of each element; for complex values the modulus, a real number.",
    "tf.abs([-1.5, 2.0]).numpy()", "array([1.5, 2. ], dtype=float32)")
add = binary("math.add add", arithmetic.add, "Computes `x + y` elementwise.",
    "tf.add([1.0, 2.0], 0.5).numpy()", "array([1.5, 2.5], dtype=float32)", node="AddV2")
subtract = binary("math.subtract subtract", arithmetic.sub, "Computes `x - y` elementwise.",
    "tf.subtract([1.0, 2.0], 0.5).numpy()", "array([0.5, 1.5], dtype=float32)",
    numpy="subtract", operands="promote", zeros="union")
multiply = binary("math.multiply multiply", arithmetic.mul, "Computes `x * y` elementwise.",
    "tf.multiply([1.0, 2.0], 3.0).numpy()", "array([3., 6.], dtype=float32)",
    numpy="multiply", operands="promote", zeros="intersection")
divide = binary("math.divide divide", arithmetic.div, "Computes `x / y` elementwise; integers are divided as floats.",
    "tf.divide([7, 8], 2).numpy()", "array([3.5, 4. ])", node="", numpy="divide", zeros="quotient")
truediv = binary("math.truediv truediv", arithmetic.div,
    "Computes `x / y` elementwise; integers are divided as floats.",
    "tf.truediv(7, 2).numpy()", "np.float64(3.5)", node="", numpy="true_divide", zeros="quotient")
realdiv = binary("realdiv", arithmetic.div, "`x / y` for real numbers.",
    "tf.realdiv([7.0, 8.0], 2.0).numpy()", "array([3.5, 4. ], dtype=float32)", node="RealDiv")
floordiv = binary("math.floordiv", arithmetic.floordiv, "`x // y`: the quotient rounded toward minus infinity.",
    "tf.math.floordiv([7, -7], 2).numpy()", "array([ 3, -4], dtype=int32)", node="FloorDiv")
floormod = binary("math.floormod math.mod", arithmetic.mod,
    "`x % y`: the remainder of `floordiv`, which has the sign of `y`.",
    "tf.math.floormod([7, -7], 3).numpy()", "array([1, 2], dtype=int32)", node="FloorMod",
    numpy="mod", operands="promote_numeric")
truncatediv = binary("truncatediv", arithmetic.truncatediv, "The quotient rounded toward 0.",
    "tf.truncatediv([7, -7], 2).numpy()", "array([ 3, -3], dtype=int32)", node="TruncateDiv")
truncatemod = binary("truncatemod", arithmetic.truncatemod,
    "The remainder of `truncatediv`, which has the sign of `x`.",
    "tf.truncatemod([7, -7], 3).numpy()", "array([ 1, -1], dtype=int32)", node="TruncateMod")
multiply_no_nan = binary("math.multiply_no_nan", arithmetic.multiply_no_nan,
    "`x * y`, and 0 where `y` is 0 even if `x` is infinite or NaN.",
    'tf.math.multiply_no_nan([float("inf"), 2.0], [0.0, 3.0]).numpy()', "array([0., 6.], dtype=float32)",
    node="MulNoNan")
divide_no_nan = binary("math.divide_no_nan", arithmetic.divide_no_nan, "`x / y`, and 0 where `y` is 0.",
    "tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy()", "array([0. , 0.5], dtype=float32)", node="DivNoNan")
reciprocal = unary("math.reciprocal", arithmetic.reciprocal, "Computes `1 / x` elementwise.",
    "tf.math.reciprocal([2.0, 4.0]).numpy()", "array([0.5 , 0.25], dtype=float32)", numpy="reciprocal", operands="real")
negative = unary("math.negative negative", arithmetic.neg, "Computes `-x` elementwise.",
    "tf.negative([1.0, -2.0]).numpy()", "array([-1.,  2.], dtype=float32)",
    numpy="negative", operands="tensor", zeros="linear")
maximum = binary("math.maximum maximum", arithmetic.maximum,
    "The larger of `x` and `y`; at a tie the gradient goes to `x`.",
    "tf.maximum([1.0, 5.0], 3.0).numpy()", "array([3., 5.], dtype=float32)")
minimum = binary("math.minimum minimum", arithmetic.minimum,
    "The smaller of `x` and `y`; at a tie the gradient goes to `x`.",
    "tf.minimum([1.0, 5.0], 3.0).numpy()", "array([1., 3.], dtype=float32)")
sign = unary("math.sign sign", arithmetic.sign, "-1, 0 or 1; for complex values `x / abs(x)`, and 0 at 0.",
    "tf.sign([-2.0, 0.0, 3.0]).numpy()", "array([-1.,  0.,  1.], dtype=float32)")
floor = unary("math.floor floor", arithmetic.floor, "Rounds down to an integer. It has no gradient.",
    "tf.floor([1.7, -1.2]).numpy()", "array([ 1., -2.], dtype=float32)")
ceil = unary("math.ceil", arithmetic.ceil, "Rounds up to an integer. It has no gradient.",
    "tf.math.ceil([1.2, -1.7]).numpy()", "array([ 2., -1.], dtype=float32)")
rint = unary("math.rint", arithmetic.rint,
    "Rounds to the nearest integer, and to the even one at a tie. It has no gradient.",
    "tf.math.rint([0.5, 1.5, 2.2]).numpy()", "array([0., 2., 2.], dtype=float32)")
