"""TFRecord files: byte records with length and checksums.

A record is the length (8 bytes), the checksum of the length (4), the data, and the checksum of the data (4). Checksums
are masked CRC-32C (rotated, plus a constant), as in TensorFlow.
"""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core import errors
from ..core.errors import of_system as failures
from .checksums import masked_crc32c
from .file_systems import open_to_read

COMPRESSIONS = (None, "", "GZIP", "ZLIB")
_AT_ONCE = 1 << 20  # bytes per read


def frame_record(record: bytes) -> bytes:
    """Encodes a record with its length and checksums."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked_crc32c(length)) + record + struct.pack("<I", masked_crc32c(record))


def check_compression(kind: Any) -> None:
    """Raises unless `kind` is a supported compression."""
    if kind not in COMPRESSIONS:
        raise errors.InvalidArgumentError(f"Unsupported compression_type: {kind}. Use GZIP, ZLIB or none")


@contextmanager
def open_records(path: str, compression: str | None) -> Iterator[Any]:
    """Opens a file for reading and decompresses it; raises TensorFlow's errors."""
    with failures(path):
        try:
            with _open_file(path, compression) as file:
                yield file
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise errors.DataLossError(f"{path} is not a whole {compression} file: {error}") from None


def _open_file(path: str, compression: str | None) -> Any:
    check_compression(compression)
    file = open_to_read(path)
    if compression == "GZIP":
        return _GzipReader(file)
    return io.BufferedReader(_InflateReader(file)) if compression == "ZLIB" else file


class _GzipReader(gzip.GzipFile):
    """Reader of a gzip file that closes the file, too."""

    def __init__(self, file: Any) -> None:
        super().__init__(fileobj=file)
        self._file = file

    def close(self) -> None:
        """Closes the file."""
        super().close()
        self._file.close()


class _InflateReader(io.RawIOBase):
    """Streaming reader of a zlib-compressed file."""

    def __init__(self, file: Any) -> None:
        self._file, self._inflate = file, zlib.decompressobj()

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes into a buffer and returns their number."""
        while not self._inflate.eof:
            data = self._inflate.unconsumed_tail or self._file.read(_AT_ONCE)
            if not data:
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            piece = self._inflate.decompress(data, len(buffer))
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)
        return 0

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()


def records(path: str, compression: str | None = None) -> Iterator[bytes]:
    """Yields the records of a file, with checksums verified."""
    with open_records(path, compression) as file:
        yield from _read(file)


def _read_up_to(file: Any, size: int) -> bytes:
    """Reads up to `size` bytes in pieces, so that a corrupt length does not allocate memory beyond the file's size."""
    if size <= _AT_ONCE:
        return file.read(size)
    parts = []
    while size and (part := file.read(min(size, _AT_ONCE))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _read(file: Any) -> Iterator[bytes]:
    place = 0
    while header := file.read(12):
        if len(header) < 12:
            raise errors.DataLossError(f"truncated record at {place}")
        size, checksum = struct.unpack("<QI", header)
        if masked_crc32c(header[:8]) != checksum:
            hint = " (Is this even a TFRecord file?)" if place == 0 else ""
            raise errors.DataLossError(f"corrupted record at {place}{hint}")
        record, end = _read_up_to(file, size), file.read(4)
        if len(record) < size or len(end) < 4:
            raise errors.DataLossError(f"truncated record at {place}: the file ends before it does")
        if masked_crc32c(record) != struct.unpack("<I", end)[0]:
            raise errors.DataLossError(f"corrupted record at {place + 12}")
        place += 16 + size
        yield record


def read_fixed_records(path: str, size: int, header: int, footer: int, compression: str | None) -> Iterator[bytes]:
    """Yields the fixed-size records of a file, between header and footer."""
    for what, number, least in (("record_bytes", size, 1), ("header_bytes", header, 0), ("footer_bytes", footer, 0)):
        if number < least:
            raise errors.InvalidArgumentError(f"{what} must be >= {least}, got {number}")
    with open_records(path, compression) as file:
        data = file.read()
    body = len(data) - header - footer
    if body % size:
        raise errors.InvalidArgumentError(
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file {path!r} has body length "
            f"{body} bytes, which is not an exact multiple of the record length ({size} bytes)."
        )
    for place in range(header, header + body, size):
        yield data[place : place + size]
