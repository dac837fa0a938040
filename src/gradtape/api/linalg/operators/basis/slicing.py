"""Batch slices of operators: `operator[..., 0]` slices every argument of the operator's constructor."""

from __future__ import annotations

from typing import Any

from .....core import nest
from .....core.shapes import TensorShape
from .....engine.run.convert import to_tensor
from ....arrays.repeating import broadcast_to
from .support import broadcast


def sliced(operator: Any, slices: Any) -> Any:
    """Returns the operator of a slice of the batch."""
    slices = tuple(slices) if isinstance(slices, list | tuple) else (slices,)
    changed = {}
    if slices != (Ellipsis,):
        ranks = operator._experimental_parameter_ndims_to_matrix_ndims
        if not ranks:
            raise NotImplementedError(f"A {type(operator).__name__} does not say how its batch is sliced")
        for name, rank in ranks.items():
            value = operator.parameters.get(name)
            if value is not None:
                changed[name] = _slice_value(value, rank, slices, operator.batch_shape)
    return type(operator)(**{**operator.parameters, **changed})


def _slice_value(value: Any, rank: Any, slices: Any, batch: TensorShape) -> Any:
    if isinstance(rank, list):
        parts = nest.parts(value)
        return [_slice_value(part, its, slices, batch) for part, its in zip(parts, rank, strict=True)]
    return _part(value, rank, slices, batch)


def _part(value: Any, rank: int, slices: Any, batch: TensorShape) -> Any:
    """Slices one argument, whose last `rank` axes belong to the matrix."""
    if hasattr(value, "batch_shape_tensor"):
        if value.batch_shape.rank == 0 and batch.rank:
            return value  # one matrix for the whole batch
        return value[_fitting(slices, batch, [1] * (len(batch) - len(value.batch_shape)) + value.batch_shape.as_list())]
    value = to_tensor(value)
    dims = value.shape.as_list()
    own, matrix = dims[: len(dims) - rank], dims[len(dims) - rank :]
    if not own and batch.rank:
        return value
    value = broadcast_to(value, [*broadcast([1] * len(batch), own).as_list(), *matrix])
    taken = _fitting(slices, batch, value.shape.as_list()[: len(batch)])
    if not any(part is Ellipsis for part in taken):
        taken = (*taken, Ellipsis)
    return value[(*taken, *[slice(None)] * rank)] if rank else value[taken]


def _fitting(slices: Any, batch: TensorShape, own: list[int]) -> tuple[Any, ...]:
    """Adapts the slices to an argument with another batch shape: a broadcast axis of size 1 is kept whole."""
    found: list[Any] = []
    at = 0
    for i, part in enumerate(slices):
        if part is Ellipsis:
            at = -sum(other is not None for other in slices[i + 1 :])
        elif part is not None:
            if batch[at] > own[at]:
                part = slice(None) if isinstance(part, slice) else 0
            at += 1
        found.append(part)
    return tuple(found)
