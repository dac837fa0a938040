"""Reads serialized examples feature by feature, without creating messages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.protos import wire
from ...core.protos.schema import field_number

# Numbers of fields. Everything else is the only field of its message, or the key or value of a map: 1 or 2.
_FEATURES = field_number("Example", "features")
_CONTEXT, _LISTS = (field_number("SequenceExample", name) for name in ("context", "feature_lists"))
_BYTES, _FLOATS, _INTEGERS = (field_number("Feature", f"{kind}_list") for kind in ("bytes", "float", "int64"))
KINDS = {_BYTES: dtypes.string, _FLOATS: dtypes.float32, _INTEGERS: dtypes.int64}


class Values(NamedTuple):
    """The values of a feature: a list of bytes or an array of numbers; the dtype is None if it has no list."""

    dtype: Any
    values: Any

    def __len__(self) -> int:
        return len(self.values)


Row = dict[str, Values]
_NOTHING = Values(None, [])


def examples(serialized: list[bytes], wanted: set[str]) -> list[Row]:
    """Returns the requested features of each example."""
    return [
        _read(data, lambda message: _features(_message_in_field(message, _FEATURES), wanted)) for data in serialized
    ]


def sequences(serialized: list[bytes], context: set[str], lists: set[str]) -> tuple[list[Row], list[dict[str, Any]]]:
    """Returns the requested context features of each example, and the feature lists."""
    return (
        [_read(data, lambda message: _features(_message_in_field(message, _CONTEXT), context)) for data in serialized],
        [_read(data, lambda message: _lists(_message_in_field(message, _LISTS), lists)) for data in serialized],
    )


def _read(data: bytes, function: Any) -> Any:
    try:
        return function(data)
    except wire.DecodeError as error:
        raise errors.InvalidArgumentError(
            f"Could not parse example input, value: '{data[:40]!r}' ({error}). Was it written by SerializeToString()?"
        ) from None


def _message_in_field(message: bytes, number: int) -> bytes:
    """Returns the message in a field, whose parts are concatenated."""
    return b"".join(value for found, kind, value in wire.fields(message) if found == number and kind == wire.BYTES)


def _entries(data: bytes, wanted: set[str]) -> dict[str, bytes]:
    """Returns the requested entries of a map."""
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
    """Returns the values of a feature: the first of several lists, as TensorFlow's ops do."""
    for number, kind, data in wire.fields(feature):
        if kind != wire.BYTES or number not in KINDS:
            continue
        parts = [(part, value) for field, part, value in wire.fields(data) if field == 1]
        if number == _BYTES:
            return Values(dtypes.string, [value for part, value in parts if part == wire.BYTES])
        read = wire.floats if number == _FLOATS else wire.integers
        arrays = [read(*part) for part in parts]
        kind_of = KINDS[number]
        return Values(kind_of, np.concatenate(arrays) if arrays else np.empty(0, kind_of.as_numpy_dtype))
    return _NOTHING
