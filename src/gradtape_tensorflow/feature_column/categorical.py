"""Categorical columns: sparse tensors of category ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.api.arrays.casting import cast
from gradtape.api.io.features import VarLenFeature
from gradtape.api.io.files import GFile, exists
from gradtape.api.lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from gradtape.api.lookup.static_tables import StaticHashTable, StaticVocabularyTable
from gradtape.api.math.elementwise import where
from gradtape.api.namespace import resolve
from gradtape.api.strings.hashes import to_hash_bucket_fast
from gradtape.api.strings.strings import as_string
from gradtape.core import dtypes
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.type_hints import DTypeLike
from gradtape.data.files.record_files import TFRecordDataset
from gradtape.engine.run import dispatch
from gradtape.engine.run.convert import to_tensor
from gradtape.sparse.crossing import cross_hashed
from gradtape.sparse.tensor import SparseTensor, made_sparse

from .columns import (
    CategoricalColumn,
    FeatureColumn,
    FeatureTransformationCache,
    IdWeightPair,
    KeyedColumn,
    check_key,
    check_string_or_integer,
    to_sparse,
)
from .serialization import register_feature_column

NAMESPACES = ("feature_column",)
__all__ = [
    "categorical_column_with_hash_bucket", "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list", "crossed_column",
    "weighted_categorical_column",
]  # fmt: skip


class _SingleFeatureColumn(KeyedColumn, CategoricalColumn):
    """A categorical column of one feature: ids without weights, one per entry of the feature."""

    dtype: DType

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The feature, of variable length."""
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> SparseTensor:
        """Returns the ids."""
        entries = to_sparse(transformation_cache.get(self.key, state_manager))
        values = self._ids(entries, state_manager)
        return SparseTensor(entries.indices, values, entries.dense_shape)

    def get_sparse_tensors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> IdWeightPair:
        """Returns the ids, without weights."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    def _ids(self, entries: SparseTensor, state_manager: Any) -> Any:
        raise NotImplementedError

    def _check_entries(self, entries: SparseTensor) -> None:
        check_string_or_integer(entries.dtype, f"column_name: {self.key} input_tensor")
        if self.dtype.is_integer != entries.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                f"{self.dtype}, tensor dtype: {entries.dtype}"
            )


class _Hashed(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: DType


@register_feature_column
class HashedCategoricalColumn(_SingleFeatureColumn, _Hashed):  # type: ignore[misc]
    """A column whose ids are hashes of the feature's entries."""

    @property
    def num_buckets(self) -> int:
        """The number of hash buckets."""
        return self.hash_bucket_size

    def _ids(self, entries: SparseTensor, state_manager: Any) -> Any:
        self._check_entries(entries)
        values = entries.values if self.dtype == dtypes.string else as_string(entries.values)
        return to_hash_bucket_fast(values, self.hash_bucket_size)


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = dtypes.string
) -> HashedCategoricalColumn:
    """Creates a categorical column whose ids are `hash(entry) % hash_bucket_size`.

    >>> tf.feature_column.categorical_column_with_hash_bucket("word", 100).num_buckets
    100
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    kind = as_dtype(dtype)
    check_string_or_integer(kind, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, kind)


class _VocabularyColumn(_SingleFeatureColumn):
    """A column whose ids are positions in a vocabulary, which a lookup table of the state manager holds."""

    default_value: int
    num_oov_buckets: int

    def _ids(self, entries: SparseTensor, state_manager: Any) -> Any:
        self._check_entries(entries)
        is_integer = entries.dtype.is_integer
        values = cast(entries.values, dtypes.int64) if is_integer else entries.values
        return self._table(dtypes.int64 if is_integer else self.dtype, state_manager).lookup(values)

    def _table(self, key_dtype: DType, state_manager: Any) -> Any:
        name = f"{self.key}_lookup"
        if state_manager is not None and state_manager.has_resource(self, name):
            return state_manager.get_resource(self, name)
        with dispatch.traced_by(None):
            rows = self._rows(key_dtype)
            if self.num_oov_buckets:
                table: Any = StaticVocabularyTable(rows, self.num_oov_buckets, lookup_key_dtype=key_dtype)
            else:
                table = StaticHashTable(rows, self.default_value)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table

    def _rows(self, key_dtype: DType) -> Any:
        raise NotImplementedError


def _numbered(keys: list[Any], key_dtype: DType) -> KeyValueTensorInitializer:
    return KeyValueTensorInitializer(keys, list(range(len(keys))), key_dtype, dtypes.int64)


class _VocabularyFile(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int
    file_format: str | None = None


@register_feature_column
class VocabularyFileCategoricalColumn(_VocabularyColumn, _VocabularyFile):  # type: ignore[misc]
    """A column whose ids are line numbers of a vocabulary file."""

    @property
    def num_buckets(self) -> int:
        """The number of words and of buckets for others."""
        return self.vocabulary_size + self.num_oov_buckets

    def _rows(self, key_dtype: DType) -> Any:
        if self.file_format != "tfrecord_gzip":
            return TextFileInitializer(
                self.vocabulary_file, key_dtype, TextFileIndex.WHOLE_LINE, dtypes.int64, TextFileIndex.LINE_NUMBER,
                self.vocabulary_size,
            )  # fmt: skip
        records = TFRecordDataset(self.vocabulary_file, "GZIP").take(self.vocabulary_size)
        words = [record.numpy() for record in records]
        return _numbered([int(word) for word in words] if key_dtype.is_integer else words, key_dtype)


def categorical_column_with_vocabulary_file(
    key: str, vocabulary_file: str, vocabulary_size: int | None = None, dtype: DTypeLike = dtypes.string,
    default_value: int | None = None, num_oov_buckets: int = 0, file_format: str | None = None,
) -> VocabularyFileCategoricalColumn:  # fmt: skip
    """Creates a categorical column whose ids are the line numbers of words in a file.

    Args:
      vocabulary_size: the number of lines to use; by default all.
      default_value: the id of other words, -1 by default, which columns of indicators and embeddings ignore.
      num_oov_buckets: the number of further ids, by hash, for other words; instead of `default_value`.
      file_format: "tfrecord_gzip" for a compressed file of records; by default, that of files "*tfrecord.gz".

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "words.txt")
    >>> _ = path.write_text("red\\ngreen\\n")
    >>> tf.feature_column.categorical_column_with_vocabulary_file("color", str(path)).num_buckets
    2
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if file_format is None and vocabulary_file.endswith("tfrecord.gz"):
        file_format = "tfrecord_gzip"
    if vocabulary_size is None:
        vocabulary_size = _count_words(key, vocabulary_file, file_format)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    if num_oov_buckets:
        _check_buckets(key, num_oov_buckets, default_value is not None)
    kind = as_dtype(dtype)
    check_string_or_integer(kind, f"column_name: {key}")
    check_key(key)
    return VocabularyFileCategoricalColumn(
        key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, kind,
        -1 if default_value is None else default_value, file_format,
    )  # fmt: skip


