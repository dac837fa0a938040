"""`tf.random_index_shuffle`: the position of one element in a random permutation, without creating the permutation.

A block cipher with few rounds (Simon, with blocks just large enough) permutes the numbers of a bit length; it is
repeated until the result is in range. The numbers are TensorFlow's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor, to_tensors
from ..runtime.system import numpy_function

NAMESPACES = ("",)
__all__ = ["random_index_shuffle"]

_KINDS = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
_LEAST_BITS = 16
_TABLE_LIMIT = 256  # for smaller limits, hundreds of repetitions are expected: the whole cipher is computed at once
_CONSTANT, _SEQUENCE = np.uint64(0xFFFFFFFC), 0x7369F885192C0EF5  # constants of the cipher

_Words = np.ndarray[Any, Any]


def random_index_shuffle(
    index: TensorLike, seed: TensorLike, max_index: TensorLike, rounds: int = 4, name: str | None = None
) -> Tensor:
    """Returns the position of each index in the random permutation of 0 to `max_index` given by `seed`.

    Args:
      index: a number, or a vector of numbers.
      seed: three numbers, or three for each index.
      max_index: the largest number, or one for each index.
      rounds: the number of cipher rounds, even and at least 4.

    >>> tf.random_index_shuffle([0, 1, 2], seed=[1, 2, 3], max_index=2, rounds=4).numpy().tolist()
    [2, 0, 1]
    """
    at, limit = to_tensors((index, max_index), "RandomIndexShuffle")
    key = to_tensor(seed)
    for kind in (at.dtype, key.dtype):
        if kind not in _KINDS:
            raise errors.InvalidArgumentError(
                f"Value for attr 'dtype' of {kind.kernel_name()} is not in the list of allowed values: int32, int64, "
                "uint32, uint64 [Op:RandomIndexShuffle]"
            )
    sizes = [dims[0] for dims in (at.dims, limit.dims, key.dims[:-1]) if dims]
    size = max(sizes, default=1)
    if len(at.dims) > 1 or len(limit.dims) > 1 or len(key.dims) not in (1, 2) or key.dims[-1] != 3 or {*sizes} - {size}:
        raise errors.InvalidArgumentError(
            "index and max_index must be numbers or vectors of one size, and seed a vector of size [3], or a matrix of "
            f"size [n, 3]; got the shapes {list(at.dims)}, {list(limit.dims)} and {list(key.dims)} "
            "[Op:RandomIndexShuffle]"
        )
    if rounds < 4 or rounds % 2:
        raise errors.InvalidArgumentError(f"rounds must be even and at least 4, got {rounds} [Op:RandomIndexShuffle]")
    dims = (size,) if sizes else ()

    def shuffled(at: Any, key: Any, limit: Any) -> Any:
        if (at < 0).any() or (limit < at).any():
            raise errors.InvalidArgumentError(
                f"index must be at least 0 and at most max_index, got {at} and {limit} [Op:RandomIndexShuffle]"
            )
        numbers, limits = (np.broadcast_to(x, (size,)).astype(np.uint64) for x in (at, limit))
        keys = np.broadcast_to(key, (size, 3)).astype(np.uint32).astype(np.uint64)
        return _shuffle_positions(numbers, keys, limits, rounds).astype(at.dtype).reshape(dims)

    return numpy_function(shuffled, [at, key, limit], at.dtype)


def _shuffle_positions(numbers: _Words, keys: _Words, limits: _Words, rounds: int) -> _Words:
    """Returns the new position of each number; all are 64-bit words."""
    bits = np.ceil(np.log2(np.maximum(limits, 1).astype(np.float64))).astype(np.int64)
    words = (np.maximum(bits + bits % 2, _LEAST_BITS) // 2).astype(np.uint64)
    mask = (np.uint64(1) << words) - np.uint64(1)
    scheduled = _schedule(keys, words, mask, rounds)
    found, tables = np.zeros_like(numbers), {}
    for i in np.flatnonzero((limits > 0) & (limits < _TABLE_LIMIT)):
        key = scheduled[:, i].tobytes()
        if key not in tables:
            block = np.arange(1 << _LEAST_BITS, dtype=np.uint64)
            tables[key] = _encrypt(block, scheduled[:, [i]], words[i], mask[i]).tolist()
        at, limit = tables[key][int(numbers[i])], int(limits[i])
        while at > limit:
            at = tables[key][at]
        found[i] = at
    waiting = np.flatnonzero(limits >= _TABLE_LIMIT)
    while waiting.size:
        numbers[waiting] = _encrypt(numbers[waiting], scheduled[:, waiting], words[waiting], mask[waiting])
        inside = numbers[waiting] <= limits[waiting]
        found[waiting[inside]] = numbers[waiting[inside]]
        waiting = waiting[~inside]
    return found


def _rotate_left(x: _Words, by: int, words: _Words, mask: _Words) -> _Words:
    """Rotates the bits of words of the given bit length to the left."""
    return ((x << np.uint64(by)) | (x >> (words - np.uint64(by)))) & mask


def _schedule(keys: _Words, words: _Words, mask: _Words, rounds: int) -> _Words:
    """Returns the round keys for each number."""
    found: list[_Words] = [keys[:, i] & mask for i in range(3)]
    sequence = _SEQUENCE
    for i in range(3, rounds):
        last = found[i - 1]
        right = [_rotate_right(last, by, words, mask) for by in (3, 4)]
        found.append((_CONSTANT & mask) ^ np.uint64(sequence & 1) ^ found[i - 3] ^ right[0] ^ right[1])
        sequence >>= 1
    return np.stack(found)


def _rotate_right(x: _Words, by: int, words: _Words, mask: _Words) -> _Words:
    return ((x >> np.uint64(by)) | (x << (words - np.uint64(by)))) & mask


def _encrypt(numbers: _Words, keys: _Words, words: _Words, mask: _Words) -> _Words:
    left, right = (numbers >> words) & mask, numbers & mask

    def mixed(x: _Words) -> _Words:
        once, twice, eight = (_rotate_left(x, by, words, mask) for by in (1, 2, 8))
        return (once & eight) ^ twice

    for first, second in zip(keys[::2], keys[1::2], strict=True):
        left = left ^ mixed(right) ^ first
        right = right ^ mixed(left) ^ second
    return (left << words) | right
