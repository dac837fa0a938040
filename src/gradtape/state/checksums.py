"""CRC-32C, the checksum that TensorFlow writes and verifies in TFRecord files and checkpoints."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78  # the Castagnoli polynomial, bit-reversed
_ADDED = 0xA282EAD8
_ONES = 0xFFFFFFFF
_LONG = 2048  # bytes from which the rows of a matrix of the data are processed at once
_FOLDED = 6777  # units of a message that a longer one is reduced to, see `_fold`
_SHIFTS = (6777 - 484, 6777 - 100, 6777)
_FIRST_SHIFT = min(_SHIFTS)
_BLOCK = 1 << 19  # bytes that are processed at once: they stay in the cache


def _shifted(registers: np.ndarray[Any, Any], count: int) -> Any:
    """Advances CRC registers over `count` zero bits."""
    for _ in range(count):
        registers = (registers >> 1) ^ np.where(registers & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    return registers


@cache
def _table() -> tuple[Any, list[int]]:
    table = _shifted(np.arange(256, dtype=np.uint32), 8)
    return table, table.tolist()


@cache
def _behind(count: int) -> list[list[int]]:
    """Lookup tables, one per register byte, that advance a CRC register over `count` zero bytes."""
    table, _ = _table()
    tables = []
    for byte in range(4):
        registers = np.arange(256, dtype=np.uint32) << np.uint32(8 * byte)
        for _ in range(count):
            registers = table[registers & 0xFF] ^ (registers >> 8)
        tables.append(registers.tolist())
    return tables


def _register_after(register: int, data: Any) -> int:
    """Returns the CRC register after bytes."""
    array, numbers = _table()
    whole = 0
    if len(data) >= _LONG:
        width = 1 << (len(data).bit_length() // 2)
        rows = np.frombuffer(data, np.uint8, len(data) // width * width).reshape(-1, width)
        registers = np.zeros(len(rows), np.uint32)
        for column in np.ascontiguousarray(rows.T):
            registers = array[(registers ^ column) & 0xFF] ^ (registers >> 8)
        first, second, third, fourth = _behind(width)
        for row in registers.tolist():
            moved = first[register & 0xFF] ^ second[register >> 8 & 0xFF] ^ third[register >> 16 & 0xFF]
            register = moved ^ fourth[register >> 24] ^ row
        whole = rows.size
    for byte in bytes(data[whole:]):
        register = numbers[(register ^ byte) & 0xFF] ^ (register >> 8)
    return register


def _fold(units: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the last `_FOLDED` units of a message, after adding all others to them so that the CRC is the same.

    Bytes are coefficients of a polynomial, and the CRC is its remainder. x^6777 + x^484 + x^100 + 1 is a multiple of
    the CRC's polynomial, and so is its 8th power (or 64th), where the exponents count bytes (or words): a unit may be
    replaced by itself at three later places. That takes three exclusive ors per word and no table.
    """
    start, end = 0, len(units) - _FOLDED
    while start < end:
        stop = min(start + _FIRST_SHIFT, end)
        for shift in _SHIFTS:
            units[start + shift : stop + shift] ^= units[start:stop]
        start = stop
    return units[max(end, 0) :]


class Checksum:
    """The CRC-32C of bytes that come in parts."""

    def __init__(self) -> None:
        self._rest = np.empty(0, np.uint8)  # a message with the CRC of all bytes so far
        self._is_folded = False  # whether the first register is part of that message
        self._buffer = np.empty(0, np.uint8)  # used again: new memory costs as much as the sums

    def update(self, data: Any) -> None:
        """Adds bytes, or an array of them."""
        array = np.frombuffer(data, np.uint8)
        for start in range(0, len(array), _BLOCK):
            self._add(array[start : start + _BLOCK])

    def _add(self, part: np.ndarray[Any, Any]) -> None:
        size = len(self._rest) + len(part)
        padding = -size % 8  # zeros in front change no remainder
        if padding + size > len(self._buffer):
            self._buffer = np.empty(padding + size + 8, np.uint8)
        message = self._buffer[: padding + size]
        message[padding : padding + len(self._rest)] = self._rest
        message[:padding] = 0
        message[padding + len(self._rest) :] = part
        if size <= 8 * _FOLDED:
            self._rest = message[padding:].copy()
            return
        if not self._is_folded:
            message[padding : padding + 4] ^= 0xFF
            self._is_folded = True
        self._rest = _fold(message.view(np.uint64)).view(np.uint8).copy()

    @property
    def value(self) -> int:
        """The checksum of the bytes so far."""
        rest = self._rest.copy()
        if len(rest) < 4:
            return _register_after(_ONES, rest) ^ _ONES
        if not self._is_folded:
            rest[:4] ^= 0xFF
        return _register_after(0, _fold(rest)) ^ _ONES

    @property
    def masked(self) -> int:
        """The masked checksum, which the file formats store beside the data."""
        return _masked(self.value)


def crc32c(data: bytes) -> int:
    """Returns the CRC-32C checksum of bytes."""
    if len(data) <= _FOLDED:
        return _register_after(_ONES, data) ^ _ONES
    checksum = Checksum()
    checksum.update(data)
    return checksum.value


def _masked(checksum: int) -> int:
    return ((checksum >> 15 | checksum << 17) + _ADDED) & _ONES


def masked_crc32c(data: bytes) -> int:
    """Returns the masked CRC (rotated, with a constant added), which the file formats store beside the data."""
    return _masked(crc32c(data))
