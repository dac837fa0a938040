"""`tensorflow.python.training.optimizer`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def _deduplicate_indexed_slices(values: Any, indices: Any) -> tuple[Any, Any]:
    """Returns the sums of the rows with the same index, and their indices."""
    unique, positions = gradtape.unique(indices)
    return gradtape.math.unsorted_segment_sum(values, positions, gradtape.shape(unique)[0]), unique


def _var_key(var: Any) -> str:
    """Returns a key that is unique to a variable."""
    return str(var._unique_id)
