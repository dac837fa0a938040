"""`tensorflow.compiler.tf2xla.python.xla`: XLA's ops as functions of tensors."""

from __future__ import annotations

from typing import Any

import gradtape


def _starts(start_indices: Any, shape: Any, sizes: Any) -> Any:
    """Returns the first indices of a slice, moved as far as the slice needs to be inside of the array."""
    starts = gradtape.convert_to_tensor(start_indices)
    return gradtape.clip_by_value(starts, 0, gradtape.cast(shape, starts.dtype) - gradtape.cast(sizes, starts.dtype))


def dynamic_slice(x: Any, starts: Any, sizes: Any, name: str | None = None) -> Any:
    """Returns a slice whose first indices are a tensor; a slice that would exceed the array is moved inside."""
    x = gradtape.convert_to_tensor(x)
    return gradtape.slice(x, _starts(starts, gradtape.shape(x), sizes), sizes)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any, name: str | None = None) -> Any:
    """Returns the array with a slice replaced; a slice that would exceed the array is moved inside."""
    operand, update = gradtape.convert_to_tensor(operand), gradtape.convert_to_tensor(update)
    shape, sizes = gradtape.shape(operand), gradtape.shape(update)
    starts = gradtape.cast(_starts(start_indices, shape, sizes), gradtape.int32)
    padding = gradtape.stack([starts, shape - starts - sizes], axis=1)
    inside = gradtape.pad(gradtape.ones_like(update, dtype=gradtape.int32), padding) > 0
    return gradtape.where(inside, gradtape.pad(update, padding), operand)
