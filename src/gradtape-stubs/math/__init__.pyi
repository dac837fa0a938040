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
    r"""Returns the absolute value of each element, `y = abs(x)`; for complex values the modulus, a real number.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64` (TensorFlow does not take `uint8`, `uint16`, `uint32` and `uint64`); the result has that of `x`, but `complex64` gives `float32` and `complex128` gives `float64`.
    - Derivative: `dy/dx = sign(x)`, `0` at `x = 0`.

    >>> tf.abs([-1.5, 2.0]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
def acos(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the cosine: the angle `y` between 0 and π with `x = cos(y)`.

    - Domain: `-1 <= x <= 1` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = -1 / sqrt((1 - x) * (1 + x))`, `-inf` at `x = -1` and `x = 1`.

    >>> tf.acos([1.0, 0.5]).numpy()
    array([0.       , 1.0471976], dtype=float32)
    """
def acosh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the hyperbolic cosine: `y = log(x + sqrt(x**2 - 1))`.

    - Domain: `x >= 1` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 / (sqrt(x - 1) * sqrt(x + 1))`, `inf` at `x = 1`.

    >>> tf.acosh([1.0, 2.0]).numpy()
    array([0.      , 1.316958], dtype=float32)
    """
def add(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes the sum elementwise: `z = x + y`. Strings are joined.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`, `string`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1`, `∂z/∂y = 1`.

    >>> tf.add([1.0, 2.0], 0.5).numpy()
    array([1.5, 2.5], dtype=float32)
    """
def asin(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the sine: the angle `y` between -π/2 and π/2 with `x = sin(y)`.

    - Domain: `-1 <= x <= 1` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 / sqrt((1 - x) * (1 + x))`, `inf` at `x = -1` and `x = 1`.

    >>> tf.asin([0.0, 0.5]).numpy()
    array([0.       , 0.5235988], dtype=float32)
    """
def asinh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the hyperbolic sine: `y = log(x + sqrt(x**2 + 1))`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 / sqrt(x**2 + 1)`.

    >>> tf.asinh([0.0, 1.0]).numpy()
    array([0.       , 0.8813736], dtype=float32)
    """
