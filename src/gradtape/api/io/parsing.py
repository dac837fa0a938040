"""`tf.io.parse_example` and its relatives: parse serialized examples and sequences of steps into tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import StringLike
from ...ragged.tensor import RaggedTensor
from ...sparse.tensor import SparseTensor
from ..runtime.system import py_function
from ..strings.strings import text_tensor
from .columns import Column, Use, check_uses, columns_of, dims_of, filled, joined, text
from .features import FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from .reading import examples, sequences

NAMESPACES = ("io",)
__all__ = ["parse_example", "parse_sequence_example", "parse_single_example", "parse_single_sequence_example"]


def parse_example(
    serialized: StringLike, features: Any, example_names: StringLike | None = None, name: str | None = None
) -> dict[str, Any]:
    """Parses a batch of serialized `tf.train.Example`s, or one, into a dict of tensors.

    Args:
      features: descriptions by name: `tf.io.FixedLenFeature` gives a dense tensor, `VarLenFeature` and `SparseFeature`
        a sparse one, `RaggedFeature` a ragged one, `FixedLenSequenceFeature` a padded dense one.

    >>> example = tf.train.Example()
    >>> example.features.feature["age"].int64_list.value.append(29)
    >>> rows = tf.constant([example.SerializeToString()] * 2)
    >>> tf.io.parse_example(rows, {"age": tf.io.FixedLenFeature([], tf.int64)})["age"].numpy().tolist()
    [29, 29]
    """
    columns = columns_of(_check_features(features, "features"))
    texts = text_tensor(serialized)
    if len(texts.dims) > 1:
        raise errors.InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {list(texts.dims)}"
        )
    wanted = {use.key for column in columns.values() for use in column.uses}

    def call(tensor: Tensor) -> list[Any]:
        data = [tensor.array] if isinstance(tensor.array, bytes) else np.ravel(tensor.array).tolist()
        rows = examples(data, wanted)
        names = described(len(rows), example_names, single=not texts.dims)
        return [array for column in columns.values() for array in column.arrays(rows, names)]

    return tensors_of(columns, py_function(call, [texts], declared(columns)), single=not texts.dims)


def parse_single_example(
    serialized: StringLike, features: Any, example_names: StringLike | None = None, name: str | None = None
) -> dict[str, Any]:
    """Parses one serialized `tf.train.Example` into a dict of tensors.

    >>> example = tf.train.Example()
    >>> example.features.feature["words"].bytes_list.value.extend([b"a", b"b"])
    >>> found = tf.io.parse_single_example(example.SerializeToString(), {"words": tf.io.VarLenFeature(tf.string)})
    >>> found["words"].values.numpy().tolist()
    [b'a', b'b']
    """
    texts = text_tensor(serialized)
    if texts.dims:
        raise ValueError(f"Input serialized must be a scalar, got shape {list(texts.dims)}: use tf.io.parse_example")
    return parse_example(texts, features, example_names, name)


def _check_features(features: Any, what: str) -> dict[str, Any]:
    if not features:
        raise ValueError(f"Invalid argument: {what} cannot be {'None' if features is None else 'empty'}.")
    return dict(features)


def described(count: int, names: Any, single: bool) -> list[str]:
    """Returns the start of an error message about an example."""
    if names is not None:
        return [f"Name: {name.decode()}, " for name in np.ravel(text_tensor(names).numpy())]
    return [""] if single else [f"Name: <unknown>, Index: {i}.  " for i in range(count)]


def declared(columns: dict[str, Column]) -> list[Any]:
    """Returns the dtypes of the arrays of all columns."""
    return [dtype for column in columns.values() for dtype in column.declared]


def tensors_of(columns: dict[str, Column], arrays: list[Tensor], single: bool) -> dict[str, Any]:
    """Returns the tensors of all columns, from their arrays."""
    found, place = {}, 0
    for key, column in columns.items():
        count = len(column.declared)
        found[key] = column.tensor(arrays[place : place + count], single)
        place += count
    return found


def parse_sequence_example(
    serialized: StringLike,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: StringLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parses a batch of serialized `tf.train.SequenceExample`s into context features, step features, and lengths.

    Args:
      context_features: descriptions of the context features, as for `tf.io.parse_example`.
      sequence_features: descriptions of the step features: a `tf.io.FixedLenSequenceFeature` gives a dense tensor,
        padded to the longest sequence, and an entry of the lengths; `VarLenFeature` a sparse, `RaggedFeature` a ragged
        one.

    >>> example = tf.train.SequenceExample()
    >>> for word in [b"to", b"be"]:
    ...     example.feature_lists.feature_list["words"].feature.add().bytes_list.value.append(word)
    >>> asked = {"words": tf.io.FixedLenSequenceFeature([], tf.string)}
    >>> _, steps, lengths = tf.io.parse_sequence_example([example.SerializeToString()], sequence_features=asked)
    >>> steps["words"].numpy().tolist(), lengths["words"].numpy().tolist()
    ([[b'to', b'be']], [2])
    """
    return _parse_sequences(serialized, context_features, sequence_features, example_names, single=False)


