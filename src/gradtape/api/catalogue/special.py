"""Special functions."""

from math import inf

from ...ops.elementwise import special as functions
from .row import binary, row, unary

# fmt: off
erf = unary("math.erf", functions.erf, "The error function: `y = 2 / sqrt(pi) * ∫_0^x exp(-t**2) dt`.",
    "tf.math.erf([0.0, 1.0]).numpy()", "array([0.       , 0.8427008], dtype=float32)")
erfc = unary("math.erfc", functions.erfc, "The complementary error function: `y = 1 - erf(x)`, accurate for large `x`.",
    "tf.math.erfc([0.0, 1.0]).numpy()", "array([1.       , 0.1572992], dtype=float32)")
erfinv = unary("math.erfinv", functions.erfinv, "The inverse of the error function: the `y` with `x = erf(y)`.",
    "tf.math.erfinv([0.0, 0.5]).numpy()", "array([0.        , 0.47693628], dtype=float32)", domain="-1 <= x <= 1",
    edges={-1: inf, 1: inf})
erfcinv = unary("math.erfcinv", functions.erfcinv,
    "The inverse of the complementary error function: the `y` with `x = erfc(y)`.",
    "tf.math.erfcinv([1.0, 0.5]).numpy()", "array([-0.        ,  0.47693628], dtype=float32)", node="",
    domain="0 <= x <= 2", edges={0: -inf, 2: -inf},
    own_dtypes="bfloat16 float16")
ndtri = unary("math.ndtri", functions.ndtri,
    "The quantile function of the standard normal distribution: the `y` with `x = (1 + erf(y / sqrt(2))) / 2`.",
    "tf.math.ndtri([0.5, 0.975]).numpy()", "array([0.       , 1.9599644], dtype=float32)", domain="0 <= x <= 1",
    edges={0: inf, 1: inf})
lgamma = unary("math.lgamma", functions.lgamma,
    "The logarithm of the absolute value of the gamma function: `y = log(abs(gamma(x)))`, where `gamma(x) = ∫_0^∞ "
    "t**(x - 1) * exp(-t) dt` for `x > 0`.",
    "tf.math.lgamma([1.0, 5.0]).numpy()", "array([0.       , 3.1780539], dtype=float32)")
digamma = unary("math.digamma", functions.digamma,
    "The derivative of `lgamma`: `y = ∫_0^∞ (exp(-t) / t - exp(-x * t) / (1 - exp(-t))) dt` for `x > 0`.",
    "tf.math.digamma([1.0, 5.0]).numpy()", "array([-0.5772157,  1.5061177], dtype=float32)")
polygamma = binary("math.polygamma", functions.polygamma,
    "The derivative of order `a`, an integer, of `digamma` at `x`: `y = (-1)**(a + 1) * gamma(a + 1) * zeta(a + 1, "
    "x)` for `a > 0`.",
    "tf.math.polygamma([0.0, 1.0], [2.0, 2.0]).numpy()", "array([0.42278433, 0.64493406], dtype=float32)",
    elementwise="", parameters="a, x", own_dtypes="bfloat16 float16")
zeta = binary("math.zeta", functions.zeta, "The Hurwitz zeta function: `y = Σ_{n=0}^∞ (q + n)**-x` for `x > 1`.",
    "tf.math.zeta([2.0], [1.0]).numpy()", "array([1.644934], dtype=float32)", parameters="x, q",
    own_dtypes="bfloat16 float16")
igamma = binary("math.igamma", functions.igamma,
    "The lower regularized incomplete gamma function: `y = 1 / gamma(a) * ∫_0^x t**(a - 1) * exp(-t) dt`.",
    "tf.math.igamma([1.0, 2.0], [1.0, 1.0]).numpy()", "array([0.63212055, 0.26424113], dtype=float32)", elementwise="",
    parameters="a, x")
