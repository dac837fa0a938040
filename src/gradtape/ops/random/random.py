"""Random numbers as functions of a Philox state: uniform, normal, truncated normal, integers, categories, shuffles.

The state is an input, three unsigned 64-bit numbers (see `gradtape.engine.run.randomness`), so a draw is an op like any
other: a pure function of its inputs, which can be recorded and rerun.
"""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import astype, host_only, search_rows
from ...core import dtypes
from ...engine.registry.families import constant
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import both_same, given_shape
from . import philox

STATE = np.array([3, 5, 7], np.uint64)
_FLOATS = [
    sample(STATE, shape=(3, 5), dtype=dtypes.float32),
    sample(STATE, shape=(), dtype=dtypes.float64),
    sample(STATE, shape=(0, 3), dtype=dtypes.float16),
    sample(STATE, shape=(5000, 4), dtype=dtypes.bfloat16),
]


def _advance(xp, state, *, blocks):
    """The words of a generator's state, which is stored in signed integers, and the state advanced by `blocks`."""
    words = state.view(np.uint64)
    low = words[:1] + xp.uint64(blocks)
    high = words[1:2] + astype(low < words[:1], np.uint64)
    return words, xp.concatenate([low, high, words[2:]]).view(np.int64)


advance = constant(
    "advance", _advance, shape=both_same,
    samples=[sample(np.array([-1, 5, 7]), blocks=3), sample(np.array([1, -1, 7]), blocks=2**63)]
)


def _uniform(xp, state, *, shape, dtype):
    count = math.prod(shape)
    if dtype is dtypes.float64:
        return philox.filled(xp, state, count, 2, philox.unit_doubles).reshape(shape)
    bits = {"float32": 23, "float16": 10, "bfloat16": 7}[dtype.name]
    floats = philox.filled(xp, state, count, 4, lambda xp, word: philox.unit_floats(xp, word, bits))
    return astype(floats, dtype.numpy, copy=False).reshape(shape)


def _normal(xp, state, *, shape, dtype):
    each, numbers = (2, philox.normal_doubles) if dtype is dtypes.float64 else (4, philox.normal_floats)
    drawn = philox.filled(xp, state, math.prod(shape), each, numbers)
    return astype(drawn, dtype.numpy, copy=False).reshape(shape)


random_uniform = constant("random_uniform", _uniform, shape=given_shape, samples=_FLOATS)
random_normal = constant("random_normal", _normal, shape=given_shape, samples=_FLOATS)


