"""Sorted tables of bytes by key, in LevelDB's file format, as TensorFlow keeps the contents of a checkpoint.

A table is blocks one after another, then a block of where they are, and a footer of where that one is. A block is
entries, and the places at which keys are written whole rather than as what differs from the key before.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from ..core.checksums import masked_crc32c
from ..core.wire import DecodeError, varint, varint_at

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48  # bytes: two handles, filled up with zeros, and the magic number
_SNAPPY = 1  # how a block is compressed, by older versions of TensorFlow
_TRAILER = 5  # bytes behind a block: how it is compressed, and its checksum
_BLOCK = 1 << 18  # bytes from which on a block is full


def read_table(data: bytes) -> dict[bytes, bytes]:
    """The entries of a table; `DecodeError` if the bytes are no table, or are damaged."""
    if len(data) < _FOOTER or struct.unpack("<Q", data[-8:])[0] != _MAGIC:
        raise DecodeError("not an sstable (bad magic number)")
    filters, place = _handle(data, len(data) - _FOOTER)
    _block(data, *filters)  # nothing is in it, but it must be whole
    index, _ = _handle(data, place)
    return {
        key: value
        for _, handle in _entries(_block(data, *index))
        for key, value in _entries(_block(data, *_handle(handle, 0)[0]))
    }


def _handle(data: bytes, place: int) -> tuple[tuple[int, int], int]:
    """Offset and size of a block, and the place behind them."""
    offset, place = varint_at(data, place)
    size, place = varint_at(data, place)
    return (offset, size), place


def _block(data: bytes, offset: int, size: int) -> bytes:
    end = offset + size
    if end + _TRAILER > len(data):
        raise DecodeError("the table ends within a block")
    if masked_crc32c(data[offset : end + 1]) != struct.unpack_from("<I", data, end + 1)[0]:
        raise DecodeError("block checksum mismatch")
    if data[end] == _SNAPPY:
        return _decompressed(data[offset:end])
    if data[end]:
        raise DecodeError(f"a block is compressed in the unknown way {data[end]}")
    return data[offset:end]


def _decompressed(data: bytes) -> bytes:
    """What Snappy has compressed: runs of bytes, and copies of what came before.

    The lowest two bits of a run's first byte say which: 0 for bytes, otherwise how the offset of the copy is written.
    """
    size, place = varint_at(data, 0)
    found = bytearray()
    while place < len(data):
        kind, length, place = data[place] & 3, data[place] >> 2, place + 1
        if kind == 0:
            more = max(0, length - 59)  # bytes in which a greater length follows
            length = 1 + (int.from_bytes(data[place : place + more], "little") if more else length)
            place += more
            found += data[place : place + length]
            place += length
            continue
        if kind == 1:
            length, offset, place = (length & 7) + 4, data[place - 1] >> 5 << 8 | data[place], place + 1
        else:
            width = 2 if kind == 2 else 4
            length, offset, place = length + 1, int.from_bytes(data[place : place + width], "little"), place + width
        if not 0 < offset <= len(found):
            raise DecodeError("a compressed block copies what is not there")
        copied = bytes(found[-offset:])[:length]
        found += (copied * (length // len(copied) + 1))[:length]  # a copy may reach into itself
    if len(found) != size:
        raise DecodeError("a compressed block has another size than it says")
    return bytes(found)


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    restarts = struct.unpack("<I", block[-4:])[0]
    end, place, key = len(block) - 4 * (restarts + 1), 0, b""
    if end < 0:
        raise DecodeError("a block is shorter than it says")
    while place < end:
        shared, place = varint_at(block, place)
        added, place = varint_at(block, place)
        size, place = varint_at(block, place)
        if place + added + size > end or shared > len(key):
            raise DecodeError("a block ends within an entry")
        key = key[:shared] + block[place : place + added]
        place += added
        yield key, block[place : place + size]
        place += size


def table_of(entries: Mapping[bytes, bytes]) -> bytes:
    """A table of these entries."""
    written, handles = bytearray(), {}
    for rows in _filling_blocks(sorted(entries.items())):
        handles[rows[-1][0]] = _added(written, rows)
    filters = _added(written, [])
    index = _added(written, list(handles.items()))
    return bytes(written) + (filters + index).ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", _MAGIC)


def _filling_blocks(rows: list[tuple[bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes]]]:
    block, size = [], 0
    for key, value in rows:
        block.append((key, value))
        size += len(key) + len(value)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _added(written: bytearray, rows: list[tuple[bytes, bytes]]) -> bytes:
    """Puts a block behind what is written, with every key whole; gives its handle."""
    offset, body, restarts = len(written), bytearray(), []
    for key, value in rows:
        restarts.append(len(body))
        body += varint(0) + varint(len(key)) + varint(len(value)) + key + value
    restarts = restarts or [0]
    body += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    written += body + b"\0" + struct.pack("<I", masked_crc32c(bytes(body) + b"\0"))
    return varint(offset) + varint(len(body))
