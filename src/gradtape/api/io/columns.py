"""A feature of many examples as one tensor: dense, sparse or ragged.

A column names the features of an example it needs, converts those of all examples to arrays, and the arrays to a
tensor. The arrays are the results of one op, so that functions can parse too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import as_dtype
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...ragged.tensor import RaggedTensor
from ...sparse.tensor import SparseTensor
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from .reading import KINDS, Row, Values


class Use(NamedTuple):
    """How a column reads a feature: what kind of tensor it makes of it, its dtype, and the dtype of its row splits."""

    kind: str
    key: str
    dtype: Any
    splits: Any = None


class Column:
    """The base class of columns; `single` means one example, whose tensors have no example axis."""

    kind = "dense"

    def __init__(self, key: str, dtype: Any) -> None:
        if dtype is None:
            raise ValueError(f"Missing type for feature {key}.")
        self.key, self.dtype = key, as_dtype(dtype)
        if self.dtype not in KINDS.values():
            raise errors.InvalidArgumentError(
                f"Value for attr of {self.dtype.name} is not in the list of allowed values: float, int64, string. "
                f"Ask for one of them in {key!r}, and tf.cast it"
            )

    @property
    def uses(self) -> list[Use]:
        """The required features."""
        return [Use(self.kind, self.key, self.dtype)]

    @property
    def declared(self) -> list[Any]:
        """The dtypes of its arrays."""
        return [self.dtype]

    def arrays(self, rows: list[Row], names: list[str]) -> list[Any]:
        """Returns the arrays, from the features of all examples."""
        raise NotImplementedError

    def tensor(self, parts: list[Tensor], single: bool) -> Any:
        """Returns the tensor, from the arrays."""
        return parts[0][0] if single else parts[0]

    def found(self, row: Row, name: str, key: str | None = None, dtype: Any = None) -> Values | None:
        """Returns the values of a feature, with the expected dtype; None if missing."""
        key, dtype = key or self.key, dtype or self.dtype
        values = row.get(key)
        if values is None or values.dtype is None:
            return None
        if values.dtype is not dtype:
            raise errors.InvalidArgumentError(
                f"{name}Key: {key}.  Data types don't match. Data type: {values.dtype.name} but expected type: "
                f"{dtype.name}"
            )
        return values


def joined(parts: list[Any], dtype: Any) -> Any:
    """Concatenates values to an array."""
    if dtype is not dtypes.string:
        return np.concatenate([np.empty(0, dtype.as_numpy_dtype), *parts])
    flat = [value for part in parts for value in part]
    array = np.empty(len(flat), object)
    array[:] = flat
    return array


def text(array: Any, dtype: Any) -> Any:
    """Returns an array as a result of the op: strings must be distinguishable from objects."""
    return Tensor(array, dtype) if dtype is dtypes.string else array


class FixedColumn(Column):
    """A feature with the same shape in all examples."""

    def __init__(self, key: str, feature: FixedLenFeature) -> None:
        super().__init__(key, feature.dtype)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
        self.shape = TensorShape(feature.shape)
        if self.shape.rank and self.shape[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. Received "
                f"feature={feature}."
            )
        if not self.shape.is_fully_defined():
            raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {self.shape}.")
        self.size = self.shape.num_elements() or 0
        self.default = None
        if feature.default_value is not None:
            default = np.ravel(to_tensor(feature.default_value, self.dtype).array)
            if default.size != self.size:
                raise errors.InvalidArgumentError(
                    f"Input to reshape is a tensor with {default.size} values, but {self.size} are wanted: "
                    f"the default value of {key!r} must be of shape {self.shape}"
                )
            self.default = default

    def arrays(self, rows: list[Row], names: list[str]) -> list[Any]:
        """Returns one array of known shape."""
        found = joined([self._one(row, name) for row, name in zip(rows, names, strict=True)], self.dtype)
        return [text(found.reshape(len(rows), *self.shape.as_list()), self.dtype)]

    def _one(self, row: Row, name: str) -> Any:
        values = self.found(row, name)
        if values is None:
            if self.default is None:
                raise errors.InvalidArgumentError(
                    f"{name}Feature: {self.key} (data type: {self.dtype.kernel_name()}) is required but could not be "
                    "found."
                )
            return self.default
        if len(values) != self.size:
            raise errors.InvalidArgumentError(
                f"{name}Key: {self.key}.  Number of {self.dtype.name} values != expected.  values size: {len(values)} "
                f"but output shape: {self.shape.as_list()}"
            )
        return values.values


class SequenceColumn(Column):
    """Rows of tensors of one shape, padded to the longest."""

    def __init__(self, key: str, feature: FixedLenSequenceFeature) -> None:
        super().__init__(key, feature.dtype)
        if not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        self.shape = dims_of(key, feature)
        self.size = math.prod(self.shape)
        self.default = _filler(feature.default_value, self.dtype)

    def arrays(self, rows: list[Row], names: list[str]) -> list[Any]:
        """Returns one array, as long as the longest row."""
        found = [(self.found(row, name) or Values(None, [])).values for row, name in zip(rows, names, strict=True)]
        for values, name in zip(found, names, strict=True):
            if self.size == 0 or len(values) % self.size:
                raise errors.InvalidArgumentError(
                    f"{name}Key: {self.key}.  Number of {self.dtype.name} values is not a multiple of stride length. "
                    f"Saw {len(values)} values but output shape is: {self.shape}"
                )
        return [text(filled(found, self.size, self.shape, self.default, self.dtype), self.dtype)]


def dims_of(key: str, feature: Any) -> list[int]:
    """Returns the sizes of a feature's shape, which must be known."""
    dims = TensorShape(feature.shape).as_list()
    if any(n is None for n in dims):
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {feature.shape}.")
    return [int(n) for n in dims if n is not None]


