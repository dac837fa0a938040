"""Special functions."""

from ...ops.elementwise import special as functions
from .row import binary, row, unary

# fmt: off
erf = unary("math.erf", functions.erf, "The error function.",
    "tf.math.erf([0.0, 1.0]).numpy()", "array([0.       , 0.8427008], dtype=float32)")
erfc = unary("math.erfc", functions.erfc, "`1 - erf(x)`, accurate for large `x`.",
    "tf.math.erfc([0.0, 1.0]).numpy()", "array([1.       , 0.1572992], dtype=float32)")
erfinv = unary("math.erfinv", functions.erfinv, "The inverse of the error function.",
    "tf.math.erfinv([0.0, 0.5]).numpy()", "array([0.        , 0.47693628], dtype=float32)")
erfcinv = unary("math.erfcinv", functions.erfcinv, "The inverse of the complementary error function.",
    "tf.math.erfcinv([1.0, 0.5]).numpy()", "array([-0.        ,  0.47693628], dtype=float32)", node="")
ndtri = unary("math.ndtri", functions.ndtri, "The quantile function of the standard normal distribution.",
    "tf.math.ndtri([0.5, 0.975]).numpy()", "array([0.       , 1.9599644], dtype=float32)")
lgamma = unary("math.lgamma", functions.lgamma, "The logarithm of the absolute value of the gamma function.",
    "tf.math.lgamma([1.0, 5.0]).numpy()", "array([0.       , 3.1780539], dtype=float32)")
digamma = unary("math.digamma", functions.digamma, "The derivative of `lgamma`.",
    "tf.math.digamma([1.0, 5.0]).numpy()", "array([-0.5772157,  1.5061177], dtype=float32)")
polygamma = binary("math.polygamma", functions.polygamma,
    "The derivative of order `a`, an integer, of `digamma` at `x`.",
    "tf.math.polygamma([0.0, 1.0], [2.0, 2.0]).numpy()",
    "array([0.42278433, 0.64493406], dtype=float32)", elementwise="", parameters="a, x")
zeta = binary("math.zeta", functions.zeta, "The Hurwitz zeta function: the sum of `(q + n)**-x` over n = 0, 1, ...",
    "tf.math.zeta([2.0], [1.0]).numpy()", "array([1.644934], dtype=float32)", parameters="x, q")
igamma = binary("math.igamma", functions.igamma,
    "The lower regularized incomplete gamma function.",
    "tf.math.igamma([1.0, 2.0], [1.0, 1.0]).numpy()",
    "array([0.63212055, 0.26424113], dtype=float32)", elementwise="", parameters="a, x")
igammac = binary("math.igammac", functions.igammac,
    "The upper regularized incomplete gamma function: `1 - igamma(a, x)`.",
    "tf.math.igammac([1.0, 2.0], [1.0, 1.0]).numpy()",
    "array([0.36787945, 0.7357589 ], dtype=float32)", elementwise="", parameters="a, x")
betainc = row("math.betainc", functions.betainc,
    "The regularized incomplete beta function. It has a gradient with respect to `x` only.",
    "tf.math.betainc([1.0, 2.0], [1.0, 2.0], 0.25).numpy()",
    "array([0.25   , 0.15625], dtype=float32)", parameters="a, b, x")
bessel_i0 = unary("math.special.bessel_i0 math.bessel_i0", functions.bessel_i0,
    "The modified Bessel function of the first kind of order 0.",
    "tf.math.bessel_i0([0.0, 1.0]).numpy()", "array([1.       , 1.2660658], dtype=float32)")
bessel_i0e = unary("math.special.bessel_i0e math.bessel_i0e", functions.bessel_i0e, "`exp(-abs(x)) * bessel_i0(x)`.",
    "tf.math.bessel_i0e([0.0, 1.0]).numpy()", "array([1.       , 0.4657596], dtype=float32)")
bessel_i1 = unary("math.special.bessel_i1 math.bessel_i1", functions.bessel_i1,
    "The modified Bessel function of the first kind of order 1.",
    "tf.math.bessel_i1([0.0, 1.0]).numpy()", "array([0.       , 0.5651591], dtype=float32)")
