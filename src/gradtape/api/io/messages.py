"""Protocol buffer messages: fields by name, repeated fields as lists, maps, oneofs.

A nested message is present once one of its fields has been set; of a oneof, the field that was set last is present.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence
from typing import Any, ClassVar, NamedTuple, Self

from ...core.protos import schema, wire
from ...core.protos.wire import DecodeError


class Field(NamedTuple):
    """A field: its number and its type: repeated `bytes`, `float` or `int64`, a message, several, or a map of them."""

    number: int
    kind: str
    message: type[Message] | None = None


class Message:
    """A message; a subclass has the fields of TensorFlow's message of the same name."""

    FIELDS: ClassVar[dict[str, Field]] = {}
    ONEOF: ClassVar[str] = ""  # the name of the oneof that contains all fields, if there is one
    _classes: ClassVar[dict[str, type[Message]]] = {}

    def __init_subclass__(cls) -> None:
        description = schema.message(cls.__name__)
        Message._classes[description.name] = cls
        cls.FIELDS = {field.name: _field(field) for field in description.fields}
        cls.ONEOF = description.fields[0].oneof

    def __init__(self, **values: Any) -> None:
        self._values: dict[str, Any] = {}
        self._present: set[str] = set()
        self._around: tuple[Message, str] | None = None
        for name, value in values.items():
            if name not in self.FIELDS:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is not None:
                self._put(name, value)

    def _put(self, name: str, value: Any) -> None:
        field, held = self.FIELDS[name], getattr(self, name)
        if field.kind == "message":
            if not isinstance(value, field.message or Message):
                raise TypeError(f"{name} must be a {field.message.__name__}, got {value!r}")  # type: ignore[union-attr]
            held.CopyFrom(value)
            held._changed()
        elif field.kind == "map":
            for key, part in value.items():
                held[key].CopyFrom(part)
        else:
            held.extend(value)
        self._was_changed(name)

    def __getattr__(self, name: str) -> Any:
        field = type(self).FIELDS.get(name)
        if field is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        made = self._values.get(name)
        if made is None:
            if field.kind == "message":
                made = field.message()  # type: ignore[misc]
                made._around = (self, name)
            else:
                made = (Map if field.kind == "map" else Repeated)(self, name, field)
            self._values[name] = made
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.FIELDS:
            what = "message field" if self.FIELDS[name].kind == "message" else "map, or repeated field"
            raise AttributeError(f'Assignment not allowed to {what} "{name}" in protocol message object.')
        super().__setattr__(name, value)

    def _changed(self) -> None:
        if self._around is not None:
            around, name = self._around
            around._was_changed(name)

    def _was_changed(self, name: str) -> None:
        """Records that a field was set: it is present, and the other fields of a oneof are not."""
        if name not in self._present:
            if self.ONEOF:
                for other in tuple(self._present):
                    self.ClearField(other)
            self._present.add(name)
        self._changed()

    def HasField(self, field_name: str) -> bool:
        """Returns whether a nested message is present."""
        self._known(field_name)
        if self.FIELDS[field_name].kind != "message":
            raise ValueError(f"Field {type(self).__name__}.{field_name} does not have presence: it is repeated.")
        return field_name in self._present

    def WhichOneof(self, oneof_group: str) -> str | None:
        """Returns the field of a oneof that is present."""
        if oneof_group != self.ONEOF:
            raise ValueError(f'Protocol message {type(self).__name__} has no oneof "{oneof_group}" field.')
        return next(iter(self._present), None)

    def ClearField(self, field_name: str) -> None:
        """Clears a field; its previous value is detached."""
        self._known(field_name)
        held = self._values.pop(field_name, None)
        if isinstance(held, Message):
            held._around = None
        self._present.discard(field_name)

    def Clear(self) -> None:
        """Clears all fields."""
        for name in self.FIELDS:
            self.ClearField(name)

    def _known(self, name: str) -> None:
        if name not in self.FIELDS:
            raise ValueError(f"Protocol message {type(self).__name__} has no field {name}.")

    def ListFields(self) -> list[tuple[Any, Any]]:
        """Returns the fields that are present, with their values."""
        return [(field, self._values[name]) for name, field in self.FIELDS.items() if self._is_there(name)]

    def _is_there(self, name: str) -> bool:
        held = self._values.get(name)
        return name in self._present if isinstance(held, Message) else bool(held)

    def CopyFrom(self, other_msg: Message) -> None:
        """Copies another message."""
        if other_msg is not self:
            self.ParseFromString(_check_same_kind(self, other_msg).SerializeToString())

    def MergeFrom(self, other_msg: Message) -> None:
        """Merges another message: repeated fields are extended."""
        self.MergeFromString(_check_same_kind(self, other_msg).SerializeToString())

    def ByteSize(self) -> int:
        """Returns the serialized size in bytes."""
        return len(self.SerializeToString())

    def IsInitialized(self) -> bool:
        """Returns True: there are no required fields."""
        return True

    def FindInitializationErrors(self) -> list[str]:
        """Returns no errors: there are no required fields."""
        return []

    def SetInParent(self) -> None:
        """Marks the message as present in its parent."""
        self._changed()

    def DiscardUnknownFields(self) -> None:
        """Does nothing: unknown fields are not kept."""

    def SerializeToString(self, deterministic: bool = False) -> bytes:
        """Serializes the message; with `deterministic`, maps are sorted by key."""
        parts = []
        for name, field in self.FIELDS.items():
            held = self._values.get(name)
            if field.kind == "message" and name in self._present:
                parts.append(wire.field(field.number, held.SerializeToString(deterministic)))  # type: ignore[union-attr]
            elif field.kind == "map":
                keys = sorted(held or ()) if deterministic else list(held or ())
                for key in keys:
                    value = held[key].SerializeToString(deterministic)  # type: ignore[index]
                    parts.append(wire.field(field.number, wire.field(1, key.encode()) + wire.field(2, value)))
            elif field.kind != "message" and held:
                parts.extend(_ENCODERS[field.kind](field.number, held))
        return b"".join(parts)

    SerializePartialToString = SerializeToString

    @classmethod
    def FromString(cls, s: bytes) -> Self:
        """Parses a message."""
        message = cls()
        message.ParseFromString(s)
        return message

    def ParseFromString(self, serialized: bytes) -> int:
        """Replaces the message by a parsed one; returns the number of bytes."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Merges a parsed message; returns the number of bytes."""
        named = {field.number: (name, field) for name, field in self.FIELDS.items()}
        try:
            for number, kind, value in wire.fields(bytes(serialized)):
                if number in named:
                    self._take(*named[number], kind, value)
        except DecodeError as error:
            raise DecodeError(f"Error parsing message with type 'tensorflow.{type(self).__name__}': {error}") from None
        return len(serialized)

    def _take(self, name: str, field: Field, kind: int, value: Any) -> None:
        held = getattr(self, name)
        if field.kind == "int64":
            list.extend(held.items, wire.integers(kind, value).tolist())
        elif field.kind == "float":
            list.extend(held.items, wire.floats(kind, value).tolist())
        elif kind != wire.BYTES:
            raise DecodeError(f"{name} was expected")
        elif field.kind == "bytes":
            held.items.append(value)
        elif field.kind == "message":
            held.MergeFromString(value)
        elif field.kind == "messages":
            held.add().MergeFromString(value)
        else:
            entry = {number: part for number, _, part in wire.fields(value)}
            key, part = entry.get(1, b""), entry.get(2, b"")
            if not isinstance(key, bytes) or not isinstance(part, bytes):
                raise DecodeError(f"an entry of {name} was expected")
            try:
                held[key.decode()].ParseFromString(part)
            except UnicodeDecodeError:
                raise DecodeError(f"a key of {name} is no text") from None
        self._was_changed(name)

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and self.SerializeToString(True) == other.SerializeToString(True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "".join(f"{line}\n" for line in _lines(self))

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self).FromString(self.SerializeToString())


