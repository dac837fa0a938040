"""Categorical and numeric columns of sequences."""

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
from gradtape.sparse.shaping import reshape as sparse_reshape
from gradtape.sparse.tensor import SparseTensor

from .categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from .columns import (
    CategoricalColumn,
    FeatureTransformationCache,
    IdWeightPair,
    KeyedColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    checked_shape,
    sequence_length_from_sparse_tensor,
)
from .serialization import register_feature_column

NAMESPACES = ("feature_column",)
__all__ = [
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column",
]  # fmt: skip


class _SequenceCategorical(NamedTuple):
    categorical_column: Any


@register_feature_column
class SequenceCategoricalColumn(CategoricalColumn, _SequenceCategorical):  # type: ignore[misc]
    """A categorical column whose feature has a dimension of steps after that of the batch."""

    @property
    def name(self) -> str:
        """The name of the categorical column."""
        return self.categorical_column.name

    @property
    def parents(self) -> list[Any]:
        """The categorical column."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The features of the categorical column."""
        return self.categorical_column.parse_example_spec

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        """Returns the transformation of the categorical column."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> IdWeightPair:
        """Returns ids and weights of the shape `[batch, steps, ids]`."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return IdWeightPair(_with_steps(ids), None if weights is None else _with_steps(weights))


def _with_steps(entries: SparseTensor) -> SparseTensor:
    batch, steps, *others = entries.dims
    size = 1
    for other in others:
        size *= other
    return sparse_reshape(entries, [batch, steps, size])


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Creates a categorical column of sequences whose ids are the feature's entries.

    >>> tf.feature_column.sequence_categorical_column_with_identity("days", 7).num_buckets
    7
    """
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = dtypes.string
) -> SequenceCategoricalColumn:
    """Creates a categorical column of sequences whose ids are hashes.

    >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("words", 100).name
    'words'
    """
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str, vocabulary_file: str, vocabulary_size: int | None = None, num_oov_buckets: int = 0,
    default_value: int | None = None, dtype: DTypeLike = dtypes.string,
) -> SequenceCategoricalColumn:  # fmt: skip
    """Creates a categorical column of sequences whose ids are line numbers of words in a file.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "words.txt")
    >>> _ = path.write_text("red\\ngreen\\n")
    >>> tf.feature_column.sequence_categorical_column_with_vocabulary_file("colors", str(path)).num_buckets
    2
    """
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Any, dtype: DTypeLike | None = None, default_value: int = -1, num_oov_buckets: int = 0
) -> SequenceCategoricalColumn:
    """Creates a categorical column of sequences whose ids are positions in a list.

    >>> column = tf.feature_column.sequence_categorical_column_with_vocabulary_list("colors", ["red", "green"])
    >>> column.num_buckets
    2
    """
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


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
