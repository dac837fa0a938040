"""Reductions over replicas: sum, mean and concatenation of per-replica values."""

from __future__ import annotations

import enum
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import InvalidArgumentError
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor, is_tensor_like
from ..engine.run.convert import to_tensor
from ..engine.run.distribution_context import place
from ..engine.run.namespace import ops
from ..state.variable import VariableAggregation
from .values import DistributedValues, Mirrored, is_mirrored


class ReduceOp(enum.Enum):
    """How the values of all replicas are reduced to one."""

    __module__ = "gradtape.distribute"

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """Returns the reduction for a variable's aggregation; raises ValueError if there is none."""
        found = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}.get(aggregation)
        if found is None:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to`tf.distribute.ReduceOp` type: a "
                "variable without aggregation has no single value above the replicas. Make it with aggregation=SUM or "
                "MEAN, or read it in `strategy.run`"
            )
        return found


def as_reduce_op(given: Any) -> ReduceOp:
    """Converts a `ReduceOp` or its name to a `ReduceOp`."""
    return ReduceOp(given.upper() if isinstance(given, str) else given)


def workers_of(strategy: Any) -> Any:
    """Returns the worker processes that a strategy spans; None if it runs in this process only."""
    return getattr(strategy, "workers", None)


def total(op: ReduceOp, values: Sequence[Any]) -> Any:
    """Returns the sum or mean over all replicas; `IndexedSlices` are concatenated."""
    if isinstance(values[0], IndexedSlices):
        rows = ops.concat(*[to_tensor(v.values) for v in values], axis=0)
        indices = ops.concat(*[to_tensor(v.indices) for v in values], axis=0)
        workers = workers_of(place.strategy)
        if workers is not None:
            rows, indices = workers.rows(rows), workers.rows(indices)
        count = len(values) * (1 if workers is None else workers.count)
        return IndexedSlices(rows if op is ReduceOp.SUM else rows / count, indices, values[0].dense_shape)
    tensors = list(map(to_tensor, values))
    for x in tensors[1:]:
        if x.dims != tensors[0].dims:
            raise ValueError(
                f"Shapes of the values to reduce differ between replicas: {[x.shape for x in tensors]}. Reduce along "
                "an axis, `strategy.reduce(op, value, axis=0)`, or use `strategy.gather`"
            )
    found = functools.reduce(ops.add, tensors)
    workers = workers_of(place.strategy)
    if workers is not None:
        (found,) = workers.sums([found])
    return found if op is ReduceOp.SUM else found / (len(tensors) * (1 if workers is None else workers.count))


def reduce_value(op: ReduceOp, value: Any, count: int) -> Any:
    """Reduces `value` over `count` replicas; raises ValueError for the sum of a value that is not per-replica."""
    if is_mirrored(value) and op is ReduceOp.MEAN:
        return value
    if isinstance(value, DistributedValues):
        return total(op, value.values) if place.spmd is None else place.spmd.total(op, value._primary)
    if not is_tensor_like(value) and np.all(np.equal(value, 0)):
        return np.zeros(np.shape(value), np.asarray(value).dtype)
    if op is ReduceOp.MEAN or count == 1:
        return value
    raise ValueError(
        f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {op}: it is the same on all "
        f"{count} replicas, and its sum over them is not defined. Reduce what `strategy.run` returns"
    )


def spread(value: Any, count: int) -> Any:
    """Mirrors a reduced value: each replica gets its own tensor object."""
    if isinstance(value, DistributedValues) or not isinstance(value, Tensor | IndexedSlices):
        return value
    return Mirrored([copy_tensor(value) for _ in range(count)])


def copy_tensor(value: Any) -> Any:
    """Returns a new tensor object with the same value."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values, value.indices, value.dense_shape)
    return ops.identity(value)


def gather_values(values: Sequence[Any], axis: int) -> Tensor:
    """Concatenates the values of all replicas along `axis`."""
    tensors = list(map(gatherable, values))
    first = tensors[0]
    rank = len(first.dims)
    at = axis + rank if axis < 0 else axis
    for x in tensors[1:]:
        shapes = f"to gather along axis {axis}, replicas have shapes {[one.dims for one in tensors]}"
        if len(x.dims) != rank:
            raise InvalidArgumentError(
                "Ranks of all input tensors should match. Shape must be rank "
                f"{rank} but is rank {len(x.dims)}: {shapes}"
            )
        for d, (here, there) in enumerate(zip(first.dims, x.dims, strict=True)):
            if here != there and d != at:
                raise InvalidArgumentError(
                    f"Dimension {d} in both shapes must be equal, but are {here} and {there}: {shapes}"
                )
    return ops.concat(*tensors, axis=at)


def gatherable(value: Any) -> Tensor:
    """Converts a value to a tensor; raises if it has no axis to gather along."""
    if isinstance(value, IndexedSlices):
        raise NotImplementedError("gather does not support IndexedSlices: convert them with tf.convert_to_tensor")
    x = to_tensor(value)
    if not x.dims:
        raise ValueError("all_gather/gather of scalars is not possible: there is no axis. Use tf.reshape(x, [1])")
    return x
