"""Creation of tensors from a shape, a range or a value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.numpy.floating_point import REPORTS, run_silently
from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.extension_points import place_tensor
from ...core.tensor import Tensor, constant
from ...core.type_hints import DTypeLike, ShapeLike, TensorLike, ValueLike
from ...engine.run.convert import integer, integers, to_array, to_shape, to_tensor, to_tensors, with_default
from ...engine.run.dispatch import register_created, thread
from ...engine.run.namespace import ops

NAMESPACES = ("linalg", "")
__all__ = ["eye", "fill", "linspace", "one_hot", "ones", "ones_like", "range", "zeros", "zeros_like"]

_range = range
_RANGE_DTYPES = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def zeros(
    shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: object = None
) -> Tensor:
    """Creates a tensor of zeros (empty strings for string, False for bool).

    >>> tf.zeros([2, 3], tf.int32).numpy().tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    return _laid_out(register_created(_fill(to_shape(shape), as_dtype(dtype), 0)), layout)


def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: object = None) -> Tensor:
    """Creates a tensor of ones (True for bool).

    >>> tf.ones([2]).numpy()
    array([1., 1.], dtype=float32)
    """
    return _laid_out(register_created(_fill(to_shape(shape), as_dtype(dtype), 1)), layout)


def _laid_out(x: Tensor, layout: Any) -> Tensor:
    """Returns `x`; raises an error if it is to have a layout of `tf.experimental.dtensor`."""
    if layout is not None:
        raise errors.UnimplementedError(
            f"gradtape has no DTensors; received layout={layout!r}. Leave `layout` out: with "
            "`tf.distribute.MirroredStrategy()`, each device gets its part of a batch"
        )
    return x


def _fill(shape: tuple[int, ...], dtype: DType, value: int) -> Tensor:
    if dtype is dtypes.string:
        if value:
            raise TypeError("Cannot convert 1 to EagerTensor of dtype string: there is no string that is one")
        return constant(np.full(shape, b"", object), dtype)
    if not shape:
        return constant(dtype.as_numpy_dtype(value), dtype)
    if thread.example is not None or place_tensor.installed is not None:
        x = constant(np.broadcast_to(dtype.as_numpy_dtype(value), shape), dtype)
        # Sizes of a scratch graph may be invented ones: they take no memory. A device fills its own.
        if thread.example is not None or type(x) is not Tensor:
            return x
    return constant(np.zeros(shape, dtype.numpy) if not value else np.ones(shape, dtype.numpy), dtype)


def fill(dims: ShapeLike, value: ValueLike, name: str | None = None, layout: object = None) -> Tensor:
    """Creates a tensor of shape `dims` filled with the scalar `value`.

    - Shape: `dims`.
    - Dtypes: any; the result has that of `value`.
    - Derivative: `value` gets the sum of the gradients.

    >>> tf.fill([2, 2], 9).numpy().tolist()
    [[9, 9], [9, 9]]
    """
    shape = to_shape(integers(dims, "Fill", "index_type"))
    x = to_tensor(value)
    if len(x.dims) == 1 and x.dims[0] == 1:
        x = ops.reshape(x, shape=())
    if x.dims:
        raise errors.InvalidArgumentError(f"value must be a scalar, got shape {list(x.dims)} [Op:Fill]")
    return _laid_out(register_created(ops.broadcast_to(x, shape=shape)), layout)


def zeros_like(
    input: ValueLike, dtype: DTypeLike | None = None, name: str | None = None, layout: object = None
) -> Tensor:
    """Creates zeros with the shape of `input`, and with its dtype unless another is given.

    - Shape: that of `input`.
    - Dtypes: any; the result has that of `input`.
    - Derivative: none; gradients are `None`.

    >>> tf.zeros_like([[1.0, 2.0]]).numpy()
    array([[0., 0.]], dtype=float32)
    """
    x = to_tensor(input)
    if dtype is None and x.dtype is not dtypes.string:
        return _laid_out(register_created(ops.zeros_like(x)), layout)
    zeros = _fill(x.dims, x.dtype if dtype is None else as_dtype(dtype), 0)
    return _laid_out(register_created(zeros), layout)