def _field(field: schema.ProtoField) -> Field:
    message = Message._classes.get(field.kind)
    if message is None:
        return Field(field.number, field.kind)
    return Field(field.number, "map" if field.keys else "messages" if field.repeated else "message", message)


def _check_same_kind(message: Message, other: Any) -> Any:
    if type(other) is not type(message):
        raise TypeError(
            f"Parameter to MergeFrom() must be instance of same class: expected {type(message).__name__} got "
            f"{type(other).__name__}."
        )
    return other


def _lines(message: Message) -> Iterator[str]:
    """Yields the message in the text format of protocol buffers."""
    for name, field in message.FIELDS.items():
        held = message._values.get(name)
        if not message._is_there(name) or held is None:
            continue
        if field.kind == "map":
            for key, value in held.items():
                yield from (f"{name} {{", f'  key: "{key}"', "  value {")
                yield from (f"    {line}" for line in _lines(value))
                yield from ("  }", "}")
        elif field.kind in ("message", "messages"):
            for part in [held] if field.kind == "message" else held:
                yield from (f"{name} {{", *(f"  {line}" for line in _lines(part)), "}")
        else:
            yield from (f"{name}: {_format_value(value)}" for value in held)


_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}


def _format_value(value: Any) -> str:
    if isinstance(value, float):  # a float32, with six digits if they identify it
        short = f"{value:.6g}"
        return short if struct.unpack("f", struct.pack("f", float(short)))[0] == value else f"{value:.9g}"
    if not isinstance(value, bytes):
        return str(value)
    return '"' + "".join(_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in value) + '"'


