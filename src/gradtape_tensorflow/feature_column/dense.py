"""Dense columns: numbers, buckets, indicators and embeddings; and the features that columns read from an `Example`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from gradtape.api.arrays.casting import cast
from gradtape.api.arrays.creation import one_hot
from gradtape.api.arrays.indexing import scatter_nd
from gradtape.api.io.features import FixedLenFeature
from gradtape.api.namespace import resolve
from gradtape.api.nn.embedding import embedding_lookup_sparse, safe_embedding_lookup_sparse
from gradtape.core import dtypes
from gradtape.core.dtypes import DType, as_dtype
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import DTypeLike
from gradtape.engine.run import dispatch
from gradtape.sparse.conversion import retain, to_dense
from gradtape.sparse.tensor import SparseTensor
from gradtape.state.module import Module

from ..v1.initializers.classes import truncated_normal_initializer
from .categorical import WeightedCategoricalColumn
from .columns import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    FeatureTransformationCache,
    IdWeightPair,
    KeyedColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    check_key,
    checked_shape,
    sequence_length_from_sparse_tensor,
)
from .sequences import SequenceCategoricalColumn
from .serialization import register_feature_column

NAMESPACES = ("feature_column",)
__all__ = [
    "bucketized_column", "embedding_column", "indicator_column", "make_parse_example_spec", "numeric_column",
    "shared_embeddings",
]  # fmt: skip

Initializer = Callable[..., Any]


def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Returns the features that columns read from an `Example`, for `tf.io.parse_example`.

    >>> tf.feature_column.make_parse_example_spec([tf.feature_column.numeric_column("size")])
    {'size': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be FeatureColumn instances. Given: {column}")
        for key, feature in column.parse_example_spec.items():
            if found.setdefault(key, feature) != feature:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {feature} and {found[key]}"
                )
    return found


class _Numeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable[..., Any] | None


@register_feature_column
class NumericColumn(KeyedColumn, DenseColumn, _Numeric):  # type: ignore[misc]
    """A column of numbers."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The feature, of a fixed length."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of the feature."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        """Returns the normalized feature as float32."""
        numbers = transformation_cache.get(self.key, state_manager)
        if isinstance(numbers, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: "
                f"{self.key}"
            )
        return cast(numbers if self.normalizer_fn is None else self.normalizer_fn(numbers), dtypes.float32)

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        """Returns the normalized feature."""
        return transformation_cache.get(self, state_manager)


def numeric_column(
    key: str, shape: Any = (1,), default_value: Any = None, dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> NumericColumn:  # fmt: skip
    """Creates a column of numbers, which the model uses as they are, or as `normalizer_fn` returns them.

    Args:
      default_value: the numbers of an example without the feature; without it, such an example is an error.
      normalizer_fn: applied to the feature after the default value, for instance `lambda x: (x - mean) / deviation`.

    >>> tf.feature_column.numeric_column("size", shape=(2,)).variable_shape
    TensorShape([2])
    """
    dims = checked_shape(shape, key)
    kind = as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {kind}, key: {key}")
    default_value = _default_numbers(dims, default_value, kind, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    check_key(key)
    return NumericColumn(key, dims, default_value, kind, normalizer_fn)


def _default_numbers(dims: tuple[int, ...], value: Any, dtype: DType, key: str) -> Any:
    """Returns the default value as nested tuples of the shape `dims`."""
    if value is None:
        return None
    if isinstance(value, int) or (isinstance(value, float) and dtype.is_floating):
        for size in reversed(dims):
            value = (value,) * size
        return value
    nested = value.tolist() if callable(getattr(value, "tolist", None)) else value
    if isinstance(nested, list | tuple):
        if not _has_shape(nested, dims):
            raise ValueError(
                f"The shape of default_value must be equal to given shape. default_value: {value}, shape: {dims}, "
                f"key: {key}"
            )
        numbers = list(_leaves(nested))
        if all(isinstance(number, int) for number in numbers) or (
            dtype.is_floating and any(isinstance(number, float) for number in numbers)
        ):
            return _as_tuples(nested)
    raise TypeError(f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: {key}")


def _has_shape(value: Any, dims: tuple[int, ...]) -> bool:
    if not isinstance(value, list | tuple) or not dims:
        return not isinstance(value, list | tuple) and not dims
    return len(value) == dims[0] and all(_has_shape(part, dims[1:]) for part in value)


def _leaves(value: Any) -> Iterable[Any]:
    return (leaf for part in value for leaf in _leaves(part)) if isinstance(value, list | tuple) else (value,)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


class _Bucketized(NamedTuple):
    source_column: Any
    boundaries: tuple[float, ...]


@register_feature_column
class BucketizedColumn(DenseColumn, CategoricalColumn, _Bucketized):  # type: ignore[misc]
    """A column of the intervals that contain numbers: one-hot vectors, or category ids."""

    @property
    def name(self) -> str:
        """The name of the source, with a suffix."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parents(self) -> list[Any]:
        """The source."""
        return [self.source_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The feature of the source."""
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        """The source's shape with the number of intervals as a last dimension."""
        return TensorShape((*self.source_column.shape, self._intervals))

    @property
    def num_buckets(self) -> int:
        """The number of intervals of all numbers of the feature."""
        return self._intervals * self.source_column.shape[0]

    @property
    def _intervals(self) -> int:
        return len(self.boundaries) + 1

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        """Returns the interval of each number."""
        source = transformation_cache.get(self.source_column, state_manager)
        return resolve("raw_ops.Bucketize")(input=source, boundaries=list(self.boundaries))

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        """Returns one-hot vectors."""
        return one_hot(cast(transformation_cache.get(self, state_manager), dtypes.int64), self._intervals, 1.0, 0.0)

    def get_sparse_tensors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> IdWeightPair:
        """Returns the ids: those of the i-th number begin at i times the number of intervals."""
        intervals = transformation_cache.get(self, state_manager)
        width = self.source_column.shape[0]
        places = resolve("where")(intervals >= 0)
        ids = resolve("reshape")(intervals, [-1]) + cast(places[:, 1] * self._intervals, dtypes.int32)
        return IdWeightPair(SparseTensor(places, ids, (intervals.dims[0], width)), None)


def bucketized_column(source_column: NumericColumn, boundaries: Any) -> BucketizedColumn:
    """Creates a column of the intervals, between sorted boundaries, that contain the numbers of another column.

    >>> size = tf.feature_column.numeric_column("size")
    >>> tf.feature_column.bucketized_column(size, [0.0, 10.0]).num_buckets
    3
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, list | tuple) or any(a >= b for a, b in pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


class _CategoryVectorColumn(DenseColumn, SequenceDenseColumn):
    """A dense column of a categorical one: one vector for each example, or for each step of a sequence."""

    categorical_column: Any
    _TITLE = "embedding_column"

    @property
    def parents(self) -> list[Any]:
        """The categorical column."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The features of the categorical column."""
        return self.categorical_column.parse_example_spec

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        """Returns a vector for each example."""
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {self._TITLE}: {self.name}. categorical_column must not be of type SequenceCategoricalColumn. "
                "Suggested fix A: If you wish to use DenseFeatures, use a non-sequence categorical_column_with_*. "
                "Suggested fix B: If you wish to create sequence input, use SequenceFeatures instead of "
                f"DenseFeatures. Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )
        return self._vectors(transformation_cache, state_manager)

    def get_sequence_dense_tensor(
        self, transformation_cache: FeatureTransformationCache, state_manager: Any
    ) -> TensorSequenceLengthPair:
        """Returns a vector for each step, and the number of steps."""
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {self._TITLE}: {self.name}. categorical_column must be of type SequenceCategoricalColumn to use "
                "SequenceFeatures. Suggested fix: Use one of sequence_categorical_column_with_*. Given (type "
                f"{type(self.categorical_column)}): {self.categorical_column}"
            )
        vectors = self._vectors(transformation_cache, state_manager)
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return TensorSequenceLengthPair(vectors, sequence_length_from_sparse_tensor(ids))

    def _vectors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        raise NotImplementedError