def ones_like(
    input: ValueLike, dtype: DTypeLike | None = None, name: str | None = None, layout: object = None
) -> Tensor:
    """Creates ones with the shape of `input`, and with its dtype unless another is given.

    - Shape: that of `input`.
    - Dtypes: `bool`, `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`; the result has that of `input`.
    - Derivative: none; gradients are `None`.

    >>> tf.ones_like([5, 6]).numpy()
    array([1, 1], dtype=int32)
    """
    x = to_tensor(input)
    target = x.dtype if dtype is None else as_dtype(dtype)
    if target is dtypes.string:
        raise errors.InvalidArgumentError(
            "Value for attr 'T' of string is not in the list of allowed values: there are no ones among strings "
            "[Op:OnesLike]"
        )
    ones = ops.ones_like(x) if dtype is None else _fill(x.dims, target, 1)
    return _laid_out(register_created(ones), layout)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """Returns the numbers from `start` up to but excluding `limit`, in steps of `delta`:
    `y[i] = start + i * delta`; from 0 if one bound is given.

    - Shape: `[ceil((limit - start) / delta)]`.
    - Dtypes: `int32`, `int64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of `start`.
    - Derivative: none; gradients are `None`.

    >>> tf.range(3, 18, 5).numpy()
    array([ 3,  8, 13], dtype=int32)
    >>> tf.range(3.0).numpy()
    array([0., 1., 2.], dtype=float32)
    """
    if limit is None:
        start, limit = 0, start
    target = None if dtype is None else as_dtype(dtype)
    values = [to_tensor(v, None if isinstance(v, Tensor) else target) for v in (start, limit, delta)]
    if target is None:
        if not all(v.dtype in _RANGE_DTYPES for v in values):
            raise AssertionError(f"tf.range takes integers and floats, got {[v.dtype.name for v in values]}")
        target = max((v.dtype for v in values), key=_RANGE_DTYPES.index)
    elif target not in _RANGE_DTYPES:
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tidx' of {target.kernel_name()} is not in the list of allowed values: "
            f"{', '.join(d.name for d in _RANGE_DTYPES)} [Op:Range]"
        )
    for v, which in zip(values, ("start", "limit", "delta"), strict=True):
        if math.prod(v.dims) != 1 or len(v.dims) > 1:
            raise errors.InvalidArgumentError(f"{which} must be a scalar, not shape {list(v.dims)} [Op:Range]")
    first, last, step = (v.array.astype(target.numpy).reshape(-1)[0] for v in values)
    if step == 0:
        raise errors.InvalidArgumentError("Requires delta != 0: 0 [Op:Range]")
    if (step > 0 and first > last) or (step < 0 and first < last):
        order, sign = ("<=", ">") if step > 0 else (">=", "<")
        raise errors.InvalidArgumentError(
            f"Requires start {order} limit when delta {sign} 0: {first}/{last} [Op:Range]"
        )
    if target.is_integer:
        return constant(np.arange(int(first), int(last), int(step), dtype=target.numpy), target)
    try:
        values = _float_range(first, last, step, target)
    except REPORTS:
        values = run_silently(_float_range, first, last, step, target)
    return register_created(constant(values, target))


def _float_range(first: Any, last: Any, step: Any, dtype: DType) -> Any:
    # The count is computed in the arithmetic of the dtype: 3 / 0.00375 is 800 in float32, and slightly more in float64.
    count = math.ceil(abs((last - first) / step))
    return np.arange(count).astype(dtype.numpy) * step + first


