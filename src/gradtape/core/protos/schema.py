"""The messages of TensorFlow's `.proto` files, read from the tables `*.txt` beside this module.

A row `file` starts a file; its package is `tensorflow` and its syntax proto3 unless the row says otherwise, and
`public` names a file whose types it also exports. Each other row is an enum or a message with its fields: number, name
and type. `*` means repeated, `?` optional with presence, `{T}` a map from strings, `{K: T}` from other keys, and
`name(...)` encloses the fields of a oneof. The name of a type is relative to the message, as in a `.proto` file.

A file is parsed at first use; until then only the places of names are known.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

PACKAGE = "tensorflow"
SCALARS = frozenset(
    ("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
     "sfixed64", "bool", "string", "bytes")
)  # fmt: skip
_TABLES = ("framework", "example", "protobuf", "tools", "others")
_FIELD = re.compile(
    r"(?:(?P<oneof>\w+)\()?(?P<number>\d+) (?P<name>\w+) (?P<mark>[*?]?)(?P<brace>\{(?:(?P<keys>\w+): )?)?"
    r"(?P<kind>[\w.]+)\}?(?P<packed> packed)?(?P<end>\))?"
)
_VALUE = re.compile(r"(-?\d+) (\w+)")


class ProtoField(NamedTuple):
    """A field of a message."""

    number: int
    name: str
    kind: str  # a scalar type, or the full name of a message or enum
    is_enum: bool
    repeated: bool
    keys: str  # the type of the keys of a map, otherwise empty
    oneof: str  # the oneof it belongs to, otherwise empty
    optional: bool  # whether it has presence in proto3 without being a message
    packed: bool  # whether proto2 packs it; proto3 always packs numbers


@dataclass(frozen=True)
class ProtoMessage:
    """A message: its full name and its fields in the order of declaration."""

    name: str
    fields: tuple[ProtoField, ...]


@dataclass(frozen=True)
class ProtoEnum:
    """An enum: its full name and its values."""

    name: str
    values: dict[str, int]


@dataclass(frozen=True)
class ProtoFile:
    """A `.proto` file; a nested type follows the one it is in."""

    path: str
    package: str
    syntax: str
    public: tuple[str, ...]
    types: tuple[ProtoMessage | ProtoEnum, ...]


class _Section(NamedTuple):
    head: list[str]
    rows: list[str]


@cache
def _sections() -> dict[str, _Section]:
    """Returns the rows of every file, by its path."""
    found: dict[str, _Section] = {}
    spec: Any = __spec__
    loader = spec.loader  # also for a zip archive
    for table in _TABLES:
        text = loader.get_data(os.path.join(os.path.dirname(__file__), f"{table}.txt")).decode().replace("\n    ", " ")
        for line in text.splitlines():
            if line.startswith("file "):
                _, path, *head = line.split()
                section = found[path] = _Section(head, [])
            else:
                section.rows.append(line)
    return found


def files() -> frozenset[str]:
    """Returns the paths of all files."""
    return frozenset(_sections())


def _options(head: list[str], name: str) -> list[str]:
    return [word.partition("=")[2] for word in head if word.partition("=")[0] == name]


def _package(section: _Section) -> str:
    if "package=" in section.head:  # an empty one
        return ""
    return next(iter(_options(section.head, "package")), PACKAGE)


@cache
def _places() -> dict[str, tuple[str, bool]]:
    """Returns the file of every type by its full name, and whether the type is an enum."""
    found = {}
    for path, section in _sections().items():
        package = _package(section)
        for row in section.rows:
            name = row.partition(":")[0]
            is_enum = name.startswith("enum ")
            found[f"{package}.{name.removeprefix('enum ')}".lstrip(".")] = (path, is_enum)
    return found


def file_of(name: str) -> str:
    """Returns the path of the file with the type of this full name."""
    return _places()[name][0]


@cache
def proto_file(path: str) -> ProtoFile:
    """Returns the description of a file."""
    section = _sections()[path]
    package = _package(section)
    types: list[ProtoMessage | ProtoEnum] = []
    for row in section.rows:
        head, _, body = row.partition(":")
        name = f"{package}.{head.removeprefix('enum ')}".lstrip(".")
        if head.startswith("enum "):
            types.append(ProtoEnum(name, {title: int(number) for number, title in _VALUE.findall(body)}))
        else:
            types.append(ProtoMessage(name, _parse_fields(name, body)))
    syntax = "proto2" if "proto2" in section.head else "proto3"
    return ProtoFile(path, package, syntax, tuple(_options(section.head, "public")), tuple(types))


def _parse_fields(scope: str, body: str) -> tuple[ProtoField, ...]:
    found, oneof = [], ""
    for match in _FIELD.finditer(body):
        oneof = match["oneof"] or oneof
        kind = match["kind"] if match["kind"] in SCALARS else _resolve(match["kind"], scope)
        found.append(
            ProtoField(
                int(match["number"]), match["name"], kind, kind not in SCALARS and _places()[kind][1],
                match["mark"] == "*", (match["keys"] or "string") if match["brace"] else "", oneof,
                match["mark"] == "?", bool(match["packed"]),
            )
        )  # fmt: skip
        if match["end"]:
            oneof = ""
    return tuple(found)


def _resolve(name: str, scope: str) -> str:
    """Returns the full name of a type: the innermost scope that has it."""
    while scope:
        if f"{scope}.{name}" in _places():
            return f"{scope}.{name}"
        scope = scope.rpartition(".")[0]
    if name not in _places():
        raise KeyError(f"no message or enum {name}")
    return name


@cache
def message(name: str) -> ProtoMessage:
    """Returns the message with this name; that of package `tensorflow` may be omitted."""
    full = name if name in _places() else f"{PACKAGE}.{name}"
    found = next(kind for kind in proto_file(file_of(full)).types if kind.name == full)
    if not isinstance(found, ProtoMessage):
        raise TypeError(f"{full} is an enum")
    return found


@cache
def field_number(name: str, field: str) -> int:
    """Returns the number of a field of a message."""
    return next(found.number for found in message(name).fields if found.name == field)
