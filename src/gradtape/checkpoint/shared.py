"""Checkpoints written by several processes: rank 0 writes everything, or each process writes a shard.

In a `write_together` block every process calls `save`. Invariant: rank 0 writes the main file last, after all shards
are on disk, and a checkpoint exists only with its main file. If one process fails, all of them raise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from ..core import errors
from ..core.tensor import Tensor
from ..state import archive

ENDING = ".npz"
_SHARD = re.compile(r"\.shard-\d{5}-of-\d{5}\.npz")  # appended to the path of the checkpoint


class Group(NamedTuple):
    """The writing processes: `exchange(value)` returns the values of all of them (all-gather)."""

    rank: int
    size: int
    exchange: Callable[[Any], list[Any]]
    shards: bool = False  # whether each process writes a shard


_groups: list[Group] = []  # of the open `together` blocks


@contextmanager
def write_together(group: Group) -> Iterator[None]:
    """In the block, all processes of the group write checkpoints together."""
    _groups.append(group)
    try:
        yield
    finally:
        _groups.pop()


def leads() -> bool:
    """Whether this process maintains the state file and deletes old checkpoints."""
    return not _groups or _groups[-1].rank == 0


def write(prefix: str, values: Mapping[str, Tensor], notes: dict[str, Any]) -> None:
    """Write a checkpoint: alone, or together with the group."""
    if not _groups:
        _write(prefix + ENDING, values, notes)
        return
    group = _groups[-1]
    if group.shards:
        names = [f"{prefix}.shard-{rank:05}-of-{group.size:05}{ENDING}" for rank in range(group.size)]
        parts = _parts(values, group.size)
        own, mine = names[group.rank], parts[group.rank]
        notes = {**notes, "shards": {os.path.basename(name): keys for name, keys in zip(names, parts, strict=True)}}
        try:
            _agree(group, lambda: _write(own, {key: values[key] for key in mine}, {}))
            _agree(group, lambda: _write(prefix + ENDING, {}, notes) if group.rank == 0 else None)
        except BaseException:  # without the main file nothing would delete the shard
            with suppress(OSError):
                os.remove(own)
            raise
    else:
        _agree(group, lambda: _write(prefix + ENDING, values, notes) if group.rank == 0 else None)


def _write(path: str, values: Mapping[str, Tensor], notes: dict[str, Any]) -> None:
    with archive.replacing(path) as file, archive.ArchiveWriter(file) as writer:
        for key, value in values.items():
            writer.add(key, value)
        writer.finish(notes)


def _parts(values: Mapping[str, Tensor], count: int) -> list[list[str]]:
    """Partition the keys into `count` parts of similar size, greedily and deterministically across processes."""
    parts: list[list[str]] = [[] for _ in range(count)]
    sizes = [0] * count
    for key in sorted(values, key=lambda key: (-_size(values[key]), key)):
        at = sizes.index(min(sizes))
        parts[at].append(key)
        sizes[at] += _size(values[key])
    return parts


def _size(value: Tensor) -> int:
    return int(getattr(value.array, "nbytes", 0))


def _agree(group: Group, act: Callable[[], None]) -> None:
    """Run `act`; if it failed at any process, raise at all of them: the others wait for this one's answer."""
    failed: Exception | None = None
    reason = None
    try:
        act()
    except OSError as error:
        failed = errors.UnknownError(str(error))
    except Exception as error:
        failed = error
    if failed is not None:
        kind = errors.ResourceExhaustedError if isinstance(failed, MemoryError) else errors.UnknownError
        named = type(failed) if isinstance(failed, errors.OpError) else kind
        reason = [named.__name__, str(failed)]
    reasons = group.exchange(reason)
    if failed is not None:
        raise failed
    for rank, its_reason in enumerate(reasons):
        if its_reason is not None:
            name, message = its_reason
            raise getattr(errors, name)(f"rank {rank} could not write its part of the checkpoint: {message}")


class ShardedReader(archive.ArchiveReader):
    """Reads the tensors of a checkpoint stored in several shards."""

    def __init__(self, path: str | os.PathLike[str], shards: Mapping[str, Sequence[str]]) -> None:
        super().__init__(path)
        self.dtypes = {}
        self._shards: dict[str, archive.ArchiveReader] = {}
        prefix = os.fspath(path).removesuffix(ENDING)
        with ExitStack() as when_damaged:
            when_damaged.callback(super().close)
            for name, keys in shards.items():
                part = os.path.join(os.path.dirname(path), name)
                if not _SHARD.fullmatch(part.removeprefix(prefix)):
                    raise errors.DataLossError(f"{path} names {name!r} as a part of it")
                try:
                    reader = archive.ArchiveReader(part)
                except errors.NotFoundError as error:
                    raise errors.DataLossError(f"A part of the checkpoint {path} is missing: {error}") from error
                when_damaged.callback(reader.close)
                missing = [key for key in keys if key not in reader.dtypes]
                if missing:
                    raise errors.DataLossError(f"{part} has no value {missing[0]!r}, which {path} says it has")
                self._shards.update(dict.fromkeys(keys, reader))
                self.dtypes |= {key: reader.dtypes[key] for key in keys}
            when_damaged.pop_all()

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, without reading it."""
        return self._shards[name].shape(name)

    def read(self, name: str) -> Tensor:
        """Read the tensor with this name."""
        return self._shards[name].read(name)

    def close(self) -> None:
        """Close all files."""
        for reader in {id(reader): reader for reader in self._shards.values()}.values():
            reader.close()
        super().close()


def open_shards(path: str) -> archive.ArchiveReader:
    """Open a checkpoint stored in one file or in shards."""
    reader = archive.ArchiveReader(path)
    shards = reader.notes.get("shards") if isinstance(reader.notes, dict) else None
    if shards is None:
        return reader
    reader.close()
    named = isinstance(shards, dict) and all(isinstance(keys, list) for keys in shards.values())
    if not named or not all(isinstance(key, str) for keys in shards.values() for key in keys):
        raise errors.DataLossError(f"{path} is damaged: it does not say which values are in which of its parts")
    return ShardedReader(path, shards)
