"""Arithmetic on sparse tensors: sums, extrema, products with dense matrices, reductions."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

from ..api.namespace import resolve
from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import AxisLike, DTypeLike, TensorLike
from ..engine.run.convert import how_to_agree, to_array, to_tensor
from ..engine.run.namespace import ops
from .conversion import selected, sparse, where_true
from .tensor import SparseTensor, check_countable, coordinates, made_sparse, places

NAMESPACES = ("sparse",)
__all__ = ["add", "maximum", "minimum", "reduce_max", "reduce_sum", "sampled_addmm", "softmax", "sparse_dense_matmul"]


@overload
def add(  # type: ignore[overload-overlap]
    a: SparseTensor, b: SparseTensor, threshold: TensorLike = 0
) -> SparseTensor: ...
@overload
def add(a: TensorLike, b: TensorLike, threshold: TensorLike = 0) -> Tensor: ...
def add(a: TensorLike, b: TensorLike, threshold: TensorLike = 0) -> Tensor | SparseTensor:
    """Computes `a + b`: sparse with the indices of both if both are sparse, otherwise dense.

    Args:
      threshold: sums of two elements with a smaller magnitude are dropped from a sparse result.

    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 2])
    >>> tf.sparse.add(s, tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [2, 2])).values.numpy().tolist()
    [1, 7, 7]
    """
    a, b = made_sparse(a), made_sparse(b)
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        _check_pair(a, b, "SparseAdd")
        flat = ops.concat(places(a), places(b), axis=0)
        first, segments, counts = ops.unique_slices(flat, axis=0)
        total = ops.segment_sum(ops.concat(a.values, b.values, axis=0), segments, count=first.dims[0])
        y = SparseTensor(coordinates(ops.gather(flat, first, axis=0, batch=0), a.dims), total, a.dense_shape)
        least = to_tensor(threshold, None, a.dtype.real_dtype)
        if type(least) is Tensor and not least.array:
            return y
        alone = ops.equal(counts, ops.ones_like(counts))
        return selected(y, where_true(ops.logical_or(alone, ops.greater_equal(ops.abs(total), least))))
    s: Any = a if isinstance(a, SparseTensor) else b
    dense = to_tensor(b if s is a else a, None, s.dtype)
    if dense.dims != s.dims:
        raise errors.InvalidArgumentError(
            f"Dimensions do not equal (no broadcasting is supported): sparse side {list(s.dims)} vs dense side "
            f"{list(dense.dims)} [Op:SparseTensorDenseAdd]"
        )
    count = math.prod(s.dims)
    return ops.add(ops.reshape(ops.scatter_add(s.values, places(s), shape=(count,)), shape=s.dims), dense)


def _check_pair(a: SparseTensor, b: SparseTensor, title: str) -> None:
    if len(a.dims) != len(b.dims):
        raise errors.InvalidArgumentError(
            f"Operands do not have the same ranks; got shapes: {list(a.dims)} and {list(b.dims)} [Op:{title}]"
        )
    if a.dims != b.dims:
        raise errors.InvalidArgumentError(
            f"Operands' shapes do not match: got {list(a.dims)} and {list(b.dims)} [Op:{title}]"
        )
    if a.dtype is not b.dtype:
        raise errors.InvalidArgumentError(
            f"cannot compute {title}: one operand is a {a.dtype.kernel_name()} tensor, the other a "
            f"{b.dtype.kernel_name()} tensor. {how_to_agree(a.dtype, b.dtype)}"
        )


def both_filled(a: SparseTensor, b: SparseTensor) -> tuple[SparseTensor, SparseTensor]:
    """Returns `a` and `b`, each with explicit zeros at the indices of the other; duplicate indices are summed."""
    flat = ops.concat(places(a), places(b), axis=0)
    first, segments, _ = ops.unique_slices(flat, axis=0)
    count, own = first.dims[0], a.values.dims[0]
    indices = coordinates(ops.gather(flat, first, axis=0, batch=0), a.dims)
    filled = (ops.segment_sum(s.values, at, count=count) for s, at in ((a, segments[:own]), (b, segments[own:])))
    return tuple(SparseTensor(indices, values, a.dense_shape) for values in filled)  # type: ignore[return-value]


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Returns the elementwise maximum at the indices of either; missing elements count as 0.

    >>> a, b = tf.SparseTensor([[0], [1]], [5, -2], [3]), tf.SparseTensor([[0]], [7], [3])
    >>> tf.sparse.maximum(a, b).values.numpy().tolist()
    [7, 0]
    """
    return _extreme(ops.maximum, sp_a, sp_b, "SparseSparseMaximum")


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Returns the elementwise minimum at the indices of either; missing elements count as 0.

    >>> a, b = tf.SparseTensor([[0], [1]], [5, -2], [3]), tf.SparseTensor([[0]], [7], [3])
    >>> tf.sparse.minimum(a, b).values.numpy().tolist()
    [5, -2]
    """
    return _extreme(ops.minimum, sp_a, sp_b, "SparseSparseMinimum")


def _extreme(op: Any, sp_a: Any, sp_b: Any, title: str) -> SparseTensor:
    for s in (sp_a, sp_b):
        if not isinstance(s, SparseTensor):
            raise AttributeError(f"'{type(s).__name__}' object has no attribute 'indices': give a SparseTensor")
    _check_pair(sp_a, sp_b, title)
    a, b = both_filled(sp_a, sp_b)
    return a.with_values(op(a.values, b.values))


def sparse_dense_matmul(
    sp_a: TensorLike, b: TensorLike, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Multiplies a sparse matrix by a dense one, or a dense one by a sparse one: `c[i, j] = Σ_k a[i, k] * b[k, j]`.

    - Shape: `[n, k]`, `[k, m]` → `[n, m]`, after adjoints.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128` (TensorFlow does not take `int8`, `int16`, `int64`, `uint8`, `uint16`, `uint32` and `uint64`); the
      result has that of `sp_a`.
    - Derivative: that of a product, for the entries of the sparse matrix and for the dense one.

    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [5.0, 7.0], [2, 2])
    >>> tf.sparse.sparse_dense_matmul(s, [[1.0], [2.0]]).numpy().tolist()
    [[10.0], [7.0]]
    """
    sp_a, b = made_sparse(sp_a), made_sparse(b)
    if not isinstance(sp_a, SparseTensor):
        if not isinstance(b, SparseTensor):
            raise TypeError(f"Input must be a SparseTensor, got {sp_a!r} and {b!r}. Use tf.sparse.from_dense")
        turned = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        return _adjoint(turned)
    dense = to_tensor(b) if not isinstance(b, list | tuple | int | float) else to_tensor(b, sp_a.dtype)
    if dense.dtype is not sp_a.dtype:
        raise errors.InvalidArgumentError(
            f"cannot compute SparseTensorDenseMatMul: the sparse matrix is a {sp_a.dtype.kernel_name()} tensor, the "
            f"dense one a {dense.dtype.kernel_name()} tensor. {how_to_agree(sp_a.dtype, dense.dtype)}"
        )
    for title, dims in (("a", sp_a.dims), ("b", dense.dims)):
        if len(dims) != 2:
            raise errors.InvalidArgumentError(
                f"Tensor '{title}' is not a matrix, it has shape {list(dims)} [Op:SparseTensorDenseMatMul]"
            )
    if adjoint_b:
        dense = _adjoint(dense)
    values, outer, inner = sp_a.values, 0, 1
    if adjoint_a:
        values, outer, inner = ops.conj(values) if sp_a.dtype.is_complex else values, 1, 0
    if sp_a.dims[inner] != dense.dims[0]:
        raise errors.InvalidArgumentError(
            f"Cannot multiply A and B because inner dimension does not match: {sp_a.dims[inner]} vs. {dense.dims[0]}. "
            f"Did you forget a transpose? Dimensions of A: {list(sp_a.dims)}. Dimensions of B: {list(dense.dims)} "
            "[Op:SparseTensorDenseMatMul]"
        )
    rows, inside = places(sp_a, [outer]), places(sp_a, [inner])
    return ops.sparse_matmul(values, dense, rows, inside, count=sp_a.dims[outer])


