"""LevelDB's sorted string table (SSTable) format, in which TensorFlow stores the index of a checkpoint.

A table is a sequence of data blocks, then an index block of their locations, and a footer with the location of the
index block. A block holds entries with prefix-compressed keys, and its restart points, where keys are stored whole.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from ..core.protos.wire import DecodeError, varint, varint_at
from ..state.checksums import masked_crc32c

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48  # bytes: two handles, zero-padded, and the magic number
_SNAPPY = 1  # compression type, used by older versions of TensorFlow
_TRAILER = 5  # bytes after a block: compression type and checksum
_BLOCK = 1 << 18  # bytes at which a block is full


def read_table(data: bytes) -> dict[bytes, bytes]:
    """Read the entries of a table; `DecodeError` if the data is not a table or is damaged."""
    if len(data) < _FOOTER or struct.unpack("<Q", data[-8:])[0] != _MAGIC:
        raise DecodeError("not an sstable (bad magic number)")
    filters, place = _handle(data, len(data) - _FOOTER)
    _block(data, *filters)  # empty, but it must be valid
    index, _ = _handle(data, place)
    return {
        key: value
        for _, handle in _entries(_block(data, *index))
        for key, value in _entries(_block(data, *_handle(handle, 0)[0]))
    }


def _handle(data: bytes, place: int) -> tuple[tuple[int, int], int]:
    """Decode a block handle: offset and size, and the position after it."""
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
        return _decompress(data[offset:end])
    if data[end]:
        raise DecodeError(f"a block is compressed in the unknown way {data[end]}")
    return data[offset:end]


def _decompress(data: bytes) -> bytes:
    """Decompress Snappy data: literals, and copies of earlier output.

    The lowest two bits of an element's first byte are its type: 0 for a literal, else the encoding of the copy's
    offset.
    """
    size, place = varint_at(data, 0)
    found = bytearray()
    while place < len(data):
        kind, length, place = data[place] & 3, data[place] >> 2, place + 1
        if kind == 0:
            more = max(0, length - 59)  # extra bytes that hold a longer length
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
        found += (copied * (length // len(copied) + 1))[:length]  # a copy may overlap its own output
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
    """Serialize these entries as a table."""
    written, handles = bytearray(), {}
    for rows in _filling_blocks(sorted(entries.items())):
        handles[rows[-1][0]] = _append_block(written, rows)
    filters = _append_block(written, [])
    index = _append_block(written, list(handles.items()))
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


def _append_block(written: bytearray, rows: list[tuple[bytes, bytes]]) -> bytes:
    """Append a block with uncompressed keys and return its handle."""
    offset, body, restarts = len(written), bytearray(), []
    for key, value in rows:
        restarts.append(len(body))
        body += varint(0) + varint(len(key)) + varint(len(value)) + key + value
    restarts = restarts or [0]
    body += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    written += body + b"\0" + struct.pack("<I", masked_crc32c(bytes(body) + b"\0"))
    return varint(offset) + varint(len(body))