def _truncated_normal(xp, state, *, shape, dtype):
    """Normal numbers truncated to two standard deviations by rejection.

    Each group of numbers has its own range of blocks, so that the rejections of one group do not affect another.
    """
    each, numbers = (2, philox.normal_doubles) if dtype is dtypes.float64 else (4, philox.normal_floats)
    count = math.prod(shape)
    groups = -(-count // each)
    out = xp.empty((groups, each), xp.float64 if each == 2 else xp.float32)
    pending, tries = xp.arange(groups, dtype=xp.int64), 1
    while len(pending):
        first = astype(pending, xp.uint64) * (each * 64)
        blocks = first[:, None] + xp.arange(tries, dtype=xp.uint64)
        candidates = numbers(xp, philox.words(xp, state, blocks)).reshape(len(pending), -1)
        inside = xp.abs(candidates) < 2
        done = inside.sum(axis=1) >= each
        kept = xp.argsort(~inside[done], axis=1, stable=True)[:, :each]
        out[pending[done]] = xp.take_along_axis(candidates[done], kept, axis=1)
        pending, tries = pending[~done], 2 * tries
    return astype(out.reshape(-1)[:count], dtype.numpy, copy=False).reshape(shape)


random_truncated_normal = constant("random_truncated_normal", _truncated_normal, shape=given_shape, samples=_FLOATS)


def _integers(xp, state, count, dtype):
    """Unsigned integers over the whole range of an integer dtype's size."""
    if dtype.size == 8:
        return philox.filled(xp, state, count, 2, philox.pairs)
    return philox.filled(xp, state, count, 4, lambda xp, word: word)


def _uniform_int(xp, state, low, high, *, shape, dtype):
    unsigned = xp.uint64 if dtype.size == 8 else xp.uint32
    low, high = astype(low, unsigned).reshape(1), astype(high, unsigned).reshape(1)
    drawn = _integers(xp, state, math.prod(shape), dtype)
    if hasattr(xp, "unsigned_remainder"):
        return astype(low + xp.unsigned_remainder(drawn, high - low), dtype.numpy).reshape(shape)
    return astype(low + drawn % (high - low), dtype.numpy).reshape(shape)


random_uniform_int = constant(
    "random_uniform_int", _uniform_int,
    shape=given_shape,
    samples=[
        sample(STATE, np.int32(-3), np.int32(9), shape=(2, 3), dtype=dtypes.int32),
        sample(STATE, np.int64(0), np.int64(10), shape=(), dtype=dtypes.int64),
    ],
)  # fmt: skip
random_uniform_full_int = constant(
    "random_uniform_full_int", shape=given_shape,
    kernel=lambda xp, state, *, shape, dtype: (
        astype(_integers(xp, state, math.prod(shape), dtype), dtype.numpy, copy=False).reshape(shape)
    ),
    samples=[sample(STATE, shape=(2, 3), dtype=dtypes.int32), sample(STATE, shape=(0,), dtype=dtypes.uint64)],
)  # fmt: skip
random_scramble = constant(
    "random_scramble", lambda xp, seed: philox.scrambled(xp, seed), shape=lambda seed: (3,),
    samples=[sample(np.array([1, -2], np.int32))],
)


def _categorical(xp, state, logits, *, count, dtype):
    """Draws `count` classes for each row of `logits` by inverting the cumulative distribution."""
    rows, classes = logits.shape
    usable = xp.isfinite(logits)
    logits = astype(xp.where(usable, logits, -xp.inf), xp.float64)
    top = xp.max(logits, axis=1, keepdims=True) if classes else xp.zeros((rows, 1))
    weights = xp.where(usable, xp.exp(logits - xp.where(xp.isfinite(top), top, 0)), 0)
    cumulative = xp.cumsum(weights, axis=1)
    total = cumulative[:, -1] if classes else xp.zeros(rows)
    drawn = philox.filled(xp, state, rows * count, 2, philox.unit_doubles).reshape(rows, count) * total[:, None]
    return astype(search_rows(xp, cumulative, drawn, "right"), dtype.numpy)


random_categorical = constant(
    "random_categorical", _categorical,
    shape=lambda state, logits, count, dtype: (logits[0], count),
    samples=[sample(STATE, (2, 3), count=5, dtype=dtypes.int64), sample(STATE, (0, 3), count=2, dtype=dtypes.int32)],
)  # fmt: skip


def _shuffle(xp, state, value):
    """Permutes the first axis of `value` by a Fisher-Yates shuffle."""
    size = value.shape[0]
    order = list(range(size))
    drawn = philox.filled(xp, state, max(size - 1, 0), 4, lambda xp, word: word)
    jumps = drawn % astype(xp.arange(max(size, 1), 1, -1), xp.uint32)
    for i, jump in enumerate(jumps.tolist()):
        order[i], order[i + jump] = order[i + jump], order[i]
    return value[xp.array(order, dtype=xp.int64)]


random_shuffle = constant(
    "random_shuffle", _shuffle, moves_data=True,
    shape=lambda state, value: value,
    samples=[sample(STATE, (7, 2)), sample(STATE, (1,)), sample(STATE, (0, 2))],
)  # fmt: skip


def _candidates(xp, state, *, count, classes, unique, logarithmic):
    """Draws `count` classes; appends the number of draws, which exceeds `count` if classes must be `unique`.

    Classes are drawn uniformly or, if `logarithmic`, class k in proportion to log((k + 2) / (k + 1)).
    """
    host_only(xp)
    size = count
    while True:
        if logarithmic:
            uniform = philox.filled(np, state, size, 2, philox.unit_doubles)
            drawn = np.exp(uniform * math.log1p(classes)).astype(np.int64) - 1
        else:
            drawn = philox.filled(np, state, size, 2, philox.pairs)
        drawn = astype(drawn % classes, np.int64)
        first = np.sort(np.unique(drawn, return_index=True)[1]) if unique else np.arange(size)
        if first.size >= count:
            break
        size *= 2
    tries = first[count - 1] + 1 if count else 0
    return np.append(drawn[first[:count]], tries)


random_candidates = constant(
    "random_candidates", _candidates,
    samples=[
        sample(STATE, count=4, classes=10, unique=True, logarithmic=True),
        sample(STATE, count=6, classes=6, unique=True, logarithmic=False),
        sample(STATE, count=5, classes=3, unique=False, logarithmic=True),
    ],
)  # fmt: skip


def _alias_table(weights):
    """Walker's alias table: a class drawn uniformly stays with its probability, and else becomes its alias."""
    chances = (weights.astype(np.float64) * weights.size / weights.sum(dtype=np.float64)).tolist()
    aliases = list(range(weights.size))
    low = [i for i, chance in enumerate(chances) if chance < 1]
    high = [i for i, chance in enumerate(chances) if chance >= 1]
    stays = list(chances)
    while low and high:
        i, j = low.pop(), high.pop()
        aliases[i] = j
        stays[j] -= 1 - stays[i]
        (low if stays[j] < 1 else high).append(j)
    for i in (*low, *high):  # rounding errors
        stays[i], aliases[i] = 1.0, i
    return np.array(stays, np.float32), np.array(aliases, np.int64)


def _weighted_candidates(xp, state, weights, *, count, unique, aliased):
    """Draws `count` classes in proportion to `weights`; appends the number of draws, as `random_candidates` does.

    TensorFlow draws from fixed weights by an alias table, and from changing integers by their cumulative sum.
    """
    host_only(xp)
    stays, aliases = _alias_table(weights) if aliased else (None, None)
    cumulative = None if aliased else np.cumsum(weights)
    size = count
    while True:
        if aliased:
            word = philox.filled(np, state, 2 * size, 4, lambda xp, word: word).reshape(-1, 2)
            drawn = astype(word[:, 1] % np.uint32(weights.size), np.int64)
            drawn = np.where(philox.unit_floats(np, word[:, 0]) < stays[drawn], drawn, aliases[drawn])
        else:
            word = philox.filled(np, state, size, 4, lambda xp, word: word)
            drawn = np.searchsorted(cumulative, word % np.uint32(cumulative[-1]), side="right")
        first = np.sort(np.unique(drawn, return_index=True)[1]) if unique else np.arange(size)
        if first.size >= count:
            break
        size *= 2
    tries = first[count - 1] + 1 if count else 0
    return np.append(drawn[first[:count]], tries)


random_weighted_candidates = constant(
    "random_weighted_candidates", _weighted_candidates,
    samples=[
        sample(STATE, np.array([1, 0, 3, 2], np.float32), count=3, unique=True, aliased=True),
        sample(STATE, np.array([1, 1, 4], np.int64), count=5, unique=False, aliased=False),
    ],
)  # fmt: skip
