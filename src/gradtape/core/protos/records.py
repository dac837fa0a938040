"""Protocol buffers as plain values: `decoded` returns records, `encoded` takes dicts; `schema` describes the messages.

Unlike the messages of `tf.train.Example`, which a program sets field by field, these are read and written as a whole. A
field that is missing in the bytes has the default value of its type, and None for a message. A tensor stays in its
serialized form: whoever needs its values parses it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from . import schema, wire

_MAX_DEPTH = 100  # limit of nested messages, as in Protocol Buffers: deeper ones would exhaust the stack
_KEPT_AS_BYTES = "tensorflow.TensorProto"
_EMPTY: dict[str, Any] = {
    "int": 0, "unsigned": 0, "zigzag": 0, "bool": False, "float": 0.0, "double": 0.0, "fixed": 0, "long": 0, "str": "",
    "bytes": b"", "raw": b"",
}  # fmt: skip
_CODES = {  # the forms in which several types are stored
    "int32": "int", "int64": "int", "uint32": "unsigned", "uint64": "unsigned", "sint32": "zigzag", "sint64": "zigzag",
    "fixed32": "fixed", "fixed64": "long", "string": "str", _KEPT_AS_BYTES: "raw",
}  # fmt: skip
_VARINTS = frozenset(("int", "unsigned", "bool", "zigzag"))
_PACKED = {"float": (wire.FIXED32, "<f"), "double": (wire.FIXED64, "<d"), "fixed": (wire.FIXED32, "<I"),
           "long": (wire.FIXED64, "<Q")}  # fmt: skip


class RecordField(NamedTuple):
    """A field as it is stored: its kind is a form of numbers or text, or the full name of a message."""

    number: int
    name: str
    kind: str
    repeated: bool
    keys: str  # the form of the keys of a map, otherwise empty
    oneof: str
    is_packed: bool
    is_plain: bool  # whether its last value in the bytes counts, whatever else there is


class Record:
    """A decoded message: its fields are attributes."""

    def __init__(self, kind: str, values: dict[str, Any]) -> None:
        self.kind, self.values = kind, values

    def __getattr__(self, name: str) -> Any:
        if name == "values" or name.startswith("__"):  # pickle and copy ask for them before there are values
            raise AttributeError(name)
        if name in self.values:
            return self.values[name]
        field = _fields(self.kind).get(name)
        if field is None:
            raise AttributeError(f"a {self.kind} has no field {name!r}")
        empty: Any = {} if field.keys else [] if field.repeated else _EMPTY.get(field.kind)
        return self.values.setdefault(name, empty) if field.keys or field.repeated else empty

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __repr__(self) -> str:
        return f"{self.kind}({self.values})"


@cache
def _fields(kind: str) -> dict[str, RecordField]:
    """Returns the fields of a message by name, in the order of their numbers."""
    found = {}
    for field in sorted(schema.message(kind).fields):
        form = "int" if field.is_enum else _CODES.get(field.kind, field.kind)
        keys = _CODES.get(field.keys, field.keys)
        packed = field.repeated and (form in _VARINTS or form in _PACKED)
        plain = form in _EMPTY and not (field.repeated or keys or field.oneof)
        found[field.name] = RecordField(
            field.number, field.name, form, field.repeated, keys, field.oneof, packed, plain
        )
    return found


@cache
def _by_number(kind: str) -> dict[int, RecordField]:
    return {field.number: field for field in _fields(kind).values()}


@cache
def _alternatives(kind: str, oneof: str) -> frozenset[str]:
    """Returns the fields of a oneof, of which the last in the bytes is the value."""
    return frozenset(field.name for field in _fields(kind).values() if field.oneof == oneof)


def decoded(kind: str, data: bytes, depth: int = 0) -> Record:
    """Decodes a message; raises `wire.DecodeError` for invalid bytes."""
    return _merge(Record(kind, {}), data, depth)


def _merge(record: Record, data: bytes, depth: int) -> Record:
    """Adds the fields in the bytes to a record; a message may be stored in several parts."""
    if depth > _MAX_DEPTH:
        raise wire.DecodeError(f"there are more than {_MAX_DEPTH} messages within each other")
    kind, values = record.kind, record.values
    known = _by_number(kind)
    for number, form, value in wire.fields(data):
        field = known.get(number)
        if field is None:
            continue
        if field.is_plain:
            values[field.name] = _one(field.kind, form, value, depth)
            continue
        if field.oneof:
            for other in (values.keys() & _alternatives(kind, field.oneof)) - {field.name}:
                del values[other]
        if field.keys:
            key, part = _entry(field, value, depth)
            values.setdefault(field.name, {})[key] = part
        elif field.repeated:
            values.setdefault(field.name, []).extend(_decode_many(field, form, value, depth))
        elif isinstance(values.get(field.name), Record):
            _merge(values[field.name], _as_bytes(form, value), depth + 1)
        else:
            values[field.name] = _one(field.kind, form, value, depth)
    return record


def _entry(field: RecordField, data: Any, depth: int) -> tuple[Any, Any]:
    if not isinstance(data, bytes):
        raise wire.DecodeError("an entry of a map was expected")
    parts = {number: (form, value) for number, form, value in wire.fields(data)}
    key = _one(field.keys, *parts[1], depth) if 1 in parts else _EMPTY[field.keys]
    if 2 in parts:
        return key, _one(field.kind, *parts[2], depth)
    return key, _EMPTY[field.kind] if field.kind in _EMPTY else Record(field.kind, {})


def _decode_many(field: RecordField, form: int, value: Any, depth: int) -> list[Any]:
    if form != wire.BYTES or not field.is_packed:
        return [_one(field.kind, form, value, depth)]
    if field.kind in _VARINTS:
        return [_number(field.kind, n) for n in wire.integers(form, value).view(np.uint64).tolist()]
    code = _PACKED[field.kind][1]
    if len(value) % struct.calcsize(code):
        raise wire.DecodeError("floats were expected" if field.kind == "float" else "numbers were expected")
    return np.frombuffer(value, code.replace("I", "u4").replace("Q", "u8")).tolist()


def _one(kind: str, form: int, value: Any, depth: int) -> Any:
    if kind in _VARINTS:
        if form != wire.VARINT:
            raise wire.DecodeError("a number was expected")
        return _number(kind, value)
    if kind in _PACKED:
        wanted, code = _PACKED[kind]
        if form != wanted:
            raise wire.DecodeError("a number of 4 or 8 bytes was expected")
        return struct.unpack(code, value)[0]
    data = _as_bytes(form, value)
    if kind == "str":
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise wire.DecodeError("text was expected") from None
    return data if kind in ("bytes", "raw") else _merge(Record(kind, {}), data, depth + 1)


def _number(kind: str, value: int) -> Any:
    if kind == "int":
        return value if value < 1 << 63 else value - (1 << 64)
    if kind == "bool":
        return bool(value)
    return value if kind == "unsigned" else value >> 1 ^ -(value & 1)


def _as_bytes(form: int, value: Any) -> bytes:
    if form != wire.BYTES:
        raise wire.DecodeError("bytes were expected")
    return value


def encoded(kind: str, values: Mapping[str, Any]) -> bytes:
    """Encodes a message; fields that are None, empty text or zero are omitted.

    A field of a oneof is kept if it is empty: it selects the alternative.
    """
    parts: list[bytes] = []
    fields = _fields(kind)
    if not fields.keys() >= values.keys():
        raise ValueError(f"a {kind} has no field {', '.join(values.keys() - fields.keys())}")
    for field in fields.values():
        value = values.get(field.name)
        if value is None:
            continue
        if field.keys:
            for key in sorted(value):
                entry = _part(1, field.keys, key) + _part(2, field.kind, value[key])
                parts.append(wire.field(field.number, entry))
        elif field.repeated:
            parts.extend(_encode_repeated(field, list(value)))
        elif value or field.kind not in _EMPTY or field.oneof:
            parts.append(_part(field.number, field.kind, value))
    return b"".join(parts)


def _encode_repeated(field: RecordField, value: list[Any]) -> Iterator[bytes]:
    if not field.is_packed:
        yield from (_part(field.number, field.kind, one) for one in value)
    elif value and field.kind in _VARINTS:
        yield wire.field(field.number, wire.varints([_as_varint(field.kind, n) for n in value]))
    elif value:
        yield wire.field(field.number, b"".join(struct.pack(_PACKED[field.kind][1], n) for n in value))


def _as_varint(kind: str, value: Any) -> int:
    return (value << 1) ^ (value >> 63) if kind == "zigzag" else int(value)


def _part(number: int, kind: str, value: Any) -> bytes:
    if kind in _VARINTS:
        return wire.number_field(number, _as_varint(kind, value))
    if kind in _PACKED:
        form, code = _PACKED[kind]
        return wire.varint(number << 3 | form) + struct.pack(code, value)
    if kind == "str":
        return wire.field(number, value.encode())
    return wire.field(number, value if kind in ("bytes", "raw") else encoded(kind, value))
