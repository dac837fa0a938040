"""`tensorflow.python.ops.math_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """Returns the shape after a reduction that keeps the reduced axes with size 1."""
    shape = gradtape.cast(input_shape, gradtape.int32)
    rank = gradtape.size(shape)
    axes = (gradtape.reshape(gradtape.cast(axes, gradtape.int32), [-1]) + rank) % rank
    return gradtape.tensor_scatter_nd_update(shape, axes[:, None], gradtape.ones_like(axes))


def _ReductionDims(x: Any, axis: Any) -> Any:
    """Returns the axes of a reduction: all of them if `axis` is None."""
    return gradtape.range(gradtape.rank(x)) if axis is None else axis


def _bucketize(input: Any, boundaries: Any, name: str | None = None) -> Any:
    """Returns for each value the number of boundaries that do not exceed it."""
    flat = gradtape.reshape(input, [-1])
    edges = gradtape.cast(boundaries, gradtape.float64)
    found = gradtape.searchsorted(edges, gradtape.cast(flat, gradtape.float64), side="right")
    return gradtape.reshape(found, gradtape.shape(input))