def _count_words(key: str, file: str, file_format: str | None) -> int:
    if not exists(file):
        raise ValueError(f"vocabulary_file in {key} does not exist.")
    if file_format == "tfrecord_gzip":
        return sum(1 for _ in TFRecordDataset(file, "GZIP"))
    with GFile(file, "rb") as lines:
        return sum(1 for _ in lines)


def _check_buckets(key: str, num_oov_buckets: int, has_default: bool) -> None:
    if has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


class _VocabularyList(NamedTuple):
    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int


@register_feature_column
class VocabularyListCategoricalColumn(_VocabularyColumn, _VocabularyList):  # type: ignore[misc]
    """A column whose ids are positions in a list."""

    @property
    def num_buckets(self) -> int:
        """The number of words and of buckets for others."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _rows(self, key_dtype: DType) -> Any:
        return _numbered(list(self.vocabulary_list), key_dtype)


def categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Any, dtype: DTypeLike | None = None, default_value: int = -1, num_oov_buckets: int = 0
) -> VocabularyListCategoricalColumn:
    """Creates a categorical column whose ids are the positions of words, or integers, in a list.

    Args:
      default_value: the id of other words; columns of indicators and embeddings ignore -1.
      num_oov_buckets: the number of further ids, by hash, for other words; instead of `default_value`.

    >>> color = tf.feature_column.categorical_column_with_vocabulary_list("color", ["red", "green"])
    >>> color.num_buckets
    2
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    kind = as_dtype(np.array(vocabulary_list).dtype)
    if num_oov_buckets:
        _check_buckets(key, num_oov_buckets, default_value != -1)
    check_string_or_integer(kind, f"column_name: {key} vocabulary")
    if dtype is not None:
        wanted = as_dtype(dtype)
        if wanted.is_integer != kind.is_integer:
            raise ValueError(f"dtype {wanted} and vocabulary dtype {kind} do not match, column_name: {key}")
        kind = wanted
    check_string_or_integer(kind, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), kind, default_value, num_oov_buckets)


