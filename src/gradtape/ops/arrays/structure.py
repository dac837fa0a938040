"""Ops that move values without changing them, and sums: all linear, each the transpose of another."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ...backends.arrays import (
    HALF,
    astype,
    broadcast_view,
    kind_of,
    numpy_dtype,
    numpy_kernel,
    permuted,
    put,
    repeat_column,
    takes_half,
)
from ...backends.numpy.sums import sum_along
from ...backends.tuning import FEW_TO_SUM, REPEATED_NUMBER
from ...core.dtypes import NUMERIC, DType
from ...engine.registry.examples import KEEPS, SummedRows, all_rows
from ...engine.registry.families import constant, linear, shift_axes, unbroadcast
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import broadcast_shape, given_shape, reduced_shape, resized, same_shape
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops, raw

ops.constant = to_tensor  # type: ignore[attr-defined]
raw.constant = np.asarray  # type: ignore[attr-defined]


def _numpy_dtype(dtype: Any) -> Any:
    return dtype.numpy if type(dtype) is DType else numpy_dtype(dtype)


identity = linear(
    "identity", lambda xp, x: x, transpose=lambda m, g: g, shift=lambda attrs, size: attrs, rows=all_rows,
    shape=same_shape,
    samples=[sample((3, 4))],
)
# `x`, ordered after `other`: a graph does not compute (and hold) values derived from it before `other` is available.
after = linear(
    "after", lambda xp, x, other: x, transpose=lambda m, g: g,
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: (
        inputs[0] if flags[0] else m.broadcast_to(inputs[0], shape=(size, *inputs[0].dims))
    ),
    samples=[sample((3, 4), (2,))],
)  # fmt: skip
zeros_like = constant(
    "zeros_like", lambda xp, x: xp.zeros_like(x), samples=[sample((3, 4))], moves_data=True,
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: m.zeros_like(inputs[0]),
)  # fmt: skip
ones_like = constant(
    "ones_like", lambda xp, x: xp.ones_like(x), samples=[sample((3, 4))], moves_data=True,
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: m.ones_like(inputs[0]),
)  # fmt: skip
shape_of = constant(  # for shapes that differ between the runs of a graph
    "shape_of", lambda xp, x, *, dtype: xp.asarray(np.array(x.shape, dtype)), moves_data=True,
    shape=lambda x, dtype: (len(x),),
    samples=[sample((3, 4), dtype=np.dtype("int32"))],
)  # fmt: skip


def _cast(xp, x, *, dtype):
    target = _numpy_dtype(dtype)
    if kind_of(x) == "c" and target.kind != "c":
        x = x.real
    if target.kind in "iu" and kind_of(x) not in "biu":
        return as_integers(xp, x, target)
    return astype(x, target)


with np.errstate(invalid="ignore"):
    _CASTS_AS_X86 = int(np.full(16, np.nan, np.float32).astype(np.int32)[-1]) == -(2**31)  # ARM's instruction gives 0


def as_integers(xp, x, target):
    """Casts to integers by truncation; integers below 32 bits are cast through int32 and saturate.

    Values without a corresponding integer, such as NaN, become the smallest one, as with x86 instructions and so in
    TensorFlow.
    """
    if target.itemsize < 4:
        limits = np.iinfo(target)
        whole = as_integers(xp, x, np.dtype(np.int32))
        return astype(xp.clip(whole, limits.min, limits.max), target)
    if target.kind == "i" and (xp is not np or not _CASTS_AS_X86):
        x = astype(x, np.float32) if x.dtype.itemsize < 4 else x  # which can represent the limit
        limit = 2.0 ** (8 * target.itemsize - 1)
        x = xp.where((x >= -limit) & (x < limit), x, xp.asarray(-limit, x.dtype))
    return astype(x, target)


def _cast_back(m, g, x_dtype):
    # Integers get a position on a tape as one of several outputs (the indices of `top_k`), but no cotangent.
    return m.cast(g, dtype=x_dtype) if _numpy_dtype(x_dtype).kind not in "biu" else None


cast = linear(
    "cast", _cast, transpose=_cast_back, shift=lambda attrs, size: attrs, rows=all_rows,
    shape=same_shape,
    samples=[sample((3, 4), dtype=np.dtype("float64"))],
)  # fmt: skip

def _rows_of_reshape(inputs, flags, attrs, count):
    """An example's entries are contiguous and stay together if the result has whole rows for each example."""
    shape = attrs["shape"]
    return KEEPS if shape and shape[0] > 0 and shape[0] % count == 0 else None


