"""Embedding lookups, whose gradients are sparse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ragged.tensor import RaggedTensor
from ...sparse.conversion import fill_empty_rows, retain
from ...sparse.tensor import SparseTensor
from ..arrays.casting import cast
from ..math.segments import segment_sum

NAMESPACES = ("nn",)
__all__ = ["embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse"]


def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Looks up the rows of `params` at `ids`, `y[i] = params[ids[i]]`; a list of tables is one table, split by rows.

    - Shape: `[rows, width]`, `[...]` → `[..., width]`.
    - Dtypes: any; the result has that of `params`.
    - Derivative: an `IndexedSlices` of the rows that were looked up.

    Args:
      max_norm: rows with a larger norm are scaled down to it.

    >>> tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 0, 1]).numpy()
    array([[3., 4.],
           [1., 2.],
           [3., 4.]], dtype=float32)
    """
    if params is None:
        raise ValueError("params must be specified")
    tables = [to_tensor(table) for table in params] if isinstance(params, list | tuple) else [to_tensor(params)]
    if not tables:
        raise ValueError("params should not be an empty list or tuple. Received: params=[]")
    index = to_tensor(ids)
    if not index.dtype.is_integer:
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tindices' of {index.dtype.kernel_name()} is not in the list of allowed values: int16, "
            "int32, int64 [Op:GatherV2]. Use tf.cast(ids, tf.int32)"
        )
    rows = _rows(tables, index)
    return rows if max_norm is None else _clipped(rows, len(index.dims), max_norm)