class Repeated(MutableSequence[Any]):
    """A repeated field: a list with values of one type."""

    def __init__(self, owner: Message, name: str, field: Field) -> None:
        self.items: list[Any] = []
        self._owner, self._name, self._field = owner, name, field

    def _checked(self, value: Any) -> Any:
        return _CHECKS[self._field.kind](value)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.items[index] = [*map(self._checked, value)] if isinstance(index, slice) else self._checked(value)
        self._owner._was_changed(self._name)

    def __delitem__(self, index: Any) -> None:
        del self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def insert(self, index: int, value: Any) -> None:
        """Inserts a value before the one at `index`."""
        self.items.insert(index, self._checked(value))
        self._owner._was_changed(self._name)

    def extend(self, values: Iterable[Any]) -> None:
        """Appends values: all of them, or none if one has another type."""
        if values is None:
            return
        self.items.extend([*map(self._checked, values)])
        self._owner._was_changed(self._name)

    MergeFrom = extend

    def add(self, **values: Any) -> Any:
        """Appends a new message."""
        if self._field.message is None:
            raise AttributeError("add() is for repeated messages: use append()")
        made = self._field.message(**values)
        self.items.append(made)
        self._owner._was_changed(self._name)
        return made

    def __eq__(self, other: Any) -> bool:
        return self.items == (other.items if isinstance(other, Repeated) else other)

    def __repr__(self) -> str:
        return repr(self.items)


class Map(MutableMapping[str, Any]):
    """A map from names to messages, which are created on access."""

    def __init__(self, owner: Message, name: str, field: Field) -> None:
        self._items: dict[str, Any] = {}
        self._owner, self._name, self._field = owner, name, field

    def __getitem__(self, key: str) -> Any:
        if key not in self._items:
            if not isinstance(key, str):
                raise TypeError(f"bad argument type for a key: expected str, got {key!r}")
            self._items[key] = self._field.message()  # type: ignore[misc]
            self._owner._was_changed(self._name)
        return self._items[key]

    def __setitem__(self, key: str, value: Any) -> None:
        raise ValueError("Direct assignment of submessage not allowed: use map[key].CopyFrom(message)")

    def __delitem__(self, key: str) -> None:
        del self._items[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the message under a name, if present."""
        return self._items.get(key, default)

    def __repr__(self) -> str:
        return repr(self._items)


def _a_bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"expected bytes, {type(value).__name__} found")
    return value


def _an_integer(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError("Field tensorflow.Int64List.value: Expected an int, got a boolean.")
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"Value out of range: {number}")
    return number


def _a_float(value: Any) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except struct.error:
        raise TypeError(f"must be real number, not {type(value).__name__}") from None
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _a_message(value: Any) -> Any:
    if not isinstance(value, Message):
        raise TypeError(f"a message was expected, got {value!r}")
    return type(value).FromString(value.SerializeToString())


_CHECKS = {"bytes": _a_bytes, "int64": _an_integer, "float": _a_float, "messages": _a_message}
_ENCODERS: dict[str, Any] = {
    "bytes": lambda number, held: [wire.field(number, item) for item in held.items],
    "int64": lambda number, held: [wire.field(number, wire.varints(held.items))],
    "float": lambda number, held: [wire.field(number, wire.packed_floats(held.items))],
    "messages": lambda number, held: [wire.field(number, item.SerializeToString()) for item in held.items],
}
