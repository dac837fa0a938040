"""Serialized examples read feature by feature, without making messages of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors, wire

KINDS = {1: dtypes.string, 2: dtypes.float32, 3: dtypes.int64}


class Values(NamedTuple):
    """What a feature has: a list of bytes, or an array of numbers; the dtype is None if there is no list in it."""

    dtype: Any
    values: Any

    def __len__(self) -> int:
        return len(self.values)


Row = dict[str, Values]
_NOTHING = Values(None, [])


def examples(serialized: list[bytes], wanted: set[str]) -> list[Row]:
    """The features of each example that are wanted."""
    return [_read(data, lambda message: _features(_inside(message, 1), wanted)) for data in serialized]


def sequences(serialized: list[bytes], context: set[str], lists: set[str]) -> tuple[list[Row], list[dict[str, Any]]]:
    """The features of each example's context that are wanted, and the lists of features."""
    return (
        [_read(data, lambda message: _features(_inside(message, 1), context)) for data in serialized],
        [_read(data, lambda message: _lists(_inside(message, 2), lists)) for data in serialized],
    )


def _read(data: bytes, function: Any) -> Any:
    try:
        return function(data)
    except wire.DecodeError as error:
        raise errors.InvalidArgumentError(
            f"Could not parse example input, value: '{data[:40]!r}' ({error}). Was it written by SerializeToString()?"
        ) from None


def _inside(message: bytes, number: int) -> bytes:
    """The message in a field, of which several parts are one after another."""
    return b"".join(value for found, kind, value in wire.fields(message) if found == number and kind == wire.BYTES)


def _entries(data: bytes, wanted: set[str]) -> dict[str, bytes]:
    """The entries of a map that are wanted."""
    found = {}
    for number, kind, entry in wire.fields(data):
        if number == 1 and kind == wire.BYTES:
            parts = {part: value for part, _, value in wire.fields(entry)}
            name, feature = parts.get(1, b""), parts.get(2, b"")
            if not isinstance(name, bytes) or not isinstance(feature, bytes):
                raise wire.DecodeError("a feature was expected")
            if (title := name.decode(errors="replace")) in wanted:
                found[title] = feature
    return found


def _features(data: bytes, wanted: set[str]) -> Row:
    return {name: _values(feature) for name, feature in _entries(data, wanted).items()}


def _lists(data: bytes, wanted: set[str]) -> dict[str, Any]:
    return {
        name: [_values(feature) for number, kind, feature in wire.fields(steps) if number == 1 and kind == wire.BYTES]
        for name, steps in _entries(data, wanted).items()
    }


def _values(feature: bytes) -> Values:
    """The values of a feature: of several lists the first, as TensorFlow's ops read it."""
    for number, kind, data in wire.fields(feature):
        if kind != wire.BYTES or number not in KINDS:
            continue
        parts = [(part, value) for field, part, value in wire.fields(data) if field == 1]
        if number == 1:
            return Values(dtypes.string, [value for part, value in parts if part == wire.BYTES])
        read = wire.floats if number == 2 else wire.integers
        arrays = [read(*part) for part in parts]
        kind_of = KINDS[number]
        return Values(kind_of, np.concatenate(arrays) if arrays else np.empty(0, kind_of.as_numpy_dtype))
    return _NOTHING
