"""Distributions given a state, shared by stateless functions, global draws and generators."""

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
    """Raises an error unless `dtype` is supported for normal and uniform numbers."""
    if dtype.name not in _FLOATS:
        raise errors.InvalidArgumentError(
            f"Value for attr 'dtype' of {dtype.kernel_name()} is not in the list of allowed values: half, bfloat16, "
            "float, double"
        )


def normal(
    draw: Any, state: Callable[[], Tensor], dims: tuple[int, ...], mean: Any, stddev: Any, dtype: DType
) -> Tensor:
    """Scales the standard normal numbers of the op `draw` to a mean and a standard deviation.

    Python's 0.0 and 1.0 leave them unscaled. An invalid argument does not advance the state.
    """
    standard = type(mean) is type(stddev) is float and mean == 0.0 and stddev == 1.0 and dtype.is_floating
    location, scale = (mean, stddev) if standard else (to_tensor(x, dtype=dtype) for x in (mean, stddev))
    check_float(dtype)
    numbers = placed(draw(state(), shape=dims, dtype=dtype))
    return numbers if standard else numbers * scale + location


def uniform_float(state: Tensor, dims: tuple[int, ...], low: Any, high: Any, dtype: DType) -> Tensor:
    """Returns numbers in [low, high), unscaled for the range from 0 to 1."""
    check_float(dtype)
    numbers = placed(ops.random_uniform(state, shape=dims, dtype=dtype))
    if type(low) is int and type(high) is int and low == 0 and high == 1:
        return numbers
    first, last = bounds(low, high, dtype)
    return numbers * (last - first) + first


def uniform_int(state: Tensor, dims: tuple[int, ...], low: Any, high: Any, dtype: DType) -> Tensor:
    """Returns integers in [low, high), or in the whole range of the dtype without bounds."""
    if low is None:
        return ops.random_uniform_full_int(state, shape=dims, dtype=dtype)
    if 0 in dims:  # no number is drawn, so the range may be empty
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
    """Returns gamma numbers of the complete shape `dims`, never exactly zero."""
    _check_ends_with(dims, alpha.dims)
    tiny = np.finfo(alpha.dtype.numpy).tiny
    return ops.maximum(to_tensor(tiny, dtype=alpha.dtype), ops.random_gamma(state, alpha, shape=dims) / beta)


def gamma_parameters(alpha: Any, beta: Any, dtype: Any) -> tuple[Tensor, Tensor]:
    """Returns both parameters as tensors, with `alpha` broadcast to their common shape."""
    kind = dtypes.as_dtype(dtype)
    if kind.name not in ("float16", "float32", "float64"):
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {kind.kernel_name()} is not in the list of allowed values: half, float, double"
        )
    first, second = to_tensor(alpha, dtype=kind), to_tensor(1 if beta is None else beta, dtype=kind)
    return ops.broadcast_to(first, shape=np.broadcast_shapes(first.dims, second.dims)), second


def poisson(state: Tensor, dims: tuple[int, ...], lam: Tensor, dtype: DType) -> Tensor:
    """Returns Poisson numbers of the complete shape `dims`."""
    _check_ends_with(dims, lam.dims)
    return ops.random_poisson(state, lam, shape=dims, dtype=dtype)


def binomial(state: Tensor, dims: tuple[int, ...], counts: Tensor, probs: Tensor, dtype: DType) -> Tensor:
    """Returns binomial numbers of the complete shape `dims`."""
    _check_ends_with(dims, np.broadcast_shapes(counts.dims, probs.dims))
    return ops.random_binomial(state, counts, probs, shape=dims, dtype=dtype)


def categorical(state: Tensor, logits: Tensor, count: int, dtype: DType) -> Tensor:
    """Draws classes for each row of `logits`."""
    if len(logits.dims) != 2:
        raise errors.InvalidArgumentError(f"logits should be a matrix, got shape {list(logits.dims)}")
    if count < 0:
        raise errors.InvalidArgumentError(f"num_samples should be nonnegative, got {count}")
    if logits.dims[0] and not logits.dims[1]:
        raise errors.InvalidArgumentError("num_classes should be positive, got 0")
    return ops.random_categorical(state, logits, count=count, dtype=dtype)


def class_dtype(dtype: Any) -> DType:
    """Returns the dtype of class indices."""
    found = dtypes.as_dtype(dtype) if dtype else dtypes.int64
    if found not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Argument `dtype` got invalid value {found!r}. Accepted dtypes are (tf.int32, tf.int64).")
    return found


def _check_ends_with(dims: tuple[int, ...], inner: tuple[int, ...]) -> None:
    if dims[len(dims) - len(inner) :] != inner or len(inner) > len(dims):
        raise errors.InvalidArgumentError(
            f"Shape passed in must end with broadcasted shape: got {list(dims)} for parameters of shape {list(inner)}"
        )
