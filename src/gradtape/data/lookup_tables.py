"""Tables with keys and values from a dataset."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api.lookup.initializers import check_types
from ..api.lookup.static_tables import StaticHashTable, StaticVocabularyTable
from ..api.lookup.tables import KeyValueDtypes
from ..core import dtypes
from ..core.dtypes import as_dtype
from ..core.type_hints import DTypeLike, ValueLike
from ..state.specs import TensorSpec
from .dataset import Dataset

NAMESPACES = ("data.experimental",)
__all__ = ["DatasetInitializer", "index_table_from_dataset", "table_from_dataset"]


class HasherSpec(NamedTuple):
    """The hash function for out-of-vocabulary words."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class DatasetInitializer(KeyValueDtypes):
    """The initializer of a static table from a dataset of key-value pairs of scalars.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), -1)
    >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
    [2, -1]
    """

    __module__ = "gradtape.data.experimental"

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self._key_dtype, self._value_dtype = (spec.dtype for spec in _pair(dataset))

    def initialize(self, table: Any) -> None:
        """Reads the dataset into a static table."""
        check_types(self, table)
        pairs = [(key.array.item(), value.array.item()) for key, value in self.dataset]
        table._import([key for key, _ in pairs], [value for _, value in pairs])


def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: ValueLike | None = None,
    hasher_spec: Any = FastHashSpec,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> StaticHashTable | StaticVocabularyTable:
    """Creates a table from the pairs of a dataset; other keys get `default_value`, or a bucket by their hash.

    Args:
      vocab_size: the number of pairs; raises `InvalidArgumentError` if there are fewer.

    >>> pairs = tf.data.Dataset.range(3).map(lambda x: (x, tf.strings.as_string(x * 2)))
    >>> table = tf.data.experimental.table_from_dataset(pairs, default_value="none", key_dtype=tf.int64)
    >>> table.lookup(tf.constant([0, 2, 5], tf.int64)).numpy().tolist()
    [b'0', b'4', b'none']
    """
    _, values = _pair(dataset)
    if default_value is None:
        default_value = -1
        if not (values.dtype.is_integer or values.dtype.is_floating):
            raise ValueError(
                "`default_value` must be specified when creating a table from a dataset that produces values of type "
                f"{values.dtype!r}."
            )
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and int(vocab_size) < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    kind = as_dtype(key_dtype)
    if not kind.is_integer and kind is not dtypes.string:
        raise TypeError(f"`key_dtype` must be either an integer or string type, but got {kind!r}")
    if tuple(hasher_spec) != FastHashSpec:
        raise NotImplementedError(f"words are hashed by {FastHashSpec} only, got {hasher_spec}")
    if vocab_size is not None:
        from .transformations import assert_cardinality

        dataset = dataset.take(int(vocab_size)).apply(assert_cardinality(int(vocab_size)))
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, kind)
    return StaticHashTable(initializer, default_value)


def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: ValueLike = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> StaticHashTable | StaticVocabularyTable:
    """Creates a table from the elements of a dataset to their indices.

    >>> words = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    >>> table = tf.data.experimental.index_table_from_dataset(words)
    >>> table.lookup(tf.constant(["c", "a", "x"])).numpy().tolist()
    [2, 0, -1]
    """
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)


def _pair(dataset: Any) -> tuple[TensorSpec, TensorSpec]:
    """Returns the specs of keys and values; raises `ValueError` if elements are not pairs of scalars."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a `tf.data.Dataset`, got {dataset!r}")
    spec = dataset.element_spec
    parts = spec if isinstance(spec, tuple) else (spec,)
    told = "Datasets used to initialize lookup tables must produce elements in the form (key, value), scalar tensors. "
    if len(parts) != 2:
        raise ValueError(f"{told}However, the given dataset produces {len(parts)} components: {spec}.")
    for part, what in zip(parts, ("key", "value"), strict=True):
        if not isinstance(part, TensorSpec):
            raise ValueError(f"{told}However, the given dataset produces non-Tensor {what}s of type {type(part)}.")
        if part.shape.rank not in (None, 0):
            raise ValueError(f"{told}However, the given dataset produces {what}s of rank {part.shape.rank}.")
    return parts[0], parts[1]
