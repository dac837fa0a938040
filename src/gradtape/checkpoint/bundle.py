"""TensorFlow's tensor bundle format: tensors in `X.data-00000-of-00001`, and their locations in the table `X.index`.

The first entry of the table, with the empty key, holds the number of data files; the others hold dtype, shape, data
file, offset, size and checksum of a tensor. The slices of a partitioned tensor have keys of their own.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.protos import wire
from ..core.protos.records import decoded, encoded
from ..core.tensor import Tensor, wrap
from ..engine.run.convert import to_tensor
from ..state.archive import replacing
from ..state.checksums import masked_crc32c
from .table import read_table, table_of

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
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
    return os.path.isfile(prefix + ".index")


def read_bundle(prefix: str | os.PathLike[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Read all tensors of a TensorFlow checkpoint as arrays, by name; strings are arrays of bytes objects."""
    with BundleReader(prefix) as reader:
        return {name: np.asarray(reader.read(name).array) for name in reader.dtypes}


def write_bundle(prefix: str | os.PathLike[str], tensors: Mapping[str, Any], object_graph: bytes | None = None) -> None:
    """Write a checkpoint that TensorFlow can read; `object_graph` is a serialized TrackableObjectGraph."""
    path = os.fsdecode(prefix)
    named = {name: value if isinstance(value, Tensor) else to_tensor(value) for name, value in tensors.items()}
    if object_graph is not None:
        named[OBJECT_GRAPH] = wrap(np.array(object_graph, object), dtypes.string)
    table = {b"": encoded("BundleHeaderProto", {"num_shards": 1, "version": {"producer": 1}})}
    offset = 0
    with replacing(_data_path(path, 0, 1)) as file:
        for name, tensor in sorted(named.items(), key=lambda item: item[0].encode()):
            data, checksum = _serialize_tensor(tensor)
            file.write(data)
            table[name.encode()] = _encode_entry(tensor.dtype, tensor.dims, offset, len(data), checksum)
            offset += len(data)
    with replacing(path + ".index") as file:  # last: its data file exists by now
        file.write(table_of(table))


def _serialize_tensor(tensor: Tensor) -> tuple[bytes, int]:
    """Serialize a tensor; return its bytes and checksum."""
    array = np.asarray(tensor.array)
    if tensor.dtype is not dtypes.string:
        data = array.tobytes()
        return data, masked_crc32c(data)
    texts = array.ravel().tolist()
    lengths, checked = [len(text) for text in texts], b"".join(map(bytes, texts))
    length_checksum, whole = _string_checksums(lengths, checked)
    return wire.varints(lengths) + struct.pack("<I", length_checksum) + checked, whole


def _string_checksums(lengths: list[int], text: bytes) -> tuple[int, int]:
    """The checksum of the lengths of strings, and that of lengths, first checksum and strings together."""
    sizes = b"".join(struct.pack("<I" if size < 1 << 32 else "<Q", size) for size in lengths)
    first = masked_crc32c(sizes)
    return first, masked_crc32c(sizes + struct.pack("<I", first) + text)


def _encode_entry(dtype: DType, shape: tuple[int, ...], offset: int, size: int, checksum: int) -> bytes:
    values = {
        "dtype": dtype.as_datatype_enum,
        "shape": {"dim": [{"size": n} for n in shape]},
        "offset": offset,
        "size": size,
        "crc32c": checksum,
    }
    return encoded("BundleEntryProto", values)


def _data_path(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class BundleReader:
    """Reads the tensors of a TensorFlow checkpoint one at a time.

    `DataLossError` if a file is damaged, `NotFoundError` if one is missing.
    """

    def __init__(self, prefix: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(prefix)
        index = self.path + ".index"
        with errors.of_system(index), open(index, "rb") as file:
            data = file.read()
        with self._trusting(index):
            table = read_table(data)
            header = decoded("BundleHeaderProto", table.pop(b""))
            self._shards = header.num_shards or 1
            if header.endianness:
                raise wire.DecodeError("the numbers are big-endian, which gradtape does not read")
            self._parts = {key: _entry(value) for key, value in table.items() if key[:1] == b"\0"}
            self._entries = {key.decode(): _entry(value) for key, value in table.items() if key[:1] != b"\0"}
        self.dtypes = {name: entry.dtype for name, entry in self._entries.items()}

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
        with self._trusting(f"{self.path}.index"):
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

    def _array(self, name: str, entry: Entry) -> np.ndarray[Any, Any]:
        path = _data_path(self.path, entry.shard, self._shards)
        with errors.of_system(path), open(path, "rb") as file:
            with self._trusting(path):
                if entry.offset + entry.size > os.fstat(file.fileno()).st_size:
                    raise wire.DecodeError(f"the file ends within the tensor {name!r}")
                if entry.dtype is not dtypes.string:
                    _check_size(name, entry)
            file.seek(entry.offset)
            data = file.read(entry.size)
        with self._trusting(path):
            if entry.dtype is dtypes.string:
                return _strings(name, data, entry)
            _compare(name, entry.checksum, masked_crc32c(data))
            return np.frombuffer(data, entry.dtype.numpy).reshape(entry.shape).copy()

    @property
    def object_graph(self) -> bytes | None:
        """The serialized object graph of the checkpoint, if it has one."""
        return self.read(OBJECT_GRAPH).array.item() if OBJECT_GRAPH in self._entries else None

    def close(self) -> None:
        """Do nothing: no file is open between reads."""

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


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
