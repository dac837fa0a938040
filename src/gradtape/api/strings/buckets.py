"""Fingerprints and hash buckets of strings, identical to TensorFlow's."""

from __future__ import annotations

import math
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
from .hashes import farm, murmur, sip
from .spelling import spelled
from .strings import text_tensor

NAMESPACES = ("strings", "")
__all__ = ["fingerprint", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong"]


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
