"""Converts the results of a sweep to what the caller gets: tensors and `IndexedSlices` instead of bare arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.arrays import ArrayModule
from ...core import dtypes
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..registry.cotangents import PendingSum
from ..registry.devices import on_device, rounded
from .validation import Differentiable, zeros_like

OptionalGradient = Tensor | IndexedSlices | None  # None: there is no path


def as_gradient(g: Any, source: Differentiable, plain: bool) -> OptionalGradient:
    """Converts a cotangent of `source` to the gradient that the caller gets; `plain` means that it is a bare array."""
    if isinstance(g, Tensor):
        return g
    if g is None:
        return zeros_like(source) if not source.dtype.differentiable else None
    if isinstance(g, PendingSum):
        g = g.value()
    if type(g) is IndexedSlices:
        values, indices = (Tensor(g.values), Tensor(g.indices)) if plain else (g.values, g.indices)
        return IndexedSlices(values, indices, Tensor(np.array(source.dims, np.int32)))
    return Tensor(g) if plain else g


def as_tensors(module: ArrayModule, g: Any, dtype: dtypes.DType) -> Any:
    """Wraps the bare device arrays of a cotangent in device tensors; `dtype` is that of its source."""
    if type(g) is IndexedSlices:
        indices = as_tensors(module, g.indices, dtypes.int32)
        return IndexedSlices(as_tensors(module, g.values, dtype), indices, g.dense_shape)
    if g is None or isinstance(g, Tensor):
        return g
    if isinstance(g, PendingSum):
        g = g.value()
    g = rounded(module, g, dtype) if dtype.narrow else g
    known = module.dtypes.get(g.dtype)
    return on_device(module, g, dtypes.of_numpy(module.numpy_dtype(g)) if known is None else known)