class _Indicator(NamedTuple):
    categorical_column: Any


@register_feature_column
class IndicatorColumn(_CategoryVectorColumn, _Indicator):  # type: ignore[misc]
    """A column of the counts, or the sums of weights, of all categories."""

    _TITLE = "indicator_column"

    @property
    def name(self) -> str:
        """The name of the categorical column, with a suffix."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        """One number for each category."""
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        """Returns the counts or sums."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        size = self.categorical_column.num_buckets
        if weights is None:
            return resolve("reduce_sum")(one_hot(to_dense(ids, -1), size, 1.0, 0.0), -2)
        known = resolve("math.logical_and")(ids.values >= 0, ids.values < size)
        ids, weights = retain(ids, known), retain(weights, known)
        places = resolve("concat")([ids.indices[:, :-1], cast(ids.values, dtypes.int64)[:, None]], 1)
        return scatter_nd(places, weights.values, (*ids.dims[:-1], size))

    def _vectors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        return transformation_cache.get(self, state_manager)


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """Creates a column of the counts of all categories in an example: a multi-hot vector.

    >>> day = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.indicator_column(day).variable_shape
    TensorShape([1, 7])
    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}")
    return IndicatorColumn(categorical_column)


def _combined(column: Any, pair: IdWeightPair, table: Any) -> Tensor:
    """Returns the combination of the rows of `table` at the ids of each example, or step."""
    lookup: Callable[..., Tensor] = safe_embedding_lookup_sparse
    if not column.use_safe_embedding_lookup and len(pair.id_tensor.dims) <= 2:
        lookup = embedding_lookup_sparse
    return lookup(table, pair.id_tensor, pair.weight_tensor, combiner=column.combiner, max_norm=column.max_norm)


class _Embedding(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Initializer
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool = True


@register_feature_column
class EmbeddingColumn(_CategoryVectorColumn, _Embedding):  # type: ignore[misc]
    """A column of the mean, or another combination, of the embeddings of an example's categories."""

    @property
    def name(self) -> str:
        """The name of the categorical column, with a suffix."""
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """The size of an embedding."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        """Creates the embeddings; with `ckpt_to_load_from`, their values are those of a checkpoint."""
        table = state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )
        _load_table(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        """Returns the transformation of the categorical column."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def _vectors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return _combined(self, pair, state_manager.get_variable(self, name="embedding_weights"))

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: dict[str, Any] | None = None
    ) -> Any:
        """Creates a column from its parameters; older configurations lack `use_safe_embedding_lookup`."""
        return super().from_config({"use_safe_embedding_lookup": True} | config, custom_objects, columns_by_name)