reshape = linear(
    "reshape", lambda xp, x, *, shape: x.reshape(shape) if shape or x.shape else x,
    shape=given_shape,
    transpose=lambda m, g, x_shape: m.reshape(g, shape=x_shape),
    shift=lambda attrs, size: {"shape": (size, *attrs["shape"])}, rows=_rows_of_reshape,
    samples=[sample((3, 4), shape=(2, 6)), sample((), shape=(1, 1)), sample((0, 3), shape=(3, 0, 2))],
)  # fmt: skip
transpose = linear(
    "transpose", lambda xp, x, *, perm: permuted(x, perm) if perm else x,
    shape=lambda x, perm: tuple([x[i] for i in perm]),
    transpose=lambda m, g, perm: m.transpose(g, perm=tuple(np.argsort(perm).tolist())),
    shift=lambda attrs, size: {"perm": (0, *(p + 1 for p in attrs["perm"]))},
    rows=lambda inputs, flags, attrs, count: KEEPS if attrs["perm"][:1] == (0,) else None,
    samples=[sample((2, 3, 4), perm=(1, 2, 0)), sample((3, 0), perm=(1, 0)), sample((), perm=())],
)  # fmt: skip


def _broadcast_to(xp, x, *, shape):
    return xp.broadcast_to(x, shape)


@numpy_kernel(_broadcast_to)
def _numpy_broadcast_to(x, *, shape):
    if not x.shape and kind_of(x) != "O" and math.prod(shape) <= REPEATED_NUMBER:
        repeated = np.empty(shape, x.dtype)
        repeated.fill(x)
        return repeated
    if x.shape[-1:] == (1,) and x.shape[:-1] == shape[:-1]:
        x = repeat_column(x, shape[-1])
    return broadcast_view(x, shape)


def _rows_of_broadcast(inputs, flags, attrs, count):
    shape, dims = attrs["shape"], inputs[0].dims
    return KEEPS if len(shape) == len(dims) and shape[0] == dims[0] else None


broadcast_to = linear(
    "broadcast_to", _broadcast_to, rows=_rows_of_broadcast,
    shape=given_shape,
    transpose=lambda m, g, x_shape: unbroadcast(m, g, x_shape),
    batch=lambda m, size, inputs, flags, attrs: m.broadcast_to(
        _pad_rank(m, inputs[0], len(attrs["shape"]) + 1), shape=(size, *attrs["shape"])
    ),
    samples=[sample((3, 1), shape=(2, 3, 4)), sample((), shape=(2,)), sample((1, 3), shape=(0, 3))],
)  # fmt: skip


def _pad_rank(m, x, rank):
    """Inserts axes of size 1 after the leading batch axis of `x`, up to `rank`."""
    missing = rank - len(x.dims)
    return m.reshape(x, shape=(x.dims[0], *(1,) * missing, *x.dims[1:])) if missing else x


@takes_half
def sum_of(xp, x, *, axis, keepdims=False):
    """The sum along the axes `axis`, which are non-negative."""
    if xp is np:  # this is not only an op's kernel: others call it
        return _numpy_sum(x, axis=axis, keepdims=keepdims)
    return xp.sum(x, axis=axis, dtype=x.dtype, keepdims=keepdims)


