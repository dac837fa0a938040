"""Special functions."""

from __future__ import annotations

from typing import Any

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...engine.run.convert import integer, to_tensor
from ...engine.run.namespace import ops
from ...ops.elementwise import special as functions

NAMESPACES = ("math.special", "math")
__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "betainc", "dawsn", "digamma", "erf", "erfc",
    "erfcinv", "erfinv", "expint", "fresnel_cos", "fresnel_sin", "igamma", "igammac", "lbeta", "lgamma",
    "ndtri", "polygamma", "sobol_sample", "spence", "zeta",
]  # fmt: skip


def erf(x: Any, name: str | None = None) -> Tensor:
    """The error function.

    >>> import gradtape as tf
    >>> tf.math.erf([0.0, 1.0]).numpy()
    array([0.       , 0.8427008], dtype=float32)
    """
    return functions.erf.call(x)


def erfc(x: Any, name: str | None = None) -> Tensor:
    """`1 - erf(x)`, accurate for large `x`.

    >>> import gradtape as tf
    >>> tf.math.erfc([0.0, 1.0]).numpy()
    array([1.       , 0.1572992], dtype=float32)
    """
    return functions.erfc.call(x)


def erfinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the error function.

    >>> import gradtape as tf
    >>> tf.math.erfinv([0.0, 0.5]).numpy()
    array([0.        , 0.47693628], dtype=float32)
    """
    return functions.erfinv.call(x)


def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the complementary error function.

    >>> import gradtape as tf
    >>> tf.math.erfcinv([1.0, 0.5]).numpy()
    array([-0.        ,  0.47693628], dtype=float32)
    """
    return functions.erfcinv.call(x)


def ndtri(x: Any, name: str | None = None) -> Tensor:
    """The quantile function of the standard normal distribution.

    >>> import gradtape as tf
    >>> tf.math.ndtri([0.5, 0.975]).numpy()
    array([0.       , 1.9599644], dtype=float32)
    """
    return functions.ndtri.call(x)


