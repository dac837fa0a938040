"""`RaggedTensorSpec`: the static type of a ragged tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import DType, as_dtype
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..state.specs import ShapedSpec, TensorSpec
from .constructors import rows_of
from .indexing import end_to_end
from .partition import cut_at
from .ragged_tensor import RaggedTensor


class RaggedTensorSpec(ShapedSpec):
    """The shape and dtype of a `RaggedTensor`, its ragged rank, and the dtype of its row splits.

    With `ragged_rank=0` the values are dense tensors: the rows of a ragged tensor, as datasets yield them.

    >>> tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(tf.ragged.constant([[1, 2], [3]]))
    True
    """

    __slots__ = ("_flat_values_spec", "_ragged_rank", "_row_splits_dtype")

    def __init__(
        self, shape: object = None, dtype: object = dtypes.float32, ragged_rank: int | None = None,
        row_splits_dtype: object = dtypes.int64, flat_values_spec: Any = None,
    ) -> None:  # fmt: skip
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            if dtype is None:
                dtype = flat_values_spec.dtype
            elif as_dtype(dtype) is not flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        super().__init__(shape, dtype)
        self._flat_values_spec = flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        self._ragged_rank = ragged_rank
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")

    @property
    def ragged_rank(self) -> int:
        """The number of row partitions."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the flat values, if they are not a tensor."""
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value: RaggedTensor) -> RaggedTensorSpec:
        """The spec of a ragged tensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether the ragged tensor, or some ragged tensor of that spec, could be of this spec."""
        if self._ragged_rank == 0 and isinstance(spec_or_value, Tensor | TensorSpec):
            return self._dtype is spec_or_value.dtype and self._shape.is_compatible_with(spec_or_value.shape)
        return super().is_compatible_with(spec_or_value)

    def _serialize(self) -> tuple[Any, ...]:
        fields = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return fields if self._flat_values_spec is None else (*fields, self._flat_values_spec)

    @property
    def _component_specs(self) -> Any:
        if self._ragged_rank <= 0:
            return [self._flat_values_spec or TensorSpec(self._shape, self._dtype)]
        known = self._shape.rank is not None
        flat = self._flat_values_spec or TensorSpec(
            [None, *self._shape[self._ragged_rank + 1 :]] if known else None, self._dtype
        )
        rows = self._shape[0] if known else None
        outer = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        return [flat, outer, *[TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)]

    def _to_components(self, value: Tensor | RaggedTensor) -> Any:
        return [value.flat_values, *value.nested_row_splits] if isinstance(value, RaggedTensor) else [value]

    def _from_components(self, components: Sequence[Any]) -> Any:
        flat, *nested = components
        for splits in reversed(nested):
            flat = RaggedTensor(flat, cut_at(to_tensor(splits)), internal=True)
        if isinstance(flat, RaggedTensor):
            flat._set_shape(self._shape)
        return flat

    # Batching

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = self._shape
        batched = shape if shape.rank is None else TensorShape([batch_size, *shape])
        return RaggedTensorSpec(batched, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        shape = self._shape if self._shape.rank is None else self._shape[1:]
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    def _row_count(self, value: Tensor | RaggedTensor) -> int:
        return rows_of(value)

    def _rows(self, value: Tensor | RaggedTensor, rows: Callable[[Any], Sequence[Any]]) -> list[Any]:
        if not isinstance(value, RaggedTensor):
            return list(rows(value))
        return [value[i] for i in range(rows_of(value))]

    def _stacked(self, values: Sequence[Any], stack: Callable[[Sequence[Any]], Any]) -> RaggedTensor:
        """Stack values of any lengths as the rows of a ragged tensor."""
        counts = np.array([rows_of(value) for value in values], self._row_splits_dtype.numpy)
        found = RaggedTensor.from_row_lengths(end_to_end(values), to_tensor(counts), validate=False)
        found._set_shape(self._batch(None).shape)
        return found


RaggedTensorSpec.__module__ = "gradtape"
