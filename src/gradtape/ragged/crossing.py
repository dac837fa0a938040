"""`tf.ragged.cross`: all combinations of the features in rows of several matrices, as text or as hashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.type_hints import ValueLike
from ..engine.run.namespace import ops
from ..sparse.crossing import hashed_features, joined_features
from ..sparse.tensor import SparseTensor
from .arrays import cast, values_of
from .partition import cut_at
from .tensor import RaggedTensor

NAMESPACES = ("ragged",)
__all__ = ["cross", "cross_hashed"]


def cross(inputs: Sequence[ValueLike], name: str | None = None) -> RaggedTensor:
    """Returns all combinations of the features in a row of the inputs, joined by `_X_`.

    >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])])
    <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>
    """
    return _crossed(inputs, joined_features(b"_X_"), object)


def cross_hashed(
    inputs: Sequence[ValueLike], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """Returns all combinations of the features in a row of the inputs, as hashes below `num_buckets` unless it is 0.

    >>> tf.ragged.cross_hashed(
    ...     [tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])], num_buckets=100)
    <tf.RaggedTensor [[82], [61, 41]]>
    """
    return _crossed(inputs, hashed_features(num_buckets, hash_key), np.int64)


def _crossed(inputs: Any, combined: Callable[[tuple[Any, ...]], Any], kind: Any) -> RaggedTensor:
    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    rows = [_rows(x, i) for i, x in enumerate(inputs)]
    narrow = [x for x in inputs if isinstance(x, RaggedTensor)]
    dtype = dtypes.int32 if narrow and all(x.row_splits.dtype is dtypes.int32 for x in narrow) else dtypes.int64

    def crossed(*arrays: Any) -> Any:
        columns = [_lists(*arrays[i : i + 2]) for i in range(0, len(arrays), 2)]
        if len(set(map(len, columns))) > 1:
            raise errors.InvalidArgumentError(
                f"inputs must all have the same number of rows, got {[len(column) for column in columns]}"
            )
        found = [[combined(features) for features in product(*row)] for row in zip(*columns, strict=True)]
        values = np.empty(sum(map(len, found)), kind)
        values[:] = [value for row in found for value in row]
        return values, np.cumsum([0, *map(len, found)]).astype(dtype.numpy)

    values, splits = ops.cut_text(*[part for x in rows for part in (x.values, x.row_splits)], function=crossed)
    return RaggedTensor(values, cut_at(splits), internal=True)


def _rows(x: Any, number: int) -> RaggedTensor:
    """Converts any matrix of strings or integers to a ragged tensor."""
    if isinstance(x, SparseTensor):
        x = RaggedTensor.from_value_rowids(x.values, x.indices[:, 0], nrows=x.dims[0], validate=False)
    x = values_of(x)
    if not x.dtype.is_integer and x.dtype is not dtypes.string:
        raise ValueError(f"Unexpected dtype for inputs[{number}]: {x.dtype!r}")
    if len(x.shape) != 2 or (isinstance(x, RaggedTensor) and x.ragged_rank != 1):
        raise ValueError("tf.ragged.cross only supports inputs with rank=2")
    x = x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)
    return cast(x, dtypes.int64) if x.dtype.is_integer else x


def _lists(values: Any, splits: Any) -> list[list[Any]]:
    flat = values.tolist()
    return [flat[i:j] for i, j in pairwise(splits.tolist())]
