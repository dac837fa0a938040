"""What TensorFlow calls the ops of a program: each as one of its nodes, or as several.

An op without attributes is that of its own name, or of the name in `op_names.py`. A function of another op is given the
writer, the step, the tensors and the op's attributes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...graph.ir.operations import type_of
from ..op_names import NAMES
from ..raw.definitions import definition_of
from .generalisation import Size, Step
from .writer import Ref, Unsaved, Writer

_OF_THEIR_NAME = ("cross", "identity", "invert_permutation", "lu", "ones_like", "stop_gradient", "zeros_like")
Translator = Callable[..., Any]
_TRANSLATORS: dict[str, Translator] = {}


def translates(*names: str) -> Callable[[Translator], Translator]:
    """Says that a function writes these ops."""

    def register(function: Translator) -> Translator:
        _TRANSLATORS.update(dict.fromkeys(names, function))
        return function

    return register


def translated(writer: Writer, step: Step, inputs: list[Ref]) -> list[Ref]:
    """Writes a step; gives its outputs."""
    op = step.op
    function = _TRANSLATORS.get(op.name)
    if function is not None:
        found = function(writer, step, *inputs, **step.attrs)
    elif _has_its_name(op) and not step.attrs:
        found = getattr(writer, type_of(op))(*inputs)
    else:
        raise Unsaved(f"it has a step {op.name!r}, for which TensorFlow has no op, nor is it written as several here")
    return list(found) if isinstance(found, list | tuple) and not isinstance(found, Ref) else [found]


def _has_its_name(op: Any) -> bool:
    """Whether TensorFlow has the op, with the same inputs, under its name."""
    if op.name in NAMES or op.name in _OF_THEIR_NAME:
        return True
    return op.family == "elementwise" and definition_of(op.title) is not None


def number(writer: Writer, value: Any, like: Ref) -> Ref:
    """A number of the dtype of a tensor."""
    return writer.constant(np.asarray(value, like.dtype.numpy), like.dtype)


def _static(values: Any, what: str) -> list[int]:
    found = list(values)
    if any(isinstance(value, Size) for value in found):
        raise Unsaved(f"{what} depends on the sizes of its inputs. Give the function an input signature without None")
    return found


# Elementwise ops that are several of TensorFlow's.


@translates("power_3")
def _cube(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Mul(x, w.Square(x))


@translates("masked")
def _masked(w: Writer, s: Step, mask: Ref, x: Ref) -> Ref:
    return w.SelectV2(mask, x, number(w, 0, x))


@translates("where_positive")
def _where_positive(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.SelectV2(w.Greater(b, number(w, 0, b)), a, number(w, 0, a))


@translates("has_log")
def _has_log(w: Writer, s: Step, x: Ref) -> Ref:
    test = w.NotEqual if x.dtype.is_complex else w.Greater
    return test(x, number(w, 0, x))


@translates("leaky_relu")
def _leaky_relu(w: Writer, s: Step, x: Ref, alpha: float) -> Ref:
    return w.LeakyRelu(x, alpha=alpha)


@translates("leaky_slope")
def _leaky_slope(w: Writer, s: Step, x: Ref, alpha: float) -> Ref:
    return w.SelectV2(w.Greater(x, number(w, 0, x)), number(w, 1, x), number(w, alpha, x))


@translates("silu")
def _silu(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Mul(x, w.Sigmoid(x))


@translates("gelu")
def _gelu(w: Writer, s: Step, x: Ref) -> Ref:
    bell = w.AddV2(w.Erf(w.Mul(x, number(w, math.sqrt(0.5), x))), number(w, 1, x))
    return w.Mul(w.Mul(number(w, 0.5, x), x), bell)


@translates("gelu_tanh")
def _gelu_tanh(w: Writer, s: Step, x: Ref) -> Ref:
    cube = w.Mul(number(w, 0.044715, x), w.Mul(x, w.Square(x)))
    inner = w.Tanh(w.Mul(number(w, math.sqrt(2 / math.pi), x), w.AddV2(x, cube)))
    return w.Mul(w.Mul(number(w, 0.5, x), x), w.AddV2(number(w, 1, x), inner))


@translates("log_sigmoid")
def _log_sigmoid(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Neg(w.Softplus(w.Neg(x)))


@translates("ndtr")
def _ndtr(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Mul(number(w, 0.5, x), w.Erfc(w.Mul(x, number(w, -math.sqrt(0.5), x))))


@translates("exp2")
def _exp2(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Pow(number(w, 2, x), x)


@translates("log2", "log10")
def _log_of_base(w: Writer, s: Step, x: Ref) -> Ref:
    return w.RealDiv(w.Log(x), number(w, math.log(2 if s.op.name == "log2" else 10), x))


@translates("logaddexp")
def _logaddexp(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.AddV2(w.Maximum(a, b), w.Softplus(w.Neg(w.Abs(w.Sub(a, b)))))


@translates("hypot")
def _hypot(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.Sqrt(w.AddV2(w.Square(a), w.Square(b)))


@translates("sigmoid_cross_entropy")
def _sigmoid_cross_entropy(w: Writer, s: Step, labels: Ref, logits: Ref) -> Ref:
    rest = w.Log1p(w.Exp(w.Neg(w.Abs(logits))))
    return w.AddV2(w.Sub(w.Relu(logits), w.Mul(logits, labels)), rest)


@translates("map_text")
def _map_text(w: Writer, s: Step, *xs: Ref, function: Any) -> Ref:
    table = getattr(function, "table", None)
    if table is not None:
        default = w.constant(np.asarray(table.default_value.array), table.value_dtype)
        return w.LookupTableFindV2(w.captured_resource(table), xs[0], default)
    spelling = getattr(function, "spelling", None)
    if spelling is None:
        raise Unsaved("it has a function on strings for which TensorFlow has no op")
    op, attrs = spelling
    return w.add(op, [xs] if op == "StringJoin" else xs, dict(attrs))


@translates("concat_strings")
def _concat_strings(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.StringJoin([a, b])


@translates("cast")
def _cast(w: Writer, s: Step, x: Ref, dtype: Any) -> Ref:
    return w.Cast(x, DstT=as_dtype(dtype))


@translates("check_numerics")
def _check_numerics(w: Writer, s: Step, x: Ref, message: str) -> Ref:
    return w.CheckNumerics(x, message=message)


@translates("bitcast")
def _bitcast(w: Writer, s: Step, x: Ref, dtype: Any) -> Ref:
    return w.Bitcast(x, type=as_dtype(dtype))


@translates("complex")
def _complex(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.Complex(a, b, Tout=s.outputs[0].dtype)


@translates("conj")
def _conj(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Conj(x) if x.dtype.is_complex else w.Identity(x)


@translates("betainc")
def _betainc(w: Writer, s: Step, *given: Ref) -> Ref:
    """TensorFlow's op does not broadcast."""
    dims = s.outputs[0].dims
    same = [place.dims == dims for place in s.inputs]
    return w.Betainc(*(x if fits else w.BroadcastTo(x, w.shape(dims)) for x, fits in zip(given, same, strict=True)))


