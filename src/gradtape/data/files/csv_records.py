"""CSV files as records: streaming, with quoted fields that may span lines.

The rules are those of TensorFlow's CSV dataset: a line ends with a line feed, a carriage return or both; an invalid
field fails its record, and reading continues after that record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...core import errors
from ...state.record_files import open_records

BUFFER_SIZE = 4 << 20  # bytes per read, by default


class CsvRecords(Iterator[list[bytes]]):
    """The records of one file, as lists of fields.

    Args:
      path: the file.
      compression_type: "GZIP", "ZLIB" or none.
      buffer_size: the number of bytes per read.
      delim: the byte between fields.
      quotes: whether a field may be quoted.
    """

    def __init__(self, path: str, compression_type: str | None, buffer_size: int, delim: bytes, quotes: bool) -> None:
        self._chunks = _chunks(path, compression_type, buffer_size)
        self._delim, self._quotes = delim, quotes
        self._plain = re.compile(b"[^\r\n%b]*" % re.escape(delim))
        self._special = re.compile(b'[\r"]' if quotes else b"\r")
        self._buffer, self._place = b"", 0

    def __next__(self) -> list[bytes]:
        if self._place >= len(self._buffer) and not self._fill():
            raise StopIteration
        end = self._buffer.find(b"\n", self._place)
        if end >= 0 and not self._special.search(self._buffer, self._place, end):
            record = self._buffer[self._place : end]
            self._place = end + 1
            return record.split(self._delim)
        return self._read_record()

    def _read_record(self) -> list[bytes]:
        fields: list[bytes] = []
        error: str | None = None
        ended = False
        while not ended:
            field, wrong = self._read_quoted() if self._is_quote() else self._read_plain()
            fields.append(field)
            error = error or wrong
            ended = self._read_separator()
        if error is not None:
            raise errors.InvalidArgumentError(error)
        return fields

    def _is_quote(self) -> bool:
        return self._quotes and self._peek() == b'"'

    def _peek(self) -> bytes:
        """Returns the next byte; none at the end of the file."""
        if self._place >= len(self._buffer):
            self._fill()
        return self._buffer[self._place : self._place + 1]

    def _read_plain(self) -> tuple[bytes, str | None]:
        found = self._complete(lambda: self._plain.match(self._buffer, self._place).end())  # type: ignore[union-attr]
        field = self._buffer[self._place : found]
        self._place = found
        wrong = self._quotes and b'"' in field
        return field, "Unquoted fields cannot have quotes inside" if wrong else None

    def _complete(self, find_end: Callable[[], int]) -> int:
        """Returns the end of a field, of which more is read while it reaches to the end of the buffer."""
        while (end := find_end()) >= len(self._buffer) and self._fill():
            pass
        return end

    def _read_quoted(self) -> tuple[bytes, str | None]:
        parts: list[bytes] = []
        wrong: str | None = None
        self._place += 1
        while True:
            end = self._complete(self._find_quote)
            if end >= len(self._buffer):
                self._place = end
                return b"", wrong or "Reached end of file without closing quoted field in record"
            parts.append(self._buffer[self._place : end])
            self._place = end + 1
            following = self._peek()
            if following in (b"", self._delim, b"\n", b"\r"):
                return b"".join(parts), wrong
            if following != b'"':
                wrong = wrong or "Quote inside a string has to be escaped by another quote"
            parts.append(b'"')
            self._place += 1

    def _find_quote(self) -> int:
        end = self._buffer.find(b'"', self._place)
        return len(self._buffer) if end < 0 else end

    def _read_separator(self) -> bool:
        """Reads what follows a field. Returns whether the record ends there."""
        found = self._peek()
        self._place += len(found)
        if found == b"\r" and self._peek() == b"\n":
            self._place += 1
        return found != self._delim

    def _fill(self) -> bool:
        """Reads on; returns False at the end of the file. What was read before is dropped from the buffer."""
        data = next(self._chunks, b"")
        if data:
            self._buffer, self._place = self._buffer[self._place :] + data, 0
        return bool(data)


def _chunks(path: str, compression_type: str | None, size: int) -> Iterator[bytes]:
    with open_records(path, compression_type) as file:
        while data := file.read(size):
            yield data