class _Identity(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


@register_feature_column
class IdentityCategoricalColumn(_SingleFeatureColumn, _Identity):  # type: ignore[misc]
    """A column whose ids are the feature's entries."""

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        """The dtype of the feature in an `Example`."""
        return dtypes.int64

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.number_buckets

    def _ids(self, entries: SparseTensor, state_manager: Any) -> Any:
        if not entries.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {entries.dtype}")
        values = cast(entries.values, dtypes.int64)
        if self.default_value is None:
            return values
        known = resolve("math.logical_and")(values >= 0, values < self.number_buckets)
        return where(known, values, to_tensor(self.default_value, dtypes.int64))


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Creates a categorical column whose ids are the feature's entries, integers below `num_buckets`.

    Args:
      default_value: replaces entries outside of `[0, num_buckets)`; without it, they are errors in most columns.

    >>> tf.feature_column.categorical_column_with_identity("day", 7).num_buckets
    7
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


class _Weighted(NamedTuple):
    categorical_column: Any
    weight_feature_key: str
    dtype: DType


@register_feature_column
class WeightedCategoricalColumn(CategoricalColumn, _Weighted):  # type: ignore[misc]
    """A categorical column with weights from another feature."""

    @property
    def name(self) -> str:
        """The names of the column and of the weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        """The column and the key of the weights."""
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The features of the column and the weights."""
        config = dict(self.categorical_column.parse_example_spec)
        if self.weight_feature_key in config:
            raise ValueError(
                f"Parse config {config[self.weight_feature_key]} already exists for {self.weight_feature_key}."
            )
        return config | {self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.categorical_column.num_buckets

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: Any
    ) -> tuple[SparseTensor, SparseTensor]:
        """Returns ids and weights."""
        weights = made_sparse(transformation_cache.get(self.weight_feature_key, state_manager))
        if self.dtype != weights.dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = to_sparse(weights, 0.0 if self.dtype.is_floating else 0)
        if not weights.dtype.is_floating:
            weights = cast(weights, dtypes.float32)
        return to_sparse(transformation_cache.get(self.categorical_column, state_manager)), weights

    def get_sparse_tensors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> IdWeightPair:
        """Returns ids and weights."""
        return IdWeightPair(*transformation_cache.get(self, state_manager))


def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: DTypeLike = dtypes.float32
) -> WeightedCategoricalColumn:
    """Creates a categorical column with a weight for every id, from another feature.

    >>> day = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.weighted_categorical_column(day, "hours").name
    'day_weighted_by_hours'
    """
    kind = None if dtype is None else as_dtype(dtype)
    if kind is None or not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype {kind} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, kind)


class _Crossed(NamedTuple):
    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


@register_feature_column
class CrossedColumn(CategoricalColumn, _Crossed):  # type: ignore[misc]
    """A categorical column of combinations of features, by hash."""

    @property
    def name(self) -> str:
        """The sorted names of the features, joined by `_X_`."""
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))

    @property
    def parents(self) -> list[Any]:
        """The crossed columns and keys."""
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The features of all columns; a key is a feature of strings."""
        config: dict[str, Any] = {}
        for key in self.keys:
            config |= key.parse_example_spec if isinstance(key, FeatureColumn) else {key: VarLenFeature(dtypes.string)}
        return config

    @property
    def num_buckets(self) -> int:
        """The number of hash buckets."""
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> SparseTensor:
        """Returns the ids of combinations."""
        parts = []
        for key in self._leaves():
            if isinstance(key, str):
                parts.append(transformation_cache.get(key, state_manager))
                continue
            ids = key.get_sparse_tensors(transformation_cache, state_manager)
            if ids.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                    f"Given column: {key.name}"
                )
            parts.append(ids.id_tensor)
        return cross_hashed(parts, self.hash_bucket_size, self.hash_key)

    def get_sparse_tensors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> IdWeightPair:
        """Returns the ids, without weights."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    def _leaves(self) -> list[Any]:
        """Returns the features and columns that are crossed, also inside of crossed columns."""
        return [leaf for key in self.keys for leaf in (key._leaves() if isinstance(key, CrossedColumn) else [key])]


def crossed_column(keys: Any, hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Creates a categorical column of the combinations of features, hashed into `hash_bucket_size` ids.

    Args:
      keys: keys of features and categorical columns, at least two.

    >>> tf.feature_column.crossed_column(["city", "day"], 100).name
    'city_X_day'
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str | CategoricalColumn):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                f"increase probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
