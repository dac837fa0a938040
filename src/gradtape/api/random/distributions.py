"""The distributions, given a state: what the stateless functions, the global draws and the generators share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...dtypes import DType
from ...engine.convert import to_tensor
from ...engine.op import ops
from ...tensor import Tensor
from .arguments import bounds

_FLOATS = ("float16", "bfloat16", "float32", "float64")


def check_float(dtype: DType) -> None:
    """Raises unless `dtype` is one that normal and uniform numbers come in."""
    if dtype.name not in _FLOATS:
        raise errors.InvalidArgumentError(
            f"Value for attr 'dtype' of {dtype.kernel_name()} is not in the list of allowed values: half, bfloat16, "
            "float, double"
        )


def scaled(numbers: Any, scale: Any, offset: Any, dtype: DType) -> Tensor:
    """`numbers * scale + offset`, where nothing is computed for a scale of 1 and an offset of 0."""
    if type(scale) is not Tensor and type(offset) is not Tensor and scale == 1 and offset == 0:
        return numbers
    return numbers * scale + offset


def location_and_scale(mean: Any, stddev: Any, dtype: DType) -> tuple[Any, Any]:
    """The parameters of a normal distribution, checked; Python's 0.0 and 1.0 stay as they are."""
    if type(mean) is float and type(stddev) is float and mean == 0.0 and stddev == 1.0 and dtype.is_floating:
        check_float(dtype)
        return mean, stddev
    location, scale = to_tensor(mean, dtype=dtype), to_tensor(stddev, dtype=dtype)
    check_float(dtype)
    return location, scale


def uniform_float(state: Tensor, dims: tuple[int, ...], low: Any, high: Any, dtype: DType) -> Tensor:
    """Numbers in [low, high); for a range from 0 to 1 they are used as they come."""
    check_float(dtype)
    numbers = ops.random_uniform(state, shape=dims, dtype=dtype)
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
