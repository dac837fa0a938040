"""Categorical columns of sequences: category ids for each step of an example."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core import dtypes
from gradtape.core.type_hints import DTypeLike
from gradtape.sparse.shaping import reshape
from gradtape.sparse.tensor import SparseTensor

from .categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from .columns import CategoricalColumn, FeatureTransformationCache, IdWeightPair
from .serialization import register_feature_column

NAMESPACES = ("feature_column",)
__all__ = [
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
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
    return reshape(entries, [batch, steps, size])


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