def parse_single_sequence_example(
    serialized: StringLike,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: str | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses one serialized `tf.train.SequenceExample` into context features and step features.

    >>> example = tf.train.SequenceExample()
    >>> example.context.feature["id"].int64_list.value.append(7)
    >>> data = example.SerializeToString()
    >>> whole, steps = tf.io.parse_single_sequence_example(data, {"id": tf.io.FixedLenFeature([], tf.int64)})
    >>> int(whole["id"])
    7
    """
    return _parse_sequences(serialized, context_features, sequence_features, example_name, single=True)[:2]


def _parse_sequences(serialized: Any, context: Any, steps: Any, names: Any, single: bool) -> Any:
    if not context and not steps:
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    texts = text_tensor(serialized)
    if bool(texts.dims) == single or len(texts.dims) > 1:
        expected = "a scalar" if single else "a vector"
        raise ValueError(f"Input serialized must be {expected}, got shape {list(texts.dims)}")
    for key, feature in (context or {}).items():
        if isinstance(feature, SparseFeature):
            raise ValueError(f"Unsupported SparseFeature {feature} for key {key!r}")
    columns = columns_of(context or {})
    lists = {key: _list_column(key, feature) for key, feature in sorted((steps or {}).items())}
    check_uses(lists.values())
    wanted = {use.key for column in columns.values() for use in column.uses}

    def call(tensor: Tensor) -> list[Any]:
        data = [tensor.array] if isinstance(tensor.array, bytes) else np.ravel(tensor.array).tolist()
        rows, sequence_rows = sequences(data, wanted, {column.source for column in lists.values()})
        began = described(len(rows), names, single)
        arrays = [array for column in columns.values() for array in column.arrays(rows, began)]
        return arrays + [array for column in lists.values() for array in column.arrays(sequence_rows, began)]

    arrays = py_function(call, [texts], [*declared(columns), *declared(lists)])
    place = len(declared(columns))
    lengths = {}
    for key, column in lists.items():
        if isinstance(column, _DenseLists):
            lengths[key] = arrays[place + 1]
        place += len(column.declared)
    count = len(declared(columns))
    return tensors_of(columns, arrays[:count], single), tensors_of(lists, arrays[count:], single), lengths


class _ListColumn(Column):
    """A feature of the steps of sequences."""

    source: str
    splits: Any = None

    @property
    def uses(self) -> list[Use]:
        """The required list of features."""
        return [Use(self.kind, self.source, self.dtype, self.splits)]

    def steps(self, row: Any, name: str) -> list[Any] | None:
        """Returns the values of each step; None if there is no such list."""
        found = row.get(self.source)
        if found is None:
            return None
        steps = []
        for values in found:
            if values.dtype is not None and values.dtype is not self.dtype:
                raise errors.InvalidArgumentError(
                    f"{name}Key: {self.source}.  Data types don't match. Data type: {values.dtype.name} but expected "
                    f"type: {self.dtype.name}"
                )
            steps.append(values.values)
        return steps


class _DenseLists(_ListColumn):
    """Steps of one shape."""

    def __init__(self, key: str, feature: FixedLenSequenceFeature) -> None:
        super().__init__(key, feature.dtype)
        self.source, self.optional = key, feature.allow_missing
        self.shape = dims_of(key, feature)
        self.size = math.prod(self.shape)

    @property
    def declared(self) -> list[Any]:
        """The dtypes of the steps and of the sequence lengths."""
        return [self.dtype, dtypes.int64]

    def arrays(self, rows: list[Any], names: list[str]) -> list[Any]:
        """Returns one array, padded to the longest sequence, and the lengths."""
        found = []
        for row, name in zip(rows, names, strict=True):
            steps = self.steps(row, name)
            if steps is None and not self.optional:
                raise errors.InvalidArgumentError(
                    f"{name}Feature list '{self.source}' is required but could not be found.  Did you mean to include "
                    "it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults? "
                    "FixedLenSequenceFeature(..., allow_missing=True) does"
                )
            for i, step in enumerate(steps or ()):
                if len(step) != self.size:
                    raise errors.InvalidArgumentError(
                        f"{name}Key: {self.source}, Index: {i}.  Number of values != expected.  Values size: "
                        f"{len(step)} but output shape: {self.shape}"
                    )
            found.append(joined(steps or [], self.dtype))
        filler: Any = b"" if self.dtype is dtypes.string else 0
        whole = filled(found, max(self.size, 1), self.shape, filler, self.dtype)
        return [text(whole, self.dtype), np.array([len(x) // max(self.size, 1) for x in found], np.int64)]


class _SparseLists(_ListColumn):
    """Steps of any length: a sparse tensor."""

    kind = "sparse"

    def __init__(self, key: str, feature: VarLenFeature) -> None:
        super().__init__(key, feature.dtype)
        self.source = key

    @property
    def declared(self) -> list[Any]:
        """The dtypes of indices, values and shape."""
        return [dtypes.int64, self.dtype, dtypes.int64]

    def arrays(self, rows: list[Any], names: list[str]) -> list[Any]:
        """Returns an index for each value: its example, its step, and its position in the step."""
        found = [self.steps(row, name) or [] for row, name in zip(rows, names, strict=True)]
        places = [(i, j, k) for i, steps in enumerate(found) for j, step in enumerate(steps) for k in range(len(step))]
        every = [step for steps in found for step in steps]
        shape = (len(rows), max(map(len, found), default=0), max(map(len, every), default=0))
        return [
            np.array(places, np.int64).reshape(-1, 3), text(joined(every, self.dtype), self.dtype),
            np.array(shape, np.int64),
        ]  # fmt: skip

    def tensor(self, parts: list[Tensor], single: bool) -> SparseTensor:
        """Returns the sparse tensor."""
        indices, values, shape = parts
        return SparseTensor(indices[:, 1:], values, shape[1:]) if single else SparseTensor(indices, values, shape)


class _RaggedLists(_ListColumn):
    """Steps of any length: a ragged tensor."""

    kind = "ragged"

    def __init__(self, key: str, feature: RaggedFeature) -> None:
        super().__init__(key, feature.dtype)
        if feature.partitions:
            raise NotImplementedError(
                f"The partitions of {key!r}, a feature of the steps of a sequence, are not there yet: parse it without "
                "them, and part it with tf.RaggedTensor"
            )
        self.source, self.splits = feature.value_key or key, feature.row_splits_dtype

    @property
    def declared(self) -> list[Any]:
        """The dtypes of values and of the splits of examples and steps."""
        return [self.dtype, self.splits, self.splits]

    def arrays(self, rows: list[Any], names: list[str]) -> list[Any]:
        """Returns the values, and two levels of splits."""
        found = [self.steps(row, name) or [] for row, name in zip(rows, names, strict=True)]
        every = [step for steps in found for step in steps]
        outer, inner = (np.cumsum([0, *map(len, parts)]).astype(self.splits.as_numpy_dtype) for parts in (found, every))
        return [text(joined(every, self.dtype), self.dtype), outer, inner]

    def tensor(self, parts: list[Tensor], single: bool) -> Any:
        """Returns the ragged tensor."""
        values, outer, inner = parts
        steps = RaggedTensor.from_row_splits(values, inner, validate=False)
        return steps if single else RaggedTensor.from_row_splits(steps, outer, validate=False)


_LISTS: dict[type, Any] = {
    FixedLenSequenceFeature: _DenseLists, VarLenFeature: _SparseLists, RaggedFeature: _RaggedLists,
}  # fmt: skip


def _list_column(key: str, feature: Any) -> Any:
    if type(feature) not in _LISTS:
        raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key {key!r}")
    return _LISTS[type(feature)](key, feature)
