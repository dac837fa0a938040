"""CRC-32C, the checksum that TensorFlow writes and verifies in TFRecord files and checkpoints."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78  # the Castagnoli polynomial, bit-reversed
_ADDED = 0xA282EAD8
_LONG = 2048  # bytes from which the rows of a matrix of the data are processed at once


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


def crc32c(data: bytes) -> int:
    """The CRC-32C checksum of bytes."""
    register = 0xFFFFFFFF
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
    for byte in data[whole:]:
        register = numbers[(register ^ byte) & 0xFF] ^ (register >> 8)
    return register ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """The masked CRC (rotated, with a constant added), which the file formats store beside the data."""
    checksum = crc32c(data)
    return ((checksum >> 15 | checksum << 17) + _ADDED) & 0xFFFFFFFF
