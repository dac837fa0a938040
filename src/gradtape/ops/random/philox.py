"""Philox 4x32-10: block n of a stream is the counter plus n after ten mixing rounds under a key (Salmon et al., 2011).

A block is four 32-bit words. The streams, and the numbers derived from their words, match TensorFlow's CPU kernels.
"""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import astype
from ...backends.numpy.blocks import share_out

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF
_FEW = 8
# Blocks mixed at a time. 2**17 blocks on two cores of an x86 server: 16 ms in chunks of 2**12, whose steps are so short
# that the threads wait for each other, 11 of 2**13, 7 of 2**14, 9 of 2**15, which do not fit the cache.
_CHUNK = 1 << 14


def words(xp, state, blocks):
    """The four words of each of the `blocks` (uint64 numbers) of a stream: uint32, of shape `(*blocks.shape, 4)`."""
    mixed = getattr(xp, "philox", None)  # the library's own: some have no arithmetic of unsigned integers
    if mixed is not None:
        return mixed(state, blocks)
    flat = blocks.reshape(-1)
    if xp is np and flat.size <= _FEW:
        return np.array([_block(state.tolist(), n) for n in flat.tolist()], np.uint32).reshape((*blocks.shape, 4))
    step = _CHUNK if xp is np else flat.shape[0]
    chunks = [_mixed(xp, state, flat[at : at + step]) for at in range(0, max(flat.shape[0], 1), max(step, 1))]
    return (chunks[0] if len(chunks) == 1 else xp.concatenate(chunks)).reshape((*blocks.shape, 4))


