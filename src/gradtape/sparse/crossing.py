"""Feature crosses: all combinations of the features in rows of several tensors, as text or as hashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..api.runtime.system import py_function
from ..api.strings.hashes import farm
from ..api.strings.strings import in_bytes
from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import ValueLike
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops
from .tensor import SparseTensor

NAMESPACES = ("sparse",)
__all__ = ["cross", "cross_hashed"]

_MASK, _FACTOR, _KEY = 0xFFFFFFFFFFFFFFFF, 0xC6A4A7935BD1E995, 0xDECAFCAFFE


def cross(inputs: Sequence[ValueLike], name: str | None = None, separator: str | None = None) -> SparseTensor:
    """Returns all combinations of the features in a row of the inputs, joined to strings.

    Args:
      inputs: matrices or sparse matrices, of strings or integers. Sparse ones come first in a combination.
      separator: the text between two features; `_X_` by default.

    >>> crossed = tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([[1]])])
    >>> crossed.values.numpy().tolist()
    [b'a_X_1', b'b_X_1']
    """
    return _cross(inputs, joined_features(b"_X_" if separator is None else in_bytes(separator)), dtypes.string)


def joined_features(between: bytes) -> Callable[[tuple[Any, ...]], bytes]:
    """Joins features to one string."""
    return lambda features: between.join(x if isinstance(x, bytes) else str(x).encode() for x in features)


def cross_hashed(
    inputs: Sequence[ValueLike], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Returns all combinations of the features in a row of the inputs, as hashes.

    Args:
      inputs: matrices or sparse matrices, of strings or integers. Sparse ones come first in a combination.
      num_buckets: the upper limit of hashes, unless it is 0.
      hash_key: the initial value of the hash.

    >>> crossed = tf.sparse.cross_hashed([tf.constant([["a", "b"]]), tf.constant([[1]])], num_buckets=10)
    >>> crossed.values.numpy().tolist()
    [5, 3]
    """
    return _cross(inputs, hashed_features(num_buckets, hash_key), dtypes.int64)


def hashed_features(num_buckets: int, hash_key: int | None) -> Callable[[tuple[Any, ...]], int]:
    """Combines features to one hash."""
    if num_buckets < 0:
        raise errors.InvalidArgumentError(f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 0")
    key = _KEY if hash_key is None else int(hash_key)
    below = num_buckets or 2**63 - 1

    def hashed(features: tuple[Any, ...]) -> int:
        found = key & _MASK
        for x in features:
            found = _combine_fingerprints(found, farm(x) if isinstance(x, bytes) else x & _MASK)
        return found % below

    return hashed


def _combine_fingerprints(first: int, second: int) -> int:
    """TensorFlow's `FingerprintCat64`: combines two fingerprints."""
    mixed = second * _FACTOR & _MASK
    found = (first ^ _FACTOR ^ (mixed ^ mixed >> 47) * _FACTOR) * _FACTOR & _MASK
    found = (found ^ found >> 47) * _FACTOR & _MASK
    return found ^ found >> 47


def _cross(inputs: Any, combined: Callable[[tuple[Any, ...]], Any], dtype: Any) -> SparseTensor:
    if not isinstance(inputs, list | tuple) or not all(isinstance(x, Tensor | SparseTensor) for x in inputs):
        raise TypeError(f"All inputs must be Tensor or SparseTensor. Got {inputs!r}")
    sparse = [x for x in inputs if isinstance(x, SparseTensor)]
    dense = [_features(x) for x in inputs if not isinstance(x, SparseTensor)]
    parts = [part for x in sparse for part in (x.indices, _features(x.values), x.dense_shape)]

    def call(*tensors: Tensor) -> list[Any]:
        arrays = [np.asarray(x.array) for x in tensors]
        columns = [_sparse_rows(*arrays[i : i + 3]) for i in range(0, len(parts), 3)]
        columns += [_dense_rows(x, i) for i, x in enumerate(arrays[len(parts) :])]
        size = len(columns[0]) if columns else 0
        for i, column in enumerate(columns):
            if len(column) != size:
                raise errors.InvalidArgumentError(f"Expected batch size {size} got {len(column)} at tensor {i}")
        rows = [[combined(features) for features in product(*row)] for row in zip(*columns, strict=True)]
        places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
        values = np.empty(len(places), object)
        values[:] = [value for row in rows for value in row]
        width = max(map(len, rows), default=0)
        return [
            np.array(places, np.int64).reshape(-1, 2),
            Tensor(values if dtype is dtypes.string else values.astype(np.int64), dtype),
            np.array([size, width], np.int64),
        ]

    indices, values, shape = py_function(call, [*parts, *dense], [dtypes.int64, dtype, dtypes.int64])
    return SparseTensor(indices, values, shape)


def _features(x: Any) -> Tensor:
    tensor = to_tensor(x)
    return tensor if tensor.dtype in (dtypes.string, dtypes.int64) else ops.cast(tensor, dtype=dtypes.int64)


def _sparse_rows(indices: Any, values: Any, shape: Any) -> list[list[Any]]:
    rows: list[list[Any]] = [[] for _ in range(int(shape[0]))]
    for (row, *_), value in zip(indices.tolist(), values.tolist(), strict=True):
        rows[row].append(value)
    return rows


def _dense_rows(values: Any, position: int) -> list[list[Any]]:
    if values.ndim != 2:
        raise errors.InvalidArgumentError(
            f"Dense inputs should be a matrix but received shape {list(values.shape)} at position {position}"
        )
    return values.tolist()
