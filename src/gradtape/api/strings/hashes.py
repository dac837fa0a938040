"""TensorFlow's hash functions of bytes, and fingerprints and hash buckets of strings, with identical results.

`farm` is FarmHash's `Fingerprint64`, `murmur` TensorFlow's own `Hash64` (MurmurHash64A), `sip` SipHash-2-4.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import StringLike, ValueLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ops.arrays.text import each
from ...ragged.tensor import RaggedTensor
from .strings import spelled, text_tensor

NAMESPACES = ("strings", "")
__all__ = ["fingerprint", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong"]

_MASK = 0xFFFFFFFFFFFFFFFF
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_words = struct.Struct("<8Q").unpack_from
_word = struct.Struct("<Q").unpack_from
_half = struct.Struct("<I").unpack_from


def _rotate(x: int, by: int) -> int:
    return ((x >> by) | (x << (64 - by))) & _MASK


def _mix(u: int, v: int, by: int) -> int:
    """Combines two 64-bit numbers to one."""
    a = (u ^ v) * by & _MASK
    a ^= a >> 47
    b = (v ^ a) * by & _MASK
    b ^= b >> 47
    return b * by & _MASK


def farm(text: bytes) -> int:
    """FarmHash's `Fingerprint64`."""
    size = len(text)
    if size > 64:
        return _farm_long(text)
    by = _K2 + size * 2
    if size > 32:
        return _farm_to_64(text, by)
    if size > 16:
        a, b = _word(text, 0)[0] * _K1 & _MASK, _word(text, 8)[0]
        c, d = _word(text, size - 8)[0] * by & _MASK, _word(text, size - 16)[0] * _K2 & _MASK
        first = (_rotate((a + b) & _MASK, 43) + _rotate(c, 30) + d) & _MASK
        return _mix(first, (a + _rotate((b + _K2) & _MASK, 18) + c) & _MASK, by & _MASK)
    if size >= 8:
        a, b = (_word(text, 0)[0] + _K2) & _MASK, _word(text, size - 8)[0]
        c = (_rotate(b, 37) * by + a) & _MASK
        return _mix(c, (_rotate(a, 25) + b) * by & _MASK, by & _MASK)
    if size >= 4:
        return _mix(size + (_half(text, 0)[0] << 3), _half(text, size - 4)[0], by & _MASK)
    if size:
        y, z = text[0] + (text[size >> 1] << 8), size + (text[-1] << 2)
        both = (y * _K2 ^ z * _K0) & _MASK
        return (both ^ both >> 47) * _K2 & _MASK
    return _K2


def _farm_to_64(text: bytes, by: int) -> int:
    size = len(text)
    a, b = _word(text, 0)[0] * _K2 & _MASK, _word(text, 8)[0]
    c, d = _word(text, size - 8)[0] * by & _MASK, _word(text, size - 16)[0] * _K2 & _MASK
    y = (_rotate((a + b) & _MASK, 43) + _rotate(c, 30) + d) & _MASK
    z = _mix(y, (a + _rotate((b + _K2) & _MASK, 18) + c) & _MASK, by & _MASK)
    e, f = _word(text, 16)[0] * by & _MASK, _word(text, 24)[0]
    g, h = (y + _word(text, size - 32)[0]) * by & _MASK, (z + _word(text, size - 24)[0]) * by & _MASK
    first = (_rotate((e + f) & _MASK, 43) + _rotate(g, 30) + h) & _MASK
    return _mix(first, (e + _rotate((f + a) & _MASK, 18) + g) & _MASK, by & _MASK)


def _weak(words: tuple[int, ...], a: int, b: int) -> tuple[int, int]:
    """Combines 32 bytes and two seeds to two numbers."""
    w, x, y, z = words
    a = (a + w) & _MASK
    b = _rotate((b + a + z) & _MASK, 21)
    c = a
    a = (a + x + y) & _MASK
    b = (b + _rotate(a, 44)) & _MASK
    return (a + z) & _MASK, (b + c) & _MASK


_Pair = tuple[int, int]


def _step(s: tuple[int, ...], v: _Pair, w: _Pair, x: int, y: int, z: int, by: int, weight: int) -> tuple:
    """Processes 64 more bytes; the last ones have more weight."""
    x = _rotate((x + y + v[0] + s[1]) & _MASK, 37) * by & _MASK
    y = _rotate((y + v[1] + s[6]) & _MASK, 42) * by & _MASK
    x ^= w[1] * weight & _MASK
    y = (y + v[0] * weight + s[5]) & _MASK
    z = _rotate((z + w[0]) & _MASK, 33) * by & _MASK
    v = _weak(s[:4], v[1] * by & _MASK, (x + w[0]) & _MASK)
    w = _weak(s[4:], (z + w[1]) & _MASK, (y + s[2]) & _MASK)
    return v, w, z, y, x