def _load_table(table: Any, checkpoint: str | None, name: str | None) -> None:
    if checkpoint is not None:
        table.assign(resolve("train.load_checkpoint")(checkpoint).get_tensor(name))


def _checked_initializer(
    dimension: int, initializer: Initializer | None, checkpoint: str | None, name: str | None, message: str
) -> Initializer:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(message)
    return initializer or truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))


def embedding_column(
    categorical_column: Any, dimension: int, combiner: str = "mean", initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
    trainable: bool = True, use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:  # fmt: skip
    """Creates a column of embeddings: one trainable vector for each category, combined for each example.

    Args:
      combiner: "mean", "sqrtn" or "sum".
      initializer: a truncated normal distribution with standard deviation `1 / sqrt(dimension)` by default.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint with initial values, and their name in it.
      max_norm: embeddings with a larger norm are scaled down to it.
      use_safe_embedding_lookup: whether to ignore negative ids and to accept examples without ids.

    >>> day = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.embedding_column(day, 3).name
    'day_embedding'
    """
    message = f"initializer must be callable if specified. Embedding of column_name: {categorical_column.name}"
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, message)
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
        trainable, use_safe_embedding_lookup,
    )  # fmt: skip


class SharedEmbeddingColumnCreator(Module):
    """Creates columns with common embeddings: one variable."""

    def __init__(
        self, dimension: int, initializer: Initializer, ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None,
        num_buckets: int, trainable: bool, name: str = "shared_embedding_column_creator",
        use_safe_embedding_lookup: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dimension = dimension
        self._checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
        self._arguments = {
            "name": name,
            "shape": (num_buckets, dimension),
            "dtype": dtypes.float32,
            "initializer": initializer,
            "trainable": trainable,
        }
        self._use_safe_embedding_lookup = use_safe_embedding_lookup
        self._table: Any = None

    def __call__(self, categorical_column: Any, combiner: str, max_norm: float | None) -> SharedEmbeddingColumn:
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm, self._use_safe_embedding_lookup)

    @property
    def embedding_weights(self) -> Any:
        """The variable, which is created on first use."""
        if self._table is None:
            with dispatch.traced_by(None):
                self._table = resolve("compat.v1.get_variable")(**self._arguments)
                _load_table(self._table, *self._checkpoint)
        return self._table


