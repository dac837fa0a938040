"""`tf.distribute.experimental.partitioners`: the number of shards of a variable along each axis."""

from __future__ import annotations

import math
from typing import Any

from ...core import dtypes
from ...core.shapes import TensorShape

NAMESPACES = ("distribute.experimental.partitioners",)
__all__ = ["FixedShardsPartitioner", "MaxSizePartitioner", "MinSizePartitioner", "Partitioner"]


class Partitioner:
    """The base class of partitioners; a subclass defines `__call__`.

    >>> import gradtape as tf
    >>> class Halves(tf.distribute.experimental.partitioners.Partitioner):
    ...     def __call__(self, shape, dtype, axis=0):
    ...         return [2 if i == axis else 1 for i in range(len(shape))]
    >>> Halves()(tf.TensorShape([10, 3]), tf.float32)
    [2, 1]
    """

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        """Returns the number of shards along each axis."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it splits: write its __call__")


class FixedShardsPartitioner(Partitioner):
    """A fixed number of shards, at most the length of the axis.

    >>> import gradtape as tf
    >>> tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)(tf.TensorShape([10, 3]), tf.float32)
    [2, 1]
    """

    def __init__(self, num_shards: int) -> None:
        self._num_shards = num_shards

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        """Returns the number of shards along each axis."""
        return _along(axis, shape, min(self._num_shards, _lengths(shape)[axis]))


class MinSizePartitioner(Partitioner):
    """As many shards of at least `min_shard_bytes` as possible, up to `max_shards`.

    >>> import gradtape as tf
    >>> partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(min_shard_bytes=4, max_shards=10)
    >>> partitioner(tf.TensorShape([6, 1]), tf.float32)
    [6, 1]
    """

    def __init__(self, min_shard_bytes: int = 256 << 10, max_shards: int = 1, bytes_per_string: int = 16) -> None:
        _must_be_positive(min_shard_bytes=min_shard_bytes, max_shards=max_shards, bytes_per_string=bytes_per_string)
        self._bytes, self._max_shards, self._bytes_per_string = min_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        """Returns the number of shards along each axis."""
        lengths = _lengths(shape)
        if axis >= len(lengths):
            raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
        parts = math.ceil(math.prod(lengths) * _size(dtype, self._bytes_per_string) / self._bytes)
        return _along(axis, shape, max(1, min(lengths[axis], self._max_shards, parts)))


class MaxSizePartitioner(Partitioner):
    """As few shards of at most `max_shard_bytes` as possible, up to `max_shards`.

    >>> import gradtape as tf
    >>> partitioner = tf.distribute.experimental.partitioners.MaxSizePartitioner(max_shard_bytes=8)
    >>> partitioner(tf.TensorShape([6, 1]), tf.float32)
    [3, 1]
    """

    def __init__(self, max_shard_bytes: int, max_shards: int | None = None, bytes_per_string: int = 16) -> None:
        given = {} if max_shards is None else {"max_shards": max_shards}
        _must_be_positive(max_shard_bytes=max_shard_bytes, **given, bytes_per_string=bytes_per_string)
        self._bytes, self._max_shards, self._bytes_per_string = max_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        """Returns the number of shards along each axis."""
        lengths = _lengths(shape)
        row = math.prod(lengths) / lengths[axis] * _size(dtype, self._bytes_per_string)
        parts = math.ceil(lengths[axis] / max(1, math.floor(self._bytes / row)))
        return _along(axis, shape, parts if self._max_shards is None else min(self._max_shards, parts))


def _lengths(shape: TensorShape) -> list[int]:
    """Returns the length of each axis, which must be known."""
    if not isinstance(shape, TensorShape):
        raise ValueError(f"shape is not a TensorShape: {shape}")
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    return [int(size) for size in shape.as_list() if size is not None]


def _along(axis: int, shape: TensorShape, parts: int) -> list[int]:
    """Returns that number of shards along the axis, and one along the others."""
    counts = [1] * len(shape)
    counts[axis] = parts
    return counts


def _size(dtype: Any, bytes_per_string: int) -> int:
    """Returns the bytes of one entry."""
    known = dtypes.as_dtype(dtype)
    return bytes_per_string if known == dtypes.string else int(known.size)


def _must_be_positive(**given: int) -> None:
    for name, value in given.items():
        if value < 1:
            raise ValueError(f"Argument `{name}` must be positive. Received: {value}")
