"""The distributions, given a state: what the stateless functions, the global draws and the generators share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.tensor import Tensor, placed
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from .arguments import bounds

_FLOATS = ("float16", "bfloat16", "float32", "float64")


def check_float(dtype: DType) -> None:
    """Raises unless `dtype` is one that normal and uniform numbers come in."""
    if dtype.name not in _FLOATS:
        raise errors.InvalidArgumentError(
            f"Value for attr 'dtype' of {dtype.kernel_name()} is not in the list of allowed values: half, bfloat16, "
            "float, double"
        )


def normal(
    draw: Any, state: Callable[[], Tensor], dims: tuple[int, ...], mean: Any, stddev: Any, dtype: DType
) -> Tensor:
    """What the op `draw` gives for a mean of 0 and a deviation of 1, moved to these.

    For Python's 0.0 and 1.0 it is used as it comes. A bad argument takes nothing from the state.
    """
    standard = type(mean) is type(stddev) is float and mean == 0.0 and stddev == 1.0 and dtype.is_floating
    location, scale = (mean, stddev) if standard else (to_tensor(x, dtype=dtype) for x in (mean, stddev))
    check_float(dtype)
    numbers = placed(draw(state(), shape=dims, dtype=dtype))
    return numbers if standard else numbers * scale + location


def uniform_float(state: Tensor, dims: tuple[int, ...], low: Any, high: Any, dtype: DType) -> Tensor:
    """Numbers in [low, high); for a range from 0 to 1 they are used as they come."""
    check_float(dtype)
    numbers = placed(ops.random_uniform(state, shape=dims, dtype=dtype))
    if type(low) is int and type(high) is int and low == 0 and high == 1:
        return numbers
    first, last = bounds(low, high, dtype)
    return numbers * (last - first) + first


def uniform_int(state: Tensor, dims: tuple[int, ...], low: Any, high: Any, dtype: DType) -> Tensor:
    """Integers in [low, high), or of the whole range of the dtype when there are no bounds."""
    if low is None:
        return ops.random_uniform_full_int(state, shape=dims, dtype=dtype)
    if 0 in dims:  # no number is drawn, and there need be none between the bounds
        return Tensor(np.zeros(dims, dtype.numpy), dtype)
    first, last = bounds(low, high, dtype)
    return ops.random_uniform_int(state, first, last, shape=dims, dtype=dtype)


def check_both_bounds(low: Any, high: Any, dtype: DType) -> None:
    """Integers are drawn between two bounds or none."""
    if (low is None) != (high is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype!r}, argument `minval` and `maxval` must be both None or not None. "
            f"Got `minval`={low} and `maxval`={high}."
        )


def gamma(state: Tensor, dims: tuple[int, ...], alpha: Tensor, beta: Tensor) -> Tensor:
    """Gamma numbers of the whole shape `dims`, never exactly zero."""
    _check_ends_with(dims, alpha.dims)
    tiny = np.finfo(alpha.dtype.numpy).tiny
    return ops.maximum(to_tensor(tiny, dtype=alpha.dtype), ops.random_gamma(state, alpha, shape=dims) / beta)


def gamma_parameters(alpha: Any, beta: Any, dtype: Any) -> tuple[Tensor, Tensor]:
    """Both parameters as tensors, `alpha` in the shape of both."""
    kind = dtypes.as_dtype(dtype)
    if kind.name not in ("float16", "float32", "float64"):
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {kind.kernel_name()} is not in the list of allowed values: half, float, double"
        )
    first, second = to_tensor(alpha, dtype=kind), to_tensor(1 if beta is None else beta, dtype=kind)
    return ops.broadcast_to(first, shape=np.broadcast_shapes(first.dims, second.dims)), second


def poisson(state: Tensor, dims: tuple[int, ...], lam: Tensor, dtype: DType) -> Tensor:
    """Poisson numbers of the whole shape `dims`."""
    _check_ends_with(dims, lam.dims)
    return ops.random_poisson(state, lam, shape=dims, dtype=dtype)


def binomial(state: Tensor, dims: tuple[int, ...], counts: Tensor, probs: Tensor, dtype: DType) -> Tensor:
    """Binomial numbers of the whole shape `dims`."""
    _check_ends_with(dims, np.broadcast_shapes(counts.dims, probs.dims))
    return ops.random_binomial(state, counts, probs, shape=dims, dtype=dtype)


def categorical(state: Tensor, logits: Tensor, count: int, dtype: DType) -> Tensor:
    """Classes drawn for each row of `logits`."""
    if len(logits.dims) != 2:
        raise errors.InvalidArgumentError(f"logits should be a matrix, got shape {list(logits.dims)}")
    if count < 0:
        raise errors.InvalidArgumentError(f"num_samples should be nonnegative, got {count}")
    if logits.dims[0] and not logits.dims[1]:
        raise errors.InvalidArgumentError("num_classes should be positive, got 0")
    return ops.random_categorical(state, logits, count=count, dtype=dtype)


def class_dtype(dtype: Any) -> DType:
    """The dtype classes are counted in."""
    found = dtypes.as_dtype(dtype) if dtype else dtypes.int64
    if found not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Argument `dtype` got invalid value {found!r}. Accepted dtypes are (tf.int32, tf.int64).")
    return found


def _check_ends_with(dims: tuple[int, ...], inner: tuple[int, ...]) -> None:
    if dims[len(dims) - len(inner) :] != inner or len(inner) > len(dims):
        raise errors.InvalidArgumentError(
            f"Shape passed in must end with broadcasted shape: got {list(dims)} for parameters of shape {list(inner)}"
        )