def filled(xp, state, count, each, numbers):
    """The first `count` numbers of a stream, where `numbers(xp, words)` derives `each` of them from a block."""
    total = -(-count // each)
    step = _CHUNK if xp is np else total
    first = numbers(xp, words(xp, state, xp.arange(min(total, step), dtype=xp.uint64))).reshape(-1)
    if total <= step:
        return first[:count]
    out = np.empty(total * each, first.dtype)
    out[: first.size] = first

    def fill(chunks):
        for at in range((1 + chunks.start) * _CHUNK, min((1 + chunks.stop) * _CHUNK, total), _CHUNK):
            stop = min(at + _CHUNK, total)
            out[at * each : stop * each] = numbers(np, words(np, state, np.arange(at, stop, dtype=np.uint64))).ravel()

    share_out(fill, -(-total // _CHUNK) - 1, count)
    return out[:count]


def _block(state, number):
    """Computes one block in Python integers, which for a few blocks are ten times faster than arrays."""
    counter = (state[0] | state[1] << 64) + number
    c0, c1, c2, c3 = (counter >> shift & _MASK for shift in (0, 32, 64, 96))
    k0, k1 = state[2] & _MASK, state[2] >> 32
    m0, m1 = _MULTIPLIERS
    for _ in range(10):
        p0, p1 = c0 * m0, c2 * m1
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & _MASK, p0 >> 32 ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    return c0, c1, c2, c3


def _mixed(xp, state, blocks):
    if xp is np:
        return _mixed_in_place(state, blocks)
    u64 = xp.uint64
    mask, half = u64(_MASK), u64(32)
    low = state[0] + blocks
    high = state[1] + astype(low < blocks, u64)
    c0, c1, c2, c3 = low & mask, low >> half, high & mask, high >> half
    k0, k1 = state[2] & mask, state[2] >> half
    m0, m1 = map(u64, _MULTIPLIERS)
    w0, w1 = map(u64, _WEYL)
    for _ in range(10):
        p0, p1 = c0 * m0, c2 * m1
        c0, c1, c2, c3 = (p1 >> half) ^ c1 ^ k0, p1 & mask, (p0 >> half) ^ c3 ^ k1, p0 & mask
        k0, k1 = (k0 + w0) & mask, (k1 + w1) & mask
    words = [astype(c, xp.uint32) for c in (c0, c1, c2, c3)]  # narrowed first: XLA materializes what is stacked
    return xp.stack(words, axis=-1)


def _mixed_in_place(state, blocks):
    """Computes `_mixed` in six arrays; with a new one for each step, 2**14 blocks take 1.3 times as long (on ARM)."""
    multiply, shift, xor, mask = np.multiply, np.right_shift, np.bitwise_xor, np.bitwise_and
    # Arrays without axes, which ufuncs read in less time than scalars.
    m0, m1, low, half = (np.array(n, np.uint64) for n in (*_MULTIPLIERS, _MASK, 32))
    c0 = state[0] + blocks
    c2 = state[1] + (c0 < blocks)
    c1, c3 = c0 >> half, c2 >> half
    mask(c0, low, c0), mask(c2, low, c2)
    p0, p1 = np.empty_like(c0), np.empty_like(c0)
    k0, k1 = int(state[2]) & _MASK, int(state[2]) >> 32
    for _ in range(10):
        multiply(c0, m0, p0), multiply(c2, m1, p1)
        shift(p1, half, c0), xor(c0, c1, c0), xor(c0, np.uint64(k0), c0), mask(p1, low, c1)
        shift(p0, half, c2), xor(c2, c3, c2), xor(c2, np.uint64(k1), c2), mask(p0, low, c3)
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    words = np.empty((blocks.size, 4), np.uint32)
    words[:, 0], words[:, 1], words[:, 2], words[:, 3] = c0, c1, c2, c3
    return words


def pairs(xp, word):
    """Combines pairs of words along the last axis into 64-bit integers, the first word low."""
    low, high = astype(word[..., 0::2], xp.uint64), astype(word[..., 1::2], xp.uint64)
    return low | high << 32


def unit_floats(xp, word, bits=23):
    """Converts words to float32 in [0, 1), from their lowest `bits`."""
    return astype(word & ((1 << bits) - 1), xp.float32) * 2.0**-bits


def unit_doubles(xp, word):
    """Converts pairs of words along the last axis to float64 in [0, 1), the first word high."""
    high, low = astype(word[..., 0::2] & 0xFFFFF, xp.uint64), astype(word[..., 1::2], xp.uint64)
    return astype(high << 32 | low, xp.float64) * 2.0**-52


def normal_floats(xp, word):
    """Converts words to standard normal float32: the Box-Muller transform of each pair along the last axis.

    The logarithm, sine and cosine are computed in float64 and rounded, so one number in seventy differs from
    TensorFlow's in its last bit: the C library that TensorFlow uses rounds some logarithms the other way.
    """
    f32, f64 = xp.float32, xp.float64
    u = unit_floats(xp, word)
    radius = xp.sqrt(-2 * astype(xp.log(astype(xp.maximum(u[..., 0::2], 1e-7), f64)), f32))
    angle = astype(astype(2 * math.pi * astype(u[..., 1::2], f64), f32), f64)
    return _interleaved(xp, astype(xp.sin(angle), f32) * radius, astype(xp.cos(angle), f32) * radius)


def normal_doubles(xp, word):
    """Converts words to standard normal float64, two for each four words along the last axis."""
    u = unit_doubles(xp, word)
    radius = xp.sqrt(-2.0 * xp.log(xp.maximum(u[..., 0::2], 1e-7)))
    angle = 2 * math.pi * u[..., 1::2]
    return _interleaved(xp, xp.sin(angle) * radius, xp.cos(angle) * radius)


def _interleaved(xp, a, b):
    return xp.stack([a, b], axis=-1).reshape((*a.shape[:-1], 2 * a.shape[-1]))


def scrambled(xp, seed):
    """Derives the state of a stateless draw from its seed, two integers."""
    start = xp.concatenate([astype(seed, xp.uint64), xp.full(1, 0x02461E293EC8F720, xp.uint64)])
    both = pairs(xp, words(xp, start, xp.zeros(1, xp.uint64))[0])  # the key, and the counter's upper half
    return astype(xp.concatenate([xp.zeros(1, xp.uint64), both[1:], both[:1]]), np.uint64, copy=False)
