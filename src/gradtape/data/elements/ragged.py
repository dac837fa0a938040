"""Batches of elements of different sizes, as ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...ragged.tensor import RaggedTensor, RaggedTensorSpec
from ...state.specs import TensorSpec
from .structure import leaves, map_leaves, stack_leaves, with_batch_sizes


def ragged_spec(spec: Any, dtype: DType) -> Any:
    """Returns the spec of a leaf, made ragged if it is a tensor with an undefined size."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None or spec.shape.is_fully_defined():
        return spec
    depth = max(axis for axis, size in enumerate(spec.shape) if size is None)
    return RaggedTensorSpec(spec.shape, spec.dtype, depth, dtype)


def has_ragged(specs: Any) -> bool:
    """Returns whether a component of an element is ragged, or a row of a ragged tensor."""
    return specs is not None and any(isinstance(spec, RaggedTensorSpec) for spec in leaves(specs))


def stack_as(specs: Any, elements: Sequence[Any]) -> Any:
    """Stacks elements; components with a ragged spec are stacked with variable row lengths, even if rows are dense."""

    def one(spec: Any, *values: Any) -> Any:
        if not isinstance(spec, RaggedTensorSpec) or spec.ragged_rank < 0:  # -1: entries of a former vector
            return stack_leaves(values)
        return with_batch_sizes(spec._stacked([_as_ragged(spec, value) for value in values], stack_leaves), values)

    return map_leaves(one, specs, *elements)


def _as_ragged(spec: RaggedTensorSpec, value: Any) -> Any:
    if isinstance(value, Tensor) and spec.ragged_rank > 0:
        return RaggedTensor.from_tensor(value, ragged_rank=spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype)
    return value