def _farm_long(text: bytes) -> int:
    seed = 81
    x = seed * _K2 + _word(text, 0)[0] & _MASK
    y = (seed * _K1 + 113) & _MASK
    z = (y * _K2 + 113) & _MASK
    z = (z ^ z >> 47) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    for place in range(0, (len(text) - 1) // 64 * 64, 64):
        v, w, x, y, z = _step(_words(text, place), v, w, x, y, z, _K1, 1)
    by = (_K1 + ((z & 0xFF) << 1)) & _MASK
    w = ((w[0] + (len(text) - 1) % 64) & _MASK, w[1])
    v = ((v[0] + w[0]) & _MASK, v[1])
    w = ((w[0] + v[0]) & _MASK, w[1])
    v, w, x, y, z = _step(_words(text, len(text) - 64), v, w, x, y, z, by, 9)
    second = (_mix(v[1], w[1], by) + x) & _MASK
    return _mix((_mix(v[0], w[0], by) + (y ^ y >> 47) * _K0 + z) & _MASK, second, by)


def murmur(text: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A."""
    by = 0xC6A4A7935BD1E995
    size = len(text)
    h = seed ^ (size * by & _MASK)
    for place in range(0, size - 7, 8):
        k = _word(text, place)[0] * by & _MASK
        h = (h ^ (k ^ k >> 47) * by & _MASK) * by & _MASK
    if size % 8:
        h = (h ^ int.from_bytes(text[size - size % 8 :], "little")) * by & _MASK
    h = (h ^ h >> 47) * by & _MASK
    return h ^ h >> 47


def sip(text: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 with a key of two numbers."""
    k0, k1 = key[0] & _MASK, key[1] & _MASK
    state = (k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573)
    whole = len(text) - len(text) % 8
    rest = int.from_bytes(text[whole:], "little") | (len(text) & 0xFF) << 56
    for word in (*(_word(text, place)[0] for place in range(0, whole, 8)), rest):
        v0, v1, v2, v3 = state
        v0, v1, v2, v3 = _sip_round(*_sip_round(v0, v1, v2, v3 ^ word))
        state = (v0 ^ word, v1, v2, v3)
    v0, v1, v2, v3 = state
    state = (v0, v1, v2 ^ 0xFF, v3)
    for _ in range(4):
        state = _sip_round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _sip_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0, v2 = (v0 + v1) & _MASK, (v2 + v3) & _MASK
    v1, v3 = _rotate(v1, 51) ^ v0, _rotate(v3, 48) ^ v2
    v0, v2 = (_rotate(v0, 32) + v3) & _MASK, (v2 + v1) & _MASK
    return v0, _rotate(v1, 47) ^ v2, _rotate(v2, 32), _rotate(v3, 43) ^ v0


def to_hash_bucket(input: StringLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Returns the hash bucket of each string, below `num_buckets`.

    >>> tf.strings.to_hash_bucket(["Hello", "TensorFlow", "2.x"], 3).numpy().tolist()
    [2, 0, 1]
    """
    return _buckets(input, num_buckets, murmur, "StringToHashBucket")


def to_hash_bucket_fast(input: StringLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Returns the hash bucket of each string, below `num_buckets`, by FarmHash.

    >>> tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3).numpy().tolist()
    [0, 2, 2]
    """
    return _buckets(input, num_buckets, farm, "StringToHashBucketFast")


def to_hash_bucket_strong(input: StringLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """Returns the hash bucket of each string, below `num_buckets`, by SipHash with `key`, two integers.

    Without the key, an attacker cannot construct strings that collide.

    >>> tf.strings.to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]).numpy().tolist()
    [2, 0]
    """
    if not isinstance(key, list | tuple):
        raise TypeError(f"Expected list for 'key' argument to 'string_to_hash_bucket_strong' Op, not {key!r}.")
    if len(key) != 2:
        raise errors.InvalidArgumentError(f"Key must have 2 elements, got {key!r}")
    first, second = (int(part) for part in key)
    options = {"key": [first, second]}
    return _buckets(input, num_buckets, lambda text: sip(text, (first, second)), "StringToHashBucketStrong", **options)


def _buckets(input: Any, count: int, hashed: Callable[[bytes], int], op: str, **options: Any) -> Any:
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_buckets(input.flat_values, count, hashed, op, **options))
    if count < 1:
        raise errors.InvalidArgumentError(f"Value for attr 'num_buckets' of {count} must be at least minimum 1")
    numbers = spelled(each(lambda text: hashed(text) % count, np.int64), op, num_buckets=count, **options)
    return ops.map_text(text_tensor(input), function=numbers)


def fingerprint(data: ValueLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """Returns eight bytes for each row of `data`, the same for the same contents.

    >>> tf.fingerprint(["abc"]).numpy().tolist()
    [[105, 243, 231, 116, 160, 179, 165, 36]]
    """
    if method != "farmhash64":
        raise errors.InvalidArgumentError(f"Unsupported method: {method}. There is farmhash64")
    x = to_tensor(data)
    if not x.dims:
        raise errors.InvalidArgumentError("`data` should have at least one dimension: [] [Op:Fingerprint]")
    rows = to_array(x).reshape(x.dims[0], math.prod(x.dims[1:]))
    if x.dtype is dtypes.string:
        hashes = [[farm(text) for text in row] for row in rows.tolist()]
        if len(x.dims) > 1:
            hashes = [[farm(np.array(row, "<u8").tobytes())] for row in hashes]
        numbers = [row[0] for row in hashes]
    else:
        numbers = [farm(np.ascontiguousarray(row).tobytes()) for row in rows]
    return to_tensor(np.array(numbers, "<u8").view(np.uint8).reshape(-1, 8))