def _rows(tables: list[Tensor], index: Tensor) -> Tensor:
    """Returns the rows at `index`; the gradient of each table is sparse."""
    if len(tables) == 1 or type(index) is not Tensor:  # the values of a batched tensor are not known here
        table = tables[0] if len(tables) == 1 else ops.concat(*tables, axis=0)
        _check_range(index, table.dims[0])
        return ops.gather_rows(table, index)
    ids = np.asarray(index.array).reshape(-1)
    # Rows are distributed evenly; the first tables get one more if there is a remainder.
    each, more = divmod(sum(table.dims[0] for table in tables), len(tables))
    owner = np.clip(np.maximum(ids // (each + 1), (ids - more) // max(each, 1)), 0, len(tables) - 1)
    own = ids - (owner * each + np.minimum(owner, more))
    parts = []
    for i, table in enumerate(tables):
        wanted = to_tensor(own[owner == i])
        _check_range(wanted, table.dims[0])
        parts.append(ops.gather_rows(table, wanted))
    places = np.argsort(np.argsort(owner, kind="stable"))
    rows = ops.gather(ops.concat(*parts, axis=0), to_tensor(places), axis=0, batch=0)
    return ops.reshape(rows, shape=(*index.dims, *rows.dims[1:]))


def _check_range(index: Tensor, count: int) -> None:
    if type(index) is not Tensor:
        return  # an element of a batch, whose values are not known here
    values = np.asarray(index.array)
    wrong = (values < 0) | (values >= count)
    if wrong.any():
        at = [int(i[0]) for i in np.nonzero(np.atleast_1d(wrong))]
        raise errors.InvalidArgumentError(
            f"indices{at if values.ndim else ''} = {np.atleast_1d(values)[tuple(at)]} is not in [0, {count}) "
            f"[Op:GatherV2]. ids must be between 0 and {count - 1}, the rows of `params`"
        )


def _clipped(rows: Tensor, lead: int, max_norm: Any) -> Tensor:
    """Scales `rows` down to norm `max_norm` if theirs is larger."""
    max_norm = cast(max_norm, rows.dtype)
    axes = tuple(range(lead, len(rows.dims)))
    squares = ops.sum(ops.square(rows), axis=axes, keepdims=True)
    positive = squares > 0
    norms = ops.where(positive, ops.sqrt(ops.where(positive, squares, ops.ones_like(squares))), squares)
    return rows * max_norm / ops.maximum(norms, max_norm)


def embedding_lookup_sparse(
    params: TensorLike, sp_ids: SparseTensor | RaggedTensor, sp_weights: SparseTensor | RaggedTensor | None,
    combiner: str | None = None, max_norm: TensorLike | None = None, name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """Looks up the rows of `params` for each row of ids in `sp_ids`, weights them, and combines them into one.

    Args:
      sp_weights: a weight for each id; None for ones.
      combiner: "mean" (weighted; the default), "sum", or "sqrtn": divided by the square root of the sum of squared
        weights.
      max_norm: rows with a larger norm are first scaled down to it.
      allow_fast_lookup: whether the gradient of a tensor may be dense.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2])
    >>> tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [2.0], [3.0]]), ids, None, combiner="sum").numpy()
    array([[4.],
           [2.]], dtype=float32)
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
        for ours, theirs in zip(sp_ids._parts(), sp_weights._parts(), strict=True):
            ours.shape.assert_is_compatible_with(theirs.shape)
    if isinstance(params, list) and not params:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    plain = max_norm is None and _is_single_tensor(params)
    tables: list[Any] = [to_tensor(table) for table in (params if isinstance(params, list) else [params])]
    dtype = tables[0].dtype
    if dtype.is_integer and (combiner != "sum" or sp_weights is not None):
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {dtype.kernel_name()} is not in the list of allowed values: bfloat16, half, float, "
            f"double. Of integers there is only the sum without weights, got combiner={combiner!r}"
        )
    rows = _rows_once(tables, sp_ids.values, max_norm, plain, allow_fast_lookup, sp_weights is not None)
    if dtype in (dtypes.float16, dtypes.bfloat16):
        rows = ops.cast(rows, dtype=dtypes.float32)
    combined = _combined(rows, ops.slice(sp_ids.indices, key=(slice(None), 0)), sp_weights, combiner)
    return ops.cast(combined, dtype=dtype) if combined.dtype is not dtype else combined


def _is_single_tensor(params: Any) -> bool:
    if isinstance(params, list):
        return len(params) == 1 and _is_single_tensor(params[0])
    return not hasattr(params, "_as_tensor")


def _rows_once(tables: list[Any], ids: Tensor, max_norm: Any, plain: bool, fast: bool, weighted: bool) -> Tensor:
    """Returns the rows at `ids`. Unless `fast`, each is looked up once and occurs once in the sparse gradient."""
    values = to_array(ids)
    if values.dtype.kind not in "iu":
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tidx' of {ids.dtype.kernel_name()} is not in the list of allowed values: int32, int64: "
            "ids must be integers, which number the rows of `params`"
        )
    if plain and fast:
        _check_range(ids, tables[0].dims[0])
        return ops.gather_rows(tables[0], ids) if weighted else ops.gather(tables[0], ids, axis=0, batch=0)
    distinct, first, places = np.unique(values, return_index=True, return_inverse=True)
    if weighted or not plain:  # in order of appearance
        order = np.argsort(first)
        distinct, places = distinct[order], np.argsort(order)[places]
    rows = embedding_lookup(tables, distinct, max_norm)
    return ops.gather(rows, to_tensor(places), axis=0, batch=0)


def _combined(rows: Tensor, segments: Tensor, sp_weights: SparseTensor | None, combiner: str) -> Tensor:
    """Combines the weighted rows of each segment according to `combiner`; 0 if the weights sum to 0."""
    count = rows.dims[0]
    column = (count, *(1,) * (len(rows.dims) - 1))
    if sp_weights is None:
        weights = to_tensor(np.ones(column, rows.dtype.numpy))
        total = segment_sum(rows, segments)
    else:
        weights = ops.reshape(ops.cast(sp_weights.values, dtype=rows.dtype), shape=column)
        total = segment_sum(rows * weights, segments)
    if combiner == "sum":
        return total
    if combiner == "mean":
        return ops.divide_no_nan(total, segment_sum(weights, segments))
    squares = segment_sum(ops.square(weights), segments)
    some = ops.greater(squares, ops.zeros_like(squares))
    root = ops.sqrt(ops.where(some, squares, ops.ones_like(squares)))
    return ops.divide_no_nan(total, ops.where(some, root, squares))


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike, sparse_ids: SparseTensor, sparse_weights: SparseTensor | None = None,
    combiner: str = "mean", default_id: int | None = None, max_norm: TensorLike | None = None, name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """Like `embedding_lookup_sparse`, but accepts negative ids, nonpositive weights and empty rows.

    Negative ids are dropped, and so are nonpositive weights unless `combiner` is "sum".

    Args:
      sparse_ids: ids along the last axis; the axes before it are those of the result.
      default_id: the id for empty rows; None for zeros.

    >>> ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [-1, 1, 2], [3, 2])
    >>> tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [2.0], [3.0]]), ids).numpy()
    array([[0. ],
           [2.5],
           [0. ]], dtype=float32)
    """
    if embedding_weights is None or (isinstance(embedding_weights, list | tuple) and not embedding_weights):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    given: list[Any] = embedding_weights if isinstance(embedding_weights, list) else [embedding_weights]
    tables = [w if hasattr(w, "_as_tensor") and dtype in (None, w.dtype) else to_tensor(w, dtype) for w in given]
    shape = tuple(int(n) for n in to_array(sparse_ids.dense_shape))
    ids = _as_matrix(sparse_ids, shape)
    weights = None if sparse_weights is None else _as_matrix(sparse_weights, shape)
    valid = to_array(ids.values) >= 0
    ids, weights = retain(ids, valid), None if weights is None else retain(weights, valid)
    if weights is not None and combiner != "sum":
        positive = to_array(weights.values) > 0
        ids, weights = retain(ids, positive), retain(weights, positive)
    ids, empty = fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, 1.0)
    y = embedding_lookup_sparse(tables, ids, weights, combiner, max_norm, name, allow_fast_lookup)
    if default_id is None:
        y = ops.where(ops.reshape(empty, shape=(*empty.dims, *(1,) * (len(y.dims) - 1))), ops.zeros_like(y), y)
    return ops.reshape(y, shape=(*shape[:-1], *y.dims[1:]))


def _as_matrix(s: SparseTensor, shape: tuple[int, ...]) -> SparseTensor:
    """Merges all axes of `s` except the last into one."""
    places = to_array(s.indices)
    strides = np.array([math.prod(shape[i + 1 : -1]) for i in range(len(shape) - 1)], np.int64)
    rows = places[:, :-1] @ strides
    return SparseTensor(np.stack([rows, places[:, -1]], axis=1), s.values, [math.prod(shape[:-1]), shape[-1]])