@numpy_kernel(sum_of)
def _numpy_sum(x, *, axis, keepdims=False):
    if x.dtype in HALF:
        return astype(_numpy_sum(astype(x, np.float32), axis=axis, keepdims=keepdims), x.dtype)
    if x.size > FEW_TO_SUM and 0 < len(axis) < x.ndim and x.dtype.char in "fd":
        y = sum_along(x, axis)
        if y is not None:
            return y.reshape([1 if i in axis else n for i, n in enumerate(x.shape)]) if keepdims else y
    return np.add.reduce(x, axis=axis, dtype=x.dtype, keepdims=keepdims)  # the method is a slower way to call it


def _spread(m, g, x_shape, axis):
    if tuple(g.shape):
        g = m.reshape(g, shape=tuple([1 if i in axis else n for i, n in enumerate(x_shape)]))
    return m.broadcast_to(g, shape=x_shape)


sum_ = linear(
    "sum", sum_of, transpose=_spread, shift=shift_axes, on=NUMERIC, moves_data=False,
    shape=reduced_shape,
    rows=lambda inputs, flags, attrs, count: SummedRows() if 0 in attrs["axis"] else KEEPS,
    samples=[sample((3, 4, 2), axis=(0, 2)), sample((), axis=()), sample((0, 3), axis=(0,), keepdims=True)],
)  # fmt: skip


def _count(shape, axis):
    return math.prod(shape if len(axis) == len(shape) else [shape[i] for i in axis])