def lgamma(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    >>> import gradtape as tf
    >>> tf.math.lgamma([1.0, 5.0]).numpy()
    array([0.       , 3.1780539], dtype=float32)
    """
    return functions.lgamma.call(x)


def digamma(x: Any, name: str | None = None) -> Tensor:
    """The derivative of `lgamma`.

    >>> import gradtape as tf
    >>> tf.math.digamma([1.0, 5.0]).numpy()
    array([-0.5772157,  1.5061177], dtype=float32)
    """
    return functions.digamma.call(x)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative of order `a`, an integer, of `digamma` at `x`.

    >>> import gradtape as tf
    >>> tf.math.polygamma([0.0, 1.0], [2.0, 2.0]).numpy()
    array([0.42278433, 0.64493406], dtype=float32)
    """
    return functions.polygamma.call(a, x)


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of `(q + n)**-x` over n = 0, 1, ...

    >>> import gradtape as tf
    >>> tf.math.zeta([2.0], [1.0]).numpy()
    array([1.644934], dtype=float32)
    """
    return functions.zeta.call(x, q)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the beta function of the values along the last axis.

    >>> import gradtape as tf
    >>> tf.math.lbeta([[1.0, 2.0], [3.0, 4.0]]).numpy()
    array([-0.6931472, -4.0943446], dtype=float32)
    """
    x = to_tensor(x)
    if not x.dims:
        raise InvalidArgumentError("lbeta sums along the last axis (-1), and its argument is a scalar")
    last = (len(x.dims) - 1,)
    return ops.sum(ops.lgamma(x), axis=last, keepdims=False) - ops.lgamma(ops.sum(x, axis=last, keepdims=False))


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower regularized incomplete gamma function.

    >>> import gradtape as tf
    >>> tf.math.igamma([1.0, 2.0], [1.0, 1.0]).numpy()
    array([0.63212055, 0.26424113], dtype=float32)
    """
    return functions.igamma.call(a, x)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The upper regularized incomplete gamma function: `1 - igamma(a, x)`.

    >>> import gradtape as tf
    >>> tf.math.igammac([1.0, 2.0], [1.0, 1.0]).numpy()
    array([0.36787945, 0.7357589 ], dtype=float32)
    """
    return functions.igammac.call(a, x)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularized incomplete beta function. It has a gradient with respect to `x` only.

    >>> import gradtape as tf
    >>> tf.math.betainc([1.0, 2.0], [1.0, 2.0], 0.25).numpy()
    array([0.25   , 0.15625], dtype=float32)
    """
    return functions.betainc.call(a, b, x)


def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """Returns points of the Sobol sequence in `dim` dimensions, one per row, after skipping the first `skip`.

    >>> import gradtape as tf
    >>> tf.math.sobol_sample(2, 3).numpy()
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    from scipy.stats import qmc  # type: ignore[import-untyped]

    dim, num_results, skip = integer(dim, "dim"), integer(num_results, "num_results"), integer(skip, "skip")
    if dim < 1:
        raise InvalidArgumentError(f"dim must be at least one, got {dim} [Op:SobolSample]")
    for what, size in (("num_results*dim", num_results * dim), ("num_results+skip", num_results + skip)):
        if size >= 2147483647:
            raise InvalidArgumentError(f"{what} must be less than 2147483647, got {size} [Op:SobolSample]")
    sequence = qmc.Sobol(dim, scramble=False).fast_forward(skip + 1)  # the first point of the sequence is the origin
    return Tensor(sequence.random(num_results).astype(dtypes.as_dtype(dtype).numpy))


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0.

    >>> import gradtape as tf
    >>> tf.math.bessel_i0([0.0, 1.0]).numpy()
    array([1.       , 1.2660658], dtype=float32)
    """
    return functions.bessel_i0.call(x)


def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    """`exp(-abs(x)) * bessel_i0(x)`.

    >>> import gradtape as tf
    >>> tf.math.bessel_i0e([0.0, 1.0]).numpy()
    array([1.       , 0.4657596], dtype=float32)
    """
    return functions.bessel_i0e.call(x)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    >>> import gradtape as tf
    >>> tf.math.bessel_i1([0.0, 1.0]).numpy()
    array([0.       , 0.5651591], dtype=float32)
    """
    return functions.bessel_i1.call(x)


def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    """`exp(-abs(x)) * bessel_i1(x)`.

    >>> import gradtape as tf
    >>> tf.math.bessel_i1e([0.0, 1.0]).numpy()
    array([0.        , 0.20791042], dtype=float32)
    """
    return functions.bessel_i1e.call(x)


def bessel_j0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_j0([0.0, 1.0]).numpy()
    array([1.       , 0.7651977], dtype=float32)
    """
    return functions.bessel_j0.call(x)


def bessel_j1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_j1([0.0, 1.0]).numpy()
    array([0.        , 0.44005057], dtype=float32)
    """
    return functions.bessel_j1.call(x)


def bessel_k0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_k0([0.5, 1.0]).numpy()
    array([0.92441905, 0.42102444], dtype=float32)
    """
    return functions.bessel_k0.call(x)


def bessel_k0e(x: Any, name: str | None = None) -> Tensor:
    """`exp(x) * bessel_k0(x)`.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_k0e([0.5, 1.0]).numpy()
    array([1.5241094, 1.1444631], dtype=float32)
    """
    return functions.bessel_k0e.call(x)


def bessel_k1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_k1([0.5, 1.0]).numpy()
    array([1.6564411 , 0.60190725], dtype=float32)
    """
    return functions.bessel_k1.call(x)


def bessel_k1e(x: Any, name: str | None = None) -> Tensor:
    """`exp(x) * bessel_k1(x)`.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_k1e([0.5, 1.0]).numpy()
    array([2.7310097, 1.6361535], dtype=float32)
    """
    return functions.bessel_k1e.call(x)


def bessel_y0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_y0([0.5, 1.0]).numpy()
    array([-0.44451874,  0.08825696], dtype=float32)
    """
    return functions.bessel_y0.call(x)


def bessel_y1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1.

    >>> import gradtape as tf
    >>> tf.math.special.bessel_y1([0.5, 1.0]).numpy()
    array([-1.4714724, -0.7812128], dtype=float32)
    """
    return functions.bessel_y1.call(x)


def dawsn(x: Any, name: str | None = None) -> Tensor:
    """Dawson's integral: `exp(-x**2)` times the integral of `exp(t**2)` from 0 to `x`.

    >>> import gradtape as tf
    >>> tf.math.special.dawsn([0.5, 1.0]).numpy()
    array([0.4244364, 0.5380795], dtype=float32)
    """
    return functions.dawsn.call(x)


def expint(x: Any, name: str | None = None) -> Tensor:
    """The exponential integral: the integral of `exp(t) / t` up to `x`.

    >>> import gradtape as tf
    >>> tf.math.special.expint([0.5, 1.0]).numpy()
    array([0.4542199, 1.8951178], dtype=float32)
    """
    return functions.expint.call(x)


def fresnel_cos(x: Any, name: str | None = None) -> Tensor:
    """The integral of `cos(π t**2 / 2)` from 0 to `x`.

    >>> import gradtape as tf
    >>> tf.math.special.fresnel_cos([0.5, 1.0]).numpy()
    array([0.49234423, 0.7798934 ], dtype=float32)
    """
    return functions.fresnel_cos.call(x)


def fresnel_sin(x: Any, name: str | None = None) -> Tensor:
    """The integral of `sin(π t**2 / 2)` from 0 to `x`.

    >>> import gradtape as tf
    >>> tf.math.special.fresnel_sin([0.5, 1.0]).numpy()
    array([0.06473243, 0.43825915], dtype=float32)
    """
    return functions.fresnel_sin.call(x)


def spence(x: Any, name: str | None = None) -> Tensor:
    """Spence's function: the integral of `log(t) / (1 - t)` from 1 to `x`.

    >>> import gradtape as tf
    >>> tf.math.special.spence([0.5, 1.0]).numpy()
    array([0.5822405, 0.       ], dtype=float32)
    """
    return functions.spence.call(x)
