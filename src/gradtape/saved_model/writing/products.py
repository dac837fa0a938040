"""Translation of products, matrices, spectra, fused ops and random numbers to TensorFlow's nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import as_dtype
from ...ops.nn.attention import MASKED
from .generalisation import Step
from .reductions import on_last_axis
from .translation import number, translates
from .writer import Ref, Unsaved, Writer


@translates("matmul")
def _matmul(w: Writer, s: Step, a: Ref, b: Ref, transpose_a: bool = False, transpose_b: bool = False) -> Ref:
    if len(s.inputs[0].dims) == len(s.inputs[1].dims) == 2:
        return w.MatMul(a, b, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b))
    if a.dtype.is_complex and (transpose_a or transpose_b):
        raise Unsaved("it has a product of stacks of complex matrices of which one is transposed: transpose it before")
    return w.BatchMatMulV2(a, b, adj_x=bool(transpose_a), adj_y=bool(transpose_b))


@translates("sparse_matmul")
def _sparse_matmul(w: Writer, s: Step, x: Ref, b: Ref, rows: Ref, columns: Ref, count: Any, slices: Any = None) -> Ref:
    indices = w.Pack([w.Cast(at, DstT=dtypes.int64) for at in (rows, columns)], axis=1)
    shape = w.ref([count, s.inputs[1].dims[0]], dtypes.int64)
    return w.SparseTensorDenseMatMul(indices, x, shape, b, adjoint_a=False, adjoint_b=False)


@translates("contract")
def _contract(w: Writer, s: Step, a: Ref, b: Ref, equation: str) -> Ref:
    letters = {c: chr(ord("a") + i) for i, c in enumerate(dict.fromkeys(c for c in equation if c not in ",->"))}
    return w.Einsum([a, b], equation="".join(letters.get(c, c) for c in equation))


@translates("eigh", "eigvalsh")
def _eigh(w: Writer, s: Step, x: Ref) -> Any:
    values, vectors = w.SelfAdjointEigV2(x, compute_v=s.op.name == "eigh")
    return [values, vectors] if s.op.name == "eigh" else values


@translates("eig", "eigvals")
def _eig(w: Writer, s: Step, x: Ref) -> Any:
    values, vectors = w.Eig(x, compute_v=s.op.name == "eig", Tout=s.outputs[0].dtype)
    return [values, vectors] if s.op.name == "eig" else values


@translates("singular_values")
def _singular_values(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Svd(x, compute_uv=False)[0]


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


@translates("take_diagonal")
def _take_diagonal(w: Writer, s: Step, x: Ref, axes: Any) -> Ref:
    rest = [axis for axis in range(len(s.inputs[0].dims)) if axis not in axes]
    return w.MatrixDiagPartV3(w.Transpose(x, [*rest, *axes]), 0, number(w, 0, x), align="RIGHT_LEFT")


@translates("put_diagonal")
def _put_diagonal(w: Writer, s: Step, x: Ref, axes: Any, shape: Any) -> Ref:
    rest = [axis for axis in range(len(shape)) if axis not in axes]
    sizes = [w.ref(shape[axis], dtypes.int32) for axis in axes]
    y = w.MatrixDiagV3(x, 0, *sizes, number(w, 0, x), align="RIGHT_LEFT")
    return w.Transpose(y, np.argsort([*rest, *axes]).tolist())


@translates("fft", "ifft")
def _fft(w: Writer, s: Step, x: Ref, axis: Any, norm: str) -> Ref:
    if len(axis) != 1 or norm != "backward":
        raise Unsaved("it has a Fourier transform of several axes, or of another norm than the usual one")
    return on_last_axis(w, s, x, axis[0], w.FFT if s.op.name == "fft" else w.IFFT)


@translates("frame")
def _frame(w: Writer, s: Step, x: Ref, length: Any, step: Any, count: Any) -> Ref:
    """Frame k takes `length` positions from k * step on."""
    starts = w.Mul(w.Range(0, w.ref(count, dtypes.int32), 1), w.ref(step, dtypes.int32))
    offsets = w.Range(0, w.ref(length, dtypes.int32), 1)
    return w.GatherV2(x, w.AddV2(w.ExpandDims(starts, 1), offsets), len(s.inputs[0].dims) - 1)


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


# Fused ops.


@translates("moments")
def _moments(w: Writer, s: Step, x: Ref, axis: Any, keepdims: bool = True) -> list[Ref]:
    mean = w.Mean(x, list(axis), keep_dims=True)
    variance = w.Mean(w.SquaredDifference(x, mean), list(axis), keep_dims=keepdims)
    return [mean if keepdims else w.Mean(x, list(axis), keep_dims=False), variance]


@translates("layer_norm")
def _layer_norm(w: Writer, s: Step, x: Ref, scale: Ref, shift: Ref, epsilon: float) -> Ref:
    mean, variance = _moments(w, s, x, (-1,))
    return _normalization(w, s, x, mean, variance, scale, shift, epsilon)


@translates("normalization")
def _normalization(
    w: Writer, s: Step, x: Ref, mean: Ref, variance: Ref, scale: Ref, shift: Ref, epsilon: float
) -> Ref:
    factor = w.Mul(w.Rsqrt(w.AddV2(variance, number(w, epsilon, x))), scale)
    return w.AddV2(w.Mul(w.Sub(x, mean), factor), shift)


@translates("channel_affine")
def _channel_affine(w: Writer, s: Step, x: Ref, centre: Ref, factor: Ref, shift: Ref) -> Ref:
    return w.AddV2(w.Mul(w.Sub(x, centre), factor), shift)


@translates("scaled_dot_product_attention")
def _attention(
    w: Writer, s: Step, query: Ref, key: Ref, value: Ref, *extras: Ref, scale: float, causal: bool, biased: bool
) -> Ref:  # fmt: skip
    (batch, tokens, heads, channels), (_, keys, shared, _) = s.inputs[0].dims, s.inputs[1].dims
    q, k, v = (w.Transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
    if heads != shared:  # one matrix for all queries that share a head of the keys
        q = w.Reshape(q, w.shape([batch, shared, -1, channels]))
    scores = w.BatchMatMulV2(w.Mul(q, number(w, scale, q)), k, adj_y=True)
    if heads != shared:
        scores = w.Reshape(scores, w.shape([batch, heads, tokens, keys]))
    if scores.dtype.size < 4:
        scores = w.Cast(scores, DstT=dtypes.float32)
    if biased:
        scores = w.AddV2(scores, extras[0] if extras[0].dtype is scores.dtype else w.Cast(extras[0], DstT=scores.dtype))
    masks = list(extras[int(biased) :])
    if causal:
        queries, positions = (w.Range(0, w.ref(n, dtypes.int32), 1) for n in (tokens, keys))
        masks.append(w.GreaterEqual(w.ExpandDims(queries, 1), positions))
    for mask in masks:
        scores = w.SelectV2(mask, scores, number(w, MASKED, scores))
    weights = w.Softmax(scores)
    weights = weights if weights.dtype is v.dtype else w.Cast(weights, DstT=v.dtype)
    if heads != shared:
        weights = w.Reshape(weights, w.shape([batch, shared, -1, keys]))
    y = w.BatchMatMulV2(weights, v)
    if heads != shared:
        y = w.Reshape(y, w.shape([batch, heads, tokens, s.inputs[2].dims[3]]))
    return w.Transpose(y, [0, 2, 1, 3])


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


# Random numbers: a run draws a new state, from which the stateless ops generate numbers.


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
def _write_scrambled(w: Writer, s: Step, seed: Ref) -> Ref:
    key, counter = w.StatelessRandomGetKeyCounter(seed)
    return w.ConcatV2([counter, key], 0)


@translates("random_uniform_int")
def _random_integers(w: Writer, s: Step, state: Ref, low: Ref, high: Ref, shape: Any, dtype: Any) -> Ref:
    return w.StatelessRandomUniformIntV2(w.shape(shape), *_key_and_counter(w, state), low, high)


@translates("advance")
def _write_advanced(w: Writer, s: Step, state: Ref, blocks: Any) -> list[Ref]:
    words = w.Bitcast(state, type=dtypes.uint64)
    before, high, key = (w.StridedSlice(words, [i], [i + 1], [1]) for i in range(3))
    low = w.AddV2(before, w.ref(blocks, dtypes.uint64))
    high = w.AddV2(high, w.Cast(w.Less(low, before), DstT=dtypes.uint64))
    return [words, w.Bitcast(w.ConcatV2([low, high, key], 0), type=dtypes.int64)]
