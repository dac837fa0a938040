"""Powers, exponentials, logarithms, trigonometric and hyperbolic functions, activations."""

from ...ops.elementwise import activations, arithmetic
from ...ops.elementwise import transcendental as functions
from .row import binary, unary

# fmt: off
pow = binary("math.pow pow", arithmetic.power, "Computes `x ** y` elementwise.",
    "tf.pow([2.0, 3.0], [3.0, 2.0]).numpy()", "array([8., 9.], dtype=float32)", node="Pow")
square = unary("math.square square", arithmetic.square, "`x * x`.",
    "tf.square([2.0, -3.0]).numpy()", "array([4., 9.], dtype=float32)",
    numpy="square", operands="numeric", zeros="values")
sqrt = unary("math.sqrt sqrt", arithmetic.sqrt, "The square root.",
    "tf.sqrt([4.0, 9.0]).numpy()", "array([2., 3.], dtype=float32)", numpy="sqrt", zeros="values")
rsqrt = unary("math.rsqrt", arithmetic.rsqrt, "`1 / sqrt(x)`.",
    "tf.math.rsqrt([4.0, 16.0]).numpy()", "array([0.5 , 0.25], dtype=float32)")
exp = unary("math.exp exp", functions.exp, "The exponential function.",
    "tf.exp([0.0, 1.0]).numpy().round(4)", "array([1.    , 2.7183], dtype=float32)", numpy="exp")
expm1 = unary("math.expm1", functions.expm1, "`exp(x) - 1`, accurate for small `x`.",
    "tf.math.expm1([0.0, 1e-6]).numpy()", "array([0.0000000e+00, 1.0000005e-06], dtype=float32)",
    numpy="expm1", zeros="values")
log = unary("math.log", functions.log, "The natural logarithm.",
    "tf.math.log([1.0, 2.0]).numpy()", "array([0.       , 0.6931472], dtype=float32)", numpy="log")
log1p = unary("math.log1p", functions.log1p, "`log(1 + x)`, accurate for small `x`.",
    "tf.math.log1p([0.0, 1e-6]).numpy()", "array([0.000000e+00, 9.999995e-07], dtype=float32)",
    numpy="log1p", zeros="values")
sin = unary("math.sin sin", functions.sin, "The sine.",
    "tf.sin([0.0, 1.0]).numpy()", "array([0.      , 0.841471], dtype=float32)", numpy="sin", zeros="values")
cos = unary("math.cos cos", functions.cos, "The cosine.",
    "tf.cos([0.0, 1.0]).numpy()", "array([1.       , 0.5403023], dtype=float32)", numpy="cos")
tan = unary("math.tan tan", functions.tan, "The tangent.",
    "tf.tan([0.0, 1.0]).numpy()", "array([0.       , 1.5574077], dtype=float32)", numpy="tan", zeros="values")
asin = unary("math.asin asin", functions.asin, "The inverse of the sine.",
    "tf.asin([0.0, 0.5]).numpy()", "array([0.       , 0.5235988], dtype=float32)", numpy="arcsin", zeros="values")
acos = unary("math.acos acos", functions.acos, "The inverse of the cosine.",
    "tf.acos([1.0, 0.5]).numpy()", "array([0.       , 1.0471976], dtype=float32)", numpy="arccos")
atan = unary("math.atan atan", functions.atan, "The inverse of the tangent.",
    "tf.atan([0.0, 1.0]).numpy()", "array([0.       , 0.7853982], dtype=float32)", numpy="arctan", zeros="values")
atan2 = binary("math.atan2 atan2", functions.atan2, "The angle of the point `(x, y)`, between -π and π.",
    "tf.atan2([1.0, -1.0], [1.0, 0.0]).numpy().round(4)", "array([ 0.7854, -1.5708], dtype=float32)", parameters="y, x",
    numpy="arctan2")
sinh = unary("math.sinh sinh", functions.sinh, "The hyperbolic sine.",
    "tf.sinh([0.0, 1.0]).numpy()", "array([0.       , 1.1752012], dtype=float32)", numpy="sinh", zeros="values")
