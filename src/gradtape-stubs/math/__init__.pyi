# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike, ValueLike
from gradtape.math import special as special
from gradtape.api.math.bincount import (
    bincount as bincount,
    confusion_matrix as confusion_matrix,
)
from gradtape.api.math.complex import (
    angle as angle,
    conj as conj,
    imag as imag,
    real as real,
)
from gradtape.api.math.elementwise import (
    accumulate_n as accumulate_n,
    add_n as add_n,
    nextafter as nextafter,
    polyval as polyval,
    reciprocal_no_nan as reciprocal_no_nan,
    round as round,
    scalar_mul as scalar_mul,
    squared_difference as squared_difference,
)
from gradtape.api.math.reductions import (
    count_nonzero as count_nonzero,
    l2_normalize as l2_normalize,
    log_softmax as log_softmax,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_std as reduce_std,
    reduce_sum as reduce_sum,
    reduce_variance as reduce_variance,
    softmax as softmax,
    zero_fraction as zero_fraction,
)
from gradtape.api.math.scans import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_logsumexp as cumulative_logsumexp,
)
from gradtape.api.math.segments import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from gradtape.api.math.sorting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    argmax as argmax,
    argmin as argmin,
    in_top_k as in_top_k,
    invert_permutation as invert_permutation,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    top_k as top_k,
)
from gradtape.api.math.special import (
    lbeta as lbeta,
    sobol_sample as sobol_sample,
)
from gradtape.math.special import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
)
def abs(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns the absolute value of each element; for complex values the modulus, a real number.

    >>> tf.abs([-1.5, 2.0]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
def acos(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the cosine.

    >>> tf.acos([1.0, 0.5]).numpy()
    array([0.       , 1.0471976], dtype=float32)
    """
def acosh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the hyperbolic cosine.

    >>> tf.acosh([1.0, 2.0]).numpy()
    array([0.      , 1.316958], dtype=float32)
    """
def add(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `x + y` elementwise.

    >>> tf.add([1.0, 2.0], 0.5).numpy()
    array([1.5, 2.5], dtype=float32)
    """
def asin(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the sine.

    >>> tf.asin([0.0, 0.5]).numpy()
    array([0.       , 0.5235988], dtype=float32)
    """
def asinh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the hyperbolic sine.

    >>> tf.asinh([0.0, 1.0]).numpy()
    array([0.       , 0.8813736], dtype=float32)
    """
def atan(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the tangent.

    >>> tf.atan([0.0, 1.0]).numpy()
    array([0.       , 0.7853982], dtype=float32)
    """
def atan2(y: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The angle of the point `(x, y)`, between -π and π.

    >>> tf.atan2([1.0, -1.0], [1.0, 0.0]).numpy().round(4)
    array([ 0.7854, -1.5708], dtype=float32)
    """
def atanh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the hyperbolic tangent.

    >>> tf.atanh([0.0, 0.5]).numpy()
    array([0.        , 0.54930615], dtype=float32)
    """
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The regularized incomplete beta function. It has a gradient with respect to `x` only.

    >>> tf.math.betainc([1.0, 2.0], [1.0, 2.0], 0.25).numpy()
    array([0.25   , 0.15625], dtype=float32)
    """
def ceil(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Rounds up to an integer. It has no gradient.

    >>> tf.math.ceil([1.2, -1.7]).numpy()
    array([ 2., -1.], dtype=float32)
    """
def cos(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The cosine.

    >>> tf.cos([0.0, 1.0]).numpy()
    array([1.       , 0.5403023], dtype=float32)
    """
def cosh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The hyperbolic cosine.

    >>> tf.cosh([0.0, 1.0]).numpy().round(4)
    array([1.    , 1.5431], dtype=float32)
    """
def digamma(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The derivative of `lgamma`.

    >>> tf.math.digamma([1.0, 5.0]).numpy()
    array([-0.5772157,  1.5061177], dtype=float32)
    """
def divide(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `x / y` elementwise; integers are divided as floats.

    >>> tf.divide([7, 8], 2).numpy()
    array([3.5, 4. ])
    """
def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x / y`, and 0 where `y` is 0.

    >>> tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
def equal(x: ValueLike, y: ValueLike, name: str | None = ...) -> Tensor:
    r"""Returns `x == y` elementwise.

    >>> tf.equal([1, 2], [1, 3]).numpy()
    array([ True, False])
    """
def erf(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The error function.

    >>> tf.math.erf([0.0, 1.0]).numpy()
    array([0.       , 0.8427008], dtype=float32)
    """
def erfc(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`1 - erf(x)`, accurate for large `x`.

    >>> tf.math.erfc([0.0, 1.0]).numpy()
    array([1.       , 0.1572992], dtype=float32)
    """
def erfcinv(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the complementary error function.

    >>> tf.math.erfcinv([1.0, 0.5]).numpy()
    array([-0.        ,  0.47693628], dtype=float32)
    """
def erfinv(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the error function.

    >>> tf.math.erfinv([0.0, 0.5]).numpy()
    array([0.        , 0.47693628], dtype=float32)
    """
def exp(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponential function.

    >>> tf.exp([0.0, 1.0]).numpy().round(4)
    array([1.    , 2.7183], dtype=float32)
    """
def expm1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`exp(x) - 1`, accurate for small `x`.

    >>> tf.math.expm1([0.0, 1e-6]).numpy()
    array([0.0000000e+00, 1.0000005e-06], dtype=float32)
    """
def floor(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Rounds down to an integer. It has no gradient.

    >>> tf.floor([1.7, -1.2]).numpy()
    array([ 1., -2.], dtype=float32)
    """
def floordiv(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x // y`: the quotient rounded toward minus infinity.

    >>> tf.math.floordiv([7, -7], 2).numpy()
    array([ 3, -4], dtype=int32)
    """
def floormod(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x % y`: the remainder of `floordiv`, which has the sign of `y`.

    >>> tf.math.floormod([7, -7], 3).numpy()
    array([1, 2], dtype=int32)
    """
def greater(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns `x > y` elementwise.

    >>> tf.greater([1, 2], 1).numpy()
    array([False,  True])
    """
def greater_equal(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns `x >= y` elementwise.

    >>> tf.greater_equal([1, 2], 2).numpy()
    array([False,  True])
    """
def igamma(a: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The lower regularized incomplete gamma function.

    >>> tf.math.igamma([1.0, 2.0], [1.0, 1.0]).numpy()
    array([0.63212055, 0.26424113], dtype=float32)
    """
def igammac(a: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The upper regularized incomplete gamma function: `1 - igamma(a, x)`.

    >>> tf.math.igammac([1.0, 2.0], [1.0, 1.0]).numpy()
    array([0.36787945, 0.7357589 ], dtype=float32)
    """
def is_finite(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is neither infinite nor NaN.

    >>> tf.math.is_finite([1.0, float("nan")]).numpy()
    array([ True, False])
    """
def is_inf(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is infinite.

    >>> tf.math.is_inf([1.0, float("inf")]).numpy()
    array([False,  True])
    """
def is_nan(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is NaN.

    >>> tf.math.is_nan([1.0, float("nan")]).numpy()
    array([False,  True])
    """
def less(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns `x < y` elementwise.

    >>> tf.less([1, 2], 2).numpy()
    array([ True, False])
    """
def less_equal(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns `x <= y` elementwise.

    >>> tf.less_equal([1, 2], 1).numpy()
    array([ True, False])
    """
def lgamma(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The logarithm of the absolute value of the gamma function.

    >>> tf.math.lgamma([1.0, 5.0]).numpy()
    array([0.       , 3.1780539], dtype=float32)
    """
def log(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The natural logarithm.

    >>> tf.math.log([1.0, 2.0]).numpy()
    array([0.       , 0.6931472], dtype=float32)
    """
def log1p(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`log(1 + x)`, accurate for small `x`.

    >>> tf.math.log1p([0.0, 1e-6]).numpy()
    array([0.000000e+00, 9.999995e-07], dtype=float32)
    """
def log_sigmoid(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`log(sigmoid(x))`, without overflow for any `x`.

    >>> tf.math.log_sigmoid([0.0, -200.0]).numpy()
    array([  -0.6931472, -200.       ], dtype=float32)
    """
def logical_and(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical AND.

    >>> tf.logical_and([True, False], True).numpy()
    array([ True, False])
    """
def logical_not(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical NOT.

    >>> tf.logical_not([True, False]).numpy()
    array([False,  True])
    """
def logical_or(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical OR.

    >>> tf.logical_or([True, False], False).numpy()
    array([ True, False])
    """
def logical_xor(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical exclusive OR.

    >>> tf.math.logical_xor([True, False], True).numpy()
    array([False,  True])
    """
def maximum(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The larger of `x` and `y`; at a tie the gradient goes to `x`.

    >>> tf.maximum([1.0, 5.0], 3.0).numpy()
    array([3., 5.], dtype=float32)
    """
def minimum(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The smaller of `x` and `y`; at a tie the gradient goes to `x`.

    >>> tf.minimum([1.0, 5.0], 3.0).numpy()
    array([1., 3.], dtype=float32)
    """
def mod(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x % y`: the remainder of `floordiv`, which has the sign of `y`.

    >>> tf.math.floormod([7, -7], 3).numpy()
    array([1, 2], dtype=int32)
    """
def multiply(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `x * y` elementwise.

    >>> tf.multiply([1.0, 2.0], 3.0).numpy()
    array([3., 6.], dtype=float32)
    """
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x * y`, and 0 where `y` is 0 even if `x` is infinite or NaN.

    >>> tf.math.multiply_no_nan([float("inf"), 2.0], [0.0, 3.0]).numpy()
    array([0., 6.], dtype=float32)
    """
def ndtri(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The quantile function of the standard normal distribution.

    >>> tf.math.ndtri([0.5, 0.975]).numpy()
    array([0.       , 1.9599644], dtype=float32)
    """
def negative(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `-x` elementwise.

    >>> tf.negative([1.0, -2.0]).numpy()
    array([-1.,  2.], dtype=float32)
    """
def not_equal(x: ValueLike, y: ValueLike, name: str | None = ...) -> Tensor:
    r"""Returns `x != y` elementwise.

    >>> tf.not_equal([1, 2], [1, 3]).numpy()
    array([False,  True])
    """
def polygamma(a: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The derivative of order `a`, an integer, of `digamma` at `x`.

    >>> tf.math.polygamma([0.0, 1.0], [2.0, 2.0]).numpy()
    array([0.42278433, 0.64493406], dtype=float32)
    """
def pow(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `x ** y` elementwise.

    >>> tf.pow([2.0, 3.0], [3.0, 2.0]).numpy()
    array([8., 9.], dtype=float32)
    """
def reciprocal(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `1 / x` elementwise.

    >>> tf.math.reciprocal([2.0, 4.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
def rint(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Rounds to the nearest integer, and to the even one at a tie. It has no gradient.

    >>> tf.math.rint([0.5, 1.5, 2.2]).numpy()
    array([0., 2., 2.], dtype=float32)
    """
def rsqrt(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`1 / sqrt(x)`.

    >>> tf.math.rsqrt([4.0, 16.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
def sigmoid(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`1 / (1 + exp(-x))`, without overflow for any `x`.

    >>> tf.sigmoid([0.0, 2.0]).numpy()
    array([0.5     , 0.880797], dtype=float32)
    """
def sign(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""-1, 0 or 1; for complex values `x / abs(x)`, and 0 at 0.

    >>> tf.sign([-2.0, 0.0, 3.0]).numpy()
    array([-1.,  0.,  1.], dtype=float32)
    """
def sin(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The sine.

    >>> tf.sin([0.0, 1.0]).numpy()
    array([0.      , 0.841471], dtype=float32)
    """
def sinh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The hyperbolic sine.

    >>> tf.sinh([0.0, 1.0]).numpy()
    array([0.       , 1.1752012], dtype=float32)
    """
def softplus(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""`log(1 + exp(x))`, without overflow for any `x`.

    >>> tf.math.softplus([0.0, 200.0]).numpy()
    array([  0.6931472, 200.       ], dtype=float32)
    """
def softsign(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x / (1 + abs(x))`.

    >>> tf.math.softsign([1.0, -3.0]).numpy()
    array([ 0.5 , -0.75], dtype=float32)
    """
def sqrt(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The square root.

    >>> tf.sqrt([4.0, 9.0]).numpy()
    array([2., 3.], dtype=float32)
    """
def square(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x * x`.

    >>> tf.square([2.0, -3.0]).numpy()
    array([4., 9.], dtype=float32)
    """
def subtract(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `x - y` elementwise.

    >>> tf.subtract([1.0, 2.0], 0.5).numpy()
    array([0.5, 1.5], dtype=float32)
    """
def tan(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The tangent.

    >>> tf.tan([0.0, 1.0]).numpy()
    array([0.       , 1.5574077], dtype=float32)
    """
def tanh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The hyperbolic tangent.

    >>> tf.tanh([0.0, 1.0]).numpy()
    array([0.       , 0.7615942], dtype=float32)
    """
def truediv(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes `x / y` elementwise; integers are divided as floats.

    >>> tf.truediv(7, 2).numpy()
    np.float64(3.5)
    """
def xdivy(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x / y`, and 0 where `x` is 0.

    >>> tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
def xlog1py(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x * log1p(y)`, and 0 where `x` is 0.

    >>> tf.math.xlog1py([0.0, 2.0], [-1.0, 0.5]).numpy().round(4)
    array([0.    , 0.8109], dtype=float32)
    """
def xlogy(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`x * log(y)`, and 0 where `x` is 0.

    >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.5]).numpy()
    array([0.       , 0.8109302], dtype=float32)
    """
def zeta(x: TensorLike, q: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Hurwitz zeta function: the sum of `(q + n)**-x` over n = 0, 1, ...

    >>> tf.math.zeta([2.0], [1.0]).numpy()
    array([1.644934], dtype=float32)
    """
