"""Datasets of examples: databases, files of `Example` records, padding; and datasets as tensors."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ...api.io.features import FixedLenSequenceFeature, VarLenFeature
from ...api.io.records import TFRecordOptions
from ...api.io.records import TFRecordWriter as RecordWriter
from ...api.namespace import resolve
from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor, wrap
from ...core.type_hints import StringLike, TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...state.specs import SparseTensorSpec, TensorSpec
from ..datasets import AUTOTUNE, Dataset
from ..elements.structure import leaves, map_leaves, pack_leaves
from ..pipeline import UNKNOWN_CARDINALITY
from .record_files import TFRecordDataset

NAMESPACES = ("data.experimental",)
__all__ = [
    "SqlDataset",
    "TFRecordWriter",
    "from_variant",
    "make_batched_features_dataset",
    "pad_to_cardinality",
    "parse_example_dataset",
    "to_variant",
]

_COLUMN_TYPES = ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "float64")
_NUMBER = re.compile(r"\s*([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)")  # at the beginning of a text, as SQLite reads it


def SqlDataset(driver_name: StringLike, data_source_name: StringLike, query: StringLike, output_types: Any) -> Dataset:
    """The rows that a query of an SQLite database returns.

    Args:
      driver_name: "sqlite".
      data_source_name: the file of the database.
      output_types: the dtypes of the columns; values are converted as SQLite does, and NULL becomes 0 or "".

    >>> import contextlib, sqlite3, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "people.db")
    >>> with contextlib.closing(sqlite3.connect(path)) as database, database:
    ...     _ = database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
    ...     _ = database.execute("INSERT INTO people VALUES ('Ada', 36)")
    >>> data = tf.data.experimental.SqlDataset("sqlite", path, "SELECT name, age FROM people", (tf.string, tf.int32))
    >>> [(name.numpy(), int(age)) for name, age in data]
    [(b'Ada', 36)]
    """
    driver, source, text = (to_array(_text(value)).item().decode() for value in (driver_name, data_source_name, query))
    kinds = map_leaves(as_dtype, output_types)
    if driver != "sqlite":
        raise errors.InvalidArgumentError(
            f"The database type, {driver}, is not supported by SqlDataset. The set of supported databases is: "
            "{'sqlite'}."
        )
    flat = leaves(kinds)
    if any(kind.name not in _COLUMN_TYPES for kind in flat):
        raise errors.InvalidArgumentError(
            f"Each element of `output_types_` must be one of: {', '.join(_COLUMN_TYPES)}, got {[k.name for k in flat]}"
        )
    specs = map_leaves(lambda kind: TensorSpec([], kind), kinds)

    def elements() -> Iterator[Any]:
        try:
            with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as database:
                rows = database.execute(text)
                if len(rows.description) != len(flat):
                    raise errors.InvalidArgumentError(
                        f"The number of columns in query ({len(rows.description)}) must match the number of elements "
                        f"in output_types ({len(flat)})."
                    )
                for row in rows:
                    yield pack_leaves(kinds, map(_column, row, flat))
        except sqlite3.Error as error:
            raise errors.InvalidArgumentError(f"Sqlite({source}) failed: {error}") from None

    return Dataset("SqlDatasetV2", elements, lambda _: specs, UNKNOWN_CARDINALITY)


def _text(value: Any) -> Tensor:
    return to_tensor(value, dtypes.string)


def _column(value: Any, kind: DType) -> Tensor:
    """Returns a value of a database as a tensor."""
    if kind is dtypes.string:
        text = b"" if value is None else value if isinstance(value, bytes) else str(value).encode()
        return to_tensor(text, dtypes.string)
    if isinstance(value, str | bytes):
        found = _NUMBER.match(value if isinstance(value, str) else value.decode("utf-8", "replace"))
        value = float(found[1]) if found else 0
    number = 0 if value is None else value if kind is dtypes.float64 else int(value)
    if kind is dtypes.bool:
        return wrap(np.asarray(number != 0), kind)
    return wrap(np.asarray(number).astype(kind.as_numpy_dtype), kind)


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "words.tfrecord")
    >>> tf.data.experimental.TFRecordWriter(path).write(tf.data.Dataset.from_tensors("word"))
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'word']
    """

    __module__ = "gradtape.data.experimental"

    def __init__(self, filename: StringLike, compression_type: str | None = None) -> None:
        self._filename = to_array(_text(filename)).item().decode()
        self._options = TFRecordOptions(compression_type or "")

    def write(self, dataset: Dataset) -> None:
        """Writes the elements of one pass, one record each."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([], dtypes.string)):
            raise TypeError(
                "Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, but got a dataset "
                f"which produces elements {spec}."
            )
        with RecordWriter(self._filename, self._options) as writer:
            for record in dataset:
                writer.write(record.numpy())


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Callable[[Dataset], Dataset]:
    """For `apply`: appends zeros up to `cardinality` elements; `mask_key` of an element says whether it is one of old.

    >>> data = tf.data.Dataset.from_tensor_slices({"x": [5, 6]})
    >>> [(int(e["x"]), bool(e["valid"])) for e in data.apply(tf.data.experimental.pad_to_cardinality(3))]
    [(5, True), (6, True), (0, False)]
    """

    def padded(dataset: Dataset) -> Dataset:
        count = int(dataset.cardinality())
        what = "The dataset passed into `pad_to_cardinality` must have a"
        if count < 0:
            raise ValueError(f"{what} known cardinalty, but has cardinality {count}")
        if count > cardinality:
            raise ValueError(
                f"{what} cardinalty less than the target cardinality ({cardinality}), but has cardinality {count}"
            )
        if not isinstance(dataset.element_spec, Mapping):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        zeros = map_leaves(lambda spec: resolve("zeros")(spec.shape, spec.dtype), dict(dataset.element_spec))
        filler = Dataset.from_tensors({**zeros, mask_key: False}).repeat(cardinality - count)
        return dataset.map(lambda element: {**element, mask_key: True}).concatenate(filler)

    return padded


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: int = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """For `apply`: parses batches of serialized `Example`s, as `tf.io.parse_example` does.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    >>> parse = tf.data.experimental.parse_example_dataset({"x": tf.io.FixedLenFeature([], tf.int64)})
    >>> next(iter(tf.data.Dataset.from_tensors([example]).apply(parse)))["x"].numpy()
    array([3])
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def parsed(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([None], dtypes.string)):
            raise TypeError(f"Input dataset should be a dataset of vectors of strings. Instead it is `{spec}`.")
        made = dataset.map(lambda batch: resolve("io.parse_example")(batch, features), num_parallel_calls)
        return made._derived(
            "_ParseExampleDataset",
            lambda elements: elements,
            specs=lambda given: {key: _without_length(spec, features[key]) for key, spec in given.items()},
        )

    return parsed