class _SharedEmbedding(NamedTuple):
    categorical_column: Any
    shared_embedding_column_creator: SharedEmbeddingColumnCreator
    combiner: str
    max_norm: float | None
    use_safe_embedding_lookup: bool = True


@register_feature_column
class SharedEmbeddingColumn(_CategoryVectorColumn, _SharedEmbedding):  # type: ignore[misc]
    """A column of embeddings that several columns share."""

    @property
    def name(self) -> str:
        """The name of the categorical column, with a suffix."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """The size of an embedding."""
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        """Returns the transformation of the categorical column."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def _vectors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Tensor:
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return _combined(self, pair, self.shared_embedding_column_creator.embedding_weights)


def shared_embeddings(
    categorical_columns: Iterable[Any], dimension: int, combiner: str = "mean", initializer: Initializer | None = None,
    shared_embedding_collection_name: str | None = None, ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None, max_norm: float | None = None, trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumn]:  # fmt: skip
    """Creates columns whose embeddings are the same variable; works in functions only, as in TensorFlow.

    >>> columns = [tf.feature_column.categorical_column_with_identity(key, 7) for key in ("first", "second")]
    >>> @tf.function
    ... def names():
    ...     return [column.name for column in tf.feature_column.shared_embeddings(columns, 3)]
    >>> [name.numpy() for name in names()]
    [b'first_shared_embedding', b'second_shared_embedding']
    """
    if resolve("executing_eagerly")():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    message = "initializer must be callable if specified."
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, message)
    columns = list(categorical_columns)
    ordered = sorted(columns, key=lambda column: column.name)
    size = _common_size(ordered)
    name = shared_embedding_collection_name or f"{'_'.join(column.name for column in ordered)}_shared_embedding"
    creator = SharedEmbeddingColumnCreator(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, size, trainable, name,
        use_safe_embedding_lookup,
    )  # fmt: skip
    return [creator(column, combiner, max_norm) for column in columns]


def _common_size(columns: list[Any]) -> int:
    """Returns the number of categories; raises ValueError if columns differ in it, or in their types."""
    first, *others = (_innermost(column) for column in columns)
    if not isinstance(columns[0], CategoricalColumn):
        raise ValueError(
            f"All categorical_columns must be subclasses of CategoricalColumn. Given: {first}, of type: {type(first)}"
        )
    size = columns[0].num_buckets
    for other in others:
        if not isinstance(other, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column or sequence column of the same type. Given column: {first} of type: "
                f"{type(first)} does not match given column: {other} of type: {type(other)}"
            )
        if size != other.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given "
                f"column: {first} with buckets: {size} does  not match column: {other} with buckets: "
                f"{other.num_buckets}"
            )
    return size


def _innermost(column: Any) -> Any:
    while isinstance(column, WeightedCategoricalColumn | SequenceCategoricalColumn):
        column = column.categorical_column
    return column
