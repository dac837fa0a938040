# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
def bessel_i0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the first kind of order 0.

    >>> tf.math.bessel_i0([0.0, 1.0]).numpy()
    array([1.       , 1.2660658], dtype=float32)
    """
def bessel_i0e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`exp(-abs(x)) * bessel_i0(x)`.

    >>> tf.math.bessel_i0e([0.0, 1.0]).numpy()
    array([1.       , 0.4657596], dtype=float32)
    """
def bessel_i1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the first kind of order 1.

    >>> tf.math.bessel_i1([0.0, 1.0]).numpy()
    array([0.       , 0.5651591], dtype=float32)
    """
def bessel_i1e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`exp(-abs(x)) * bessel_i1(x)`.

    >>> tf.math.bessel_i1e([0.0, 1.0]).numpy()
    array([0.        , 0.20791042], dtype=float32)
    """
def bessel_j0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the first kind of order 0.

    >>> tf.math.special.bessel_j0([0.0, 1.0]).numpy()
    array([1.       , 0.7651977], dtype=float32)
    """
def bessel_j1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the first kind of order 1.

    >>> tf.math.special.bessel_j1([0.0, 1.0]).numpy()
    array([0.        , 0.44005057], dtype=float32)
    """
def bessel_k0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the second kind of order 0.

    >>> tf.math.special.bessel_k0([0.5, 1.0]).numpy()
    array([0.92441905, 0.42102444], dtype=float32)
    """
def bessel_k0e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`exp(x) * bessel_k0(x)`.

    >>> tf.math.special.bessel_k0e([0.5, 1.0]).numpy()
    array([1.5241094, 1.1444631], dtype=float32)
    """
def bessel_k1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The modified Bessel function of the second kind of order 1.

    >>> tf.math.special.bessel_k1([0.5, 1.0]).numpy()
    array([1.6564411 , 0.60190725], dtype=float32)
    """
def bessel_k1e(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""`exp(x) * bessel_k1(x)`.

    >>> tf.math.special.bessel_k1e([0.5, 1.0]).numpy()
    array([2.7310097, 1.6361535], dtype=float32)
    """
def bessel_y0(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the second kind of order 0.

    >>> tf.math.special.bessel_y0([0.5, 1.0]).numpy()
    array([-0.44451874,  0.08825696], dtype=float32)
    """
def bessel_y1(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The Bessel function of the second kind of order 1.

    >>> tf.math.special.bessel_y1([0.5, 1.0]).numpy()
    array([-1.4714724, -0.7812128], dtype=float32)
    """
def dawsn(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Dawson's integral: `exp(-x**2)` times the integral of `exp(t**2)` from 0 to `x`.

    >>> tf.math.special.dawsn([0.5, 1.0]).numpy()
    array([0.4244364, 0.5380795], dtype=float32)
    """
def expint(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponential integral: the integral of `exp(t) / t` up to `x`.

    >>> tf.math.special.expint([0.5, 1.0]).numpy()
    array([0.4542199, 1.8951178], dtype=float32)
    """
def fresnel_cos(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The integral of `cos(π t**2 / 2)` from 0 to `x`.

    >>> tf.math.special.fresnel_cos([0.5, 1.0]).numpy()
    array([0.49234423, 0.7798934 ], dtype=float32)
    """
def fresnel_sin(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""The integral of `sin(π t**2 / 2)` from 0 to `x`.

    >>> tf.math.special.fresnel_sin([0.5, 1.0]).numpy()
    array([0.06473243, 0.43825915], dtype=float32)
    """
def spence(x: TensorLike, name: str | None = ...) -> Tensor:
    r"""Spence's function: the integral of `log(t) / (1 - t)` from 1 to `x`.

    >>> tf.math.special.spence([0.5, 1.0]).numpy()
    array([0.5822405, 0.       ], dtype=float32)
    """
