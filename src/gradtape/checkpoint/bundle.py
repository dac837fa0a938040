"""TensorFlow's tensor bundle format: tensors in `X.data-00000-of-00001`, and their locations in the table `X.index`.

The first entry of the table, with the empty key, holds the number of data files; the others hold dtype, shape, data
file, offset, size and checksum of a tensor. The slices of a partitioned tensor have keys of their own.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.protos import wire
from ..core.protos.records import decoded, encoded
from ..core.tensor import Tensor, wrap
from ..engine.run.convert import to_array, to_tensor
from ..state import file_systems
from ..state.archive import locked, replacing, replacing_all
from ..state.checksums import Checksum, masked_crc32c
from ..state.file_systems import OutputFile, is_remote, open_to_read, path_text
from .table import read_table, table_of

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
INDEX = ".index"
DATA = ".data-?????-of-?????"  # a pattern of names
_BLOCK = 1 << 19  # bytes that are written or read at once
_ATTEMPTS = 100  # to open index and data while another writer replaces them
_FULL = -1  # the length of a slice that covers its whole axis

Slice = tuple[tuple[int, int], ...]  # start and length along each axis


class Entry(NamedTuple):
    """The location, dtype and shape of a tensor."""

    dtype: DType
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    checksum: int
    slices: tuple[Slice, ...]


def is_bundle(prefix: str) -> bool:
    """Whether there is a TensorFlow checkpoint under this prefix."""
    return file_systems.is_file(prefix + INDEX)


def read_bundle(prefix: str | os.PathLike[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Read all tensors of a TensorFlow checkpoint as arrays, by name; strings are arrays of bytes objects."""
    with BundleReader(prefix) as reader:
        return {name: np.asarray(reader.read(name).array) for name in reader.dtypes}


def write_bundle(prefix: str | os.PathLike[str], tensors: Mapping[str, Any], object_graph: bytes | None = None) -> None:
    """Write a checkpoint that TensorFlow can read; `object_graph` is a serialized TrackableObjectGraph.

    A checkpoint under the same prefix can be read until this one can: see `_switching`.
    """
    path, values = path_text(prefix), with_graph(tensors, object_graph)
    if is_remote(path):
        _upload(path, values)
        return
    switching = partial(_switching, path)
    with replacing_all([data_path(path, 0, 1), path + INDEX], switching) as (data_file, index_file):
        index_file.write(index_of(write_data(data_file, values), 1))


def _upload(path: str, tensors: Mapping[str, Any]) -> None:
    """Write a checkpoint to a bucket, which cannot rename: the data as they come, then the index."""
    data = data_path(path, 0, 1)
    with _switching(path):
        with data_file(data) as file:
            table = write_data(file, tensors)
        with replacing(path + INDEX) as file:
            file.write(index_of(table, 1))


@contextmanager
def data_file(path: str) -> Iterator[BinaryIO | OutputFile]:
    """Open a new data file, which replaces the one at `path` if the block succeeds.

    Its bytes go to a bucket as they come. What is there of them after an error is removed: no index refers to it.
    """
    if not is_remote(path):
        with replacing(path) as draft:
            yield draft
        return
    try:
        with file_systems.writing(path) as remote:
            yield remote
    except BaseException:
        with suppress(errors.OpError, OSError):
            file_systems.remove(path)
        raise


def with_graph(tensors: Mapping[str, Any], object_graph: bytes | None) -> Mapping[str, Any]:
    """Returns the tensors with the graph of objects as one of them."""
    if object_graph is None:
        return tensors
    return {**tensors, OBJECT_GRAPH: wrap(np.array(object_graph, object), dtypes.string)}


def write_data(file: BinaryIO | OutputFile, tensors: Mapping[str, Any], shard: int = 0) -> dict[str, bytes]:
    """Write tensors, or what becomes one, to a data file, one after the other; return their entries for the index."""
    entries, offset = {}, 0
    for name, value in sorted(tensors.items(), key=lambda item: item[0].encode()):
        tensor = value if isinstance(value, Tensor) else to_tensor(value)
        size, checksum = _write_tensor(file, tensor)
        entries[name] = _encode_entry(tensor.dtype, tensor.dims, shard, offset, size, checksum)
        offset += size
    return entries


def index_of(entries: Mapping[str, bytes], shards: int) -> bytes:
    """Returns the contents of the index of a checkpoint with that many data files."""
    return table_of({b"": _header(shards)} | {name.encode(): entry for name, entry in entries.items()})