@translates("real", "imag", "complex_abs", "angle")
def _part_of_complex(w: Writer, s: Step, x: Ref) -> Ref:
    return getattr(w, s.op.title)(x, Tout=s.outputs[0].dtype)


# Shapes.


@translates("reshape")
def _reshape(w: Writer, s: Step, x: Ref, shape: Any) -> Ref:
    sizes = [i for i, n in enumerate(shape) if isinstance(n, Size)]
    if sizes and 0 not in shape:  # one of them follows from the others: best that which is no size of a tensor
        at = next((i for i in sizes if not w.has(shape[i])), sizes[0])
        shape = [-1 if i == at else n for i, n in enumerate(shape)]
    return w.Reshape(x, w.shape(shape))


@translates("transpose")
def _transpose(w: Writer, s: Step, x: Ref, perm: Any) -> Ref:
    return w.Transpose(x, list(perm))


@translates("broadcast_to")
def _broadcast_to(w: Writer, s: Step, x: Ref, shape: Any) -> Ref:
    return w.BroadcastTo(x, w.shape(shape))


@translates("concat")
def _concat(w: Writer, s: Step, *xs: Ref, axis: int) -> Ref:
    return w.ConcatV2(xs, axis) if len(xs) > 1 else w.Identity(xs[0])


@translates("stack")
def _stack(w: Writer, s: Step, *xs: Ref, axis: int) -> Ref:
    return w.Pack(xs, axis=axis)


@translates("split")
def _split(w: Writer, s: Step, x: Ref, sizes: Any, axis: int) -> list[Ref]:
    return w.SplitV(x, w.shape(sizes), axis, num_split=len(sizes))


@translates("unstack", "rows")
def _unstack(w: Writer, s: Step, x: Ref, axis: int = 0) -> list[Ref]:
    return w.Unpack(x, num=len(s.outputs), axis=axis)


