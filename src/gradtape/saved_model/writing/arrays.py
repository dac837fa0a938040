"""Translation of shape and indexing ops to TensorFlow's nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from .generalisation import REVERSED_AXES, Size, Step
from .translation import number, translates
from .writer import Ref, Unsaved, Writer


@translates("reshape")
def _reshape(w: Writer, s: Step, x: Ref, shape: Any) -> Ref:
    sizes = [i for i, n in enumerate(shape) if isinstance(n, Size)]
    if sizes and 0 not in shape:  # one of them follows from the others: preferably one that is not a size of a tensor
        at = next((i for i in sizes if not w.has(shape[i])), sizes[0])
        shape = [-1 if i == at else n for i, n in enumerate(shape)]
    return w.Reshape(x, w.shape(shape))


@translates("transpose")
def _transpose(w: Writer, s: Step, x: Ref, perm: Any) -> Ref:
    return w.Transpose(x, w.Range(w.Sub(w.Rank(x), 1), -1, -1) if perm is REVERSED_AXES else list(perm))


@translates("concat")
def _concat(w: Writer, s: Step, *xs: Ref, axis: int) -> Ref:
    return w.ConcatV2(xs, axis) if len(xs) > 1 else w.Identity(xs[0])


@translates("split")
def _split(w: Writer, s: Step, x: Ref, sizes: Any, axis: int) -> list[Ref]:
    return w.SplitV(x, w.shape(sizes), axis, num_split=len(sizes))


@translates("unstack", "rows")
def _unstack(w: Writer, s: Step, x: Ref, axis: int = 0) -> list[Ref]:
    return w.Unpack(x, num=len(s.outputs), axis=axis)


@translates("after", "assigned")
def _first(w: Writer, s: Step, x: Ref, *others: Ref, **attrs: Any) -> Ref:
    return w.Identity(x)


@translates("pad")
def _pad(w: Writer, s: Step, x: Ref, paddings: Any, value: Any = None) -> Ref:
    return padded(w, x, paddings, (b"" if x.dtype is dtypes.string else 0) if value is None else value)


def padded(w: Writer, x: Ref, paddings: Any, value: Any) -> Ref:
    """Pads a tensor with values."""
    if any(isinstance(n, Size) for pair in paddings for n in pair):
        widths = w.Pack([w.shape(pair) for pair in paddings])
    else:
        widths = w.ref(np.array(paddings, np.int32).reshape(len(paddings), 2))
    return w.PadV2(x, widths, number(w, value, x))


@translates("slice")
def _slice(w: Writer, s: Step, x: Ref, key: Any) -> Ref:
    begin, end, strides, masks = _bounds(key)
    return w.StridedSlice(x, w.shape(begin), w.shape(end), w.shape(strides), **masks)


def _bounds(key: Any) -> tuple[list[Any], list[Any], list[Any], dict[str, int]]:
    """Converts an index to the form of TensorFlow's ops: three numbers for each entry, and bit masks."""
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, item in enumerate(key):
        start, stop, step = 0, 0, 1
        if item is None:
            masks["new_axis_mask"] |= 1 << i
        elif item is Ellipsis:
            masks["ellipsis_mask"] |= 1 << i
        elif isinstance(item, slice):
            start, stop, step = item.start, item.stop, 1 if item.step is None else item.step
            masks["begin_mask"] |= (start is None) << i
            masks["end_mask"] |= (stop is None) << i
            start, stop = start or 0, stop or 0
        else:
            start, stop = item, 1
            masks["shrink_axis_mask"] |= 1 << i
        begin.append(start)
        end.append(stop)
        strides.append(step)
    return begin, end, strides, {name: mask for name, mask in masks.items() if mask}


@translates("gather")
def _gather(w: Writer, s: Step, x: Ref, indices: Ref, axis: int = 0, batch: int = 0) -> Ref:
    return w.GatherV2(x, indices, axis, batch_dims=batch)


@translates("gather_rows")
def _gather_rows(w: Writer, s: Step, x: Ref, indices: Ref) -> Ref:
    return w.GatherV2(x, indices, 0)


@translates("scatter_add")
def _scatter_add(w: Writer, s: Step, x: Ref, indices: Ref, shape: Any, axis: int = 0, batch: int = 0) -> Ref:
    if axis or batch:
        raise Unsaved("it adds at indices of another axis than the first (the gradient of a gather)")
    return w.ScatterNd(w.ExpandDims(indices, -1), x, w.ref(list(shape), indices.dtype))


@translates("put_rows", "max_rows", "min_rows")
def _put_rows(w: Writer, s: Step, x: Ref, indices: Ref, u: Ref) -> Ref:
    name = {"put_rows": "TensorScatterUpdate", "max_rows": "TensorScatterMax", "min_rows": "TensorScatterMin"}
    return getattr(w, name[s.op.name])(x, w.ExpandDims(indices, -1), u)


@translates("put_row")
def _put_row(w: Writer, s: Step, x: Ref, index: Ref, u: Ref) -> Ref:
    return w.TensorScatterUpdate(x, w.Reshape(index, [1, 1]), w.ExpandDims(u, 0))


@translates("from_start")
def _from_start(w: Writer, s: Step, indices: Ref, size: Any) -> Ref:
    return w.SelectV2(w.Less(indices, number(w, 0, indices)), w.AddV2(indices, w.ref(size, indices.dtype)), indices)


@translates("ravel_index")
def _ravel_index(w: Writer, s: Step, indices: Ref, dims: Any) -> Ref:
    strides = w.Cumprod(w.ref([*dims[1:], 1][: len(dims)], dtypes.int64), 0, reverse=True)
    return w.Sum(w.Mul(w.Cast(indices, DstT=dtypes.int64), strides), [-1])


@translates("take_along")
def _take_along(w: Writer, s: Step, x: Ref, indices: Ref, axis: int) -> Ref:
    last = len(s.inputs[0].dims) - 1
    order = [i for i in range(last + 1) if i != axis] + [axis]
    if axis == last:
        return w.GatherV2(x, indices, axis, batch_dims=axis)
    found = w.GatherV2(w.Transpose(x, order), w.Transpose(indices, order), last, batch_dims=last)
    return w.Transpose(found, [order.index(i) for i in range(last + 1)])


@translates("one_hot")
def _one_hot(w: Writer, s: Step, indices: Ref, on: Ref, off: Ref, depth: Any, axis: int) -> Ref:
    if indices.dtype not in (dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.int64):
        indices = w.Cast(indices, DstT=dtypes.int64)
    return w.OneHot(indices, w.ref(depth, dtypes.int32), on, off, axis=axis)


@translates("place")
def _place(w: Writer, s: Step, x: Ref, key: Any, shape: Any) -> Ref:
    begin, end, strides, masks = _bounds(key)
    return w.StridedSliceGrad(w.shape(shape), w.shape(begin), w.shape(end), w.shape(strides), x, **masks)
