"""TFRecord files: records of bytes, each with its length and checksums.

A record is the length (8 bytes), the checksum of the length (4), the bytes, and their checksum (4). Checksums are
CRC-32C, rotated and with a constant added, as TensorFlow writes and checks them.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from ..core import errors
from ..core.checksums import masked_crc32c
from ..core.errors import of_system as failures

COMPRESSIONS = (None, "", "GZIP", "ZLIB")


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked_crc32c(length)) + record + struct.pack("<I", masked_crc32c(record))


def check_compression(kind: Any) -> None:
    """Raises unless `kind` is a compression that records may have."""
    if kind not in COMPRESSIONS:
        raise errors.InvalidArgumentError(f"Unsupported compression_type: {kind}. Use GZIP, ZLIB or none")


def opened(path: str, compression: str | None) -> Any:
    """A file to read from, decompressed."""
    if compression == "GZIP":
        return gzip.open(path)
    file = open(path, "rb")
    return _Inflated(file) if compression == "ZLIB" else file


class _Inflated:
    """A file of zlib's, read piece by piece."""

    def __init__(self, file: Any) -> None:
        self._file, self._inflate, self._there = file, zlib.decompressobj(), b""

    def read(self, size: int = 1 << 62) -> bytes:
        """`size` bytes more, or what is left of them."""
        parts, missing = [self._there[:size]], size - len(self._there)
        self._there = self._there[size:]
        while missing > 0 and (data := self._file.read(1 << 16)):
            piece = self._inflate.decompress(data)
            parts.append(piece[:missing])
            self._there = piece[missing:]
            missing -= len(piece)
        return b"".join(parts)

    def __enter__(self) -> _Inflated:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def records(path: str, compression: str | None = None) -> Iterator[bytes]:
    """The records of a file, checked."""
    with failures(path):
        try:
            with opened(path, compression) as file:
                yield from _read(file)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise errors.DataLossError(f"{path} is not a whole {compression} file: {error}") from None


def _read(file: Any) -> Iterator[bytes]:
    place = 0
    while header := file.read(12):
        if len(header) < 12:
            raise errors.DataLossError(f"truncated record at {place}")
        size, checksum = struct.unpack("<QI", header)
        if masked_crc32c(header[:8]) != checksum:
            hint = " (Is this even a TFRecord file?)" if place == 0 else ""
            raise errors.DataLossError(f"corrupted record at {place}{hint}")
        record, end = file.read(size), file.read(4)
        if len(record) < size or len(end) < 4:
            raise errors.DataLossError(f"truncated record at {place}: the file ends before it does")
        if masked_crc32c(record) != struct.unpack("<I", end)[0]:
            raise errors.DataLossError(f"corrupted record at {place + 12}")
        place += 16 + size
        yield record


def fixed_records(path: str, size: int, header: int, footer: int, compression: str | None) -> Iterator[bytes]:
    """The records of a file that all have one size, between what is skipped at its ends."""
    with failures(path), opened(path, compression) as file:
        data = file.read()
    body = len(data) - header - footer
    if body % size:
        raise errors.InvalidArgumentError(
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file {path!r} has body length "
            f"{body} bytes, which is not an exact multiple of the record length ({size} bytes)."
        )
    for place in range(header, header + body, size):
        yield data[place : place + size]