@translates("identity_n")
def _identity_n(w: Writer, s: Step, *xs: Ref) -> list[Ref]:
    return w.IdentityN(xs)


@translates("add_n")
def _add_n(w: Writer, s: Step, *xs: Ref) -> Ref:
    return w.AddN(xs)


@translates("after", "assigned")
def _first(w: Writer, s: Step, x: Ref, *others: Ref, **attrs: Any) -> Ref:
    return w.Identity(x)


@translates("custom_gradient")
def _custom_gradient(w: Writer, s: Step, *xs: Ref, rule: Any, counts: Any) -> list[Ref]:
    return [w.Identity(x) for x in xs[counts[0] : counts[0] + counts[1]]]


@translates("pad")
def _pad(w: Writer, s: Step, x: Ref, paddings: Any, value: Any = None) -> Ref:
    return padded(w, x, paddings, (b"" if x.dtype is dtypes.string else 0) if value is None else value)


def padded(w: Writer, x: Ref, paddings: Any, value: Any) -> Ref:
    """A tensor with values around it."""
    if any(isinstance(n, Size) for pair in paddings for n in pair):
        widths = w.Pack([w.shape(pair) for pair in paddings])
    else:
        widths = w.ref(np.array(paddings, np.int32).reshape(len(paddings), 2))
    return w.PadV2(x, widths, number(w, value, x))


@translates("reverse")
def _reverse(w: Writer, s: Step, x: Ref, axis: Any) -> Ref:
    return w.ReverseV2(x, list(axis))


@translates("roll")
def _roll(w: Writer, s: Step, x: Ref, shift: Any, axis: Any) -> Ref:
    return w.Roll(x, w.shape(shift), list(axis))


@translates("slice")
def _slice(w: Writer, s: Step, x: Ref, key: Any) -> Ref:
    begin, end, strides, masks = _bounds(key)
    return w.StridedSlice(x, w.shape(begin), w.shape(end), w.shape(strides), **masks)


def _bounds(key: Any) -> tuple[list[Any], list[Any], list[Any], dict[str, int]]:
    """A key as TensorFlow's ops have it: three numbers for each entry, and what else it says as bits."""
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
    rest = _static(dims[1:], "the shape that is indexed")
    strides = [math.prod(rest[i:]) for i in range(len(rest) + 1)][: len(dims)]
    wide = w.Cast(indices, DstT=dtypes.int64)
    return w.Sum(w.Mul(wide, w.ref(np.array(strides, np.int64))), [-1])


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


# Reductions, scans and sorts.


@translates("sum", "mean", "max", "min", "prod", "all", "any", "euclidean_norm")
def _reduction(w: Writer, s: Step, x: Ref, axis: Any, keepdims: bool = False) -> Ref:
    return getattr(w, s.op.title)(x, list(axis), keep_dims=bool(keepdims))


@translates("logsumexp")
def _logsumexp(w: Writer, s: Step, x: Ref, axis: Any, keepdims: bool = False) -> Ref:
    top = w.Max(x, list(axis), keep_dims=True)
    top = w.SelectV2(w.IsFinite(top), top, number(w, 0, top))
    total = w.Log(w.Sum(w.Exp(w.Sub(x, top)), list(axis), keep_dims=bool(keepdims)))
    if not keepdims:
        top = w.Sum(top, list(axis), keep_dims=False)  # over axes of size 1
    return w.AddV2(total, top)


@translates("argmax", "argmin")
def _position(w: Writer, s: Step, x: Ref, axis: int, dtype: Any) -> Ref:
    return (w.ArgMax if s.op.name == "argmax" else w.ArgMin)(x, axis, output_type=as_dtype(dtype))


@translates("cumsum", "cumprod", "cumulative_logsumexp")
def _scan(w: Writer, s: Step, x: Ref, axis: int, exclusive: bool = False, reverse: bool = False) -> Ref:
    return getattr(w, s.op.title)(x, axis, exclusive=bool(exclusive), reverse=bool(reverse))


@translates("softmax", "log_softmax")
def _softmax(w: Writer, s: Step, x: Ref, axis: int) -> Ref:
    return _on_last_axis(w, s, x, axis, w.Softmax if s.op.name == "softmax" else w.LogSoftmax)