def _mean(xp, x, *, axis, keepdims=False):
    count = _count(x.shape, axis)
    if kind_of(x) in "iu":  # the sum may need more bits than the summands
        total = xp.sum(x, axis=axis, dtype=xp.uint64 if kind_of(x) == "u" else xp.int64, keepdims=keepdims)
        return astype(xp.sign(total) * (xp.abs(total) // (count or 1)), x.dtype)
    if not count and kind_of(x) == "c":
        return sum_of(xp, x, axis=axis, keepdims=keepdims)  # 0, as in TensorFlow; of real numbers it is NaN
    return sum_of(xp, x, axis=axis, keepdims=keepdims) / count


mean = linear(
    "mean", _mean, shift=shift_axes, on=NUMERIC,
    shape=reduced_shape,
    transpose=lambda m, g, x_shape, axis: _spread(m, g / max(_count(x_shape, axis), 1), x_shape, axis),
    moves_data=False, samples=[sample((3, 4, 2), axis=(0, 2)), sample((2, 3), axis=(1,), keepdims=True)],
)  # fmt: skip


def _split_sizes(m, g, xs_shapes, axis):
    """Splits `g` into the parts of the concatenated values."""
    return m.split(g, sizes=tuple(shape[axis] for shape in xs_shapes), axis=axis)


@lru_cache(maxsize=1024)
def _parts(sizes, axis):
    """The keys of consecutive parts of these sizes."""
    before, ends = (slice(None),) * axis, list(accumulate(sizes, initial=0))
    return [(*before, slice(start, end)) for start, end in pairwise(ends)]


def _split(xp, x, *, sizes, axis):
    return tuple([x[key] for key in _parts(sizes, axis)])


def _unstack(xp, x, *, axis):
    before = (slice(None),) * axis
    return tuple(x[(*before, i)] for i in range(x.shape[axis]))


concat = linear(
    "concat", lambda xp, *xs, axis: xp.concatenate(xs, axis=axis), transpose=_split_sizes, shift=shift_axes,
    shape=lambda *xs, axis: resized(xs[0], axis, sum(x[axis] for x in xs)),
    samples=[sample((2, 3), (2, 1), axis=1), sample((0, 2), (3, 2), axis=0)],
)  # fmt: skip
split = linear(
    "split", _split, transpose=lambda m, g, axis: m.concat(*g, axis=axis), shift=shift_axes,
    shape=lambda x, sizes, axis: [resized(x, axis, n) for n in sizes],
    samples=[sample((2, 4), sizes=(1, 3), axis=1), sample((4,), sizes=(0, 2, 2), axis=0)],
)  # fmt: skip
stack = linear(
    "stack", lambda xp, *xs, axis: xp.stack(xs, axis=axis), shift=shift_axes,
    shape=lambda *xs, axis: (*xs[0][:axis], len(xs), *xs[0][axis:]),
    transpose=lambda m, g, axis: m.unstack(g, axis=axis),
    samples=[sample((2, 3), (2, 3), axis=1), sample((), (), (), axis=0), sample((2,), (2,), axis=1)],
)  # fmt: skip
unstack = linear(
    "unstack", _unstack, transpose=lambda m, g, axis: m.stack(*g, axis=axis), shift=shift_axes,
    shape=lambda x, axis: [(*x[:axis], *x[axis + 1 :])] * int(x[axis]),
    samples=[sample((2, 3), axis=1), sample((3,), axis=0), sample((2, 0), axis=0)],
)  # fmt: skip
identity_n = linear(
    "identity_n", lambda xp, *xs: xs, transpose=lambda m, g: g, shift=lambda attrs, size: attrs, rows=all_rows,
    shape=lambda *xs: list(xs),
    samples=[sample((2, 3), (2,))],
)  # fmt: skip
add_n = linear(
    "add_n", lambda xp, *xs: sum(xs[1:], xs[0]), shift=lambda attrs, size: attrs, rows=all_rows, on=NUMERIC,
    shape=broadcast_shape,
    moves_data=False, transpose=lambda m, g, xs_shapes: (g,) * len(xs_shapes), samples=[sample((2, 3), (2, 3), (2, 3))],
)  # fmt: skip


def _pad(xp, x, *, paddings, value=None):
    if value is None:
        value = b"" if kind_of(x) == "O" else 0
    shape = tuple(before + n + after for n, (before, after) in zip(x.shape, paddings, strict=True))
    return put(xp.full(shape, value, x.dtype), _inside(x.shape, paddings), x)


def _inside(shape, paddings):
    return tuple(slice(before, before + n) for n, (before, _) in zip(shape, paddings, strict=True))


pad = linear(
    "pad", _pad, transpose=lambda m, g, x_shape, paddings: m.slice(g, key=_inside(x_shape, paddings)),
    shape=lambda x, paddings, value=None: tuple([b + n + a for n, (b, a) in zip(x, paddings, strict=True)]),
    shift=lambda attrs, size: {**attrs, "paddings": ((0, 0), *attrs["paddings"])},
    rows=lambda inputs, flags, attrs, count: None if any(attrs["paddings"][0]) or attrs.get("value") else KEEPS,
    samples=[
        sample((2, 3), paddings=((1, 0), (2, 3))),
        sample((2, 3), paddings=((1, 0), (2, 3)), value=7.0),
        sample((0, 2), paddings=((1, 1), (0, 0))),
        sample((), paddings=()),
    ],
)  # fmt: skip
# The padding is constant: its tangent is 0.
pad.jvp = lambda m, inputs, y, attrs, ts: None if ts[0] is None else m.pad(ts[0], paddings=attrs["paddings"])
reverse = linear(
    "reverse", lambda xp, x, *, axis: xp.flip(x, axis), transpose=lambda m, g, axis: m.reverse(g, axis=axis),
    shape=same_shape,
    shift=shift_axes, samples=[sample((2, 3, 2), axis=(0, 2)), sample((0,), axis=(0,)), sample((), axis=())],
)  # fmt: skip
roll = linear(
    "roll", lambda xp, x, *, shift, axis: xp.roll(x, shift, axis), shift=shift_axes,
    shape=same_shape,
    transpose=lambda m, g, shift, axis: m.roll(g, shift=tuple(-n for n in shift), axis=axis),
    samples=[sample((2, 3), shift=(1, -1), axis=(0, 1)), sample((4,), shift=(3, 2), axis=(0, 0))],
)  # fmt: skip

stop_gradient = constant(
    "stop_gradient", lambda xp, x: x, samples=[sample((3, 4))], moves_data=True, detaches=True,
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: m.stop_gradient(inputs[0]),
)  # fmt: skip
