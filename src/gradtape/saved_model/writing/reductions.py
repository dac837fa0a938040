"""Translation of reductions, scans and sorts to TensorFlow's nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...api.catalogue.nodes import node_type
from ...core import dtypes
from ...core.dtypes import as_dtype
from .generalisation import ALL_AXES, Step, size_of
from .translation import number, translates
from .writer import Ref, Writer


@translates("sum", "mean", "max", "min", "prod", "all", "any", "euclidean_norm")
def _reduction(w: Writer, s: Step, x: Ref, axis: Any, keepdims: bool = False) -> Ref:
    return getattr(w, node_type(s.op))(x, _axes(w, x, axis), keep_dims=bool(keepdims))


def _axes(w: Writer, x: Ref, axis: Any) -> Any:
    return w.Range(0, w.Rank(x), 1) if axis is ALL_AXES else list(axis)


@translates("logsumexp")
def _logsumexp(w: Writer, s: Step, x: Ref, axis: Any, keepdims: bool = False) -> Ref:
    axes = _axes(w, x, axis)
    top = w.Max(x, axes, keep_dims=True)
    top = w.SelectV2(w.IsFinite(top), top, number(w, 0, top))
    total = w.Log(w.Sum(w.Exp(w.Sub(x, top)), axes, keep_dims=bool(keepdims)))
    if not keepdims:
        top = w.Sum(top, axes, keep_dims=False)  # over axes of size 1
    return w.AddV2(total, top)


@translates("argmax", "argmin")
def _position(w: Writer, s: Step, x: Ref, axis: int, dtype: Any) -> Ref:
    return (w.ArgMax if s.op.name == "argmax" else w.ArgMin)(x, axis, output_type=as_dtype(dtype))


@translates("softmax", "log_softmax")
def _softmax(w: Writer, s: Step, x: Ref, axis: int) -> Ref:
    return on_last_axis(w, s, x, axis, w.Softmax if s.op.name == "softmax" else w.LogSoftmax)


def on_last_axis(w: Writer, s: Step, x: Ref, axis: int, function: Callable[[Ref], Ref]) -> Ref:
    """Applies a function of the last axis along another axis."""
    if axis == size_of([len(shape) - 1 for shape in s.inputs[0].shapes]):
        return function(x)
    rank = len(s.inputs[0].dims)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    if axis in (rank - 1, -1):
        return function(x)
    return w.Transpose(function(w.Transpose(x, order)), order)


@translates("top_k")
def _top_k(w: Writer, s: Step, x: Ref, k: Any) -> list[Ref]:
    return w.TopKV2(x, w.ref(k, dtypes.int32))


@translates("sort", "argsort")
def _sort(w: Writer, s: Step, x: Ref, axis: int, descending: bool = False) -> Ref:
    """`TopKV2` returns the largest first, so ascending order is reversed."""
    size = s.inputs[0].dims[axis]
    turn = w.Invert if x.dtype.is_integer else w.Neg

    def on_rows(x: Ref) -> Ref:
        values, places = w.TopKV2(x if descending else turn(x), w.ref(size, dtypes.int32))
        return places if s.op.name == "argsort" else values if descending else turn(values)

    return on_last_axis(w, s, x, axis, on_rows)


@translates("in_top_k")
def _in_top_k(w: Writer, s: Step, targets: Ref, predictions: Ref, k: int) -> Ref:
    return w.InTopKV2(predictions, targets, w.ref(k, targets.dtype))


@translates("unique")
def _unique(w: Writer, s: Step, x: Ref, dtype: Any) -> list[Ref]:
    return w.UniqueWithCounts(x, out_idx=as_dtype(dtype))


@translates("bincount")
def _bincount(w: Writer, s: Step, x: Ref, *weights: Ref, size: Any, dtype: Any, binary: bool = False) -> Ref:
    kind = as_dtype(dtype)
    given = weights[0] if weights else w.constant(np.zeros(0, kind.numpy), kind)
    return w.DenseBincount(x, w.ref(size, x.dtype), given, binary_output=bool(binary))


@translates("search_sorted")
def _search_sorted(w: Writer, s: Step, sequence: Ref, values: Ref, side: str, dtype: Any) -> Ref:
    return (w.LowerBound if side == "left" else w.UpperBound)(sequence, values, out_type=as_dtype(dtype))


@translates("segment_spread")
def _segment_spread(w: Writer, s: Step, x: Ref, ids: Ref) -> Ref:
    constants = s.inputs[1].constants
    if constants is not None and all((array >= 0).all() for array in constants):
        return w.GatherV2(x, ids, 0)
    zero = number(w, 0, ids)
    none = w.Reshape(w.Less(ids, zero), [-1, *[1] * (len(s.inputs[0].dims) - 1)])
    return w.SelectV2(none, number(w, 0, x), w.GatherV2(x, w.Maximum(ids, zero), 0))


@translates("segment_sum", "segment_prod", "segment_max", "segment_min")
def _segments(w: Writer, s: Step, x: Ref, ids: Ref, count: Any, empty: Any = None) -> Ref:
    found = getattr(w, f"Unsorted{node_type(s.op)}")(x, ids, w.ref(count, dtypes.int32))
    if empty is None:
        return found
    there = w.UnsortedSegmentSum(w.OnesLike(x), ids, w.ref(count, dtypes.int32))
    return w.SelectV2(w.Greater(there, number(w, 0, there)), found, number(w, empty, found))