def _header(shards: int) -> bytes:
    return encoded("BundleHeaderProto", {"num_shards": shards, "version": {"producer": 1}})


@contextmanager
def _switching(path: str) -> Iterator[None]:
    """Surrounds the replacement of a checkpoint's data file, then its index, so that there is always a valid one.

    Meanwhile the previous index refers to the previous data by another name, that of the first of two data files, for
    TensorFlow's readers, too. A lock keeps the files of two writers apart.
    """
    with locked(file_systems.folder_of(path)):
        _keep_previous(path)
        yield
        remove_files(path, DATA, keep=data_path(path, 0, 1))


def _keep_previous(path: str) -> None:
    """Give the data file of an existing checkpoint another name, and write an index that refers to it by that."""
    data, kept = data_path(path, 0, 1), data_path(path, 0, 2)
    try:
        table = read_table(_contents(path + INDEX))
        if decoded("BundleHeaderProto", table[b""]).num_shards != 1:
            return  # its data files have other names anyway
    except (errors.NotFoundError, LookupError, ValueError):
        return  # there is none, or it is damaged
    with suppress(errors.NotFoundError):
        file_systems.remove(kept)
    try:
        file_systems.link(data, kept)
    except errors.OpError:  # there is no data, or the system has no links: the two renames follow each other closely
        return
    with replacing(path + INDEX) as file:
        file.write(table_of(table | {b"": _header(2)}))


def _contents(path: str) -> bytes:
    with open_to_read(path) as file, errors.of_system(path):
        return file.read()


def remove_files(prefix: str, pattern: str, keep: str | None = None) -> None:
    """Delete the files whose names are this prefix and an ending of this pattern, except for one."""
    folder, start = file_systems.folder_of(prefix), os.path.basename(prefix)
    with suppress(errors.NotFoundError):
        for name in file_systems.names(folder):
            path = prefix + name.removeprefix(start)
            if name.startswith(start) and fnmatchcase(name.removeprefix(start), pattern) and path != keep:
                with suppress(errors.NotFoundError):
                    file_systems.remove(path)


def _write_tensor(file: BinaryIO | OutputFile, tensor: Tensor) -> tuple[int, int]:
    """Write a tensor; return its size in bytes and its checksum."""
    array = np.asarray(to_array(tensor))
    if tensor.dtype is not dtypes.string:
        data, checksum = np.ascontiguousarray(array).reshape(-1).view(np.uint8), Checksum()
        for start in range(0, len(data), _BLOCK):
            block = data[start : start + _BLOCK]
            checksum.update(block)
            file.write(block.data)
        return len(data), checksum.masked
    texts = array.ravel().tolist()
    lengths, checked = [len(text) for text in texts], b"".join(map(bytes, texts))
    length_checksum, whole = _string_checksums(lengths, checked)
    stored = wire.varints(lengths) + struct.pack("<I", length_checksum) + checked
    file.write(stored)
    return len(stored), whole


def _string_checksums(lengths: list[int], text: bytes) -> tuple[int, int]:
    """The checksum of the lengths of strings, and that of lengths, first checksum and strings together."""
    sizes = b"".join(struct.pack("<I" if size < 1 << 32 else "<Q", size) for size in lengths)
    first = masked_crc32c(sizes)
    return first, masked_crc32c(sizes + struct.pack("<I", first) + text)


def _encode_entry(dtype: DType, shape: tuple[int, ...], shard: int, offset: int, size: int, checksum: int) -> bytes:
    values = {
        "dtype": dtype.as_datatype_enum,
        "shape": {"dim": [{"size": n} for n in shape]},
        "shard_id": shard,
        "offset": offset,
        "size": size,
        "crc32c": checksum,
    }
    return encoded("BundleEntryProto", values)


