"""Special functions that are more than one op."""

from __future__ import annotations

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, TensorLike
from ...engine.run.convert import integer, to_tensor
from ...engine.run.namespace import ops

NAMESPACES = ("math.special", "math")
__all__ = ["lbeta", "sobol_sample"]


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the beta function of the values along the last axis.

    >>> tf.math.lbeta([[1.0, 2.0], [3.0, 4.0]]).numpy()
    array([-0.6931472, -4.0943446], dtype=float32)
    """
    x = to_tensor(x)
    if not x.dims:
        raise InvalidArgumentError("lbeta sums along the last axis (-1), and its argument is a scalar")
    last = (len(x.dims) - 1,)
    return ops.sum(ops.lgamma(x), axis=last, keepdims=False) - ops.lgamma(ops.sum(x, axis=last, keepdims=False))


def sobol_sample(
    dim: TensorLike, num_results: TensorLike, skip: TensorLike = 0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns points of the Sobol sequence in `dim` dimensions, one per row, after skipping the first `skip`.

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