def _adjoint(x: Tensor) -> Tensor:
    turned = ops.transpose(x, perm=(1, 0))
    return ops.conj(turned) if x.dtype.is_complex else turned


@overload
def reduce_sum(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None,
    output_is_sparse: Literal[False] = False, name: str | None = None,
) -> Tensor: ...  # fmt: skip
@overload
def reduce_sum(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None,
    *, output_is_sparse: Literal[True], name: str | None = None,
) -> SparseTensor: ...  # fmt: skip
def reduce_sum(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor:  # fmt: skip
    """Sums along axes, all by default; the result is dense, or sparse with the nonempty sums.

    >>> s = tf.SparseTensor([[0, 1], [1, 0], [1, 1]], [5, 7, 1], [2, 2])
    >>> tf.sparse.reduce_sum(s, axis=1).numpy().tolist()
    [5, 8]
    """
    return _reduce(lambda x, at, count: ops.segment_sum(x, at, count=count), sp_input, axis, keepdims,
                    output_is_sparse, "SparseReduceSum")  # fmt: skip


@overload
def reduce_max(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None,
    output_is_sparse: Literal[False] = False, name: str | None = None,
) -> Tensor: ...  # fmt: skip
@overload
def reduce_max(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None,
    *, output_is_sparse: Literal[True], name: str | None = None,
) -> SparseTensor: ...  # fmt: skip
def reduce_max(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor:  # fmt: skip
    """Returns the maximum of the stored elements along axes, all by default; 0 where there are none.

    >>> s = tf.SparseTensor([[0, 1], [1, 0], [1, 1]], [-5, 7, 1], [3, 2])
    >>> tf.sparse.reduce_max(s, axis=1).numpy().tolist()
    [-5, 7, 0]
    """
    return _reduce(lambda x, at, count: ops.segment_max(x, at, count=count, empty=0), sp_input, axis, keepdims,
                    output_is_sparse, "SparseReduceMax")  # fmt: skip


def _reduce(op: Any, sp_input: Any, axis: Any, keepdims: bool | None, sparse_result: bool, title: str) -> Any:
    s = sparse(sp_input)
    check_countable(s.dims)
    rank = len(s.dims)
    axes = list(range(rank)) if axis is None else [int(a) for a in np.ravel(to_array(axis))]
    for a in axes:
        if not -rank <= a < rank:
            raise errors.InvalidArgumentError(
                f"Invalid reduction dimension {a}, for input with {rank} dimensions. [Op:{title}]"
            )
    gone = {a % rank for a in axes}
    kept = [i for i in range(rank) if i not in gone]
    sizes = [s.dims[i] for i in kept]
    shape = [1 if i in gone else n for i, n in enumerate(s.dims)] if keepdims else sizes
    at = places(s, kept)
    if not sparse_result:
        return ops.reshape(op(s.values, at, math.prod(sizes)), shape=tuple(shape))
    first, segments, _ = ops.unique_slices(at, axis=0)
    indices = coordinates(ops.gather(at, first, axis=0, batch=0), tuple(shape))
    return SparseTensor(indices, op(s.values, segments, first.dims[0]), np.array(shape, np.int64))


def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Returns the softmax of the stored elements along the last axis.

    >>> s = tf.SparseTensor([[0, 1], [1, 0], [1, 1]], [5.0, 2.0, 2.0], [2, 2])
    >>> tf.sparse.softmax(s).values.numpy().tolist()
    [1.0, 0.5, 0.5]
    """
    s = sparse(sp_input)
    if len(s.dims) < 2:
        raise errors.InvalidArgumentError(
            f"Input should have rank >= 2, but received shape: {list(s.dims)} [Op:SparseSoftmax]"
        )
    if s.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {s.dtype.kernel_name()} is not in the list of allowed values: half, float, double "
            "[Op:SparseSoftmax]"
        )
    check_countable(s.dims)
    rows, count = places(s, range(len(s.dims) - 1)), math.prod(s.dims[:-1])
    largest = ops.stop_gradient(ops.segment_max(s.values, rows, count=count, empty=0.0))
    powers = ops.exp(s.values - ops.segment_spread(largest, rows))
    return s.with_values(powers / ops.segment_spread(ops.segment_sum(powers, rows, count=count), rows))


def sampled_addmm(
    indices: TensorLike, values: TensorLike, dense_shape: TensorLike, mat1: TensorLike, mat2: TensorLike,
    beta: TensorLike = 1.0, alpha: TensorLike = 1.0, output_type: DTypeLike = dtypes.float32,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Adds entries of `alpha * mat1 @ mat2` at given indices to `beta` times the values there; returns components.

    Each matrix of a batch has the same number of indices: `indices` has the shape `[..., entries, 2]`, `values`
    `[..., entries]`.

    >>> tf.sparse.sampled_addmm([[0, 0]], [1.0], [1, 1], [[2.0, 3.0]], [[4.0], [5.0]])[1].numpy().tolist()
    [24.0]
    """
    kind = dtypes.as_dtype(output_type)
    at, shape = to_tensor(indices), to_tensor(dense_shape, dtypes.int32)
    given, a, b = (to_tensor(x, kind) for x in (values, mat1, mat2))
    product = (a.dims[-2], b.dims[-1])
    if tuple(to_array(shape).tolist()) != product:
        raise ValueError(f"Dense shape: {to_array(shape).tolist()} does not match output shape: {list(product)}")
    batch = len(a.dims) - 2
    rows = resolve("gather_nd")(a, at[..., :1], batch_dims=batch)
    columns = resolve("gather_nd")(resolve("linalg.matrix_transpose")(b), at[..., 1:], batch_dims=batch)
    products = ops.sum(rows * columns, axis=(batch + 1,), keepdims=False)
    return at, products * alpha + given * beta, shape
