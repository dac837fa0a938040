"""Powers, exponentials, logarithms, trigonometric and hyperbolic functions, activations."""

from math import inf

from ...ops.elementwise import activations, arithmetic
from ...ops.elementwise import transcendental as functions
from .row import binary, unary

# fmt: off
pow = binary("math.pow pow", arithmetic.power, "Computes powers elementwise: `z = x**y`.",
    "tf.pow([2.0, 3.0], [3.0, 2.0]).numpy()", "array([8., 9.], dtype=float32)", node="Pow", record=arithmetic.pow_,
    own_dtypes="uint8 uint16 uint32 uint64", domain="x >= 0 or y == floor(y)")
square = unary("math.square square", arithmetic.square, "The square of each element: `y = x * x`.",
    "tf.square([2.0, -3.0]).numpy()", "array([4., 9.], dtype=float32)", numpy="square", operands="numeric",
    zeros="values")
sqrt = unary("math.sqrt sqrt", arithmetic.sqrt, "The square root of each element: `y = sqrt(x)`.",
    "tf.sqrt([4.0, 9.0]).numpy()", "array([2., 3.], dtype=float32)", numpy="sqrt", zeros="values", domain="x >= 0",
    edges={0: inf})
rsqrt = unary("math.rsqrt", arithmetic.rsqrt, "The reciprocal of the square root: `y = 1 / sqrt(x)`.",
    "tf.math.rsqrt([4.0, 16.0]).numpy()", "array([0.5 , 0.25], dtype=float32)", domain="x >= 0", edges={0: -inf})
exp = unary("math.exp exp", functions.exp, "The exponential function of each element: `y = e**x`.",
    "tf.exp([0.0, 1.0]).numpy().round(4)", "array([1.    , 2.7183], dtype=float32)", numpy="exp")
expm1 = unary("math.expm1", functions.expm1, "`y = exp(x) - 1`, accurate for small `x`.",
    "tf.math.expm1([0.0, 1e-6]).numpy()", "array([0.0000000e+00, 1.0000005e-06], dtype=float32)", numpy="expm1",
    zeros="values")
log = unary("math.log", functions.log, "The natural logarithm: `y = log(x)`, so that `x = exp(y)`.",
    "tf.math.log([1.0, 2.0]).numpy()", "array([0.       , 0.6931472], dtype=float32)", numpy="log", domain="x >= 0",
    edges={0: inf})
log1p = unary("math.log1p", functions.log1p, "`y = log(1 + x)`, accurate for small `x`.",
    "tf.math.log1p([0.0, 1e-6]).numpy()", "array([0.000000e+00, 9.999995e-07], dtype=float32)", numpy="log1p",
    zeros="values", domain="x >= -1", edges={-1: inf})
sin = unary("math.sin sin", functions.sin, "The sine of an angle in radians: `y = sin(x)`.",
    "tf.sin([0.0, 1.0]).numpy()", "array([0.      , 0.841471], dtype=float32)", numpy="sin", zeros="values")
cos = unary("math.cos cos", functions.cos, "The cosine of an angle in radians: `y = cos(x)`.",
    "tf.cos([0.0, 1.0]).numpy()", "array([1.       , 0.5403023], dtype=float32)", numpy="cos")
tan = unary("math.tan tan", functions.tan, "The tangent of an angle in radians: `y = sin(x) / cos(x)`.",
    "tf.tan([0.0, 1.0]).numpy()", "array([0.       , 1.5574077], dtype=float32)", numpy="tan", zeros="values")
asin = unary("math.asin asin", functions.asin,
    "The inverse of the sine: the angle `y` between -π/2 and π/2 with `x = sin(y)`.",
    "tf.asin([0.0, 0.5]).numpy()", "array([0.       , 0.5235988], dtype=float32)", numpy="arcsin", zeros="values",
    domain="-1 <= x <= 1", edges={-1: inf, 1: inf})
acos = unary("math.acos acos", functions.acos,
    "The inverse of the cosine: the angle `y` between 0 and π with `x = cos(y)`.",
    "tf.acos([1.0, 0.5]).numpy()", "array([0.       , 1.0471976], dtype=float32)", numpy="arccos",
    domain="-1 <= x <= 1", edges={-1: -inf, 1: -inf})
atan = unary("math.atan atan", functions.atan,
    "The inverse of the tangent: the angle `y` between -π/2 and π/2 with `x = tan(y)`.",
    "tf.atan([0.0, 1.0]).numpy()", "array([0.       , 0.7853982], dtype=float32)", numpy="arctan", zeros="values")
atan2 = binary("math.atan2 atan2", functions.atan2,
    "The angle of the point `(x, y)`, between -π and π: `tan(z) = y / x`.",
    "tf.atan2([1.0, -1.0], [1.0, 0.0]).numpy().round(4)", "array([ 0.7854, -1.5708], dtype=float32)", parameters="y, x",
    numpy="arctan2")
sinh = unary("math.sinh sinh", functions.sinh, "The hyperbolic sine: `y = (exp(x) - exp(-x)) / 2`.",
    "tf.sinh([0.0, 1.0]).numpy()", "array([0.       , 1.1752012], dtype=float32)", numpy="sinh", zeros="values")
