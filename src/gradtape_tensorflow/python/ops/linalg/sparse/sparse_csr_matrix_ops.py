"""`tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_ops`: conversion and multiplication of sparse matrices."""

from __future__ import annotations

from typing import Any

import gradtape as tf

from .sparse import CSRSparseMatrix, matmul


def sparse_tensor_to_csr_sparse_matrix(indices: Any, values: Any, dense_shape: Any, name: str | None = None) -> Any:
    """Creates a sparse matrix from its entries."""
    return CSRSparseMatrix(tf.SparseTensor(indices, values, dense_shape))


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: Any, type: Any, name: str | None = None) -> Any:
    """Returns the entries of a sparse matrix."""
    return sparse_matrix.to_sparse_tensor()


def sparse_matrix_sparse_mat_mul(
    a: Any,
    b: Any,
    type: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Any:
    """Multiplies two sparse matrices."""
    return matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)