def atan(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the tangent: the angle `y` between -π/2 and π/2 with `x = tan(y)`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 / (1 + x**2)`.

    >>> tf.atan([0.0, 1.0]).numpy()
    array([0.       , 0.7853982], dtype=float32)
    """
def atan2(y: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The angle of the point `(x, y)`, between -π and π: `tan(z) = y / x`.

    - Shape: `y` and `x` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; `y`, `x` and the result have the same one.
    - Derivative: `∂z/∂y = x / (y**2 + x**2)`, `∂z/∂x = -y / (y**2 + x**2)`.

    >>> tf.atan2([1.0, -1.0], [1.0, 0.0]).numpy().round(4)
    array([ 0.7854, -1.5708], dtype=float32)
    """
def atanh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the hyperbolic tangent: `y = log((1 + x) / (1 - x)) / 2`.

    - Domain: `-1 <= x <= 1` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 / ((1 - x) * (1 + x))`, `inf` at `x = -1` and `x = 1`.

    >>> tf.atanh([0.0, 0.5]).numpy()
    array([0.        , 0.54930615], dtype=float32)
    """
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The regularized incomplete beta function: `y = 1 / beta(a, b) * ∫_0^x t**(a - 1) * (1 - t)**(b - 1) dt`. It has a gradient with respect to `x` only.

    - Shape: `a`, `b` and `x` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64` (TensorFlow does not take `bfloat16` and `float16`); `a`, `b`, `x` and the result have the same one.
    - Derivative: `∂y/∂x = x**(a - 1) * (1 - x)**(b - 1) / beta(a, b)`, none for `a`, none for `b`.

    >>> tf.math.betainc([1.0, 2.0], [1.0, 2.0], 0.25).numpy()
    array([0.25   , 0.15625], dtype=float32)
    """
def ceil(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Rounds up to an integer: `y = ceil(x)`. It has no gradient.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: none; gradients are `None`.

    >>> tf.math.ceil([1.2, -1.7]).numpy()
    array([ 2., -1.], dtype=float32)
    """
def cos(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The cosine of an angle in radians: `y = cos(x)`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = -sin(x)`.

    >>> tf.cos([0.0, 1.0]).numpy()
    array([1.       , 0.5403023], dtype=float32)
    """
def cosh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The hyperbolic cosine: `y = (exp(x) + exp(-x)) / 2`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = sinh(x)`.

    >>> tf.cosh([0.0, 1.0]).numpy().round(4)
    array([1.    , 1.5431], dtype=float32)
    """
def digamma(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The derivative of `lgamma`: `y = ∫_0^∞ (exp(-t) / t - exp(-x * t) / (1 - exp(-t))) dt` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = polygamma(1, x)`.

    >>> tf.math.digamma([1.0, 5.0]).numpy()
    array([-0.5772157,  1.5061177], dtype=float32)
    """
def divide(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes the quotient elementwise: `z = x / y`; integers are divided as floats.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one, but `int8`, `int16`, `uint8` and `uint16` give `float32` and `int32`, `int64`, `uint32` and `uint64` give `float64`.
    - Derivative: `∂z/∂x = 1 / y`, `∂z/∂y = -z / y`.

    >>> tf.divide([7, 8], 2).numpy()
    array([3.5, 4. ])
    """
def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The quotient, which is 0 where `y` is 0: `z = x / y if y != 0 else 0`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one, but `int8`, `int16`, `uint8` and `uint16` give `float32` and `int32`, `int64`, `uint32` and `uint64` give `float64`.
    - Derivative: `∂z/∂x = divide_no_nan(1, y)`, `∂z/∂y = -divide_no_nan(z, y)`.

    >>> tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
def equal(x: ValueLike, y: ValueLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether two values are equal: `z = x == y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bool`, `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`, `string`; `x` and `y` have the same one; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.equal([1, 2], [1, 3]).numpy()
    array([ True, False])
    """
def erf(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The error function: `y = 2 / sqrt(pi) * ∫_0^x exp(-t**2) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = 2 / sqrt(pi) * exp(-x**2)`.

    >>> tf.math.erf([0.0, 1.0]).numpy()
    array([0.       , 0.8427008], dtype=float32)
    """
def erfc(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The complementary error function: `y = 1 - erf(x)`, accurate for large `x`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = -2 / sqrt(pi) * exp(-x**2)`.

    >>> tf.math.erfc([0.0, 1.0]).numpy()
    array([1.       , 0.1572992], dtype=float32)
    """
def erfcinv(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the complementary error function: the `y` with `x = erfc(y)`.

    - Domain: `0 <= x <= 2` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64` (TensorFlow does not take `bfloat16` and `float16`); the result has that of `x`.
    - Derivative: `dy/dx = -sqrt(pi) / 2 * exp(y**2)`, `-inf` at `x = 0` and `x = 2`.

    >>> tf.math.erfcinv([1.0, 0.5]).numpy()
    array([-0.        ,  0.47693628], dtype=float32)
    """
def erfinv(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The inverse of the error function: the `y` with `x = erf(y)`.

    - Domain: `-1 <= x <= 1` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = sqrt(pi) / 2 * exp(y**2)`, `inf` at `x = -1` and `x = 1`.

    >>> tf.math.erfinv([0.0, 0.5]).numpy()
    array([0.        , 0.47693628], dtype=float32)
    """
def exp(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponential function of each element: `y = e**x`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = y`.

    >>> tf.exp([0.0, 1.0]).numpy().round(4)
    array([1.    , 2.7183], dtype=float32)
    """
def expm1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`y = exp(x) - 1`, accurate for small `x`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = exp(x)`.

    >>> tf.math.expm1([0.0, 1e-6]).numpy()
    array([0.0000000e+00, 1.0000005e-06], dtype=float32)
    """
def floor(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Rounds down to an integer: `y = floor(x)`. It has no gradient.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: none; gradients are `None`.

    >>> tf.floor([1.7, -1.2]).numpy()
    array([ 1., -2.], dtype=float32)
    """
def floordiv(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The quotient rounded toward minus infinity: `z = x // y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.math.floordiv([7, -7], 2).numpy()
    array([ 3, -4], dtype=int32)
    """
def floormod(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The remainder of `floordiv`, which has the sign of `y`: `z = x - y * (x // y)`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1`, `∂z/∂y = -(x // y)`.

    >>> tf.math.floormod([7, -7], 3).numpy()
    array([1, 2], dtype=int32)
    """
def greater(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is greater than `y`: `z = x > y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x` and `y` have the same one; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.greater([1, 2], 1).numpy()
    array([False,  True])
    """
def greater_equal(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is at least `y`: `z = x >= y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x` and `y` have the same one; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.greater_equal([1, 2], 2).numpy()
    array([False,  True])
    """
def igamma(a: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The lower regularized incomplete gamma function: `y = 1 / gamma(a) * ∫_0^x t**(a - 1) * exp(-t) dt`.

    - Shape: `a` and `x` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; `a`, `x` and the result have the same one.
    - Derivative: `∂y/∂x = x**(a - 1) * exp(-x) / gamma(a)`, `∂y/∂a` without a formula.

    >>> tf.math.igamma([1.0, 2.0], [1.0, 1.0]).numpy()
    array([0.63212055, 0.26424113], dtype=float32)
    """
def igammac(a: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The upper regularized incomplete gamma function, `y = 1 / gamma(a) * ∫_x^∞ t**(a - 1) * exp(-t) dt`: `1 - igamma(a, x)`, accurate where that is small.

    - Shape: `a` and `x` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; `a`, `x` and the result have the same one.
    - Derivative: `∂y/∂x = -x**(a - 1) * exp(-x) / gamma(a)`, `∂y/∂a` without a formula.

    >>> tf.math.igammac([1.0, 2.0], [1.0, 1.0]).numpy()
    array([0.36787945, 0.7357589 ], dtype=float32)
    """
def is_finite(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is neither infinite nor NaN: `y = abs(x) < inf`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.math.is_finite([1.0, float("nan")]).numpy()
    array([ True, False])
    """
def is_inf(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is infinite: `y = abs(x) == inf`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.math.is_inf([1.0, float("inf")]).numpy()
    array([False,  True])
    """
def is_nan(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is NaN: `y = x != x`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.math.is_nan([1.0, float("nan")]).numpy()
    array([False,  True])
    """
def less(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is less than `y`: `z = x < y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x` and `y` have the same one; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.less([1, 2], 2).numpy()
    array([ True, False])
    """
def less_equal(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether `x` is at most `y`: `z = x <= y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x` and `y` have the same one; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.less_equal([1, 2], 1).numpy()
    array([ True, False])
    """
def lgamma(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The logarithm of the absolute value of the gamma function: `y = log(abs(gamma(x)))`, where `gamma(x) = ∫_0^∞ t**(x - 1) * exp(-t) dt` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = digamma(x)`.

    >>> tf.math.lgamma([1.0, 5.0]).numpy()
    array([0.       , 3.1780539], dtype=float32)
    """
def log(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The natural logarithm: `y = log(x)`, so that `x = exp(y)`.

    - Domain: `x >= 0` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 / x`, `inf` at `x = 0`.

    >>> tf.math.log([1.0, 2.0]).numpy()
    array([0.       , 0.6931472], dtype=float32)
    """
def log1p(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`y = log(1 + x)`, accurate for small `x`.

    - Domain: `x >= -1` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 / (1 + x)`, `inf` at `x = -1`.

    >>> tf.math.log1p([0.0, 1e-6]).numpy()
    array([0.000000e+00, 9.999995e-07], dtype=float32)
    """
def log_sigmoid(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The logarithm of the sigmoid, without overflow for any `x`: `y = -log(1 + exp(-x))`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = sigmoid(-x)`.

    >>> tf.math.log_sigmoid([0.0, -200.0]).numpy()
    array([  -0.6931472, -200.       ], dtype=float32)
    """
def logical_and(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical AND, elementwise: `z = x and y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bool`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.logical_and([True, False], True).numpy()
    array([ True, False])
    """
def logical_not(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical NOT, elementwise: `y = not x`.

    - Shape: that of `x`.
    - Dtypes: `bool`; the result has that of `x`.
    - Derivative: none; gradients are `None`.

    >>> tf.logical_not([True, False]).numpy()
    array([False,  True])
    """
def logical_or(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical OR, elementwise: `z = x or y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bool`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.logical_or([True, False], False).numpy()
    array([ True, False])
    """
def logical_xor(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Logical exclusive OR, elementwise: `z = x != y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bool`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.math.logical_xor([True, False], True).numpy()
    array([False,  True])
    """
def maximum(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The larger of two numbers: `z = max(x, y)`; at a tie the gradient goes to `x`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1 if x >= y else 0`, `∂z/∂y = 1 if not x >= y else 0`.

    >>> tf.maximum([1.0, 5.0], 3.0).numpy()
    array([3., 5.], dtype=float32)
    """
def minimum(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The smaller of two numbers: `z = min(x, y)`; at a tie the gradient goes to `x`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1 if x <= y else 0`, `∂z/∂y = 1 if not x <= y else 0`.

    >>> tf.minimum([1.0, 5.0], 3.0).numpy()
    array([1., 3.], dtype=float32)
    """
def mod(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The remainder of `floordiv`, which has the sign of `y`: `z = x - y * (x // y)`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1`, `∂z/∂y = -(x // y)`.

    >>> tf.math.floormod([7, -7], 3).numpy()
    array([1, 2], dtype=int32)
    """
def multiply(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes the product elementwise: `z = x * y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`, `bool` (TensorFlow does not take `bool`); `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = y`, `∂z/∂y = x`.

    >>> tf.multiply([1.0, 2.0], 3.0).numpy()
    array([3., 6.], dtype=float32)
    """
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The product, which is 0 where `y` is 0 even if `x` is infinite or NaN: `z = x * y if y != 0 else 0`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = y`, `∂z/∂y = x`.

    >>> tf.math.multiply_no_nan([float("inf"), 2.0], [0.0, 3.0]).numpy()
    array([0., 6.], dtype=float32)
    """
def ndtri(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The quantile function of the standard normal distribution: the `y` with `x = (1 + erf(y / sqrt(2))) / 2`.

    - Domain: `0 <= x <= 1` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = sqrt(2 * pi) * exp(0.5 * y**2)`, `inf` at `x = 0` and `x = 1`.

    >>> tf.math.ndtri([0.5, 0.975]).numpy()
    array([0.       , 1.9599644], dtype=float32)
    """
def negative(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes the negative elementwise: `y = -x`.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128` (TensorFlow does not take `uint8`, `uint16`, `uint32` and `uint64`); the result has that of `x`.
    - Derivative: `dy/dx = -1`.

    >>> tf.negative([1.0, -2.0]).numpy()
    array([-1.,  2.], dtype=float32)
    """
def not_equal(x: ValueLike, y: ValueLike, name: str | None = ...) -> Tensor:
    r"""Returns elementwise whether two values differ: `z = x != y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bool`, `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`, `string`; `x` and `y` have the same one; the result is `bool`.
    - Derivative: none; gradients are `None`.

    >>> tf.not_equal([1, 2], [1, 3]).numpy()
    array([False,  True])
    """
def polygamma(a: TensorLike, x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The derivative of order `a`, an integer, of `digamma` at `x`: `y = (-1)**(a + 1) * gamma(a + 1) * zeta(a + 1, x)` for `a > 0`.

    - Shape: `a` and `x` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64` (TensorFlow does not take `bfloat16` and `float16`); `a`, `x` and the result have the same one.
    - Derivative: `∂y/∂x = polygamma(a + 1, x)`, none for `a`.

    >>> tf.math.polygamma([0.0, 1.0], [2.0, 2.0]).numpy()
    array([0.42278433, 0.64493406], dtype=float32)
    """
def pow(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes powers elementwise: `z = x**y`.

    - Domain: `x >= 0 or y == floor(y)` for real numbers; elsewhere the result is NaN.
    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128` (TensorFlow does not take `uint8`, `uint16`, `uint32` and `uint64`); `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = y * x**(y - 1)`, `∂z/∂y = z * log(x if x > 0 else 1)`.

    >>> tf.pow([2.0, 3.0], [3.0, 2.0]).numpy()
    array([8., 9.], dtype=float32)
    """
def reciprocal(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes the reciprocal elementwise: `y = 1 / x`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = -y**2`, `-inf` at `x = 0`.

    >>> tf.math.reciprocal([2.0, 4.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
def rint(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Rounds to the nearest integer, and to the even one at a tie: `y = round(x)`. It has no gradient.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: none; gradients are `None`.

    >>> tf.math.rint([0.5, 1.5, 2.2]).numpy()
    array([0., 2., 2.], dtype=float32)
    """
def rsqrt(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The reciprocal of the square root: `y = 1 / sqrt(x)`.

    - Domain: `x >= 0` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = -0.5 * y**3`, `-inf` at `x = 0`.

    >>> tf.math.rsqrt([4.0, 16.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
def sigmoid(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The logistic function, without overflow for any `x`: `y = 1 / (1 + exp(-x))`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = y * (1 - y)`.

    >>> tf.sigmoid([0.0, 2.0]).numpy()
    array([0.5     , 0.880797], dtype=float32)
    """
def sign(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""-1, 0 or 1: `y = (x > 0) - (x < 0)`; for complex values `x / abs(x)`, and 0 at 0.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128` (TensorFlow does not take `uint8`, `uint16`, `uint32` and `uint64`); the result has that of `x`.
    - Derivative: `dy/dx = 0`.

    >>> tf.sign([-2.0, 0.0, 3.0]).numpy()
    array([-1.,  0.,  1.], dtype=float32)
    """
def sin(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The sine of an angle in radians: `y = sin(x)`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = cos(x)`.

    >>> tf.sin([0.0, 1.0]).numpy()
    array([0.      , 0.841471], dtype=float32)
    """
def sinh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The hyperbolic sine: `y = (exp(x) - exp(-x)) / 2`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = cosh(x)`.

    >>> tf.sinh([0.0, 1.0]).numpy()
    array([0.       , 1.1752012], dtype=float32)
    """
def softplus(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""A smooth `relu`, without overflow for any number: `y = log(1 + exp(features))`.

    - Shape: that of `features`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `features`.
    - Derivative: `dy/dfeatures = sigmoid(features)`.

    >>> tf.math.softplus([0.0, 200.0]).numpy()
    array([  0.6931472, 200.       ], dtype=float32)
    """
def softsign(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""A sigmoid-like function between -1 and 1: `y = features / (1 + abs(features))`.

    - Shape: that of `features`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `features`.
    - Derivative: `dy/dfeatures = 1 / (1 + abs(features))**2`.

    >>> tf.math.softsign([1.0, -3.0]).numpy()
    array([ 0.5 , -0.75], dtype=float32)
    """
def sqrt(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The square root of each element: `y = sqrt(x)`.

    - Domain: `x >= 0` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 0.5 / y`, `inf` at `x = 0`.

    >>> tf.sqrt([4.0, 9.0]).numpy()
    array([2., 3.], dtype=float32)
    """
def square(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The square of each element: `y = x * x`.

    - Shape: that of `x`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 2 * x`.

    >>> tf.square([2.0, -3.0]).numpy()
    array([4., 9.], dtype=float32)
    """
def subtract(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes the difference elementwise: `z = x - y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1`, `∂z/∂y = -1`.

    >>> tf.subtract([1.0, 2.0], 0.5).numpy()
    array([0.5, 1.5], dtype=float32)
    """
def tan(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The tangent of an angle in radians: `y = sin(x) / cos(x)`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 + y**2`.

    >>> tf.tan([0.0, 1.0]).numpy()
    array([0.       , 1.5574077], dtype=float32)
    """
def tanh(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The hyperbolic tangent: `y = sinh(x) / cosh(x)`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `x`.
    - Derivative: `dy/dx = 1 - y**2`.

    >>> tf.tanh([0.0, 1.0]).numpy()
    array([0.       , 0.7615942], dtype=float32)
    """
def truediv(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""Computes the quotient elementwise: `z = x / y`; integers are divided as floats.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one, but `int8`, `int16`, `uint8` and `uint16` give `float32` and `int32`, `int64`, `uint32` and `uint64` give `float64`.
    - Derivative: `∂z/∂x = 1 / y`, `∂z/∂y = -z / y`.

    >>> tf.truediv(7, 2).numpy()
    np.float64(3.5)
    """
def xdivy(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`z = x / y`, and 0 where `x` is 0.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1 / y if x != 0 else 0`, `∂z/∂y = xdivy(-z, y)`.

    >>> tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
def xlog1py(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`z = x * log(1 + y)`, accurate for small `y`, and 0 where `x` is 0.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = log1p(y) if x != 0 else 0`, `∂z/∂y = xdivy(x, y + 1)`.

    >>> tf.math.xlog1py([0.0, 2.0], [-1.0, 0.5]).numpy().round(4)
    array([0.    , 0.8109], dtype=float32)
    """
def xlogy(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""`z = x * log(y)`, and 0 where `x` is 0.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = log(y) if x != 0 else 0`, `∂z/∂y = xdivy(x, y)`.

    >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.5]).numpy()
    array([0.       , 0.8109302], dtype=float32)
    """
def zeta(x: TensorLike, q: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Hurwitz zeta function: `y = Σ_{n=0}^∞ (q + n)**-x` for `x > 1`.

    - Shape: `x` and `q` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64` (TensorFlow does not take `bfloat16` and `float16`); `x`, `q` and the result have the same one.
    - Derivative: `∂y/∂q = -x * zeta(x + 1, q)`, none for `x`.

    >>> tf.math.zeta([2.0], [1.0]).numpy()
    array([1.644934], dtype=float32)
    """
