"""`tensorflow.python.ops.linalg.sparse.sparse`: batches of sparse matrices, and their products.

A product of two sparse matrices is computed from the pairs of matching entries, as many as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

import gradtape as tf


class CSRSparseMatrix:
    """A sparse matrix, or a batch of them."""

    def __init__(self, value: Any, indices: Any = None, name: str | None = None) -> None:
        if isinstance(value, tf.SparseTensor):
            self._tensor = tf.sparse.reorder(value)
            return
        value = tf.convert_to_tensor(value)
        places = tf.where(value != 0) if indices is None else tf.cast(indices, "int64")
        shape = tf.shape(value, out_type="int64")
        self._tensor = tf.SparseTensor(places, tf.gather_nd(value, places), shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the entries."""
        return self._tensor.dtype

    @property
    def shape(self) -> Any:
        """`[..., rows, columns]`."""
        return self._tensor.shape

    def get_shape(self) -> Any:
        """Same as `shape`."""
        return self.shape

    def to_sparse_tensor(self) -> Any:
        """Returns the entries as a `tf.SparseTensor`."""
        return self._tensor

    def to_dense(self) -> Any:
        """Returns the dense matrix."""
        return tf.sparse.to_dense(self._tensor)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Any:
    """Multiplies two matrices of which at least one is sparse; the result is sparse if both are."""
    a, b = _turned(a, transpose_a, adjoint_a), _turned(b, transpose_b, adjoint_b)
    if isinstance(a, CSRSparseMatrix) and isinstance(b, CSRSparseMatrix):
        return CSRSparseMatrix(_product(a.to_sparse_tensor(), b.to_sparse_tensor()))
    if isinstance(a, CSRSparseMatrix):
        return _with_dense(a.to_sparse_tensor(), tf.convert_to_tensor(b))
    if isinstance(b, CSRSparseMatrix):
        return _swapped(_with_dense(_turned(b, True, False).to_sparse_tensor(), _swapped(tf.convert_to_tensor(a))))
    return tf.matmul(a, b)


def _swapped(x: Any) -> Any:
    return tf.linalg.matrix_transpose(x)


def _turned(x: Any, transpose: bool, adjoint: bool) -> Any:
    if not transpose and not adjoint:
        return x
    if not isinstance(x, CSRSparseMatrix):
        return tf.linalg.adjoint(x) if adjoint else _swapped(x)
    tensor = x.to_sparse_tensor()
    if adjoint:
        tensor = tf.SparseTensor(tensor.indices, tf.math.conj(tensor.values), tensor.dense_shape)
    axes = list(range(len(tensor.shape)))
    return CSRSparseMatrix(tf.sparse.transpose(tensor, [*axes[:-2], axes[-1], axes[-2]]))


def _with_dense(a: Any, b: Any) -> Any:
    """Sums each entry of `a` times the matching row of `b`."""
    batch = [a.indices[:, i] for i in range(len(a.shape) - 2)]
    row, column = a.indices[:, -2], a.indices[:, -1]
    rows = tf.gather_nd(b, tf.stack([*batch, column], axis=1))
    shape = tf.concat([a.dense_shape[:-1], tf.shape(b, out_type="int64")[-1:]], 0)
    return tf.scatter_nd(tf.stack([*batch, row], axis=1), a.values[:, None] * rows, shape)


def _product(a: Any, b: Any) -> Any:
    """Pairs each entry of `a` with the entries of the matching row of `b`, and sums the products by position."""
    leading = len(a.shape) - 2
    columns, rows = _row_ids(a, [*range(leading), leading + 1]), _row_ids(b, [*range(leading), leading])
    starts, ends = tf.searchsorted(rows, columns, "left"), tf.searchsorted(rows, columns, "right")
    meeting = tf.ragged.range(starts, ends)
    left, right = meeting.value_rowids(), meeting.values
    values = tf.gather(a.values, left) * tf.gather(b.values, right)
    at = tf.concat([tf.gather(a.indices, left)[:, :-1], tf.gather(b.indices, right)[:, -1:]], 1)
    shape = tf.concat([a.dense_shape[:-1], b.dense_shape[-1:]], 0)
    flat = tf.reduce_sum(at * tf.math.cumprod(shape, exclusive=True, reverse=True), 1)
    places, ids = tf.unique(flat)
    summed = tf.math.unsorted_segment_sum(values, ids, tf.size(places))
    at = tf.transpose(tf.unravel_index(places, shape))
    return tf.sparse.reorder(tf.SparseTensor(tf.cast(at, "int64"), summed, shape))


def _row_ids(x: Any, axes: list[int]) -> Any:
    """Returns one integer for the indices along some axes, in lexicographic order."""
    shape = tf.gather(x.dense_shape, axes)
    weights = tf.math.cumprod(shape, exclusive=True, reverse=True)
    return tf.reduce_sum(tf.gather(x.indices, axes, axis=1) * weights, 1)