bessel_i1e = unary("math.special.bessel_i1e math.bessel_i1e", functions.bessel_i1e, "`exp(-abs(x)) * bessel_i1(x)`.",
    "tf.math.bessel_i1e([0.0, 1.0]).numpy()", "array([0.        , 0.20791042], dtype=float32)")
bessel_j0 = unary("math.special.bessel_j0", functions.bessel_j0, "The Bessel function of the first kind of order 0.",
    "tf.math.special.bessel_j0([0.0, 1.0]).numpy()", "array([1.       , 0.7651977], dtype=float32)")
bessel_j1 = unary("math.special.bessel_j1", functions.bessel_j1, "The Bessel function of the first kind of order 1.",
    "tf.math.special.bessel_j1([0.0, 1.0]).numpy()", "array([0.        , 0.44005057], dtype=float32)")
bessel_k0 = unary("math.special.bessel_k0", functions.bessel_k0,
    "The modified Bessel function of the second kind of order 0.",
    "tf.math.special.bessel_k0([0.5, 1.0]).numpy()", "array([0.92441905, 0.42102444], dtype=float32)")
bessel_k0e = unary("math.special.bessel_k0e", functions.bessel_k0e, "`exp(x) * bessel_k0(x)`.",
    "tf.math.special.bessel_k0e([0.5, 1.0]).numpy()", "array([1.5241094, 1.1444631], dtype=float32)")
bessel_k1 = unary("math.special.bessel_k1", functions.bessel_k1,
    "The modified Bessel function of the second kind of order 1.",
    "tf.math.special.bessel_k1([0.5, 1.0]).numpy()", "array([1.6564411 , 0.60190725], dtype=float32)")
bessel_k1e = unary("math.special.bessel_k1e", functions.bessel_k1e, "`exp(x) * bessel_k1(x)`.",
    "tf.math.special.bessel_k1e([0.5, 1.0]).numpy()", "array([2.7310097, 1.6361535], dtype=float32)")
bessel_y0 = unary("math.special.bessel_y0", functions.bessel_y0, "The Bessel function of the second kind of order 0.",
    "tf.math.special.bessel_y0([0.5, 1.0]).numpy()", "array([-0.44451874,  0.08825696], dtype=float32)")
bessel_y1 = unary("math.special.bessel_y1", functions.bessel_y1, "The Bessel function of the second kind of order 1.",
    "tf.math.special.bessel_y1([0.5, 1.0]).numpy()", "array([-1.4714724, -0.7812128], dtype=float32)")
dawsn = unary("math.special.dawsn", functions.dawsn,
    "Dawson's integral: `exp(-x**2)` times the integral of `exp(t**2)` from 0 to `x`.",
    "tf.math.special.dawsn([0.5, 1.0]).numpy()", "array([0.4244364, 0.5380795], dtype=float32)")
expint = unary("math.special.expint", functions.expint,
    "The exponential integral: the integral of `exp(t) / t` up to `x`.",
    "tf.math.special.expint([0.5, 1.0]).numpy()", "array([0.4542199, 1.8951178], dtype=float32)")
fresnel_cos = unary("math.special.fresnel_cos", functions.fresnel_cos,
    "The integral of `cos(π t**2 / 2)` from 0 to `x`.",
    "tf.math.special.fresnel_cos([0.5, 1.0]).numpy()", "array([0.49234423, 0.7798934 ], dtype=float32)")
fresnel_sin = unary("math.special.fresnel_sin", functions.fresnel_sin,
    "The integral of `sin(π t**2 / 2)` from 0 to `x`.",
    "tf.math.special.fresnel_sin([0.5, 1.0]).numpy()", "array([0.06473243, 0.43825915], dtype=float32)")
spence = unary("math.special.spence", functions.spence,
    "Spence's function: the integral of `log(t) / (1 - t)` from 1 to `x`.",
    "tf.math.special.spence([0.5, 1.0]).numpy()", "array([0.5822405, 0.       ], dtype=float32)")