igammac = binary("math.igammac", functions.igammac,
    "The upper regularized incomplete gamma function, `y = 1 / gamma(a) * ∫_x^∞ t**(a - 1) * exp(-t) dt`: `1 - "
    "igamma(a, x)`, accurate where that is small.",
    "tf.math.igammac([1.0, 2.0], [1.0, 1.0]).numpy()", "array([0.36787945, 0.7357589 ], dtype=float32)", elementwise="",
    parameters="a, x")
betainc = row("math.betainc", functions.betainc,
    "The regularized incomplete beta function: `y = 1 / beta(a, b) * ∫_0^x t**(a - 1) * (1 - t)**(b - 1) dt`. It has "
    "a gradient with respect to `x` only.",
    "tf.math.betainc([1.0, 2.0], [1.0, 2.0], 0.25).numpy()", "array([0.25   , 0.15625], dtype=float32)",
    parameters="a, b, x", own_dtypes="bfloat16 float16")
bessel_i0 = unary("math.special.bessel_i0 math.bessel_i0", functions.bessel_i0,
    "The modified Bessel function of the first kind of order 0: `y = 1 / pi * ∫_0^pi exp(x * cos(t)) dt`.",
    "tf.math.bessel_i0([0.0, 1.0]).numpy()", "array([1.       , 1.2660658], dtype=float32)")
bessel_i0e = unary("math.special.bessel_i0e math.bessel_i0e", functions.bessel_i0e,
    "The exponentially scaled `bessel_i0`, which does not overflow: `y = exp(-abs(x)) * bessel_i0(x)`.",
    "tf.math.bessel_i0e([0.0, 1.0]).numpy()", "array([1.       , 0.4657596], dtype=float32)", edges={0: 0})
bessel_i1 = unary("math.special.bessel_i1 math.bessel_i1", functions.bessel_i1,
    "The modified Bessel function of the first kind of order 1: `y = 1 / pi * ∫_0^pi exp(x * cos(t)) * cos(t) dt`.",
    "tf.math.bessel_i1([0.0, 1.0]).numpy()", "array([0.       , 0.5651591], dtype=float32)",
    slopes=("bessel_i0(x) - y / x",), edges={0: 0.5})
bessel_i1e = unary("math.special.bessel_i1e math.bessel_i1e", functions.bessel_i1e,
    "The exponentially scaled `bessel_i1`, which does not overflow: `y = exp(-abs(x)) * bessel_i1(x)`.",
    "tf.math.bessel_i1e([0.0, 1.0]).numpy()", "array([0.        , 0.20791042], dtype=float32)",
    slopes=("bessel_i0e(x) - (sign(x) + 1 / x) * y",), edges={0: 0.5})
bessel_j0 = unary("math.special.bessel_j0", functions.bessel_j0,
    "The Bessel function of the first kind of order 0: `y = 1 / pi * ∫_0^pi cos(x * sin(t)) dt`.",
    "tf.math.special.bessel_j0([0.0, 1.0]).numpy()", "array([1.       , 0.7651977], dtype=float32)")
bessel_j1 = unary("math.special.bessel_j1", functions.bessel_j1,
    "The Bessel function of the first kind of order 1: `y = 1 / pi * ∫_0^pi cos(t - x * sin(t)) dt`.",
    "tf.math.special.bessel_j1([0.0, 1.0]).numpy()", "array([0.        , 0.44005057], dtype=float32)",
    slopes=("bessel_j0(x) - y / x",), edges={0: 0.5})
bessel_k0 = unary("math.special.bessel_k0", functions.bessel_k0,
    "The modified Bessel function of the second kind of order 0: `y = ∫_0^∞ exp(-x * cosh(t)) dt` for `x > 0`.",
    "tf.math.special.bessel_k0([0.5, 1.0]).numpy()", "array([0.92441905, 0.42102444], dtype=float32)")
