"""`tf.strings.to_hash_bucket` and its like: TensorFlow's own hash functions, bit for bit.

`to_hash_bucket_fast` is FarmHash's Fingerprint64, `to_hash_bucket_strong` SipHash, `to_hash_bucket` a MurmurHash.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...engine.run.namespace import ops
from ...ops.text import each
from .strings import text_tensor

NAMESPACES = ("strings",)
__all__ = ["to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong"]

_M = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F  # of FarmHash
_MURMUR = 0xC6A4A7935BD1E995


def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each string, by the hash function of earlier years.

    >>> import gradtape as tf
    >>> tf.strings.to_hash_bucket(["Hello", "TensorFlow", "2.x"], 3).numpy().tolist()
    [2, 0, 1]
    """
    return _bucketed(input, num_buckets, hash64)


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each string: FarmHash's fingerprint.

    >>> import gradtape as tf
    >>> tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3).numpy().tolist()
    [0, 2, 2]
    """
    return _bucketed(input, num_buckets, fingerprint64)


def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each string: SipHash with a key of two numbers, which nobody else can guess.

    >>> import gradtape as tf
    >>> tf.strings.to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]).numpy().tolist()
    [2, 0]
    """
    pair = list(key)
    if len(pair) != 2:
        raise InvalidArgumentError(f"Key must have 2 elements, got {pair!r}")
    first, second = (int(n) & _M for n in pair)
    return _bucketed(input, num_buckets, lambda text: siphash(text, first, second))


