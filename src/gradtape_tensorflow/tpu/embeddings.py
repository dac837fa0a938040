"""Embeddings: lookups on the host, for serving; those on TPUs raise errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from gradtape.api.arrays.concat import stack
from gradtape.api.arrays.indexing import scatter_nd
from gradtape.api.nn.embedding import embedding_lookup, embedding_lookup_sparse, safe_embedding_lookup_sparse
from gradtape.core import dtypes, errors, nest
from gradtape.core.owners import Owner
from gradtape.core.tensor import Tensor
from gradtape.engine.run.convert import to_tensor
from gradtape.ragged.tensor import RaggedTensor
from gradtape.sparse.shaping import slice as sparse_slice
from gradtape.sparse.tensor import SparseTensor
from gradtape.state.variable import Variable

from .embedding_tables import FeatureConfig, TableConfig
from .system import NO_TPU

NAMESPACES = ("tpu.experimental.embedding",)
__all__ = ["TPUEmbedding", "TPUEmbeddingForServing", "TPUEmbeddingV0", "TPUEmbeddingV2", "serving_embedding_lookup"]

_INSTEAD = f"{NO_TPU}. For lookups, use tf.tpu.experimental.embedding.TPUEmbeddingForServing or tf.nn.embedding_lookup"


def serving_embedding_lookup(
    inputs: Any, weights: Any, tables: dict[TableConfig, Variable], feature_config: Any
) -> Any:
    """Looks features up in tables, on the host.

    >>> embedding = tf.tpu.experimental.embedding
    >>> table = embedding.TableConfig(3, 2, combiner="sum")
    >>> rows = tf.Variable([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> features = [embedding.FeatureConfig(table=table)]
    >>> found = embedding.serving_embedding_lookup([tf.ragged.constant([[0, 1], [2]])], None, {table: rows}, features)
    >>> found[0].numpy().tolist()
    [[2.0, 4.0], [4.0, 5.0]]

    Args:
      inputs: a nested structure of tensors, sparse tensors or ragged tensors.
      weights: None, or weights of the same structure, some of which may be None.
      tables: the variables of the tables.
      feature_config: the features, in a structure that has at least the keys of `inputs`.
    """
    given = list(_paths(inputs))
    features = dict(_paths(feature_config))
    missing = {path for path, _ in given} - features.keys()
    if missing:
        raise ValueError(
            f"Inputs are not a subset of feature_config. Inputs keys are {[path for path, _ in given]}, but "
            f"feature_config keys are {features.keys()}"
        )
    weighted = [None] * len(given) if weights is None else nest.flatten(weights)
    found = [
        _looked_up(path, x, weight, tables[features[path].table], features[path])
        for (path, x), weight in zip(given, weighted, strict=True)
    ]
    return nest.pack_sequence_as(inputs, found)


def _paths(structure: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the values of a nested structure with their paths, in the order of `nest.flatten`."""
    if isinstance(structure, Mapping):
        items: Any = ((key, structure[key]) for key in sorted(structure))
    elif isinstance(structure, list | tuple):
        items = enumerate(structure)
    else:
        yield path, structure
        return
    for key, value in items:
        yield from _paths(value, f"{path}/{key}" if path else str(key))


def _looked_up(path: str, x: Any, weight: Any, table: Variable, feature: FeatureConfig) -> Any:
    is_sequence = feature.max_sequence_length > 0
    if weight is not None:
        if isinstance(x, Tensor):
            raise ValueError(f"Weight specified for {path}, but input is dense.")
        if type(weight) is not type(x):
            raise ValueError(
                f"Weight for {path} is of type {type(weight)} but it does not match type of the input which is "
                f"{type(x)}."
            )
        if is_sequence:
            raise ValueError(f"Weight specified for {path}, but this is a sequence feature.")
    if isinstance(x, Tensor):
        if is_sequence:
            raise ValueError(f"Feature {path} is a sequence feature but a dense tensor was passed.")
        return embedding_lookup(table, x)
    if isinstance(x, RaggedTensor):
        x, weight = x.to_sparse(), None if weight is None else weight.to_sparse()
    if not isinstance(x, SparseTensor):
        raise ValueError(f"Input {path} is type {type(x)}. Tensor, SparseTensor or RaggedTensor expected.")
    if is_sequence and x.shape.rank == 2:
        return _sequences(x, table, feature)
    if not feature.validate_weights_and_indices:
        return embedding_lookup_sparse(table, x, weight, combiner=feature.table.combiner)
    return safe_embedding_lookup_sparse(table, x, weight, combiner=feature.table.combiner)


def _sequences(x: SparseTensor, table: Variable, feature: FeatureConfig) -> Tensor:
    """Returns the first embeddings of each row, followed by zeros."""
    rows, most = to_tensor(x.dense_shape)[0], to_tensor(feature.max_sequence_length, dtype=dtypes.int64)
    cut = sparse_slice(x, to_tensor([0, 0], dtype=dtypes.int64), stack([rows, most]))
    shape = stack([rows, most, to_tensor(feature.table.dim, dtype=dtypes.int64)])
    return scatter_nd(cut.indices, embedding_lookup(table, cut.values), shape)


class TPUEmbeddingForServing(Owner):
    """Embedding tables that are looked up on the host, with the settings of those on TPUs.

    >>> embedding = tf.tpu.experimental.embedding
    >>> table = embedding.TableConfig(3, 2, initializer=tf.ones_initializer(), combiner="sum", name="table")
    >>> tables = embedding.TPUEmbeddingForServing({"x": embedding.FeatureConfig(table=table)}, None)
    >>> tables({"x": tf.constant([0, 2])})["x"].numpy().tolist()
    [[1.0, 1.0], [1.0, 1.0]]

    Args:
      feature_config: a nested structure of features.
      optimizer: an optimizer of `tf.tpu.experimental.embedding`, or None; there is no training.
      experimental_sparsecore_restore_info: not used.
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self, feature_config: Any, optimizer: Any, experimental_sparsecore_restore_info: dict[str, Any] | None = None
    ) -> None:
        self._features, self._optimizer = feature_config, optimizer
        self._tables: dict[TableConfig, Variable] = {}
        self._named: dict[str, Variable] = {}

    def _owned(self) -> dict[str, Any]:
        """Returns what a checkpoint saves: the tables, by name."""
        self.build()
        return dict(self._named)

    def build(self) -> None:
        """Makes the tables, unless they exist."""
        if self._tables:
            return
        for feature in nest.flatten(self._features):
            table = feature.table
            if table not in self._tables:
                value = table.initializer((table.vocabulary_size, table.dim), dtype=table.dtype)
                name = table.name or f"table_{len(self._tables)}"
                if table.optimizer is None:
                    table.optimizer = self._optimizer
                self._tables[table] = self._named[name] = Variable(value, name=name)

    @property
    def embedding_tables(self) -> dict[TableConfig, Variable]:
        """The variable of each table."""
        self.build()
        return self._tables

    @property
    def variables(self) -> dict[str, dict[str, Variable]]:
        """The variables of each table, by its name."""
        self.build()
        return {name: {"parameters": variable} for name, variable in self._named.items()}

    def embedding_lookup(self, features: Any, weights: Any = None) -> Any:
        """Looks features up: see `serving_embedding_lookup`."""
        return serving_embedding_lookup(features, weights, self.embedding_tables, self._features)

    def __call__(self, features: Any, weights: Any = None) -> Any:
        return self.embedding_lookup(features, weights)


class _OnTPU:
    """What all embeddings on TPUs have."""

    embedding_tables: dict[TableConfig, Variable]

    def _fail(self) -> NoReturn:
        raise errors.NotFoundError(_INSTEAD)

    def build(self, per_replica_input_shapes: Any = None, per_replica_batch_size: Any = None) -> None:
        """Raises an error."""
        self._fail()

    def enqueue(self, features: Any, weights: Any = None, training: bool = True, **options: Any) -> None:
        """Raises an error."""
        self._fail()

    def dequeue(self, *arguments: Any, **options: Any) -> Any:
        """Raises an error."""
        self._fail()

    def apply_gradients(self, gradients: Any, *arguments: Any, **options: Any) -> None:
        """Raises an error."""
        self._fail()

    def embedding_lookup(self, features: Any, weights: Any = None) -> Any:
        """Raises an error."""
        self._fail()


class TPUEmbedding(_OnTPU):
    """Raises an error, as there are no TPUs; `TPUEmbeddingForServing` looks up on the host.

    >>> tf.tpu.experimental.embedding.TPUEmbedding({}, None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotFoundError: ...
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(self, feature_config: Any, optimizer: Any, pipeline_execution_with_tensor_core: bool = False) -> None:
        self._fail()


class TPUEmbeddingV0(_OnTPU):
    """Raises an error, as there are no TPUs; `TPUEmbeddingForServing` looks up on the host.

    >>> tf.tpu.experimental.embedding.TPUEmbeddingV0({}, None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotFoundError: ...
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(self, feature_config: Any, optimizer: Any) -> None:
        self._fail()


class TPUEmbeddingV2(_OnTPU):
    """Raises an error, as there are no TPUs; `TPUEmbeddingForServing` looks up on the host.

    >>> tf.tpu.experimental.embedding.TPUEmbeddingV2({})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotFoundError: ...
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    DEFAULT_MAX_IDS_PER_TABLE = 256
    DEFAULT_MAX_UNIQUE_IDS_PER_TABLE = 256

    embedding_layouts: dict[str, Any]
    embedding_table_shards: dict[Any, Any]
    variables: dict[str, Any]

    def __init__(
        self,
        feature_config: Any,
        optimizer: Any = None,
        pipeline_execution_with_tensor_core: bool = False,
        sparse_core_embedding_config: Any = None,
    ) -> None:
        self._fail()

    @classmethod
    def compute_sparse_core_stats(cls, features: Any, feature_config: Any, num_tpu_chips: int, **options: Any) -> Any:
        """Raises an error."""
        raise errors.NotFoundError(_INSTEAD)