cosh = unary("math.cosh cosh", functions.cosh, "The hyperbolic cosine.",
    "tf.cosh([0.0, 1.0]).numpy().round(4)", "array([1.    , 1.5431], dtype=float32)", numpy="cosh")
tanh = unary("math.tanh nn.tanh tanh", functions.tanh, "The hyperbolic tangent.",
    "tf.tanh([0.0, 1.0]).numpy()", "array([0.       , 0.7615942], dtype=float32)", numpy="tanh", zeros="values")
asinh = unary("math.asinh asinh", functions.asinh, "The inverse of the hyperbolic sine.",
    "tf.asinh([0.0, 1.0]).numpy()", "array([0.       , 0.8813736], dtype=float32)", numpy="arcsinh", zeros="values")
acosh = unary("math.acosh acosh", functions.acosh, "The inverse of the hyperbolic cosine.",
    "tf.acosh([1.0, 2.0]).numpy()", "array([0.      , 1.316958], dtype=float32)", numpy="arccosh")
atanh = unary("math.atanh atanh", functions.atanh, "The inverse of the hyperbolic tangent.",
    "tf.atanh([0.0, 0.5]).numpy()", "array([0.        , 0.54930615], dtype=float32)", numpy="arctanh", zeros="values")
sigmoid = unary("math.sigmoid nn.sigmoid sigmoid", functions.sigmoid,
    "`1 / (1 + exp(-x))`, without overflow for any `x`.",
    "tf.sigmoid([0.0, 2.0]).numpy()", "array([0.5     , 0.880797], dtype=float32)")
log_sigmoid = unary("math.log_sigmoid", functions.log_sigmoid, "`log(sigmoid(x))`, without overflow for any `x`.",
    "tf.math.log_sigmoid([0.0, -200.0]).numpy()", "array([  -0.6931472, -200.       ], dtype=float32)", node="")
softplus = unary("math.softplus nn.softplus", functions.softplus, "`log(1 + exp(x))`, without overflow for any `x`.",
    "tf.math.softplus([0.0, 200.0]).numpy()", "array([  0.6931472, 200.       ], dtype=float32)", parameters="features")
softsign = unary("math.softsign nn.softsign", functions.softsign, "`x / (1 + abs(x))`.",
    "tf.math.softsign([1.0, -3.0]).numpy()", "array([ 0.5 , -0.75], dtype=float32)", parameters="features")
xlogy = binary("math.xlogy", functions.xlogy, "`x * log(y)`, and 0 where `x` is 0.",
    "tf.math.xlogy([0.0, 2.0], [0.0, 1.5]).numpy()", "array([0.       , 0.8109302], dtype=float32)")
xlog1py = binary("math.xlog1py", functions.xlog1py, "`x * log1p(y)`, and 0 where `x` is 0.",
    "tf.math.xlog1py([0.0, 2.0], [-1.0, 0.5]).numpy().round(4)", "array([0.    , 0.8109], dtype=float32)")
xdivy = binary("math.xdivy", functions.xdivy, "`x / y`, and 0 where `x` is 0.",
    "tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy()", "array([0. , 0.5], dtype=float32)")
relu = unary("nn.relu", activations.relu, "`max(x, 0)`; its derivative at 0 is 0.",
    "tf.nn.relu(tf.constant([-1.0, 0.0, 2.0])).numpy()", "array([0., 0., 2.], dtype=float32)", parameters="features")
relu6 = unary("nn.relu6", activations.relu6, "`min(max(x, 0), 6)`.",
    "tf.nn.relu6(tf.constant([-1.0, 3.0, 9.0])).numpy()", "array([0., 3., 6.], dtype=float32)", parameters="features")
elu = unary("nn.elu", activations.elu, "`x` where it is positive, `exp(x) - 1` elsewhere.",
    "tf.nn.elu(tf.constant([0.0, 2.0])).numpy()", "array([0., 2.], dtype=float32)", parameters="features")
selu = unary("nn.selu", activations.selu,
    "`scale * x` where `x` is positive, `scale * alpha * (exp(x) - 1)` elsewhere: keeps mean 0 and variance 1.",
    "tf.nn.selu(tf.constant([0.0, 2.0])).numpy()", "array([0.      , 2.101402], dtype=float32)", parameters="features")