def _filler(value: Any, dtype: Any) -> Any:
    if value is None:
        return b"" if dtype is dtypes.string else dtype.as_numpy_dtype(0)
    array = to_tensor(value, dtype).array
    if np.size(array) != 1:
        raise errors.InvalidArgumentError(
            f"Input to reshape is a tensor with {np.size(array)} values, but the requested shape has 1: the default of "
            f"a FixedLenSequenceFeature must be a scalar, got {value!r}"
        )
    return np.ravel(array)[0]


def filled(rows: list[Any], size: int, shape: list[int], filler: Any, dtype: Any) -> Any:
    """Returns rows of tensors of `size` values as one array, with padding."""
    longest = max((len(values) for values in rows), default=0)
    array = np.full((len(rows), longest), filler, object if dtype is dtypes.string else dtype.as_numpy_dtype)
    for row, values in enumerate(rows):
        array[row, : len(values)] = values
    return array.reshape(len(rows), longest // size, *shape)


class VariableColumn(Column):
    """A feature of any length: a sparse tensor."""

    kind = "sparse"

    def __init__(self, key: str, feature: VarLenFeature) -> None:
        super().__init__(key, feature.dtype)

    @property
    def declared(self) -> list[Any]:
        """The dtypes of indices, values and shape."""
        return [dtypes.int64, self.dtype, dtypes.int64]

    def arrays(self, rows: list[Row], names: list[str]) -> list[Any]:
        """Returns an index for each value: its example, and its position in the example."""
        found = [(self.found(row, name) or Values(None, [])).values for row, name in zip(rows, names, strict=True)]
        places = [(i, j) for i, values in enumerate(found) for j in range(len(values))]
        shape = (len(rows), max((len(values) for values in found), default=0))
        return [
            np.array(places, np.int64).reshape(-1, 2), text(joined(found, self.dtype), self.dtype),
            np.array(shape, np.int64),
        ]  # fmt: skip

    def tensor(self, parts: list[Tensor], single: bool) -> SparseTensor:
        """Returns the sparse tensor."""
        indices, values, shape = parts
        return SparseTensor(indices[:, 1:], values, shape[1:]) if single else SparseTensor(indices, values, shape)


class SparseColumn(VariableColumn):
    """Indices and values from several features: a sparse tensor of known size."""

    def __init__(self, key: str, feature: SparseFeature) -> None:
        for what in ("index_key", "value_key"):
            if not getattr(feature, what):
                raise ValueError(f"Missing {what} for SparseFeature {feature}.")
        Column.__init__(self, key, feature.dtype)
        index_key = feature.index_key
        self.places = [index_key] if isinstance(index_key, str) else list(index_key)
        sizes = feature.size if isinstance(feature.size, list | tuple) else [feature.size]
        self.sizes = [int(size) for size in sizes]
        if len(self.places) != len(self.sizes):
            raise ValueError(
                f"The number of keys and sizes of {key!r} must be the same: {self.places} and {self.sizes} were given"
            )
        self.values, self.sorted = feature.value_key, feature.already_sorted

    @property
    def uses(self) -> list[Use]:
        """The features of the indices and of the values."""
        return [*(Use("sparse", place, dtypes.int64) for place in self.places), Use("sparse", self.values, self.dtype)]

    def arrays(self, rows: list[Row], names: list[str]) -> list[Any]:
        """Returns the indices as given, sorted if necessary."""
        places, found = [], []
        for i, (row, name) in enumerate(zip(rows, names, strict=True)):
            values = self.found(row, name, self.values) or Values(None, [])
            columns = [(self.found(row, name, key, dtypes.int64) or Values(None, [])).values for key in self.places]
            if any(len(column) != len(values) for column in columns):
                raise ValueError(
                    f"Dimensions {[len(column) for column in columns]} and {len(values)} are not compatible: in {name}"
                    f"there are not as many places under {self.places} as values under {self.values!r}"
                )
            rows_of = zip(*columns, strict=True)
            order = list(enumerate(tuple(map(int, place)) for place in rows_of))
            order = order if self.sorted else sorted(order, key=lambda pair: pair[1])
            places += [(i, *place) for _, place in order]
            found.append([values.values[j] for j, _ in order])
        return [
            np.array(places, np.int64).reshape(-1, 1 + len(self.places)), text(joined(found, self.dtype), self.dtype),
            np.array([len(rows), *self.sizes], np.int64),
        ]  # fmt: skip


class RaggedColumn(Column):
    """A feature of any length: a ragged tensor, which other features may partition further."""

    def __init__(self, key: str, feature: RaggedFeature) -> None:
        super().__init__(key, feature.dtype)
        self.values, self.partitions = feature.value_key or key, feature.partitions
        self.splits = feature.row_splits_dtype

    @property
    def uses(self) -> list[Use]:
        """The feature of the values, and those of the partitions."""
        keys = [part.key for part in self.partitions if hasattr(part, "key")]
        return [
            Use("ragged", self.values, self.dtype, self.splits),
            *(Use("ragged", key, dtypes.int64, self.splits) for key in keys),
        ]

    @property
    def declared(self) -> list[Any]:
        """The dtypes of the values, the row splits of examples, and the splits of each partition."""
        return [self.dtype, self.splits, *[self.splits] * len(self.partitions)]

    def arrays(self, rows: list[Row], names: list[str]) -> list[Any]:
        """Returns the values, then splits from the outermost on."""
        pairs = list(zip(rows, names, strict=True))
        found = [(self.found(row, name, self.values) or Values(None, [])).values for row, name in pairs]
        kind = self.splits.as_numpy_dtype
        lengths: list[list[list[int]]] = []
        counts = [len(values) for values in found]  # of what a partition divides: values, or rows of the next one
        for part in reversed(self.partitions):
            level = [self._lengths(part, *pair, count) for pair, count in zip(pairs, counts, strict=True)]
            lengths.insert(0, level)
            counts = [len(steps) for steps in level]
        inner = [_splits([n for steps in level for n in steps], kind) for level in lengths]
        return [text(joined(found, self.dtype), self.dtype), _splits(counts, kind), *inner]

    def _lengths(self, part: Any, row: Row, name: str, inner: int) -> list[int]:
        """Returns the row lengths of an example, from a partition of `inner` parts."""
        if isinstance(part, RaggedFeature.UniformRowLength):
            return [part.length] * (inner // part.length)
        given = (self.found(row, name, part.key, dtypes.int64) or Values(None, np.empty(0, np.int64))).values
        numbers = [int(n) for n in given]
        if isinstance(part, RaggedFeature.RowLengths):
            return numbers
        if isinstance(part, RaggedFeature.ValueRowIds):
            return np.bincount(given).tolist() if numbers else []
        if isinstance(part, RaggedFeature.RowLimits):
            numbers = [0, *numbers]
        elif isinstance(part, RaggedFeature.RowStarts):
            numbers = [*numbers, inner]
        return np.diff(numbers).tolist()

    def tensor(self, parts: list[Tensor], single: bool) -> Any:
        """Returns the ragged tensor; for a single example, without its outermost dimension."""
        value: Any = parts[0]
        outer, inner = parts[1], parts[2:]
        for part, splits in zip(reversed(self.partitions), reversed(inner), strict=True):
            if isinstance(part, RaggedFeature.UniformRowLength) and not isinstance(value, RaggedTensor):
                value = ops.reshape(value, shape=(-1, part.length, *value.shape[1:]))
            else:
                value = RaggedTensor.from_row_splits(value, splits, validate=False)
        return value if single else RaggedTensor.from_row_splits(value, outer, validate=False)


def _splits(lengths: list[int], kind: Any) -> Any:
    return np.cumsum([0, *lengths]).astype(kind)


_COLUMNS: dict[type, Any] = {
    FixedLenFeature: FixedColumn, FixedLenSequenceFeature: SequenceColumn, VarLenFeature: VariableColumn,
    SparseFeature: SparseColumn, RaggedFeature: RaggedColumn,
}  # fmt: skip


def columns_of(features: dict[str, Any]) -> dict[str, Column]:
    """Returns the columns of the requested features."""
    for key, feature in features.items():
        if type(feature) not in _COLUMNS:
            raise ValueError(
                f"Unsupported {type(feature).__name__} {feature!r} for key {key!r}: use tf.io.FixedLenFeature, "
                "VarLenFeature, FixedLenSequenceFeature, SparseFeature or RaggedFeature"
            )
    columns = {key: _COLUMNS[type(feature)](key, feature) for key, feature in sorted(features.items())}
    check_uses(columns.values())
    return columns


def check_uses(columns: Iterable[Column]) -> None:
    """Raises an error if two columns read a feature in different ways."""
    uses = [use for column in columns for use in column.uses]
    keys = {kind: [use.key for use in uses if use.kind == kind] for kind in ("dense", "ragged", "sparse")}
    for kind, other in (("dense", "sparse"), ("dense", "ragged"), ("ragged", "sparse")):
        common = set(keys[kind]) & set(keys[other])
        if common:
            raise ValueError(
                f"{kind.capitalize()} and {other} keys must not intersect; {kind}_keys: {keys[kind]}, {other}_keys: "
                f"{keys[other]}, intersection: {common}"
            )
    first: dict[str, Use] = {}
    for use in uses:
        seen = first.setdefault(use.key, use)
        if use.dtype is not seen.dtype:
            raise ValueError(f"Conflicting type {seen.dtype!r} vs {use.dtype!r} for feature {use.key}.")
        if use.splits is not seen.splits:
            raise ValueError(f"Conflicting partition type {seen.splits!r} vs {use.splits!r} for feature {use.key}.")