def _bucketed(input: Any, num_buckets: int, function: Callable[[bytes], int]) -> Tensor:
    if num_buckets < 1:
        raise InvalidArgumentError(f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1")
    return ops.map_text(text_tensor(input), function=each(lambda text: function(text) % num_buckets, np.int64))


def hash64(text: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """TensorFlow's `Hash64`."""
    h = seed ^ (len(text) * _MURMUR & _M)
    whole = len(text) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", text[:whole]):
        k = k * _MURMUR & _M
        k = (k ^ k >> 47) * _MURMUR & _M
        h = (h ^ k) * _MURMUR & _M
    if text[whole:]:
        h = (h ^ int.from_bytes(text[whole:], "little")) * _MURMUR & _M
    h = (h ^ h >> 47) * _MURMUR & _M
    return h ^ h >> 47


def siphash(text: bytes, k0: int, k1: int) -> int:
    """SipHash-2-4."""
    v = [0x736F6D6570736575 ^ k0, 0x646F72616E646F6D ^ k1, 0x6C7967656E657261 ^ k0, 0x7465646279746573 ^ k1]
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        _sip_round(v)
        _sip_round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        _sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_round(v: list[int]) -> None:
    a, b, c, d = v
    a = (a + b) & _M
    b = _rotated_left(b, 13) ^ a
    a = _rotated_left(a, 32)
    c = (c + d) & _M
    d = _rotated_left(d, 16) ^ c
    a = (a + d) & _M
    d = _rotated_left(d, 21) ^ a
    c = (c + b) & _M
    b = _rotated_left(b, 17) ^ c
    c = _rotated_left(c, 32)
    v[:] = a, b, c, d


def _rotated_left(x: int, n: int) -> int:
    return (x << n | x >> (64 - n)) & _M


# FarmHash


def _rotated(x: int, n: int) -> int:
    return (x >> n | x << (64 - n)) & _M


def _fetch64(text: bytes, at: int) -> int:
    return int.from_bytes(text[at : at + 8], "little")


def _fetch32(text: bytes, at: int) -> int:
    return int.from_bytes(text[at : at + 4], "little")


def _shift_mix(x: int) -> int:
    return x ^ x >> 47


def _hash16(u: int, v: int, mul: int = 0x9DDFEA08EB382D69) -> int:
    a = ((u ^ v) * mul) & _M
    a ^= a >> 47
    b = ((v ^ a) * mul) & _M
    b ^= b >> 47
    return b * mul & _M


def fingerprint64(text: bytes) -> int:
    """FarmHash's `Fingerprint64`, which is the same everywhere and for ever."""
    n = len(text)
    if n <= 16:
        return _up_to_16(text, n)
    if n <= 32:
        return _up_to_32(text, n)
    return _up_to_64(text, n) if n <= 64 else _longer(text, n)


def _up_to_16(s: bytes, n: int) -> int:
    if n >= 8:
        mul = _K2 + n * 2 & _M
        a = _fetch64(s, 0) + _K2 & _M
        b = _fetch64(s, n - 8)
        c = (_rotated(b, 37) * mul + a) & _M
        d = ((_rotated(a, 25) + b) * mul) & _M
        return _hash16(c, d, mul)
    if n >= 4:
        mul = _K2 + n * 2 & _M
        return _hash16(n + (_fetch32(s, 0) << 3) & _M, _fetch32(s, n - 4), mul)
    if n:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[n - 1] << 2)
        return _shift_mix((y * _K2 ^ z * _K0) & _M) * _K2 & _M
    return _K2


def _up_to_32(s: bytes, n: int) -> int:
    mul = _K2 + n * 2 & _M
    a = _fetch64(s, 0) * _K1 & _M
    b = _fetch64(s, 8)
    c = _fetch64(s, n - 8) * mul & _M
    d = _fetch64(s, n - 16) * _K2 & _M
    return _hash16(
        _rotated(a + b & _M, 43) + _rotated(c, 30) + d & _M, a + _rotated(b + _K2 & _M, 18) + c & _M, mul
    )


def _up_to_64(s: bytes, n: int) -> int:
    mul = _K2 + n * 2 & _M
    a = _fetch64(s, 0) * _K2 & _M
    b = _fetch64(s, 8)
    c = _fetch64(s, n - 8) * mul & _M
    d = _fetch64(s, n - 16) * _K2 & _M
    y = _rotated(a + b & _M, 43) + _rotated(c, 30) + d & _M
    z = _hash16(y, a + _rotated(b + _K2 & _M, 18) + c & _M, mul)
    e = _fetch64(s, 16) * mul & _M
    f = _fetch64(s, 24)
    g = (y + _fetch64(s, n - 32)) * mul & _M
    h = (z + _fetch64(s, n - 24)) * mul & _M
    return _hash16(
        _rotated(e + f & _M, 43) + _rotated(g, 30) + h & _M, e + _rotated(f + a & _M, 18) + g & _M, mul
    )


def _weak_hash(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Of 32 bytes and two seeds."""
    w, x, y, z = (_fetch64(s, at + i) for i in (0, 8, 16, 24))
    a = a + w & _M
    b = _rotated(b + a + z & _M, 21)
    c = a
    a = a + x + y & _M
    b = b + _rotated(a, 44) & _M
    return a + z & _M, b + c & _M


def _longer(s: bytes, n: int) -> int:
    seed = 81
    x = seed
    y = seed * _K1 + 113 & _M
    z = _shift_mix(y * _K2 + 113 & _M) * _K2 & _M
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _fetch64(s, 0) & _M
    end = (n - 1) // 64 * 64
    last = end + ((n - 1) & 63) - 63
    for at in range(0, end, 64):
        x = _rotated(x + y + v[0] + _fetch64(s, at + 8) & _M, 37) * _K1 & _M
        y = _rotated(y + v[1] + _fetch64(s, at + 48) & _M, 42) * _K1 & _M
        x ^= w[1]
        y = y + v[0] + _fetch64(s, at + 40) & _M
        z = _rotated(z + w[0] & _M, 33) * _K1 & _M
        v = _weak_hash(s, at, v[1] * _K1 & _M, x + w[0] & _M)
        w = _weak_hash(s, at + 32, z + w[1] & _M, y + _fetch64(s, at + 16) & _M)
        z, x = x, z
    mul = _K1 + ((z & 0xFF) << 1) & _M
    at = last
    w = (w[0] + ((n - 1) & 63) & _M, w[1])
    v = (v[0] + w[0] & _M, v[1])
    w = (w[0] + v[0] & _M, w[1])
    x = _rotated(x + y + v[0] + _fetch64(s, at + 8) & _M, 37) * mul & _M
    y = _rotated(y + v[1] + _fetch64(s, at + 48) & _M, 42) * mul & _M
    x ^= w[1] * 9 & _M
    y = y + v[0] * 9 + _fetch64(s, at + 40) & _M
    z = _rotated(z + w[0] & _M, 33) * mul & _M
    v = _weak_hash(s, at, v[1] * mul & _M, x + w[0] & _M)
    w = _weak_hash(s, at + 32, z + w[1] & _M, y + _fetch64(s, at + 16) & _M)
    z, x = x, z
    return _hash16(
        _hash16(v[0], w[0], mul) + _shift_mix(y) * _K0 + z & _M, _hash16(v[1], w[1], mul) + x & _M, mul
    )
