"""Feature descriptions for `tf.io.parse_example`: dtypes and kinds of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core import dtypes

NAMESPACES = ("io",)
__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "VarLenFeature"]


class FixedLenFeature(NamedTuple):
    """A feature with the same shape in all examples: a dense tensor; required unless `default_value` is given.

    >>> tf.io.FixedLenFeature([2], tf.float32)
    FixedLenFeature(shape=[2], dtype=tf.float32, default_value=None)
    """

    shape: Any
    dtype: Any
    default_value: Any = None


FixedLenFeature.__module__ = "gradtape.io"


class VarLenFeature(NamedTuple):
    """A feature of any length: a sparse tensor.

    >>> tf.io.VarLenFeature(tf.string)
    VarLenFeature(dtype=tf.string)
    """

    dtype: Any


VarLenFeature.__module__ = "gradtape.io"


class FixedLenSequenceFeature(NamedTuple):
    """A feature with rows of tensors of one shape: a dense tensor, in which shorter rows are padded.

    >>> tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True).allow_missing
    True
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


FixedLenSequenceFeature.__module__ = "gradtape.io"


class SparseFeature(NamedTuple):
    """Features that form a sparse tensor: indices under `index_key`, or several keys, and values under `value_key`.

    >>> tf.io.SparseFeature("place", "value", tf.float32, size=10).size
    10
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


SparseFeature.__module__ = "gradtape.io"


class _RowSplits(NamedTuple):
    key: str


class _RowLengths(NamedTuple):
    key: str


class _RowStarts(NamedTuple):
    key: str


class _RowLimits(NamedTuple):
    key: str


class _ValueRowIds(NamedTuple):
    key: str


class _UniformRowLength(NamedTuple):
    length: int


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: Any
    partitions: Any
    row_splits_dtype: Any
    validate: bool


class RaggedFeature(_RaggedFields):
    """A feature of any length: a ragged tensor, which other features may partition further.

    >>> parted = tf.io.RaggedFeature(tf.int64, "values", [tf.io.RaggedFeature.RowLengths("lengths")])
    >>> parted.value_key
    'values'
    """

    __module__ = "gradtape.io"

    RowSplits, RowLengths, RowStarts = _RowSplits, _RowLengths, _RowStarts
    RowLimits, ValueRowIds, UniformRowLength = _RowLimits, _ValueRowIds, _UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: Any = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> RaggedFeature:
        """Creates a description, of which only the dtype is required."""
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key!r}")
        known = (_RowSplits, _RowLengths, _RowStarts, _RowLimits, _ValueRowIds, _UniformRowLength)
        if not isinstance(partitions, list | tuple) or not all(isinstance(part, known) for part in partitions):
            raise TypeError(f"Argument `partitions` must be a list of partitions; got {partitions!r}")
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(
            cls, dtypes.as_dtype(dtype), value_key, tuple(partitions), dtypes.as_dtype(row_splits_dtype), validate
        )
