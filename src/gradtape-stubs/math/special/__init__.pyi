# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
def bessel_i0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the first kind of order 0: `y = 1 / pi * ∫_0^pi exp(x * cos(t)) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = bessel_i1(x)`.

    >>> tf.math.bessel_i0([0.0, 1.0]).numpy()
    array([1.       , 1.2660658], dtype=float32)
    """
def bessel_i0e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponentially scaled `bessel_i0`, which does not overflow: `y = exp(-abs(x)) * bessel_i0(x)`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = bessel_i1e(x) - sign(x) * y`, `0` at `x = 0`.

    >>> tf.math.bessel_i0e([0.0, 1.0]).numpy()
    array([1.       , 0.4657596], dtype=float32)
    """
def bessel_i1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the first kind of order 1: `y = 1 / pi * ∫_0^pi exp(x * cos(t)) * cos(t) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = bessel_i0(x) - y / x`, `0.5` at `x = 0`.

    >>> tf.math.bessel_i1([0.0, 1.0]).numpy()
    array([0.       , 0.5651591], dtype=float32)
    """
def bessel_i1e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponentially scaled `bessel_i1`, which does not overflow: `y = exp(-abs(x)) * bessel_i1(x)`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = bessel_i0e(x) - (sign(x) + 1 / x) * y`, `0.5` at `x = 0`.

    >>> tf.math.bessel_i1e([0.0, 1.0]).numpy()
    array([0.        , 0.20791042], dtype=float32)
    """
def bessel_j0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the first kind of order 0: `y = 1 / pi * ∫_0^pi cos(x * sin(t)) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = -bessel_j1(x)`.

    >>> tf.math.special.bessel_j0([0.0, 1.0]).numpy()
    array([1.       , 0.7651977], dtype=float32)
    """
def bessel_j1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the first kind of order 1: `y = 1 / pi * ∫_0^pi cos(t - x * sin(t)) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = bessel_j0(x) - y / x`, `0.5` at `x = 0`.

    >>> tf.math.special.bessel_j1([0.0, 1.0]).numpy()
    array([0.        , 0.44005057], dtype=float32)
    """
def bessel_k0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the second kind of order 0: `y = ∫_0^∞ exp(-x * cosh(t)) dt` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = -bessel_k1(x)`.

    >>> tf.math.special.bessel_k0([0.5, 1.0]).numpy()
    array([0.92441905, 0.42102444], dtype=float32)
    """
def bessel_k0e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponentially scaled `bessel_k0`, which does not underflow: `y = exp(x) * bessel_k0(x)` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = y - bessel_k1e(x)`.

    >>> tf.math.special.bessel_k0e([0.5, 1.0]).numpy()
    array([1.5241094, 1.1444631], dtype=float32)
    """
def bessel_k1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the second kind of order 1: `y = ∫_0^∞ exp(-x * cosh(t)) * cosh(t) dt` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = -bessel_k0(x) - y / x`.

    >>> tf.math.special.bessel_k1([0.5, 1.0]).numpy()
    array([1.6564411 , 0.60190725], dtype=float32)
    """
def bessel_k1e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponentially scaled `bessel_k1`, which does not underflow: `y = exp(x) * bessel_k1(x)` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = y * (1 - 1 / x) - bessel_k0e(x)`.

    >>> tf.math.special.bessel_k1e([0.5, 1.0]).numpy()
    array([2.7310097, 1.6361535], dtype=float32)
    """
def bessel_y0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the second kind of order 0: `y = 1 / pi * ∫_0^pi sin(x * sin(t)) dt - 2 / pi * ∫_0^∞ exp(-x * sinh(t)) dt` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = -bessel_y1(x)`.

    >>> tf.math.special.bessel_y0([0.5, 1.0]).numpy()
    array([-0.44451874,  0.08825696], dtype=float32)
    """
def bessel_y1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the second kind of order 1: `y = 1 / pi * ∫_0^pi sin(x * sin(t) - t) dt - 2 / pi * ∫_0^∞ sinh(t) * exp(-x * sinh(t)) dt` for `x > 0`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = bessel_y0(x) - y / x`.

    >>> tf.math.special.bessel_y1([0.5, 1.0]).numpy()
    array([-1.4714724, -0.7812128], dtype=float32)
    """
def dawsn(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Dawson's integral: `y = exp(-x**2) * ∫_0^x exp(t**2) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = 1 - 2 * x * y`.

    >>> tf.math.special.dawsn([0.5, 1.0]).numpy()
    array([0.4244364, 0.5380795], dtype=float32)
    """
def expint(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponential integral: `y = ∫_-∞^x exp(t) / t dt`, for `x > 0` its principal value.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = exp(x) / x`.

    >>> tf.math.special.expint([0.5, 1.0]).numpy()
    array([0.4542199, 1.8951178], dtype=float32)
    """
def fresnel_cos(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Fresnel's cosine integral: `y = ∫_0^x cos(pi / 2 * t**2) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = cos(pi / 2 * x**2)`.

    >>> tf.math.special.fresnel_cos([0.5, 1.0]).numpy()
    array([0.49234423, 0.7798934 ], dtype=float32)
    """
def fresnel_sin(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Fresnel's sine integral: `y = ∫_0^x sin(pi / 2 * t**2) dt`.

    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = sin(pi / 2 * x**2)`.

    >>> tf.math.special.fresnel_sin([0.5, 1.0]).numpy()
    array([0.06473243, 0.43825915], dtype=float32)
    """
def spence(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Spence's function, the dilogarithm of `1 - x`: `y = ∫_1^x log(t) / (1 - t) dt`.

    - Domain: `x >= 0` for real numbers; elsewhere the result is NaN.
    - Shape: that of `x`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `x`.
    - Derivative: `dy/dx = log(x) / (1 - x)`, `-1` at `x = 1`.

    >>> tf.math.special.spence([0.5, 1.0]).numpy()
    array([0.5822405, 0.       ], dtype=float32)
    """
