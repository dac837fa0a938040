"""Mutates the structure of a Protocol Buffers message without a schema."""

from __future__ import annotations

import copy
import random
from typing import Any

from gradtape.core.protos import wire

from .mutations import HOSTILE_NUMBERS, HOSTILE_TEXT

Field = list[Any]  # number, wire type, and an integer, bytes, or the fields of a message
_INTEGERS = [n for n in HOSTILE_NUMBERS if isinstance(n, int)]


def mutate_protobuf(data: bytes, rng: random.Random) -> bytes:
    """Replaces, deletes, duplicates, swaps or moves a few fields anywhere in a message."""
    message = _parsed(data) or []
    for _ in range(rng.randint(1, 3)):
        slots = list(_slots(message))
        if slots:
            _mutate(*rng.choice(slots), slots, rng)
    return _encoded(message)


def _parsed(data: bytes, depth: int = 0) -> list[Field] | None:
    """Returns the fields of a message and of nested ones; None for bytes that are not a message."""
    try:
        found: list[Field] = [list(field) for field in wire.fields(data)]
    except wire.DecodeError:
        return None
    if any(not 0 < number < 1000 for number, _, _ in found):
        return None
    for field in found:
        if field[1] == wire.BYTES and depth < 30 and field[2]:
            field[2] = _parsed(field[2], depth + 1) or field[2]
    return found


def _slots(message: list[Field]) -> Any:
    for at, field in enumerate(message):
        yield message, at
        if isinstance(field[2], list):
            yield from _slots(field[2])


def _mutate(message: list[Field], at: int, slots: list[Any], rng: random.Random) -> None:
    if at >= len(message):
        return  # an earlier mutation removed it
    field = message[at]
    other_message, other_at = rng.choice(slots)
    match rng.randrange(8):
        case 0:
            del message[at]
        case 1:
            message.insert(at, copy.deepcopy(field))
        case 2 if other_at < len(other_message):
            message[at] = copy.deepcopy(other_message[other_at])
        case 3 if other_at < len(other_message):
            message[at] = [field[0], *copy.deepcopy(other_message[other_at][1:])]
        case 4:
            field[0] = rng.randint(1, 20)
        case 5:
            message[at] = [field[0], wire.VARINT, rng.choice(_INTEGERS)]
        case _:
            _mutate_value(field, rng)


def _mutate_value(field: Field, rng: random.Random) -> None:
    if field[1] == wire.VARINT:
        field[2] = rng.choice([*_INTEGERS, rng.randrange(30), field[2] + 1, field[2] - 1])
    elif field[1] == wire.BYTES and not isinstance(field[2], list):
        cut = rng.randrange(len(field[2]) + 1)
        texts = [text.encode() for text in HOSTILE_TEXT]
        field[2] = rng.choice([*texts, field[2][:cut], field[2] + field[2], rng.randbytes(cut), field[2][:cut] + b"x"])
    elif field[1] == wire.BYTES:
        field[2] = []
    else:
        field[2] = rng.randbytes(len(field[2]))


def _encoded(message: list[Field], depth: int = 0) -> bytes:
    parts = []
    for number, kind, value in message:
        if kind == wire.VARINT:
            parts.append(wire.number_field(number, value))
        elif kind == wire.BYTES:
            inner = b"" if depth > 60 else _encoded(value, depth + 1) if isinstance(value, list) else value
            parts.append(wire.field(number, inner))
        else:
            parts.append(wire.varint(number << 3 | kind) + value)
    return b"".join(parts)