def _without_length(spec: Any, feature: Any) -> Any:
    """The spec of a batch of a feature, without the length of its longest example."""
    if isinstance(feature, VarLenFeature):
        return SparseTensorSpec([spec.shape[0], None], spec.dtype)
    if isinstance(feature, FixedLenSequenceFeature):
        return TensorSpec([spec.shape[0], None, *spec.shape[2:]], spec.dtype)
    return spec


def make_batched_features_dataset(
    file_pattern: Any, batch_size: TensorLike, features: Mapping[str, Any],
    reader: Callable[..., Dataset] | None = None, label_key: str | None = None,
    reader_args: Sequence[Any] | None = None, num_epochs: int | None = None, shuffle: bool = True,
    shuffle_buffer_size: int = 10000, shuffle_seed: int | None = None, prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None, parser_num_threads: int | None = None, sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:  # fmt: skip
    """Batches of parsed examples from files of records: a dictionary, or a dictionary and a label.

    Args:
      features: the features to parse, as `tf.io.parse_example` takes them.
      reader: creates the dataset of records of a file, `tf.data.TFRecordDataset` by default.
      label_key: the feature that is the label.
      num_epochs: the number of passes; without it the dataset is infinite, and its batches are full.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     for n in (3, 4):
    ...         feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[n]))
    ...         writer.write(tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString())
    >>> features = {"x": tf.io.FixedLenFeature([], tf.int64)}
    >>> data = tf.data.experimental.make_batched_features_dataset(path, 2, features, num_epochs=1, shuffle=False)
    >>> [batch["x"].numpy().tolist() for batch in data]
    [[3, 4]]
    """
    if label_key and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key}) must be one of the `features` keys: {features.keys()}."
        )
    read = reader or TFRecordDataset
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    data = files.interleave(
        lambda name: read(name, *(reader_args or ())), cycle_length=max(1, reader_num_threads or 1), block_length=1
    )
    if isinstance(data.element_spec, tuple):  # keys and records
        data = data.map(lambda _, record: record)
    if shuffle:
        data = data.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        data = data.repeat(num_epochs)
    data = data.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    data = data.apply(parse_example_dataset(features, parser_num_threads or 2))
    if label_key:
        data = data.map(lambda batch: ({k: v for k, v in batch.items() if k != label_key}, batch[label_key]))
    return data.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def to_variant(dataset: Dataset) -> Tensor:
    """Returns a scalar tensor of the dtype `tf.variant` that contains a dataset.

    >>> tf.data.experimental.to_variant(tf.data.Dataset.range(3)).dtype
    tf.variant
    """
    content = np.empty((), object)
    content[()] = dataset
    return wrap(content, dtypes.variant)


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """Returns the dataset that a tensor of `to_variant` contains; `structure` is its `element_spec`.

    >>> variant = tf.data.experimental.to_variant(tf.data.Dataset.range(2))
    >>> [int(x) for x in tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))]
    [0, 1]
    """
    dataset = variant.array.item() if variant.dtype is dtypes.variant else None
    if not isinstance(dataset, Dataset):
        raise errors.InvalidArgumentError(
            "Tensor must be a Dataset object: one that tf.data.experimental.to_variant made"
        )
    return Dataset("_VariantDataset", dataset._elements, lambda _: structure, dataset._size, options=dataset._options)