def data_path(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class BundleReader:
    """Reads the tensors of a TensorFlow checkpoint one at a time.

    `DataLossError` if a file is damaged, `NotFoundError` if one is missing. The reader opens index and data together,
    so that it reads one checkpoint even if another replaces it under the same prefix.
    """

    def __init__(self, prefix: str | os.PathLike[str]) -> None:
        self.path = path_text(prefix)
        self._files: dict[int, BinaryIO] = {}
        self._verified: set[str] = set()
        index = self.path + INDEX
        for _ in range(_ATTEMPTS):
            contents = _contents(index)
            self._read_index(contents)
            self._open_data()
            if _contents(index) == contents:
                break
        self.dtypes = {name: entry.dtype for name, entry in self._entries.items()}

    def _read_index(self, data: bytes) -> None:
        with self._trusting(self.path + INDEX):
            table = read_table(data)
            header = decoded("BundleHeaderProto", table.pop(b""))
            self._shards = header.num_shards or 1
            if header.endianness:
                raise wire.DecodeError("the numbers are big-endian, which gradtape does not read")
            self._parts = {key: _entry(value) for key, value in table.items() if key[:1] == b"\0"}
            self._entries = {key.decode(): _entry(value) for key, value in table.items() if key[:1] != b"\0"}

    def _open_data(self) -> None:
        """Open the data files that there are; the error about a missing one says which tensor needs it."""
        self.close()
        for shard in {entry.shard for entry in (*self._entries.values(), *self._parts.values())}:
            with suppress(errors.OpError):
                self._files[shard] = _open_unbuffered(data_path(self.path, shard, self._shards))

    @contextmanager
    def _trusting(self, path: str) -> Any:
        """Report errors inside the block as a damaged file."""
        try:
            yield
        except (ArithmeticError, LookupError, TypeError, ValueError, struct.error) as error:
            raise errors.DataLossError(
                f"Unable to read file ({path}). Perhaps the file is corrupt or was produced by a newer version of "
                f"TensorFlow with format changes: {error}"
            ) from error

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, without reading it."""
        return self._entries[name].shape

    def read(self, name: str) -> Tensor:
        """Read the tensor with this name."""
        entry = self._entries[name]
        array = self._joined(name, entry) if entry.slices else self._array(name, entry)
        return wrap(array if array.ndim or entry.dtype is dtypes.string else array[()], entry.dtype)

    def _joined(self, name: str, entry: Entry) -> np.ndarray[Any, Any]:
        """Assemble a tensor that was stored in slices."""
        with self._trusting(f"{self.path}{INDEX}"):
            stored = [self._parts[_part_key(name, part)] for part in entry.slices]
            # Check the total size before allocating; below, each element must be written exactly once.
            if sum(math.prod(part.shape) for part in stored) != math.prod(entry.shape):
                raise wire.DecodeError(f"the parts of {name!r} are not the whole tensor")
            arrays = [self._array(name, part) for part in stored]
            array, written = np.empty(entry.shape, entry.dtype.numpy), np.zeros(entry.shape, bool)
            for part, values in zip(entry.slices, arrays, strict=True):
                place = tuple(slice(None) if n == _FULL else slice(start, start + n) for start, n in part)
                if array[place].shape != values.shape or values.dtype != array.dtype or written[place].any():
                    raise wire.DecodeError(f"the parts of {name!r} do not fit together")
                array[place] = values
                written[place] = True
            return array

    def verify(self, name: str) -> None:
        """Raises an error if the tensor with this name is damaged; does not keep its values."""
        entry = self._entries[name]
        if entry.slices or entry.dtype is dtypes.string:
            self.read(name)
            return
        path, file = self._locate(name, entry)
        with self._trusting(path), errors.of_system(path):
            checksum, left, buffer = Checksum(), entry.size, memoryview(bytearray(min(entry.size, _BLOCK)))
            while left:
                count = file.readinto(buffer[:left])  # type: ignore[attr-defined]
                if not count:
                    raise wire.DecodeError(f"the file ends within the tensor {name!r}")
                checksum.update(buffer[:count])
                left -= count
            _compare(name, entry.checksum, checksum.masked)
        self._verified.add(name)

    def _locate(self, name: str, entry: Entry) -> tuple[str, BinaryIO]:
        """Returns the path of the data file with a tensor, and the file at its place; checks the sizes."""
        path = data_path(self.path, entry.shard, self._shards)
        with errors.of_system(path):
            file = self._files.get(entry.shard) or self._files.setdefault(entry.shard, _open_unbuffered(path))
            with self._trusting(path):
                if entry.offset + entry.size > file.seek(0, os.SEEK_END):
                    raise wire.DecodeError(f"the file ends within the tensor {name!r}")
                if entry.dtype is not dtypes.string:
                    _check_size(name, entry)
            file.seek(entry.offset)
        return path, file

    def _array(self, name: str, entry: Entry) -> np.ndarray[Any, Any]:
        path, file = self._locate(name, entry)
        stored = np.empty(entry.size, np.uint8)
        view, filled = memoryview(stored), 0  # type: ignore[arg-type]
        with self._trusting(path), errors.of_system(path):
            while filled < entry.size:
                count = file.readinto(view[filled:])  # type: ignore[attr-defined]
                if not count:
                    raise wire.DecodeError(f"the file ends within the tensor {name!r}")
                filled += count
        with self._trusting(path):
            if entry.dtype is dtypes.string:
                return _strings(name, stored.tobytes(), entry)
            if name not in self._verified:
                checksum = Checksum()
                checksum.update(stored)
                _compare(name, entry.checksum, checksum.masked)
            return stored.view(entry.dtype.numpy).reshape(entry.shape)

    @property
    def object_graph(self) -> bytes | None:
        """The serialized object graph of the checkpoint, if it has one."""
        return self.read(OBJECT_GRAPH).array.item() if OBJECT_GRAPH in self._entries else None

    def close(self) -> None:
        """Close the files."""
        while self._files:
            self._files.popitem()[1].close()

    __del__ = close

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _open_unbuffered(path: str) -> BinaryIO:
    """Opens a file for large reads."""
    if is_remote(path):
        return open_to_read(path)
    with errors.of_system(path):
        return cast(BinaryIO, open(file_systems.file_system(path)[1], "rb", buffering=0))


def _check_size(name: str, entry: Entry) -> None:
    wanted = math.prod(entry.shape) * entry.dtype.numpy.itemsize
    if entry.size != wanted:
        raise wire.DecodeError(f"the tensor {name!r} of shape {entry.shape} has {entry.size} bytes instead of {wanted}")


def _compare(name: str, stored: int, computed: int) -> None:
    if stored != computed:
        raise wire.DecodeError(
            f"Checksum does not match: stored {stored} vs. calculated on the restored bytes {computed}, of the tensor "
            f"{name!r}"
        )


def _strings(name: str, data: bytes, entry: Entry) -> np.ndarray[Any, Any]:
    lengths, place = [], 0
    count = math.prod(entry.shape)
    if count > len(data):  # each string has a length of at least one byte
        raise wire.DecodeError(f"the tensor {name!r} of shape {entry.shape} has {len(data)} bytes")
    for _ in range(count):
        length, place = wire.varint_at(data, place)
        lengths.append(length)
    text = data[place + 4 :]
    if sum(lengths) != len(text):
        raise wire.DecodeError(f"the strings of {name!r} have {len(text)} bytes instead of {sum(lengths)}")
    length_checksum, whole = _string_checksums(lengths, text)
    _compare(name, struct.unpack_from("<I", data, place)[0], length_checksum)
    _compare(name, entry.checksum, whole)
    array, place = np.empty(len(lengths), object), 0
    for i, length in enumerate(lengths):
        array[i] = text[place : place + length]
        place += length
    return array.reshape(entry.shape)


def _entry(data: bytes) -> Entry:
    found = decoded("BundleEntryProto", data)
    shape = () if found.shape is None else tuple(dim.size for dim in found.shape.dim)
    if min(found.shard_id, found.offset, found.size, *shape) < 0:
        raise wire.DecodeError("a number that is not negative was expected")
    # A missing length covers the whole axis.
    slices = tuple(tuple((x.start, x.length if "length" in x else _FULL) for x in part.extent) for part in found.slices)
    return Entry(DType(found.dtype), shape, found.shard_id, found.offset, found.size, found.crc32c, slices)


def _part_key(name: str, part: Slice) -> bytes:
    """The key of a slice in TensorFlow's ordered code: keys sort by name, then by position."""
    text = name.encode().replace(b"\0", b"\0\xff") + b"\0\1"
    numbers = b"".join(_encode_ordered_signed(n) for pair in part for n in pair)
    return b"\0" + text + _encode_ordered(len(part)) + numbers


def _encode_ordered(number: int) -> bytes:
    """Encode a non-negative number order-preservingly: its byte count, then its big-endian bytes."""
    body = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes((len(body),)) + body


def _encode_ordered_signed(number: int) -> bytes:
    """Encode a signed number order-preservingly: leading one bits give the byte count; inverted if negative."""
    size = (~number if number < 0 else number).bit_length() // 7 + 1
    ones = (1 << size) - 1 << 7 * size
    return (number & (1 << 8 * size) - 1 ^ ones).to_bytes(size, "big")