def _on_last_axis(w: Writer, s: Step, x: Ref, axis: int, function: Callable[[Ref], Ref]) -> Ref:
    """What a function of the last axis gives along another."""
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
    """The largest come first from `TopKV2`, so what is to rise is turned round."""
    size = s.inputs[0].dims[axis]
    turn = w.Invert if x.dtype.is_integer else w.Neg

    def on_rows(x: Ref) -> Ref:
        values, places = w.TopKV2(x if descending else turn(x), w.ref(size, dtypes.int32))
        return places if s.op.name == "argsort" else values if descending else turn(values)

    return _on_last_axis(w, s, x, axis, on_rows)


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


@translates("segment_sum", "segment_prod", "segment_max", "segment_min")
def _segments(w: Writer, s: Step, x: Ref, ids: Ref, count: Any, empty: Any = None) -> Ref:
    found = getattr(w, f"Unsorted{s.op.title}")(x, ids, w.ref(count, dtypes.int32))
    if empty is None:
        return found
    there = w.UnsortedSegmentSum(w.OnesLike(x), ids, w.ref(count, dtypes.int32))
    return w.SelectV2(w.Greater(there, number(w, 0, there)), found, number(w, empty, found))


# Products, matrices and spectra.


@translates("matmul")
def _matmul(w: Writer, s: Step, a: Ref, b: Ref, transpose_a: bool = False, transpose_b: bool = False) -> Ref:
    if len(s.inputs[0].dims) == len(s.inputs[1].dims) == 2:
        return w.MatMul(a, b, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b))
    if a.dtype.is_complex and (transpose_a or transpose_b):
        raise Unsaved("it has a product of stacks of complex matrices of which one is transposed: transpose it before")
    return w.BatchMatMulV2(a, b, adj_x=bool(transpose_a), adj_y=bool(transpose_b))


@translates("contract")
def _contract(w: Writer, s: Step, a: Ref, b: Ref, equation: str) -> Ref:
    letters = {c: chr(ord("a") + i) for i, c in enumerate(dict.fromkeys(c for c in equation if c not in ",->"))}
    return w.Einsum([a, b], equation="".join(letters.get(c, c) for c in equation))


@translates("triangular_solve")
def _triangular_solve(w: Writer, s: Step, a: Ref, b: Ref, lower: bool, adjoint: bool) -> Ref:
    return w.MatrixTriangularSolve(a, b, lower=bool(lower), adjoint=bool(adjoint))


@translates("eigh", "eigvalsh")
def _eigh(w: Writer, s: Step, x: Ref) -> Any:
    values, vectors = w.SelfAdjointEigV2(x, compute_v=s.op.name == "eigh")
    return [values, vectors] if s.op.name == "eigh" else values


@translates("eig", "eigvals")
def _eig(w: Writer, s: Step, x: Ref) -> Any:
    values, vectors = w.Eig(x, compute_v=s.op.name == "eig", Tout=s.outputs[0].dtype)
    return [values, vectors] if s.op.name == "eig" else values


@translates("svd")
def _svd(w: Writer, s: Step, x: Ref, full_matrices: bool) -> list[Ref]:
    return w.Svd(x, compute_uv=True, full_matrices=bool(full_matrices))