bessel_k0e = unary("math.special.bessel_k0e", functions.bessel_k0e,
    "The exponentially scaled `bessel_k0`, which does not underflow: `y = exp(x) * bessel_k0(x)` for `x > 0`.",
    "tf.math.special.bessel_k0e([0.5, 1.0]).numpy()", "array([1.5241094, 1.1444631], dtype=float32)")
bessel_k1 = unary("math.special.bessel_k1", functions.bessel_k1,
    "The modified Bessel function of the second kind of order 1: `y = ∫_0^∞ exp(-x * cosh(t)) * cosh(t) dt` for "
    "`x > 0`.",
    "tf.math.special.bessel_k1([0.5, 1.0]).numpy()", "array([1.6564411 , 0.60190725], dtype=float32)")
bessel_k1e = unary("math.special.bessel_k1e", functions.bessel_k1e,
    "The exponentially scaled `bessel_k1`, which does not underflow: `y = exp(x) * bessel_k1(x)` for `x > 0`.",
    "tf.math.special.bessel_k1e([0.5, 1.0]).numpy()", "array([2.7310097, 1.6361535], dtype=float32)")
bessel_y0 = unary("math.special.bessel_y0", functions.bessel_y0,
    "The Bessel function of the second kind of order 0: `y = 1 / pi * ∫_0^pi sin(x * sin(t)) dt - 2 / pi * ∫_0^∞ "
    "exp(-x * sinh(t)) dt` for `x > 0`.",
    "tf.math.special.bessel_y0([0.5, 1.0]).numpy()", "array([-0.44451874,  0.08825696], dtype=float32)")
bessel_y1 = unary("math.special.bessel_y1", functions.bessel_y1,
    "The Bessel function of the second kind of order 1: `y = 1 / pi * ∫_0^pi sin(x * sin(t) - t) dt - 2 / pi * ∫_0^∞ "
    "sinh(t) * exp(-x * sinh(t)) dt` for `x > 0`.",
    "tf.math.special.bessel_y1([0.5, 1.0]).numpy()", "array([-1.4714724, -0.7812128], dtype=float32)")
dawsn = unary("math.special.dawsn", functions.dawsn, "Dawson's integral: `y = exp(-x**2) * ∫_0^x exp(t**2) dt`.",
    "tf.math.special.dawsn([0.5, 1.0]).numpy()", "array([0.4244364, 0.5380795], dtype=float32)",
    slopes=("1 - 2 * x * y",))
expint = unary("math.special.expint", functions.expint,
    "The exponential integral: `y = ∫_-∞^x exp(t) / t dt`, for `x > 0` its principal value.",
    "tf.math.special.expint([0.5, 1.0]).numpy()", "array([0.4542199, 1.8951178], dtype=float32)",
    slopes=("exp(x) / x",))
fresnel_cos = unary("math.special.fresnel_cos", functions.fresnel_cos,
    "Fresnel's cosine integral: `y = ∫_0^x cos(pi / 2 * t**2) dt`.",
    "tf.math.special.fresnel_cos([0.5, 1.0]).numpy()", "array([0.49234423, 0.7798934 ], dtype=float32)",
    slopes=("cos(pi / 2 * x**2)",))
fresnel_sin = unary("math.special.fresnel_sin", functions.fresnel_sin,
    "Fresnel's sine integral: `y = ∫_0^x sin(pi / 2 * t**2) dt`.",
    "tf.math.special.fresnel_sin([0.5, 1.0]).numpy()", "array([0.06473243, 0.43825915], dtype=float32)",
    slopes=("sin(pi / 2 * x**2)",))
spence = unary("math.special.spence", functions.spence,
    "Spence's function, the dilogarithm of `1 - x`: `y = ∫_1^x log(t) / (1 - t) dt`.",
    "tf.math.special.spence([0.5, 1.0]).numpy()", "array([0.5822405, 0.       ], dtype=float32)", domain="x >= 0",
    slopes=("log(x) / (1 - x)",), edges={1: -1})
