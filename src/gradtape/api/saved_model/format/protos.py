"""Protocol buffers as plain values: `decoded` returns records, `encoded` takes dicts; `schema.py` lists the messages.

Unlike the messages of `tf.train.Example`, which a program sets field by field, these are read and written as a whole. A
field that is missing in the bytes has the default value of its type, and None for a message.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ....core import wire
from .schema import SCHEMA

_EMPTY: dict[str, Any] = {
    "int": 0, "zigzag": 0, "bool": False, "float": 0.0, "double": 0.0, "str": "", "bytes": b"", "raw": b"",
}  # fmt: skip
_VARINTS = ("int", "bool", "zigzag")
_MAX_DEPTH = 100  # limit of nested messages, as in Protocol Buffers: deeper ones would exhaust the stack
# Messages with a `oneof`: the last of its fields in the bytes is the value.
_OBJECT_KINDS = frozenset(("user_object", "asset", "function", "variable", "bare_concrete_function", "constant",
                           "resource", "captured_tensor"))  # fmt: skip
_FIELD = re.compile(r"(\d+) (\w+) (\*?)(\{(?:(int): )?)?(\w+)\}?")


class Field(NamedTuple):
    """A field: its position and its type."""

    number: int
    name: str
    kind: str
    repeated: bool
    keys: str  # the type of the keys of a map, otherwise empty


class Record:
    """A decoded message: its fields are attributes."""

    def __init__(self, kind: str, values: dict[str, Any]) -> None:
        self.kind, self.values = kind, values

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            pass
        field = next((field for field in _messages()[self.kind] if field.name == name), None)
        if field is None:
            raise AttributeError(f"a {self.kind} has no field {name!r}")
        empty: Any = {} if field.keys else [] if field.repeated else _EMPTY.get(field.kind)
        return self.values.setdefault(name, empty) if field.keys or field.repeated else empty

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __repr__(self) -> str:
        return f"{self.kind}({self.values})"


@cache
def _messages() -> dict[str, list[Field]]:
    found = {}
    for line in re.sub(r"\n +", " ", SCHEMA).splitlines():
        name, _, fields = line.partition(":")
        found[name] = [
            Field(int(n), title, kind, bool(star), (key or "str") if brace else "")
            for n, title, star, brace, key, kind in _FIELD.findall(fields)
        ]
    return found


@cache
def _by_number(kind: str) -> dict[int, Field]:
    return {field.number: field for field in _messages()[kind]}


@cache
def _exclusive(kind: str) -> frozenset[str]:
    """Returns the fields of a message of which only one can be set."""
    if kind == "SavedObject":
        return _OBJECT_KINDS
    whole = kind in ("AttrValue", "StructuredValue")
    return frozenset(field.name for field in _messages()[kind]) if whole else frozenset()


def decoded(kind: str, data: bytes, depth: int = 0) -> Record:
    """Decodes a message; raises `wire.DecodeError` for invalid bytes."""
    return _merge(Record(kind, {}), data, depth)


def _merge(record: Record, data: bytes, depth: int) -> Record:
    """Adds the fields in the bytes to a record; a message may be stored in several parts."""
    if depth > _MAX_DEPTH:
        raise wire.DecodeError(f"there are more than {_MAX_DEPTH} messages within each other")
    kind, values = record.kind, record.values
    known, exclusive = _by_number(kind), _exclusive(kind)
    for number, form, value in wire.fields(data):
        field = known.get(number)
        if field is None:
            continue
        if exclusive and field.name in exclusive:
            for other in (values.keys() & exclusive) - {field.name}:
                del values[other]
        if field.keys:
            key, part = _entry(field, value, depth)
            values.setdefault(field.name, {})[key] = part
        elif field.repeated:
            values.setdefault(field.name, []).extend(_decode_many(field.kind, form, value, depth))
        elif isinstance(values.get(field.name), Record):
            _merge(values[field.name], _as_bytes(form, value), depth + 1)
        else:
            values[field.name] = _one(field.kind, form, value, depth)
    return record


def _entry(field: Field, data: Any, depth: int) -> tuple[Any, Any]:
    if not isinstance(data, bytes):
        raise wire.DecodeError("an entry of a map was expected")
    parts = {number: (form, value) for number, form, value in wire.fields(data)}
    key = _one(field.keys, *parts[1], depth) if 1 in parts else _EMPTY[field.keys]
    if 2 in parts:
        return key, _one(field.kind, *parts[2], depth)
    return key, _EMPTY[field.kind] if field.kind in _EMPTY else Record(field.kind, {})


def _decode_many(kind: str, form: int, value: Any, depth: int) -> list[Any]:
    if form == wire.BYTES and kind in ("int", "bool"):
        return [_number(kind, n) for n in wire.integers(form, value).tolist()]
    if form == wire.BYTES and kind == "float":
        return wire.floats(form, value).tolist()
    return [_one(kind, form, value, depth)]


def _one(kind: str, form: int, value: Any, depth: int) -> Any:
    if kind in _VARINTS:
        if form != wire.VARINT:
            raise wire.DecodeError("a number was expected")
        return _number(kind, value)
    if kind == "float" and form == wire.FIXED32:
        return struct.unpack("<f", value)[0]
    if kind == "double" and form == wire.FIXED64:
        return struct.unpack("<d", value)[0]
    if kind in ("float", "double"):
        raise wire.DecodeError("a floating-point number was expected")
    data = _as_bytes(form, value)
    if kind == "str":
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise wire.DecodeError("text was expected") from None
    return data if kind in ("bytes", "raw") else decoded(kind, data, depth + 1)


def _number(kind: str, value: int) -> Any:
    if kind == "bool":
        return bool(value)
    if kind == "zigzag":
        return value >> 1 ^ -(value & 1)
    return value - (1 << 64) if value >= 1 << 63 else value


def _as_bytes(form: int, value: Any) -> bytes:
    if form != wire.BYTES:
        raise wire.DecodeError("bytes were expected")
    return value


def encoded(kind: str, values: Mapping[str, Any]) -> bytes:
    """Encodes a message; fields that are None, empty text or zero are omitted.

    In a message with a oneof (an `AttrValue`, a `StructuredValue`), an empty field is kept: it selects the alternative.
    """
    parts: list[bytes] = []
    names = {field.name for field in _messages()[kind]}
    if not names >= values.keys():
        raise ValueError(f"a {kind} has no field {', '.join(values.keys() - names)}")
    for field in _messages()[kind]:
        value = values.get(field.name)
        if value is None:
            continue
        if field.keys:
            for key in sorted(value):
                entry = _part(1, field.keys, key) + _part(2, field.kind, value[key])
                parts.append(wire.field(field.number, entry))
        elif field.repeated:
            parts.extend(_encode_repeated(field, list(value)))
        elif value or field.kind not in _EMPTY or kind in ("AttrValue", "StructuredValue"):
            parts.append(_part(field.number, field.kind, value))
    return b"".join(parts)


def _encode_repeated(field: Field, value: list[Any]) -> Iterator[bytes]:
    if field.kind in ("int", "bool"):
        if value:
            yield wire.field(field.number, wire.varints([int(n) for n in value]))
    elif field.kind == "float":
        if value:
            yield wire.field(field.number, wire.packed_floats(value))
    else:
        yield from (_part(field.number, field.kind, one) for one in value)


def _part(number: int, kind: str, value: Any) -> bytes:
    if kind in ("int", "bool"):
        return wire.number_field(number, int(value))
    if kind == "zigzag":
        return wire.number_field(number, (value << 1) ^ (value >> 63))
    if kind == "float":
        return wire.varint(number << 3 | wire.FIXED32) + np.float32(value).tobytes()
    if kind == "double":
        return wire.varint(number << 3 | wire.FIXED64) + struct.pack("<d", value)
    if kind == "str":
        return wire.field(number, value.encode())
    return wire.field(number, value if kind in ("bytes", "raw") else encoded(kind, value))