@translates("singular_values")
def _singular_values(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Svd(x, compute_uv=False)[0]


@translates("qr")
def _qr(w: Writer, s: Step, x: Ref, full_matrices: bool) -> list[Ref]:
    return w.Qr(x, full_matrices=bool(full_matrices))


@translates("band_part")
def _band_part(w: Writer, s: Step, x: Ref, below: int, above: int) -> Ref:
    return w.MatrixBandPart(x, w.ref(below, dtypes.int64), w.ref(above, dtypes.int64))


@translates("matrix_diag_part")
def _matrix_diag_part(w: Writer, s: Step, x: Ref, low: int, high: int, align: str) -> Ref:
    return w.MatrixDiagPartV3(x, low if low == high else [low, high], number(w, 0, x), align=align)


@translates("matrix_diag")
def _matrix_diag(w: Writer, s: Step, x: Ref, rows: Any, columns: Any, low: int, high: int, align: str) -> Ref:
    sizes = [w.ref(n, dtypes.int32) for n in (rows, columns)]
    return w.MatrixDiagV3(x, low if low == high else [low, high], *sizes, number(w, 0, x), align=align)


@translates("fft", "ifft")
def _fft(w: Writer, s: Step, x: Ref, axis: Any, norm: str) -> Ref:
    if len(axis) != 1 or norm != "backward":
        raise Unsaved("it has a Fourier transform of several axes, or of another norm than the usual one")
    return _on_last_axis(w, s, x, axis[0], w.FFT if s.op.name == "fft" else w.IFFT)


@translates("rfft")
def _rfft(w: Writer, s: Step, x: Ref, axis: Any, norm: str) -> Ref:
    if list(axis) != [len(s.inputs[0].dims) - 1] or norm != "backward":
        raise Unsaved("it has a Fourier transform of other axes than the last, or of another norm than the usual one")
    return w.RFFT(x, [s.inputs[0].dims[-1]], Tcomplex=s.outputs[0].dtype)


@translates("irfft")
def _irfft(w: Writer, s: Step, x: Ref, axis: Any, length: Any, norm: str) -> Ref:
    if list(axis) != [len(s.inputs[0].dims) - 1] or norm != "backward":
        raise Unsaved("it has a Fourier transform of other axes than the last, or of another norm than the usual one")
    return w.IRFFT(x, [length], Treal=s.outputs[0].dtype)


# What is fused here.


@translates("moments")
def _moments(w: Writer, s: Step, x: Ref, axis: Any) -> list[Ref]:
    mean = w.Mean(x, list(axis), keep_dims=True)
    return [mean, w.Mean(w.SquaredDifference(x, mean), list(axis), keep_dims=True)]


@translates("layer_norm")
def _layer_norm(w: Writer, s: Step, x: Ref, scale: Ref, shift: Ref, epsilon: float) -> Ref:
    mean, variance = _moments(w, s, x, (-1,))
    factor = w.Mul(w.Rsqrt(w.AddV2(variance, number(w, epsilon, x))), scale)
    return w.AddV2(w.Mul(w.Sub(x, mean), factor), shift)


@translates("channel_affine")
def _channel_affine(w: Writer, s: Step, x: Ref, centre: Ref, factor: Ref, shift: Ref) -> Ref:
    return w.AddV2(w.Mul(w.Sub(x, centre), factor), shift)


@translates("softmax_cross_entropy", "sparse_softmax_cross_entropy")
def _cross_entropy(w: Writer, s: Step, labels: Ref, logits: Ref) -> Ref:
    sparse = s.op.name.startswith("sparse")
    dims = s.inputs[1].dims
    if len(dims) == 2:
        return _loss(w, labels, logits, sparse)
    columns = w.shape([-1, dims[-1]])
    flat = _loss(w, w.Reshape(labels, [-1] if sparse else columns), w.Reshape(logits, columns), sparse)
    return w.Reshape(flat, w.shape(dims[:-1]))


def _loss(w: Writer, labels: Ref, logits: Ref, sparse: bool) -> Ref:
    if sparse:
        return w.SparseSoftmaxCrossEntropyWithLogits(logits, labels)[0]
    return w.SoftmaxCrossEntropyWithLogits(logits, labels)[0]


# Random numbers: what a run draws is a new state, of which numbers are made as by the stateless ops.


@translates("draw")
def _draw(w: Writer, s: Step, take: Any) -> Ref:
    limits = np.iinfo(np.int64)
    drawn = w.RandomUniformInt([3], *(w.ref(np.array(n, np.int64)) for n in (limits.min, limits.max)))
    return w.Bitcast(drawn, type=dtypes.uint64)


def _key_and_counter(w: Writer, state: Ref) -> list[Any]:
    return [w.StridedSlice(state, [2], [3], [1]), w.StridedSlice(state, [0], [2], [1]), 1]


@translates("random_uniform", "random_normal", "random_truncated_normal")
def _random(w: Writer, s: Step, state: Ref, shape: Any, dtype: Any) -> Ref:
    name = {"random_uniform": "StatelessRandomUniformV2", "random_normal": "StatelessRandomNormalV2",
            "random_truncated_normal": "StatelessTruncatedNormalV2"}[s.op.name]  # fmt: skip
    return getattr(w, name)(w.shape(shape), *_key_and_counter(w, state), dtype=as_dtype(dtype))


@translates("random_scramble")
def _scrambled(w: Writer, s: Step, seed: Ref) -> Ref:
    key, counter = w.StatelessRandomGetKeyCounter(seed)
    return w.ConcatV2([counter, key], 0)


@translates("random_uniform_int")
def _random_integers(w: Writer, s: Step, state: Ref, low: Ref, high: Ref, shape: Any, dtype: Any) -> Ref:
    return w.StatelessRandomUniformIntV2(w.shape(shape), *_key_and_counter(w, state), low, high)
