"""Policies that divide the tensors of a checkpoint into shards.

A policy gets a list of `ShardableTensor` and returns shards: `{checkpoint key: {slice spec: tensor}}`. A slice spec is
TensorFlow's text of a part, `4 2 0,2:0,2`: the whole shape, then the offset and the size along each axis. gradtape
writes all shards to one file.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import logger
from ..core.device_spec import DeviceSpec
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.tensor import Tensor, wrap

Shard = dict[str, dict[str, Tensor]]


@dataclasses.dataclass(frozen=True)
class ShardableTensor:
    """A tensor of a checkpoint, as a sharding policy gets it.

    >>> [field for field in tf.train.experimental.ShardableTensor.__dataclass_fields__][1:4]
    ['tensor', 'dtype', 'device']
    """

    __module__ = "gradtape.train.experimental"

    _tensor_save_spec: Any
    tensor: Tensor
    dtype: DType
    device: DeviceSpec
    name: str
    shape: TensorShape
    slice_spec: str
    checkpoint_key: str
    trackable: Any

    def __hash__(self) -> int:
        return hash((self.name, self.dtype, str(self.device), self.checkpoint_key))


class ShardingCallback(abc.ABC):
    """The base class of sharding policies; a subclass defines `description` and `__call__`.

    >>> class OneShard(tf.train.experimental.ShardingCallback):
    ...     description = "everything together"
    ...     def __call__(self, shardable_tensors):
    ...         return [{x.checkpoint_key: {x.slice_spec: x.tensor} for x in shardable_tensors}]
    >>> OneShard().description
    'everything together'
    """

    __module__ = "gradtape.train.experimental"

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What the policy does."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """Returns the shards."""


class ShardByTaskPolicy(ShardingCallback):
    """Puts the tensors of a process into one shard.

    >>> tf.train.experimental.ShardByTaskPolicy().description
    'Split tensors into shards based on their device spec task.'
    """

    __module__ = "gradtape.train.experimental"

    @property
    def description(self) -> str:
        """What the policy does."""
        return "Split tensors into shards based on their device spec task."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        shard: Shard = {}
        for x in shardable_tensors:
            shard.setdefault(x.checkpoint_key, {})[x.slice_spec] = x.tensor
        return [shard]


class MaxShardSizePolicy(ShardingCallback):
    """Makes shards of at most a number of bytes, and divides tensors for that. A scalar may exceed it.

    >>> tf.train.experimental.MaxShardSizePolicy(1024).max_shard_size
    1024
    """

    __module__ = "gradtape.train.experimental"

    class MaxShardSizePartitioner:
        """Divides tensors among shards."""

        def get_shards(self, max_shard_size: int, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
            """Returns the shards."""
            self._most = self._left = max_shard_size
            self._shards: list[Shard] = [{}]
            self._too_large: list[Shard] = []
            for x in shardable_tensors:
                self._add(x)
            return [*(self._shards if self._shards[0] else []), *self._too_large]

        def _next_shard(self) -> None:
            self._shards.append({})
            self._left = self._most

        def _put(self, key: str, spec: str, tensor: Tensor, size: int) -> None:
            self._shards[-1].setdefault(key, {})[spec] = tensor
            self._left -= size

        def _add(self, x: ShardableTensor) -> None:
            key, tensor = x.checkpoint_key, x.tensor
            whole, offset, shape = _parsed(x.slice_spec, tensor.dims)
            if x.dtype.name == "string":
                sizes = [len(text) for text in np.asarray(tensor.array, object).ravel()]
                total, item = sum(sizes), max(sizes, default=0)
            else:
                item = x.dtype.size
                total = math.prod(shape) * item
            if not shape:
                if total > self._most:
                    self._warn(key, x.slice_spec, total)
                    self._too_large.append({key: {x.slice_spec: tensor}})
                    return
                if total > self._left:
                    self._next_shard()
                self._put(key, x.slice_spec, tensor, total)
                return
            at, rest = [0] * len(shape), list(shape)
            while total > self._left:
                axis, count = self._partition(rest, item)
                if count == 0 and self._left < self._most:
                    self._next_shard()
                    continue
                if count == 0:  # even the smallest slice exceeds a shard (TensorFlow does not end here)
                    axis, count = max(range(len(rest)), key=rest.__getitem__), 1
                part = [*rest[:axis], count, *rest[axis + 1 :]]
                size = math.prod(part) * item
                spec = _spec(whole, [a + b for a, b in zip(offset, at, strict=True)], part)
                cut = _cut(tensor, at, part)
                if size > self._most:
                    self._warn(key, spec, size)
                    self._too_large.append({key: {spec: cut}})
                else:
                    self._put(key, spec, cut, size)
                    if not self._left:
                        self._next_shard()
                at[axis] += count
                rest[axis] -= count
                total = math.prod(rest) * item
            if math.prod(rest):
                spec = _spec(whole, [a + b for a, b in zip(offset, at, strict=True)], rest)
                self._put(key, spec, _cut(tensor, at, rest), total)

        def _warn(self, key: str, spec: str, size: int) -> None:
            logger.warning(
                "%s %s of %s bytes cannot be divided into shards of at most %s bytes, and gets one of its own",
                key, spec, size, self._most,
            )  # fmt: skip

        def _partition(self, rest: Sequence[int], item: int) -> tuple[int, int]:
            """Returns the axis to divide, and how much of it the shard can still take."""
            elements = math.prod(rest)

            def parts_along(axis: int) -> float:
                row = elements // rest[axis] * item
                rows = self._left // row if row else 0
                return math.ceil(rest[axis] / rows) if rows else math.inf

            best, fewest = 0, parts_along(0)
            for axis in range(1, len(rest)):
                parts = parts_along(axis)
                if parts < fewest and elements * item / parts <= self._left:
                    best, fewest = axis, parts
            return best, math.ceil(rest[best] / fewest)

    def __init__(self, max_shard_size: int) -> None:
        self.max_shard_size = max_shard_size

    @property
    def description(self) -> str:
        """What the policy does."""
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        return self.MaxShardSizePartitioner().get_shards(self.max_shard_size, shardable_tensors)


def _spec(whole: Sequence[int], offset: Sequence[int], shape: Sequence[int]) -> str:
    ranges = ":".join(f"{start},{size}" for start, size in zip(offset, shape, strict=True))
    return " ".join([*map(str, whole), ranges])


def _parsed(spec: str, dims: tuple[int, ...]) -> tuple[list[int], list[int], list[int]]:
    """Returns the whole shape, the offset and the shape of a part."""
    if not spec:
        return list(dims), [0] * len(dims), list(dims)
    *whole, ranges = spec.split()
    pairs = [part.split(",") for part in ranges.split(":")]
    return [int(size) for size in whole], [int(start) for start, _ in pairs], [int(size) for _, size in pairs]


def _cut(tensor: Tensor, offset: Sequence[int], shape: Sequence[int]) -> Tensor:
    region = tuple(slice(start, start + size) for start, size in zip(offset, shape, strict=True))
    return wrap(np.asarray(tensor.array)[region], tensor.dtype)


def sharded_values(policy: ShardingCallback, values: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns what the shards of a policy contain, joined; raises RuntimeError if that is not `values`."""
    host = DeviceSpec(job="localhost", replica=0, task=0, device_type="CPU", device_index=0)
    given = [ShardableTensor(None, x, x.dtype, host, key, x.shape, "", key, None) for key, x in values.items()]
    found: dict[str, Any] = {}
    filled: dict[str, int] = {}
    for shard in policy(given):
        for key, parts in shard.items():
            if key not in values:
                raise RuntimeError(f"The sharding policy has added the key {key}: {policy.description}")
            x = values[key]
            for spec, part in parts.items():
                _, offset, shape = _parsed(spec, x.dims)
                if part.dtype != x.dtype or list(part.dims) != shape:
                    raise RuntimeError(f"The sharding policy has changed the shape or dtype of {key} {spec}")
                whole = found.setdefault(key, np.empty(x.dims, np.asarray(x.array).dtype))
                whole[tuple(slice(a, a + n) for a, n in zip(offset, shape, strict=True))] = part.array
                filled[key] = filled.get(key, 0) + math.prod(shape)
    missing = [key for key, x in values.items() if filled.get(key, 0) != math.prod(x.dims) or key not in found]
    if missing:
        raise RuntimeError(f"The sharding policy has left out (parts of) {missing}: {policy.description}")
    return {key: wrap(found[key][()], x.dtype) for key, x in values.items()}
