"""The shape of tensors: reading and changing it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from ...core import dtypes, errors, nest
from ...core.composites import CompositeTensor
from ...core.dtypes import as_dtype
from ...core.shapes import TensorShape
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, constant
from ...core.type_hints import AxisLike, Composite, DTypeLike, ShapeLike, TensorLike, ValueLike
from ...engine.run.convert import integers, to_shape, to_tensor
from ...engine.run.namespace import ops
from ...sparse.tensor import SparseTensor, SparseTensorValue

NAMESPACES = ("",)
__all__ = [
    "check_pinned", "ensure_shape", "expand_dims", "guarantee_const", "identity", "identity_n", "rank", "reshape",
    "shape", "shape_n", "size", "squeeze", "transpose",
]  # fmt: skip


def shape(input: ValueLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Returns the sizes of the axes of `input` as a vector of integers; in a `tf.function`, those of each call.

    - Shape: `[rank]`.
    - Dtypes: any; the result is `int32`, or `out_type`.
    - Derivative: none; gradients are `None`.

    >>> tf.shape([[1, 2, 3]]).numpy()
    array([1, 3], dtype=int32)
    """
    dtype = _count_dtype(out_type)
    if isinstance(input, Tensor) and input.has_dynamic_sizes:
        return ops.shape_of(input, dtype=dtype.numpy)
    return constant(np.array(_dims(input), dtype.numpy), dtype)