def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: int = 0) -> Tensor:
    """Returns `num` evenly spaced numbers from `start` to `stop`, inclusive:
    `y[i] = start + i * (stop - start) / (num - 1)`; tensors get a new axis at `axis`.

    - Shape: that of `start`, with a new axis of size `num` at `axis`.
    - Dtypes: `bool`, `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128` (TensorFlow does not take `bool`); the result has that of `start`, but `bool`, `int8`, `int16`,
      `uint8` and `uint16` give `float32` and `int32`, `int64`, `uint32` and `uint64` give `float64`.
    - Derivative: `1 - i / (num - 1)` for `start`, `i / (num - 1)` for `stop`.

    >>> tf.linspace(10.0, 12.0, 3).numpy()
    array([10., 11., 12.], dtype=float32)
    """
    a, b = to_tensors((start, stop), "LinSpace")
    count = to_array(num)
    if count.dtype.kind not in "iu":
        raise TypeError(f"Argument `tensor` (name: num) must be of type integer. Received `tensor` = {num!r}")
    if count.size != 1:
        raise errors.InvalidArgumentError(f"num must be a scalar, not shape {list(count.shape)} [Op:LinSpace]")
    n, axis = int(count.reshape(())), int(axis)
    if n < 0:
        raise errors.InvalidArgumentError(
            f"Requires start <= limit when delta > 0: 1/{n} [Op:Range]: `num` counts numbers"
        )
    if not a.dtype.is_floating and not a.dtype.is_complex:
        real = dtypes.float32 if a.dtype.size < 4 else dtypes.float64
        a, b = (ops.cast(x, dtype=real) for x in (a, b))
    dims = np.broadcast_shapes(a.dims, b.dims)
    at = axis + len(dims) + 1 if axis < 0 else axis
    if not 0 <= at <= len(dims):
        raise errors.InvalidArgumentError(
            f"Tried to expand dim index {axis} for tensor with {len(dims)} dimensions. [Op:ExpandDims]"
        )
    kept = (*dims[:at], 1, *dims[at:])
    a, b = (ops.reshape(ops.broadcast_to(x, shape=dims), shape=kept) for x in (a, b))
    if n < 2:
        return ops.slice(a, key=(*(slice(None),) * at, slice(n)))
    steps = np.arange(1, n - 1).astype(a.dtype.numpy).reshape(-1, *(1,) * (len(dims) - at))
    inner = a + (b - a) / float(n - 1) * Tensor(steps, a.dtype)
    return register_created(ops.concat(a, inner, b, axis=at))


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    batch_shape: ShapeLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Returns the identity matrix, or a batch of identity matrices.

    >>> tf.eye(2, 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    sizes = [to_array(n) for n in (num_rows, num_rows if num_columns is None else num_columns)]
    if any(n.dtype.kind not in "iu" or n.ndim for n in sizes):
        raise TypeError(
            f"Arguments `num_rows` and `num_columns` must be positive integer values. Received: num_rows={num_rows!r}, "
            f"num_columns={num_columns!r}"
        )
    rows, columns = to_shape([int(n) for n in sizes])
    target = as_dtype(dtype)
    if target is dtypes.string:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string: an identity matrix is made of numbers")
    matrix = np.eye(rows, columns, dtype=target.numpy)
    if batch_shape is not None:
        matrix = np.tile(matrix, (*to_shape(batch_shape), 1, 1))
    return register_created(constant(matrix, target))


def one_hot(
    indices: TensorLike, depth: TensorLike, on_value: ValueLike | None = None, off_value: ValueLike | None = None,
    axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Adds an axis of size `depth`, `y[..., k] = on_value if k == indices[...] else off_value`: 1 and 0 by default.

    - Shape: `[...]` → `[..., depth]`.
    - Dtypes: any; the result has that of `on_value`.
    - Derivative: none; gradients are `None`.

    Args:
      axis: Position of the new axis; last by default.

    >>> tf.one_hot([0, 2, -1], 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    target = None if dtype is None else as_dtype(dtype)
    on, off = (None if v is None else to_tensor(v, hint=target) for v in (on_value, off_value))
    for which, value in (("on_value", on), ("off_value", off)):
        if value is not None and target is not None and value.dtype is not target:
            raise TypeError(f"dtype {value.dtype} of {which} does not match dtype {target}, given or of on_value")
        target = target if value is None else value.dtype
    target = target or dtypes.float32
    on = to_tensor(1, target) if on is None else on
    off = to_tensor(0, target) if off is None else off
    x = with_default(indices, dtypes.int64, dtypes.INT)
    if x.dtype not in (dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.int64):
        raise errors.InvalidArgumentError(
            f"Value for attr 'TI' of {x.dtype.kernel_name()} is not in the list of allowed values: uint8, int8, int32, "
            "int64 [Op:OneHot]: `indices` are integers"
        )
    count = integers(depth, "OneHot")
    if count.ndim:
        raise errors.InvalidArgumentError(f"depth must be a scalar, but got: {list(count.shape)} [Op:OneHot]")
    if count < 0:
        raise errors.InvalidArgumentError(f"depth must be non-negative, got: {count} [Op:OneHot]")
    rank = len(x.dims)
    axis = -1 if axis is None else integer(axis, "axis")
    at = rank if axis == -1 else axis
    if not 0 <= at <= rank:
        raise errors.InvalidArgumentError(
            f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis} [Op:OneHot]"
        )
    return register_created(ops.one_hot(x, on, off, depth=int(count), axis=at))
