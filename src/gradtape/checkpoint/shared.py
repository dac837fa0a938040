"""Checkpoints written by several processes: rank 0 writes everything, or each process writes a shard.

In a `write_together` block every process calls `save`. Invariant: rank 0 writes the main file (the index of
TensorFlow's format, or the archive) last, after all shards are on disk, and a checkpoint exists only with its main
file. If one process fails, all of them raise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from ..core import errors
from ..core.tensor import Tensor, wrap
from ..engine.run.convert import to_array
from ..state import archive, file_systems
from . import bundle
from .object_graph import ObjectNode
from .tensorflow_graph import encode_graph

ENDING = ".npz"
SHARDS = ".shard-?????-of-?????" + ENDING  # a pattern of names
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


class Contents(NamedTuple):
    """What a checkpoint consists of: the values by key, the objects, and the names of variables by key."""

    values: Mapping[str, Tensor]
    nodes: list[ObjectNode]
    names: dict[str, str]


def write(prefix: str, contents: Contents, as_archive: bool = False) -> None:
    """Write a checkpoint, in TensorFlow's format or as an archive: alone, or together with the group."""
    save = _save_archive if as_archive else _save_bundle
    if not _groups:
        save(prefix, contents)
        return
    group = _groups[-1]
    if group.shards:
        (_share_archive if as_archive else _share_bundle)(prefix, contents, group)
    else:
        _agree(group, lambda: save(prefix, contents) if group.rank == 0 else None)


def _save_bundle(prefix: str, contents: Contents) -> None:
    bundle.write_bundle(prefix, contents.values, encode_graph(contents.nodes, contents.names))
    with suppress(errors.NotFoundError):  # the checkpoint under this prefix is another one now
        file_systems.remove(prefix + ENDING)


def _share_bundle(prefix: str, contents: Contents, group: Group) -> None:
    """Write one data file per process, and the index with the entries of all."""
    values = bundle.with_graph(contents.values, encode_graph(contents.nodes, contents.names))
    own = bundle.data_path(prefix, group.rank, group.size)
    mine = {key: values[key] for key in _parts(values, group.size)[group.rank]}
    entries: dict[str, bytes] = {}

    def write_data() -> None:
        with bundle.data_file(own) as file:
            entries.update(bundle.write_data(file, mine, group.rank))

    def write_index() -> None:
        with archive.replacing(prefix + bundle.INDEX) as file:
            file.write(bundle.index_of(everything, group.size))
        with suppress(errors.NotFoundError):
            file_systems.remove(prefix + ENDING)

    try:
        _agree(group, write_data)
        parts = group.exchange({key: entry.hex() for key, entry in entries.items()})
        everything = {key: bytes.fromhex(entry) for part in parts for key, entry in part.items()}
        _agree(group, lambda: write_index() if group.rank == 0 else None)
    except BaseException:  # without the index nothing would delete the data
        with suppress(errors.OpError):
            file_systems.remove(own)
        raise


def _save_archive(prefix: str, contents: Contents) -> None:
    _write_archive(prefix + ENDING, contents.values, _notes(contents))
    _remove_bundle(prefix)


def _share_archive(prefix: str, contents: Contents, group: Group) -> None:
    names = [f"{prefix}.shard-{rank:05}-of-{group.size:05}{ENDING}" for rank in range(group.size)]
    values, parts = contents.values, _parts(contents.values, group.size)
    own, mine = names[group.rank], parts[group.rank]
    shards = {os.path.basename(name): keys for name, keys in zip(names, parts, strict=True)}

    def write_main() -> None:
        _write_archive(prefix + ENDING, {}, {**_notes(contents), "shards": shards})
        _remove_bundle(prefix)

    try:
        _agree(group, lambda: _write_archive(own, {key: values[key] for key in mine}, {}))
        _agree(group, lambda: write_main() if group.rank == 0 else None)
    except BaseException:  # without the main file nothing would delete the shard
        with suppress(errors.OpError):
            file_systems.remove(own)
        raise


def _remove_bundle(prefix: str) -> None:
    """Delete TensorFlow's files under a prefix, which has another checkpoint now."""
    with suppress(errors.NotFoundError):
        file_systems.remove(prefix + bundle.INDEX)
        bundle.remove_files(prefix, bundle.DATA)


def _notes(contents: Contents) -> dict[str, Any]:
    return {"objects": [node if node.slots else node[:2] for node in contents.nodes]}


def _write_archive(path: str, values: Mapping[str, Tensor], notes: dict[str, Any]) -> None:
    with archive.replacing(path) as file, archive.ArchiveWriter(file) as writer:
        for key, value in values.items():
            writer.add(key, wrap(to_array(value), value.dtype))
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
                part = os.path.join(os.path.dirname(self.path), name)
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