def shape_n(input: Sequence[ValueLike], out_type: DTypeLike = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """Returns the shapes of several tensors: `[tf.shape(x) for x in input]`.

    >>> [s.numpy().tolist() for s in tf.shape_n([[1, 2], 3.0])]
    [[2], []]
    """
    return [shape(x, out_type) for x in input]


def size(input: ValueLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Returns the number of elements of `input`.

    - Shape: a scalar.
    - Dtypes: any; the result is `int32`, or `out_type`.
    - Derivative: none; gradients are `None`.

    >>> print(tf.size([[1, 2, 3]]))
    tf.Tensor(3, shape=(), dtype=int32)
    """
    dtype = dtypes.int32 if out_type is None else as_dtype(out_type)
    if isinstance(input, Tensor) and input.has_dynamic_sizes:
        return ops.cast(ops.prod(ops.shape_of(input, dtype=dtypes.int64.numpy), axis=(0,)), dtype=dtype)
    return constant(dtype.as_numpy_dtype(math.prod(_dims(input))), dtype)


def rank(input: ValueLike, name: str | None = None) -> Tensor:
    """Returns the number of dimensions of `input`.

    - Shape: a scalar.
    - Dtypes: any; the result is `int32`.
    - Derivative: none; gradients are `None`.

    >>> print(tf.rank([[1, 2, 3]]))
    tf.Tensor(2, shape=(), dtype=int32)
    """
    rank = input.ndim if isinstance(input, Tensor) else len(_dims(input))
    return constant(np.int32(rank), dtypes.int32)


def _dims(x: Any) -> tuple[int, ...]:
    if isinstance(x, SparseTensorValue):
        return tuple(int(size) for size in x.dense_shape)
    return x.dims if isinstance(x, Tensor | SparseTensor) else to_tensor(x).dims


def _count_dtype(out_type: Any) -> dtypes.DType:
    dtype = dtypes.int32 if out_type is None else as_dtype(out_type)
    if dtype not in (dtypes.int32, dtypes.int64):
        raise errors.InvalidArgumentError(
            f"Value for attr 'out_type' of {dtype.kernel_name()} is not in the list of allowed values: int32, int64"
        )
    return dtype


def ensure_shape(x: ValueLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Returns `x` after checking that it has `shape`, in which None matches any size.

    >>> tf.ensure_shape([1, 2], [None]).numpy()
    array([1, 2], dtype=int32)
    """
    tensor = to_tensor(x)
    expected = TensorShape(to_shape(shape) if isinstance(shape, Tensor) else shape)
    if not TensorShape(tensor.dims).is_compatible_with(expected):
        raise errors.InvalidArgumentError(
            f"Shape of tensor input {list(tensor.dims)} is not compatible with expected shape {expected}. "
            "[Op:EnsureShape]"
        )
    return ops.identity(tensor)


@overload
def identity(input: Composite, name: str | None = None) -> Composite: ...  # type: ignore[overload-overlap]
@overload
def identity(input: ValueLike, name: str | None = None) -> Tensor: ...
def identity(input: ValueLike, name: str | None = None) -> Any:
    """Returns a new tensor with the same value.

    - Shape: that of `input`.
    - Dtypes: any; the result has that of `input`.
    - Derivative: 1.

    >>> print(tf.identity(1.0))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    if isinstance(input, SparseTensor):
        return input.with_values(ops.identity(input.values))
    if isinstance(input, IndexedSlices):
        return IndexedSlices(ops.identity(to_tensor(input.values)), input.indices, input.dense_shape)
    if isinstance(input, CompositeTensor):
        return nest.map_structure(identity, input, expand_composites=True)
    return ops.identity(to_tensor(input))


def guarantee_const(input: ValueLike, name: str | None = None) -> Tensor:
    """Returns the tensor: in TensorFlow, a promise to the runtime that its value does not change.

    >>> print(tf.guarantee_const(1.0))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    return ops.identity(to_tensor(input))


def check_pinned(tensor: ValueLike, name: str | None = None) -> Tensor:
    """Raises InvalidArgumentError: gradtape has no tensors in page-locked host memory.

    >>> try:
    ...     tf.check_pinned([1.0])
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.message)
    not pinned [Op:CheckPinned]
    """
    raise errors.InvalidArgumentError("not pinned [Op:CheckPinned]")


def identity_n(input: Sequence[ValueLike], name: str | None = None) -> list[Tensor]:
    """Returns copies of the tensors from one op: the gradient of an unused copy is zero, not None.

    >>> [t.numpy().tolist() for t in tf.identity_n([[1, 2], 3.0])]
    [[1, 2], 3.0]
    """
    tensors = [to_tensor(x) for x in input]
    if not tensors:
        raise errors.InvalidArgumentError("Length for attr 'T' of 0 must be at least minimum 1 [Op:IdentityN]")
    return list(ops.identity_n(*tensors))


def reshape(tensor: ValueLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Reshapes a tensor, keeping the order of its elements; one size may be -1 and is then inferred.

    - Shape: `shape`, with as many elements as `tensor`.
    - Dtypes: any; the result has that of `tensor`.
    - Derivative: the gradient, in the shape of `tensor`.

    >>> tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]).numpy().tolist()
    [[1, 2, 3], [4, 5, 6]]
    """
    x = tensor if isinstance(tensor, Tensor) else to_tensor(tensor)
    if not ((type(shape) is list or type(shape) is tuple) and all(type(n) is int for n in shape)):
        array = integers(shape, "Reshape", "Tshape")
        if array.ndim > 1:
            raise errors.InvalidArgumentError(f"sizes input must be 1-D, not {list(array.shape)} [Op:Reshape]")
        shape = array.reshape(-1).tolist()
    dims = x.dims
    target: tuple[int, ...] = tuple(shape)  # type: ignore[arg-type]
    if len(target) > 253:
        raise errors.InvalidArgumentError(
            f"too many dimensions: must be < 254, but received {len(target)} [Op:Reshape]"
        )
    count = math.prod(dims)
    known = 1
    found = -1
    for i, n in enumerate(target):
        if n >= 0:
            known *= n
        elif n == -1 and found < 0:
            found = i
        elif n == -1:
            raise errors.InvalidArgumentError(f"Only one input size may be -1, not both {found} and {i} [Op:Reshape]")
        else:
            raise errors.InvalidArgumentError(f"Size {i} must be non-negative, not {n} [Op:Reshape]")
    if found >= 0:
        if not known and not count:  # the sizes that are not 0 determine the remaining one
            known, count = (math.prod(n for n in sizes if n > 0) for sizes in (target, dims))
        if not known or count % known:
            raise errors.InvalidArgumentError(
                f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of "
                f"{known}: {list(target)} [Op:Reshape]"
            ).about(dims, tuple(target))
        target = (*target[:found], count // known, *target[found + 1 :])
    elif known != count:
        raise errors.InvalidArgumentError(
            f"Input to reshape is a tensor with {count} values, but the requested shape has {known}: {list(target)} "
            "[Op:Reshape]"
        ).about(dims, tuple(target))
    return ops.reshape(x, shape=target)


def transpose(a: ValueLike, perm: TensorLike | None = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """Permutes the axes by `perm`, reversed by default; `conjugate` also conjugates complex values.

    - Shape: axis i of the result is axis `perm[i]` of `a`.
    - Dtypes: any; the result has that of `a`.
    - Derivative: the gradient, transposed by the inverse of `perm`.

    >>> tf.transpose([[1, 2, 3]]).numpy().tolist()
    [[1], [2], [3]]
    """
    x = to_tensor(a)
    n = len(x.dims)
    order = tuple(range(n - 1, -1, -1)) if perm is None else _checked_order(perm, n)
    y = ops.transpose(x, perm=order)
    return ops.conj(y) if conjugate and x.dtype.is_complex else y


def _checked_order(perm: Any, n: int) -> tuple[int, ...]:
    """Returns a permutation of `n` axes, some of which may count from the end."""
    if type(perm) in (tuple, list) and {*map(type, perm)} == {int} and sorted(perm) == [*range(n)]:
        return tuple(perm)
    array = integers(perm, "Transpose", "Tperm")
    if array.ndim != 1:
        raise errors.InvalidArgumentError(f"perm must be rank 1, got shape {list(array.shape)} [Op:Transpose]")
    if array.shape != (n,):
        raise errors.InvalidArgumentError(
            f"transpose expects a vector of size {n}. But input(1) is a vector of size {array.size} [Op:Transpose]"
        )
    wrong = [i for i in array.tolist() if not -n <= i < n]
    if wrong:
        raise errors.InvalidArgumentError(f"{wrong[0]} is out of range [0 .. {n}) [Op:Transpose]")
    order = tuple(i % n for i in array.tolist())
    missing = set(range(n)) - set(order)
    if missing:
        raise errors.InvalidArgumentError(f"{min(missing)} is missing from {list(order)}. [Op:Transpose]")
    return order


def expand_dims(input: ValueLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Inserts an axis of size 1 at `axis`, which counts the axes of the result; -1 is behind the last.

    - Shape: that of `input`, with size 1 at `axis`.
    - Dtypes: any; the result has that of `input`.
    - Derivative: the gradient, in the shape of `input`.

    >>> tf.expand_dims([1, 2], -1).numpy().tolist()
    [[1], [2]]
    """
    x = to_tensor(input)
    given = integers(axis, "ExpandDims", "Tdim")
    if given.size != 1:
        raise errors.InvalidArgumentError("'dim' must be a tensor with a single value [Op:ExpandDims]")
    n, at = len(x.dims), int(given.reshape(-1)[0])
    if not -n - 1 <= at <= n:
        raise errors.InvalidArgumentError(
            f"Tried to expand dim index {at} for tensor with {n} dimensions. [Op:ExpandDims]"
        )
    at %= n + 1
    return ops.reshape(x, shape=(*x.dims[:at], 1, *x.dims[at:]))


def squeeze(input: ValueLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """Removes axes of size 1: all of them, or those in `axis`.

    - Shape: that of `input` without these axes.
    - Dtypes: any; the result has that of `input`.
    - Derivative: the gradient, in the shape of `input`.

    >>> tf.squeeze([[[1], [2]]], axis=[0]).numpy().tolist()
    [[1], [2]]
    """
    x = to_tensor(input)
    n = len(x.dims)
    axes = [] if axis is None else np.atleast_1d(integers(axis, "Squeeze")).tolist()
    for i in axes:
        if not -n <= i < n:
            raise errors.InvalidArgumentError(
                f"Tried to squeeze dim index {i} for tensor with {n} dimensions. [Op:Squeeze]"
            )
        if x.dims[i] != 1:
            raise errors.InvalidArgumentError(
                f"Can not squeeze dim[{i % n}], expected a dimension of 1, got {x.dims[i]} [Op:Squeeze]"
            )
    gone = {i % n for i in axes} or {i for i in range(n) if x.dims[i] == 1}
    return ops.reshape(x, shape=tuple(d for i, d in enumerate(x.dims) if i not in gone))
