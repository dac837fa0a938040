"""Indices of rows on a device, where PyTorch does not check them: one out of range would end the use of a GPU.

A check there takes several launches. It is left out where it is known to pass: a tensor of integers that came from the
host has a note of its highest index, and so have tensors whose elements are moved from such a one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}


def note_highest(indices: Any, array: np.ndarray[Any, Any]) -> Any:
    """Returns `indices`, a copy of `array` on a device, with a note of the highest one if they are integers."""
    unsigned = _UNSIGNED.get(array.dtype)
    if unsigned is not None and array.size and not indices.is_inference():
        # Viewed as unsigned, a negative index is huge, so that one number stands for both kinds.
        indices.highest_index = int(np.maximum.reduce(array.view(unsigned), axis=None))
    return indices


def keep_highest(indices: Any, moved: Any) -> Any:
    """Returns `moved`, a tensor of some or all elements of `indices`, with the same note."""
    highest = getattr(indices, "highest_index", None)
    if highest is not None and indices._version == 0 and not moved.is_inference():
        moved.highest_index = highest
    return moved


def are_below(indices: Any, size: int) -> bool:
    """Whether all indices are known to be in [0, size).

    An update in place voids a note. PyTorch counts these, except of tensors of its inference mode, which have no notes.
    """
    highest = getattr(indices, "highest_index", None)
    return highest is not None and highest < size and indices._version == 0


def move_inside(indices: Any, size: int) -> Any:
    """Replaces each index out of [0, size) by the nearest one inside."""
    return indices if are_below(indices, size) else indices.clamp(0, max(size - 1, 0))


def add_rows(array: Any, rows: Any, values: Any, factor: int) -> Any:
    """Adds `factor * values[i]` to `array[rows[i]]`, in place, except where a row is out of range, as in TensorFlow.

    The values of a repeated row are added in any order, or in the same one in every run with PyTorch's deterministic
    algorithms. Those of 16 bits are sorted, and rounded once, instead of after each addition.
    """
    size = array.shape[0]
    if not size:
        return array
    if not are_below(rows, size):
        inside = move_inside(rows, size)
        outside = (rows != inside).reshape(-1, *(1,) * (array.ndim - 1))
        rows, values = inside, values.masked_fill(outside, 0)
    if array.is_floating_point() and array.itemsize == 2:
        return array.index_put_((rows,), values if factor == 1 else -values, True)
    return array.index_add_(0, rows, values, alpha=factor)
