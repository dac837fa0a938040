"""Numeric columns of sequences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from gradtape.api.arrays.shaping import expand_dims, reshape
from gradtape.api.debugging.shape_checks import assert_rank
from gradtape.api.io.features import VarLenFeature
from gradtape.api.namespace import resolve
from gradtape.core import dtypes
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import DTypeLike, TensorLike
from gradtape.engine.run.convert import to_tensor
from gradtape.sparse.conversion import to_dense

from .columns import (
    FeatureTransformationCache,
    KeyedColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    checked_shape,
    sequence_length_from_sparse_tensor,
)
from .serialization import register_feature_column

NAMESPACES = ("feature_column",)
__all__ = ["sequence_numeric_column"]


class _SequenceNumeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Callable[..., Any] | None


@register_feature_column
class SequenceNumericColumn(KeyedColumn, SequenceDenseColumn, _SequenceNumeric):  # type: ignore[misc]
    """A column of numbers for each step of a sequence."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The feature, of variable length."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the numbers of a step."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        """Returns the normalized feature."""
        numbers = transformation_cache.get(self.key, state_manager)
        return numbers if self.normalizer_fn is None else self.normalizer_fn(numbers)

    def get_sequence_dense_tensor(
        self, transformation_cache: FeatureTransformationCache, state_manager: Any
    ) -> TensorSequenceLengthPair:
        """Returns the numbers of each step, with the default value after the last one; and the number of steps."""
        numbers = transformation_cache.get(self, state_manager)
        dense = to_dense(numbers, self.default_value)
        dense = reshape(dense, [dense.dims[0], -1, *self.shape])
        per_step = math.prod(self.shape) if len(numbers.dims) == 2 else 1
        return TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(numbers, per_step))


def sequence_numeric_column(
    key: str, shape: Any = (1,), default_value: float = 0.0, dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> SequenceNumericColumn:  # fmt: skip
    """Creates a column of numbers for each step of a sequence.

    Args:
      default_value: fills the steps after the last one of a shorter sequence.

    >>> tf.feature_column.sequence_numeric_column("temperature").variable_shape
    TensorShape([1])
    """
    dims = checked_shape(shape, key)
    kind = as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {kind}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, dims, default_value, kind, normalizer_fn)


def concatenate_context_input(context_input: TensorLike, sequence_input: TensorLike) -> Tensor:
    """Appends the features of examples to those of each of their steps."""
    context, steps = to_tensor(context_input), to_tensor(sequence_input)
    assert_rank(steps, 3, "sequence_input must have rank 3")
    assert_rank(context, 2, "context_input must have rank 2")
    for name, value in (("sequence_input", steps), ("context_input", context)):
        if value.dtype != dtypes.float32:
            raise TypeError(f"{name} must have dtype float32; got {value.dtype}.")
    repeated = resolve("tile")(expand_dims(context, 1), [1, steps.dims[1], 1])
    return resolve("concat")([steps, repeated], 2)
