"""Scaled dot-product attention: for each query the mean of the values, weighted by the softmax of its scores.

`scaled_dot_product_attention(query, key, value, *extras)` is `P V` with the weights `P = softmax(scale Q K' + bias)`,
for arrays of `(batch, tokens, heads, channels)`. Keys and values may have fewer heads, each shared by a group of
consecutive heads of the queries. The extras are a bias, if the attribute `biased` says so, and a boolean mask of the
keys that a query attends to: both `(batch, heads, queries, keys)`, where any size may be 1. A query whose keys are all
masked attends to all of them equally, as in Keras and JAX, and its scores have no derivative.

On the host, only a block of P exists at a time, and the derivative recomputes it (FlashAttention, arXiv:2205.14135).
A block has whole rows, so that the sums of its rows are recomputed, too, instead of saved: they cost little beside the
products, and a saved sum would be rounded to half precision with the outputs. The derivative of P with respect to the
scores is the symmetric map `J(u) = P (u - rows(P u))`, where `rows` sums each row. The rules of second order are
written in terms of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.arrays import can_read_values, fill_where, into, numpy_kernel, permuted, row_dots
from ...backends.numpy.blocks import share_out
from ...backends.numpy.memory import empty
from ...backends.tuning import ATTENTION_BLOCK, FEW
from ...core.dtypes import BOOL, FLOAT, NARROW
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.examples import KEEPS, SummedRows
from ...engine.registry.families import opaque
from ...engine.registry.op import sample
from ..arrays.structure import sum_of

MASKED = -0.7 * float(np.finfo(np.float32).max)  # the score of a masked key, as in Keras and JAX
_RANGE = 80  # of scores whose exponentials, less the largest, are normal float32 numbers


def _bias_and_mask(extras, biased):
    return (extras[0] if biased else None), (extras[-1] if len(extras) > biased else None)


def _grouped(x, groups):
    """Transposes `(batch, tokens, heads, channels)` to `(batch, key heads, group, tokens, channels)`."""
    batch, tokens, heads, channels = x.shape
    return permuted(x.reshape((batch, tokens, heads // groups, groups, channels)), (0, 2, 3, 1, 4))


def _ungrouped(x):
    """Inverse of `_grouped`."""
    batch, heads, groups, tokens, channels = x.shape
    return permuted(x, (0, 3, 1, 2, 4)).reshape((batch, tokens, heads * groups, channels))


def _grouped_scores(x, groups):
    """Reshapes an extra `(batch, heads, queries, keys)` to `(batch, key heads, group, queries, keys)`."""
    if x is None:
        return None
    batch, heads, *sizes = x.shape
    return x.reshape((batch, 1, 1, *sizes) if heads == 1 else (batch, heads // groups, groups, *sizes))


def _visible(xp, mask, causal, queries, keys):
    """The mask of the first `keys` keys that the queries, a range, attend to; None if all."""
    if mask is not None:
        mask = mask[..., :keys]
    if not causal:
        return mask
    order = xp.arange(queries.start, queries.stop)[:, None] >= xp.arange(keys)
    return order if mask is None else mask & order


def _flat(x):
    """Merges the group and the tokens, which are the rows of one matrix for each head of the keys."""
    batch, heads, groups, tokens, channels = x.shape
    return x.reshape((batch, heads, groups * tokens, channels))


def _turned(x):
    return x.swapaxes(-1, -2)


def _exponentials(xp, q, k, bias, seen, scale):
    """The numerators of P, new, and their sums along rows; `q` and `k` are grouped."""
    scores = xp.matmul(_flat(q * scale), _turned(k[:, :, 0])).reshape((*q.shape[:-1], k.shape[3]))
    if bias is not None:
        scores = into(xp.add, scores, bias)
    if can_read_values(xp) and scores.size > FEW:
        largest = np.maximum.reduce(scores, axis=None)
        if largest - np.minimum.reduce(scores, axis=None) < _RANGE:
            return _shifted_exponentials(scores, largest, seen)
    if seen is not None:
        scores = fill_where(xp, scores, ~seen, MASKED)
    scores = into(xp.exp, into(xp.subtract, scores, xp.max(scores, axis=-1, keepdims=True)))
    return scores, sum_of(xp, scores, axis=(4,), keepdims=True)


def _shifted_exponentials(scores, largest, seen):
    """Same as `_exponentials` for scores in a small range: one shift for all rows takes a fifth of the time."""
    np.exp(np.subtract(scores, largest, out=scores), out=scores)
    if seen is None:
        return scores, sum_of(np, scores, axis=(4,), keepdims=True)
    np.multiply(scores, seen.astype(scores.dtype), out=scores)
    total = sum_of(np, scores, axis=(4,), keepdims=True)
    if not total.all():  # a query without a key attends to all
        np.copyto(scores, 1, where=total == 0)
        np.copyto(total, scores.shape[4], where=total == 0)
    return scores, total


def _attend(xp, q, k, v, bias, seen, scale):
    """The grouped output for grouped arrays."""
    weights, total = _exponentials(xp, q, k, bias, seen, scale)
    y = xp.matmul(_flat(weights), v[:, :, 0]).reshape((*q.shape[:-1], v.shape[-1]))
    return into(xp.divide, y, total)


def _attend_back(xp, g, q, k, v, bias, seen, scale):
    """The cotangents of q, k and v, the first grouped, the others without groups, and that of the scores."""
    weights, total = _exponentials(xp, q, k, bias, seen, scale)
    weights = into(xp.divide, weights, total)
    rows = _flat(g)
    of_v = xp.matmul(_turned(_flat(weights)), rows)
    of_weights = xp.matmul(rows, _turned(v[:, :, 0])).reshape(weights.shape)
    of_scores = into(xp.multiply, into(xp.subtract, of_weights, row_dots(xp, weights, of_weights)), weights)
    if seen is not None:
        alone = ~xp.any(seen, axis=-1, keepdims=True)  # rows without a key
        if not can_read_values(xp) or alone.any():
            of_scores = fill_where(xp, of_scores, alone, 0)
    flat = _flat(of_scores)
    of_q = xp.matmul(flat, k[:, :, 0]).reshape(q.shape)
    of_k = xp.matmul(_turned(flat), _flat(q * scale))
    return into(xp.multiply, of_q, scale), of_k, of_v, of_scores


class _Blocks:
    """The blocks of a large attention on the host: each has whole rows of P, and about `ATTENTION_BLOCK` elements.

    Every core has matrices of its own. With a causal order, a block has only the keys before its last query, unless a
    query of it sees none.
    """

    def __init__(self, q, k, mask, causal):
        self.batch, self.heads, self.groups, self.queries, _ = q.shape
        self.keys, self.mask, self.causal = k.shape[3], mask, causal
        self.matrix = self.groups * self.queries * self.keys

    def run(self, work, begin):
        """Calls `work(total, matrices, queries, keys, seen)` for each block; each core's `total`, by `begin()`."""
        count = self.batch * self.heads

        def part(here):
            total = begin()
            for matrices in self._matrices(here):
                for block in self._rows(matrices):
                    work(total, *block)
            return total

        return share_out(part, count, 4 * count * self.matrix)

    def _matrices(self, here):
        """Indices of batch and heads that cover the matrices numbered `here`."""
        most = max(1, ATTENTION_BLOCK // max(self.matrix, 1))
        i = here.start
        while i < here.stop:
            example, head = divmod(i, self.heads)
            whole = min(most, here.stop - i) // self.heads
            if head == 0 and whole:
                yield slice(example, example + whole), slice(None)
                i += whole * self.heads
            else:
                count = min(most, here.stop - i, self.heads - head)
                yield slice(example, example + 1), slice(head, head + count)
                i += count

    def _rows(self, matrices):
        """The blocks of some matrices."""
        step = max(1, ATTENTION_BLOCK // max(self.groups * self.keys, 1))
        for start in range(0, self.queries, step):
            queries = slice(start, min(start + step, self.queries))
            mask = _part(self.mask, matrices, queries)
            keys = min(queries.stop, self.keys) if self.causal else self.keys
            seen = _visible(np, mask, self.causal, queries, keys)
            if keys < self.keys and mask is not None and not seen.any(axis=-1).all():
                keys = self.keys
                seen = _visible(np, mask, True, queries, keys)
            yield matrices, queries, keys, seen


def _part(extra, matrices, queries, keys=None):
    """A view of the part of a grouped extra that belongs to a block; axes of size 1 stay."""
    if extra is None:
        return None
    wanted = (*matrices, slice(None), queries, slice(keys))
    return extra[tuple(slice(None) if n == 1 else s for n, s in zip(extra.shape, wanted, strict=True))]


def _groups(query, key):
    """How many heads of the queries share one of the keys."""
    return max(query.shape[2] // max(key.shape[2], 1), 1)


def _count_scores(query, key):
    return math.prod(query.shape[:3]) * key.shape[1]


def _attention(xp, query, key, value, *extras, scale, causal, biased):
    if not _count_scores(query, key):
        return xp.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    groups = _groups(query, key)
    q, k, v = _grouped(query, groups), _grouped(key, 1), _grouped(value, 1)
    bias, mask = (_grouped_scores(x, groups) for x in _bias_and_mask(extras, biased))
    seen = _visible(xp, mask, causal, slice(0, q.shape[3]), k.shape[3])
    return _ungrouped(_attend(xp, q, k, v, bias, seen, scale))


@numpy_kernel(_attention)
def _numpy_attention(query, key, value, *extras, scale, causal, biased):
    attrs = {"scale": scale, "causal": causal, "biased": biased}
    if _count_scores(query, key) <= ATTENTION_BLOCK:
        return _attention(np, query, key, value, *extras, **attrs)
    groups, y = _groups(query, key), empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    q, k, v, grouped = _grouped(query, groups), _grouped(key, 1), _grouped(value, 1), _grouped(y, groups)
    bias, mask = (_grouped_scores(x, groups) for x in _bias_and_mask(extras, biased))

    def work(_, matrices, queries, keys, seen):
        first, rest = (*matrices, slice(None), queries), (*matrices, slice(None), slice(keys))
        grouped[first] = _attend(np, q[first], k[rest], v[rest], _part(bias, matrices, queries, keys), seen, scale)

    _Blocks(q, k, mask, causal).run(work, lambda: None)
    return y


def _attention_back(xp, cotangent, query, key, value, *extras, scale, causal, biased, of_bias):
    """The cotangents of query, key and value, and that of the bias if `of_bias`."""
    if not _count_scores(query, key):
        return tuple([xp.zeros_like(x) for x in (query, key, value, *extras[:of_bias])])
    groups = _groups(query, key)
    g, q, k, v = _grouped(cotangent, groups), _grouped(query, groups), _grouped(key, 1), _grouped(value, 1)
    bias, mask = (_grouped_scores(x, groups) for x in _bias_and_mask(extras, biased))
    seen = _visible(xp, mask, causal, slice(0, q.shape[3]), k.shape[3])
    of_q, of_k, of_v, of_scores = _attend_back(xp, g, q, k, v, bias, seen, scale)
    found = _ungrouped(of_q), _ungrouped(of_k[:, :, None]), _ungrouped(of_v[:, :, None])
    return (*found, _sum_to(xp, of_scores, bias).reshape(extras[0].shape)) if of_bias else found


@numpy_kernel(_attention_back)
def _numpy_attention_back(cotangent, query, key, value, *extras, scale, causal, biased, of_bias):
    attrs = {"scale": scale, "causal": causal, "biased": biased, "of_bias": of_bias}
    if _count_scores(query, key) <= ATTENTION_BLOCK:
        return _attention_back(np, cotangent, query, key, value, *extras, **attrs)
    groups = _groups(query, key)
    g, q, k, v = _grouped(cotangent, groups), _grouped(query, groups), _grouped(key, 1), _grouped(value, 1)
    bias, mask = (_grouped_scores(x, groups) for x in _bias_and_mask(extras, biased))
    found = np.empty_like(query), np.zeros_like(key), np.zeros_like(value)
    by_q, by_k, by_v = (_grouped(x, n) for x, n in zip(found, (groups, 1, 1), strict=True))

    def work(total, matrices, queries, keys, seen):
        first, rest = (*matrices, slice(None), queries), (*matrices, slice(None), slice(keys))
        near = _part(bias, matrices, queries, keys)
        by_q[first], of_k, of_v, of_scores = _attend_back(np, g[first], q[first], k[rest], v[rest], near, seen, scale)
        by_k[rest] += of_k[:, :, None]
        by_v[rest] += of_v[:, :, None]
        if of_bias:
            here = _part(total, matrices, queries, keys)
            here += _sum_to(np, of_scores, near)

    totals = _Blocks(q, k, mask, causal).run(work, lambda: np.zeros(bias.shape, bias.dtype) if of_bias else None)
    return (*found, sum(totals).reshape(extras[0].shape)) if of_bias else found


def _sum_to(xp, x, like):
    """Sums `x` along the axes in which `like` has size 1."""
    axes = tuple(i for i, n in enumerate(like.shape) if n == 1 < x.shape[i])
    return xp.sum(x, axis=axes, keepdims=True) if axes else x


# The rules of second order compute with whole matrices, in the layout `(batch, heads, queries, keys)`.


class _Parts:
    """The parts of an attention for rules: grouped inputs and the weights P; `m` is the namespace of a rule."""

    def __init__(self, m, query, key, value, extras, scale, causal, biased):
        self.m, self.scale = m, scale
        batch, self.tokens, heads, _ = query.shape
        self.keys, self.shared = key.shape[1], key.shape[2]
        self.matrices = (batch, heads, self.tokens, self.keys)
        self.q, self.k, self.v = self.rows(query), self.columns(key), self.columns(value)
        bias, mask = _bias_and_mask(extras, biased)
        scores = self.scores(self.q, self.k) * scale
        scores = scores if bias is None else scores + bias
        if causal:
            order = m.constant(np.tri(self.tokens, self.keys, dtype=bool))
            mask = order if mask is None else m.logical_and(mask, order)
        if mask is None:
            self.weights = self.slope = m.softmax(scores, axis=3)
        else:
            none = m.zeros_like(scores)
            self.weights = m.softmax(m.where(mask, scores, none + MASKED), axis=3)
            self.slope = m.where(mask, self.weights, none)  # zero for queries without keys, unlike the weights

    def rows(self, x):
        """Transposes `(batch, queries, heads, channels)` to `(batch, key heads, group and queries, channels)`."""
        batch, tokens, heads, channels = x.shape
        x = self.m.reshape(x, shape=(batch, tokens, self.shared, heads // self.shared, channels))
        x = self.m.transpose(x, perm=(0, 2, 3, 1, 4))
        return self.m.reshape(x, shape=(batch, self.shared, heads // self.shared * tokens, channels))

    def of_rows(self, x):
        """Inverse of `rows`."""
        batch, shared, rows, channels = x.shape
        groups = rows // self.tokens
        x = self.m.reshape(x, shape=(batch, shared, groups, self.tokens, channels))
        x = self.m.transpose(x, perm=(0, 3, 1, 2, 4))
        return self.m.reshape(x, shape=(batch, self.tokens, shared * groups, channels))

    def columns(self, x):
        """Transposes `(batch, keys, key heads, channels)` to `(batch, key heads, keys, channels)`, and back."""
        return self.m.transpose(x, perm=(0, 2, 1, 3))

    def scores(self, a, b):
        """The inner products of rows with columns, for each head of the queries."""
        return self.m.reshape(self.m.matmul(a, b, transpose_b=True), shape=self.matrices)

    def _flat(self, matrices):
        batch, heads, tokens, keys = self.matrices
        return self.m.reshape(matrices, shape=(batch, self.shared, heads // self.shared * tokens, keys))

    def times(self, matrices, b):
        """Products of matrices with columns: rows."""
        return self.m.matmul(self._flat(matrices), b)

    def transposed_times(self, matrices, a):
        """Products of transposed matrices with rows: columns."""
        return self.m.matmul(self._flat(matrices), a, transpose_a=True)

    def row_sums(self, matrices):
        return self.m.sum(matrices, axis=(3,), keepdims=True)

    def through_softmax(self, u):
        """Applies J, the derivative of the weights with respect to the scores."""
        return self.slope * (u - self.row_sums(self.slope * u))


def _attention_jvp(m, inputs, y, attrs, ts):
    query, key, value, *extras = inputs
    parts = _Parts(m, query, key, value, extras, **attrs)
    t_query, t_key, t_value, *others = ts
    terms = [] if t_query is None else [parts.scores(parts.rows(t_query), parts.k) * parts.scale]
    terms += [] if t_key is None else [parts.scores(parts.q, parts.columns(t_key)) * parts.scale]
    terms += [t for t in others[: attrs["biased"]] if t is not None]
    change = [] if t_value is None else [parts.times(parts.weights, parts.columns(t_value))]
    if terms:
        of_scores = m.broadcast_to(sum(terms[1:], terms[0]), shape=parts.matrices)
        change.append(parts.times(parts.through_softmax(of_scores), parts.v))
    return parts.of_rows(sum(change[1:], change[0])) if change else None


def _attention_vjp(m, g, need, query, key, value, extras, scale, causal, biased):
    of_bias = biased and need[3]
    found = m.scaled_dot_product_attention_back(
        g, query, key, value, *extras, scale=scale, causal=causal, biased=biased, of_bias=of_bias
    )
    return *found, *(None,) * (3 + len(extras) - len(found))


def _attention_back_vjp(m, g, need, cotangent, query, key, value, extras, scale, causal, biased, of_bias):
    """The cotangents of the derivative, given those of its outputs.

    Their inner product is `<A, J(D)> + <P, D'>`, where D are the cotangents of the weights, A the change of the scores
    in the direction of the outputs' cotangents, and D' what the cotangent of the value contributes.
    """
    parts = _Parts(m, query, key, value, extras, scale, causal, biased)
    rows = parts.rows(cotangent)
    h_query, h_key, h_value = parts.rows(g[0]), parts.columns(g[1]), parts.columns(g[2])
    a = (parts.scores(h_query, parts.k) + parts.scores(parts.q, h_key)) * scale
    a = a + g[3] if of_bias else a
    d = parts.scores(rows, parts.v)
    through_a, through_d = parts.through_softmax(a), parts.through_softmax(d)
    sums_a, sums_d = parts.row_sums(parts.slope * a), parts.row_sums(parts.slope * d)
    of_scores = parts.through_softmax(a * (d - sums_d) - sums_a * d + parts.scores(rows, h_value))
    of_rows = parts.times(through_a, parts.v) + parts.times(parts.weights, h_value)
    of_query = (parts.times(of_scores, parts.k) + parts.times(through_d, h_key)) * scale
    of_key = (parts.transposed_times(of_scores, parts.q) + parts.transposed_times(through_d, h_query)) * scale
    found = [
        parts.of_rows(of_rows), parts.of_rows(of_query), parts.columns(of_key),
        parts.columns(parts.transposed_times(through_a, rows)),
    ]  # fmt: skip
    if biased:
        axes = tuple(i for i, n in enumerate(extras[0].shape) if n < of_scores.shape[i])
        found.append(m.sum(of_scores, axis=axes, keepdims=True) if axes else of_scores)
    return *found, *(None,) * (4 + len(extras) - len(found))


def _merged(m, x, flag, size, batch):
    """Merges the axis of a vectorized call into that of the batch."""
    x = broadcast_batch(m, x, flag, size)
    if x.dims[1] != batch:
        x = m.broadcast_to(x, shape=(size, batch, *x.dims[2:]))
    return m.reshape(x, shape=(size * batch, *x.dims[2:]))


def _merged_inputs(m, size, inputs, flags, arrays, keep_apart):
    """The inputs of a vectorized call, of which the first `arrays` have the batch's size; and that size.

    An extra that all examples share stays one, unless it is among the first `keep_apart` extras.
    """
    batch = inputs[0].dims[flags[0]]
    found = []
    for i, (x, flag) in enumerate(zip(inputs, flags, strict=True)):
        shared = i >= arrays + keep_apart and not flag and x.dims[0] == 1
        found.append(x if shared else _merged(m, x, flag, size, batch))
    return found, batch


def _batch_attention(m, size, inputs, flags, attrs):
    merged, batch = _merged_inputs(m, size, inputs, flags, 3, 0)
    y = m.scaled_dot_product_attention(*merged, **attrs)
    return m.reshape(y, shape=(size, batch, *y.dims[1:]))


def _batch_attention_back(m, size, inputs, flags, attrs):
    merged, batch = _merged_inputs(m, size, inputs, flags, 4, attrs["of_bias"])
    found = m.scaled_dot_product_attention_back(*merged, **attrs)
    found = [m.reshape(y, shape=(size, batch, *y.dims[1:])) for y in found]
    if attrs["of_bias"] and inputs[4].dims[flags[4]] < batch:
        found[3] = m.sum(found[3], axis=(1,), keepdims=True)
    return tuple(found)


def _rows_of_attention_back(inputs, flags, attrs, count):
    if not flags[0] or any(flags[1:]):
        return None
    shared = tuple(i for i, x in enumerate(inputs) if i > 3 and x.dims[0] == 1)
    return SummedRows(shared, kept=(0, 1, 2)) if attrs["of_bias"] and 4 in shared else KEEPS


_MASK = np.array([[[[True, True, False, True], [False, False, False, False], [False, True, True, True]]]])
_ATTRS: dict[str, Any] = {"scale": 0.5, "causal": False, "biased": False}
_CASES = [
    (((2, 3, 2, 3), (2, 4, 2, 3), (2, 4, 2, 2)), _ATTRS),
    (((1, 4, 2, 3), (1, 4, 2, 3), (1, 4, 2, 3)), _ATTRS | {"causal": True}),
    (((2, 3, 4, 2), (2, 4, 2, 2), (2, 4, 2, 2), (1, 4, 3, 4)), _ATTRS | {"biased": True}),
    (((2, 3, 2, 2), (2, 4, 1, 2), (2, 4, 1, 2), _MASK), _ATTRS | {"causal": True}),
    (((1, 3, 2, 2), (1, 4, 2, 2), (1, 4, 2, 2), (1, 1, 1, 4), _MASK), _ATTRS | {"biased": True}),
    (((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)), _ATTRS),
    (((0, 3, 2, 2), (0, 4, 2, 2), (0, 4, 2, 2)), _ATTRS),
]  # fmt: skip


def _back_samples():
    for (query, key, value, *extras), attrs in _CASES:
        cotangent = (*query[:-1], value[-1])
        yield sample(cotangent, query, key, value, *extras, **attrs, of_bias=attrs["biased"])


scaled_dot_product_attention = opaque(
    "scaled_dot_product_attention", _attention, vjp=_attention_vjp, jvp=_attention_jvp, batch=_batch_attention,
    shape=lambda query, key, value, *extras, **attrs: (*query[:-1], value[-1]),
    on=FLOAT | NARROW | BOOL, never_aliases=True, samples=[sample(*inputs, **attrs) for inputs, attrs in _CASES],
)  # fmt: skip
scaled_dot_product_attention_back = opaque(
    "scaled_dot_product_attention_back", _attention_back, vjp=_attention_back_vjp, batch=_batch_attention_back,
    rows=_rows_of_attention_back, on=FLOAT | NARROW | BOOL, never_aliases=True, samples=[*_back_samples()],
)  # fmt: skip
