"""The shape of tensors: asking for it, changing it, joining and cutting along it."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np

from .. import dtypes, errors, shapes
from ..dtypes import as_dtype
from ..engine.convert import integer, integers, to_shape, to_tensor, to_tensors
from ..engine.op import ops
from ..shapes import TensorShape
from ..slices import IndexedSlices
from ..sparse_tensor import SparseTensor
from ..tensor import Tensor, wrap

NAMESPACES = ("",)
__all__ = [
    "broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to", "concat", "ensure_shape", "expand_dims",
    "identity", "identity_n", "meshgrid", "parallel_stack", "rank", "repeat", "reshape", "shape", "shape_n", "size",
    "split", "squeeze", "stack", "tile", "transpose", "unstack",
]  # fmt: skip


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape of `input` as an integer tensor.

    >>> import gradtape as tf
    >>> tf.shape([[1, 2, 3]]).numpy()
    array([1, 3], dtype=int32)
    """
    return wrap(np.array(_dims(input), _count_dtype(out_type).numpy), _count_dtype(out_type))


def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors.

    >>> import gradtape as tf
    >>> [s.numpy().tolist() for s in tf.shape_n([[1, 2], 3.0])]
    [[2], []]
    """
    return [shape(x, out_type) for x in input]


def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements of `input`.

    >>> import gradtape as tf
    >>> print(tf.size([[1, 2, 3]]))
    tf.Tensor(3, shape=(), dtype=int32)
    """
    dtype = dtypes.int32 if out_type is None else as_dtype(out_type)
    return wrap(dtype.as_numpy_dtype(math.prod(_dims(input))), dtype)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions of `input`.

    >>> import gradtape as tf
    >>> print(tf.rank([[1, 2, 3]]))
    tf.Tensor(2, shape=(), dtype=int32)
    """
    return wrap(np.int32(len(_dims(input))), dtypes.int32)


def _dims(x: Any) -> tuple[int, ...]:
    return x.dims if isinstance(x, Tensor | SparseTensor) else to_tensor(x).dims


def _count_dtype(out_type: Any) -> dtypes.DType:
    dtype = dtypes.int32 if out_type is None else as_dtype(out_type)
    if dtype not in (dtypes.int32, dtypes.int64):
        raise errors.InvalidArgumentError(
            f"Value for attr 'out_type' of {dtype.kernel_name()} is not in the list of allowed values: int32, int64"
        )
    return dtype


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, checked to have `shape`, in which None stands for any size.

    >>> import gradtape as tf
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


def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor of the same value.

    >>> import gradtape as tf
    >>> print(tf.identity(1.0))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    if isinstance(input, SparseTensor):
        return input.with_values(ops.identity(input.values))
    if isinstance(input, IndexedSlices):
        return IndexedSlices(ops.identity(to_tensor(input.values)), input.indices, input.dense_shape)
    return ops.identity(to_tensor(input))


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """New tensors of the same values, made by one op: an unused one has gradient zero, not None.

    >>> import gradtape as tf
    >>> [t.numpy().tolist() for t in tf.identity_n([[1, 2], 3.0])]
    [[1, 2], 3.0]
    """
    tensors = [to_tensor(x) for x in input]
    if not tensors:
        raise errors.InvalidArgumentError("Length for attr 'T' of 0 must be at least minimum 1 [Op:IdentityN]")
    return list(ops.identity_n(*tensors))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements, in the same order, in another shape; one size may be -1 and is then found.

    >>> import gradtape as tf
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
    target = tuple(shape)
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
        if not known and not count:  # the sizes that are not 0 say what is left
            known, count = (math.prod(n for n in sizes if n > 0) for sizes in (target, dims))
        if not known or count % known:
            raise errors.InvalidArgumentError(
                f"Input to reshape is a tensor with {count} values, but the requested shape {list(target)} requires a "
                f"multiple of {known} [Op:Reshape]"
            )
        target = (*target[:found], count // known, *target[found + 1 :])
    elif known != count:
        raise errors.InvalidArgumentError(
            f"Input to reshape is a tensor with {count} values, but the requested shape {list(target)} has {known} "
            "[Op:Reshape]"
        )
    return ops.reshape(x, shape=target)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """The axes in the order `perm`, by default reversed; `conjugate` also conjugates complex values.

    >>> import gradtape as tf
    >>> tf.transpose([[1, 2, 3]]).numpy().tolist()
    [[1], [2], [3]]
    """
    x = to_tensor(a)
    n = len(x.dims)
    if perm is None:
        order = tuple(range(n - 1, -1, -1))
    else:
        array = integers(perm, "Transpose", "Tperm")
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
    y = ops.transpose(x, perm=order)
    return ops.conj(y) if conjugate and x.dtype.is_complex else y


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """A new axis of size 1 at `axis`.

    >>> import gradtape as tf
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


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Without the axes of size 1: all of them, or those in `axis`.

    >>> import gradtape as tf
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


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated along axes of size 1, and along new leading axes, up to `shape`.

    >>> import gradtape as tf
    >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    x = to_tensor(input)
    sizes = integers(shape, "BroadcastTo")
    if sizes.ndim != 1:
        raise errors.InvalidArgumentError(
            f"shape must be a vector of {{int32,int64}}, got shape {list(sizes.shape)} [Op:BroadcastTo]"
        )
    target = to_shape(sizes, "BroadcastTo")
    if len(x.dims) > len(target):
        raise errors.InvalidArgumentError(
            f"Rank of input ({len(x.dims)}) must be no greater than rank of output shape ({len(target)}). "
            "[Op:BroadcastTo]"
        )
    if any(n not in (1, m) for n, m in zip(reversed(x.dims), reversed(target), strict=False)):
        raise errors.InvalidArgumentError(f"Incompatible shapes: {list(x.dims)} vs. {list(target)} [Op:BroadcastTo]")
    return ops.broadcast_to(x, shape=target)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape of the result of broadcasting tensors of these shapes, as a tensor.

    >>> import gradtape as tf
    >>> tf.broadcast_dynamic_shape([2, 1], [3]).numpy()
    array([2, 3], dtype=int32)
    """
    a, b = (to_tensor(s, hint=dtypes.int32 if isinstance(s, list | tuple) else None) for s in (shape_x, shape_y))
    try:
        result = shapes.broadcast(to_shape(a), to_shape(b))
    except ValueError:
        raise errors.InvalidArgumentError(
            f"Incompatible shapes: {to_shape(a)} vs. {to_shape(b)} [Op:BroadcastArgs]"
        ) from None
    return wrap(np.array(result, a.dtype.numpy), a.dtype)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape of the result of broadcasting tensors of these shapes, some sizes of which may be unknown.

    >>> import gradtape as tf
    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([None, 3]))
    TensorShape([2, 3])
    """
    a, b = TensorShape(shape_x), TensorShape(shape_y)
    if a.rank is None or b.rank is None:
        return TensorShape(None)
    n = max(len(a), len(b))
    result: list[int | None] = []
    for p, q in zip((1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b), strict=True):
        if p is not None and q is not None and 1 not in (p, q) and p != q:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are "
                f"either equal or one of them is 1. Received: {a} and {b}."
            )
        if p == 1 or q == 1:
            result.append(q if p == 1 else p)
        else:
            result.append(q if p is None else p)
    return TensorShape(result)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """The tensors one after the other along an axis they have.

    >>> import gradtape as tf
    >>> tf.concat([[[1], [2]], [[3], [4]]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if not isinstance(values, list | tuple):
        return identity(values)
    tensors = to_tensors(values, "ConcatV2")
    if len(tensors) == 1:
        return identity(tensors[0])
    at = integers(axis, "ConcatV2").reshape(-1)
    if not tensors or at.size != 1:
        raise errors.InvalidArgumentError(f"ConcatOp : needs tensors and one axis, got {len(tensors)} and {at.size}")
    n = len(tensors[0].dims)
    if not n:
        raise errors.InvalidArgumentError("ConcatOp : Can't concatenate scalars (use tf.stack instead) [Op:ConcatV2]")
    if not -n <= at[0] < n:
        raise errors.InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-n}, {n}), but got {at[0]} [Op:ConcatV2]"
        )
    where = int(at[0]) % n
    first = tensors[0].dims
    for i, x in enumerate(tensors):
        if len(x.dims) != n or any(p != q for k, (p, q) in enumerate(zip(first, x.dims, strict=True)) if k != where):
            raise errors.InvalidArgumentError(
                f"ConcatOp : Ranks and all dimensions but {where} of the inputs should match: shape[0] = {list(first)} "
                f"vs. shape[{i}] = {list(x.dims)} [Op:ConcatV2]"
            )
    return ops.concat(*tensors, axis=where)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """The tensors side by side along a new axis.

    >>> import gradtape as tf
    >>> tf.stack([[1, 4], [2, 5]], axis=1).numpy().tolist()
    [[1, 2], [4, 5]]
    """
    if isinstance(values, np.ndarray) and values.ndim > 1 and axis:
        raise ValueError(f"expected a sequence for attr N, got an ndarray with rank {values.ndim} instead")
    if axis == 0 and not any(isinstance(v, Tensor) for v in (values if isinstance(values, list | tuple) else ())):
        try:
            return to_tensor(values)
        except (TypeError, ValueError):
            pass
    tensors = to_tensors(list(values), "Pack")
    n = len(tensors[0].dims) + 1 if tensors else 1
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    for i, x in enumerate(tensors):
        if x.dims != tensors[0].dims:
            raise errors.InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {list(tensors[0].dims)} != values[{i}].shape = "
                f"{list(x.dims)} [Op:Pack]"
            )
    return ops.stack(*tensors, axis=axis % n)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Not available in eager execution, as in TensorFlow: use `tf.stack`.

    >>> import gradtape as tf
    >>> tf.parallel_stack([1, 2])
    Traceback (most recent call last):
    RuntimeError: tf.parallel_stack() is not compatible with eager execution. Use tf.stack
    """
    raise RuntimeError("tf.parallel_stack() is not compatible with eager execution. Use tf.stack")


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The tensors that make up `value` along `axis`, without that axis.

    >>> import gradtape as tf
    >>> [row.numpy().tolist() for row in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = to_tensor(value)
    n, axis = len(x.dims), int(axis)
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    if num is not None and num != x.dims[axis]:
        raise errors.InvalidArgumentError(
            f"Input shape axis {axis} must equal {num}, got shape {list(x.dims)} [Op:Unpack]"
        )
    return list(ops.unstack(x, axis=axis % n))


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split") -> list[Tensor]:
    """Parts of `value` along `axis`: so many equal ones, or ones of the sizes given, of which one may be -1.

    >>> import gradtape as tf
    >>> [part.numpy().tolist() for part in tf.split([1, 2, 3, 4], [1, -1])]
    [[1], [2, 3, 4]]
    """
    x = to_tensor(value)
    n, at = len(x.dims), integer(axis, "axis")
    if not -n <= at < n:
        raise errors.InvalidArgumentError(f"-input rank(-{n}) <= split_dim < input rank ({n}), but got {at} [Op:Split]")
    at %= n
    length = x.dims[at]
    if isinstance(num_or_size_splits, Integral):
        count = int(num_or_size_splits)
        if count < 1:
            raise errors.InvalidArgumentError(f"Value for attr 'num_split' of {count} must be at least minimum 1")
        if length % count:
            raise errors.InvalidArgumentError(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {at} (size = "
                f"{length}) and num_split {count} [Op:Split]"
            )
        sizes = (length // count,) * count
    else:
        sizes = _sizes(num_or_size_splits, length, num)
    return list(ops.split(x, sizes=sizes, axis=at))


def _sizes(given: Any, length: int, num: Any) -> tuple[int, ...]:
    if not to_tensor(given).dims:
        raise ValueError(
            f"Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: {given}"
        )
    sizes = integers(given, "SplitV").tolist()
    if num is not None and num != len(sizes):
        raise errors.InvalidArgumentError(
            f"size of the split_tensor must be 1-D and have the same elements as outputs, {num}, got {sizes} "
            "[Op:SplitV]"
        )
    for i, n in enumerate(sizes):
        if n < -1:
            raise errors.InvalidArgumentError(f"Split size at index {i} must be >= 0. Got: {n} [Op:SplitV]")
    if sizes.count(-1) > 1:
        raise errors.InvalidArgumentError("There can only be one -1 in the input. [Op:SplitV]")
    known = sum(n for n in sizes if n != -1)
    if (known > length) if -1 in sizes else (known != length):
        raise errors.InvalidArgumentError(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
            f"than the size of the input along split_dim if not fully specified.  Got: {known} for {length} [Op:SplitV]"
        )
    return tuple(length - known if n == -1 else n for n in sizes)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` as a whole repeated `multiples[i]` times along axis i.

    >>> import gradtape as tf
    >>> tf.tile([1, 2], [2]).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    x = to_tensor(input)
    array = integers(multiples, "Tile", "Tmultiples")
    if array.ndim != 1:
        raise errors.InvalidArgumentError(f"Expected multiples to be 1-D, but got shape {list(array.shape)} [Op:Tile]")
    times = array.tolist()
    if len(times) != len(x.dims):
        raise errors.InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {len(x.dims)} but got length {len(times)} [Op:Tile]"
        )
    for i, count in enumerate(times):
        if count < 0:
            raise errors.InvalidArgumentError(f"Expected multiples[{i}] >= 0, but got {count} [Op:Tile]")
    # Axes of size 1 before each axis, stretched to the multiples, make the copies; joining the pairs lines them up.
    apart = ops.reshape(x, shape=tuple(n for d in x.dims for n in (1, d)))
    copies = ops.broadcast_to(apart, shape=tuple(n for m, d in zip(times, x.dims, strict=True) for n in (m, d)))
    return ops.reshape(copies, shape=tuple(m * d for m, d in zip(times, x.dims, strict=True)))


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each element repeated along `axis`, so many times; without an axis the input is flattened first.

    >>> import gradtape as tf
    >>> tf.repeat([1, 2], repeats=[3, 1]).numpy()
    array([1, 1, 1, 2], dtype=int32)
    """
    x = to_tensor(input)
    counts = to_tensor(repeats, hint=dtypes.int32 if isinstance(repeats, list | tuple) else None)
    if not counts.dtype.is_integer:
        raise TypeError(f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = {repeats!r}")
    if axis is None or not x.dims:
        x, axis = ops.reshape(x, shape=(math.prod(x.dims),)), axis or 0
    n = len(x.dims)
    if not -n <= axis < n:
        raise ValueError(f"axis={axis} out of bounds: expected {-n}<=axis<{n}")
    axis %= n
    if len(counts.dims) > 1:
        raise ValueError(f"Shape {counts.shape} must have rank at most 1: `repeats` is a number or a vector")
    dims = x.dims
    if counts.dims not in ((), (1,), (dims[axis],)):
        raise ValueError(
            f"Dimensions {dims[axis]} and {counts.dims[0]} are not compatible: one number for each element"
        )
    times = np.asarray(counts.array).reshape(-1)
    if times.size == 1 and times[0] < 0:
        raise errors.InvalidArgumentError(f"Expected multiples[{axis + 1}] >= 0, but got {times[0]} [Op:Tile]")
    if times.size != 1:
        at = Tensor(np.repeat(np.arange(dims[axis]), np.maximum(times, 0)))
        return ops.gather(x, at, axis=axis, batch=0)
    apart = ops.reshape(x, shape=(*dims[: axis + 1], 1, *dims[axis + 1 :]))
    copies = ops.broadcast_to(apart, shape=(*dims[: axis + 1], int(times[0]), *dims[axis + 1 :]))
    return ops.reshape(copies, shape=(*dims[:axis], dims[axis] * int(times[0]), *dims[axis + 1 :]))


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """The coordinates of a grid, one tensor for each axis.

    Args:
      indexing: 'xy' (the default) puts the first coordinate along the second axis, 'ij' along the first.

    >>> import gradtape as tf
    >>> x, y = tf.meshgrid([1, 2, 3], [4, 5])
    >>> x.numpy().tolist(), y.numpy().tolist()
    ([[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]])
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"{next(iter(kwargs))!r} is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got {indexing!r}")
    flat = to_tensors([ops.reshape(x, shape=(math.prod(x.dims),)) for x in map(to_tensor, args)], "Mul")
    axes = list(range(len(flat)))
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = 1, 0
    whole = tuple(flat[i].dims[0] for i in axes)
    return [
        ops.broadcast_to(ops.reshape(x, shape=tuple(n if i == at else 1 for i, n in enumerate(whole))), shape=whole)
        for x, at in zip(flat, axes, strict=True)
    ]
