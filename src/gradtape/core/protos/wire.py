"""The Protocol Buffers wire format, limited to the field types that examples, tensors and checkpoints use."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIZES = {FIXED64: 8, FIXED32: 4}
_MASK = 0xFFFFFFFFFFFFFFFF
_LONG = 64  # bytes from which decoding varints with NumPy is faster than with Python


class DecodeError(ValueError):
    """The bytes are not a valid message of the expected type."""


def varint(number: int) -> bytes:
    """Encodes an integer as a varint (7-bit groups, lowest first); a negative one as 64-bit two's complement."""
    number &= _MASK
    if number < 0x80:
        return bytes((number,))
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def varints(numbers: Iterable[int]) -> bytes:
    """Encodes integers as consecutive varints."""
    numbers = list(numbers)
    if numbers and 0 <= min(numbers) and max(numbers) < 0x80:
        return bytes(numbers)
    return b"".join(map(varint, numbers))


def field(number: int, data: bytes) -> bytes:
    """Encodes a length-delimited field: bytes, text or a message."""
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """Encodes a varint field."""
    return varint(number << 3 | VARINT) + varint(value)


def varint_at(data: bytes, place: int) -> tuple[int, int]:
    """Decodes the varint at an offset; returns it and the offset after it."""
    found = shift = 0
    while shift < 70:
        byte = data[place]
        place += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found & _MASK, place
        shift += 7
    raise DecodeError("a number of more than 64 bits")


def fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yields the fields of a message as (number, wire type, value); a value is an integer or bytes."""
    if not isinstance(data, bytes):
        raise DecodeError("a message was expected")
    place, end = 0, len(data)
    try:
        while place < end:
            tag = data[place]
            if tag < 0x80:  # most numbers take one byte
                place += 1
            else:
                tag, place = varint_at(data, place)
            kind = tag & 7
            if not tag >> 3:
                raise DecodeError("a field without a number")
            if kind == VARINT or kind == BYTES:
                value = data[place]
                if value < 0x80:
                    place += 1
                else:
                    value, place = varint_at(data, place)
                if kind == VARINT:
                    yield tag >> 3, kind, value
                    continue
                size = value
            elif kind in _SIZES:
                size = _SIZES[kind]
            else:
                raise DecodeError(f"a field of the kind {kind}")
            if place + size > end:
                raise DecodeError("the message ends within a field")
            yield tag >> 3, kind, data[place : place + size]
            place += size
    except IndexError:
        raise DecodeError("the message ends within a number") from None


def integers(kind: int, value: Any) -> Any:
    """Decodes the int64 values of a field, packed or not."""
    if kind == VARINT:
        return np.array([value], np.uint64).view(np.int64)
    if kind != BYTES:
        raise DecodeError("integers were expected")
    if len(value) > _LONG:
        return _many(value)
    found, place = [], 0
    try:
        while place < len(value):
            number, place = varint_at(value, place)
            found.append(number)
    except IndexError:
        raise DecodeError("the message ends within a number") from None
    return np.array(found, np.uint64).view(np.int64)


def _many(data: bytes) -> Any:
    """Decodes a long packed field, vectorized over its bytes."""
    array = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(array < 0x80)
    if not len(ends) or ends[-1] != len(array) - 1:
        raise DecodeError("the message ends within a number")
    starts = np.concatenate(([0], ends[:-1] + 1))
    shifts = (np.arange(len(array)) - np.repeat(starts, ends - starts + 1)).astype(np.uint64) * np.uint64(7)
    if shifts.max() > 63:
        raise DecodeError("a number of more than 64 bits")
    parts = (array & 0x7F).astype(np.uint64) << shifts
    return np.add.reduceat(parts, starts).view(np.int64)


def floats(kind: int, value: Any) -> Any:
    """Decodes the float32 values of a field."""
    if kind not in (BYTES, FIXED32) or len(value) % 4:
        raise DecodeError("floats were expected")
    return np.frombuffer(value, "<f4").astype(np.float32)


def doubles(kind: int, value: Any) -> Any:
    """Decodes the float64 values of a field."""
    if kind not in (BYTES, FIXED64) or len(value) % 8:
        raise DecodeError("doubles were expected")
    return np.frombuffer(value, "<f8").astype(np.float64)


def packed_floats(values: Iterable[float]) -> bytes:
    """Encodes numbers as packed float32."""
    values = list(values)
    return struct.pack(f"<{len(values)}f", *values)