cosh = unary("math.cosh cosh", functions.cosh, "The hyperbolic cosine: `y = (exp(x) + exp(-x)) / 2`.",
    "tf.cosh([0.0, 1.0]).numpy().round(4)", "array([1.    , 1.5431], dtype=float32)", numpy="cosh")
tanh = unary("math.tanh nn.tanh tanh", functions.tanh, "The hyperbolic tangent: `y = sinh(x) / cosh(x)`.",
    "tf.tanh([0.0, 1.0]).numpy()", "array([0.       , 0.7615942], dtype=float32)", numpy="tanh", zeros="values")
asinh = unary("math.asinh asinh", functions.asinh, "The inverse of the hyperbolic sine: `y = log(x + sqrt(x**2 + 1))`.",
    "tf.asinh([0.0, 1.0]).numpy()", "array([0.       , 0.8813736], dtype=float32)", numpy="arcsinh", zeros="values")
acosh = unary("math.acosh acosh", functions.acosh,
    "The inverse of the hyperbolic cosine: `y = log(x + sqrt(x**2 - 1))`.",
    "tf.acosh([1.0, 2.0]).numpy()", "array([0.      , 1.316958], dtype=float32)", numpy="arccosh", domain="x >= 1",
    edges={1: inf})
atanh = unary("math.atanh atanh", functions.atanh,
    "The inverse of the hyperbolic tangent: `y = log((1 + x) / (1 - x)) / 2`.",
    "tf.atanh([0.0, 0.5]).numpy()", "array([0.        , 0.54930615], dtype=float32)", numpy="arctanh", zeros="values",
    domain="-1 <= x <= 1", edges={-1: inf, 1: inf})
sigmoid = unary("math.sigmoid nn.sigmoid sigmoid", functions.sigmoid,
    "The logistic function, without overflow for any `x`: `y = 1 / (1 + exp(-x))`.",
    "tf.sigmoid([0.0, 2.0]).numpy()", "array([0.5     , 0.880797], dtype=float32)")
log_sigmoid = unary("math.log_sigmoid", functions.log_sigmoid,
    "The logarithm of the sigmoid, without overflow for any `x`: `y = -log(1 + exp(-x))`.",
    "tf.math.log_sigmoid([0.0, -200.0]).numpy()", "array([  -0.6931472, -200.       ], dtype=float32)", node="")
softplus = unary("math.softplus nn.softplus", functions.softplus,
    "A smooth `relu`, without overflow for any number: `y = log(1 + exp(features))`.",
    "tf.math.softplus([0.0, 200.0]).numpy()", "array([  0.6931472, 200.       ], dtype=float32)", parameters="features")
softsign = unary("math.softsign nn.softsign", functions.softsign,
    "A sigmoid-like function between -1 and 1: `y = features / (1 + abs(features))`.",
    "tf.math.softsign([1.0, -3.0]).numpy()", "array([ 0.5 , -0.75], dtype=float32)", parameters="features")
xlogy = binary("math.xlogy", functions.xlogy, "`z = x * log(y)`, and 0 where `x` is 0.",
    "tf.math.xlogy([0.0, 2.0], [0.0, 1.5]).numpy()", "array([0.       , 0.8109302], dtype=float32)")
xlog1py = binary("math.xlog1py", functions.xlog1py,
    "`z = x * log(1 + y)`, accurate for small `y`, and 0 where `x` is 0.",
    "tf.math.xlog1py([0.0, 2.0], [-1.0, 0.5]).numpy().round(4)", "array([0.    , 0.8109], dtype=float32)")
xdivy = binary("math.xdivy", functions.xdivy, "`z = x / y`, and 0 where `x` is 0.",
    "tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy()", "array([0. , 0.5], dtype=float32)")
relu = unary("nn.relu", activations.relu, "The rectifier: `y = max(features, 0)`; its derivative at 0 is 0.",
    "tf.nn.relu(tf.constant([-1.0, 0.0, 2.0])).numpy()", "array([0., 0., 2.], dtype=float32)", parameters="features",
    edges={0: 0})
relu6 = unary("nn.relu6", activations.relu6, "The rectifier with an upper limit: `y = min(max(features, 0), 6)`.",
    "tf.nn.relu6(tf.constant([-1.0, 3.0, 9.0])).numpy()", "array([0., 3., 6.], dtype=float32)", parameters="features",
    edges={0: 0, 6: 0})
elu = unary("nn.elu", activations.elu,
    "The exponential linear unit: `y = features if features > 0 else exp(features) - 1`.",
    "tf.nn.elu(tf.constant([0.0, 2.0])).numpy()", "array([0., 2.], dtype=float32)", parameters="features")
selu = unary("nn.selu", activations.selu,
    "The scaled exponential linear unit: `y = scale * (features if features > 0 else alpha * (exp(features) - 1))`, "
    "with `scale = 1.0507009873554805` and `alpha = 1.6732632423543772`, keeps mean 0 and variance 1.",
    "tf.nn.selu(tf.constant([0.0, 2.0])).numpy()", "array([0.      , 2.101402], dtype=float32)", parameters="features",
    slopes=("y + scale * alpha if y < 0 else scale",))
