"""Damages files as a fuzzer does: bytes, JSON structure and members of a zip archive."""

from __future__ import annotations

import copy
import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

# Text that would leave a mark if it reached an interpreter, an attribute lookup or a file name.
HOSTILE_TEXT = [
    "__import__('os').system('touch MARK')", "x=open('MARK','w').write('x'), y", "__class__", "__globals__",
    "../../MARK", "/MARK", "a\nopen('MARK','w')", "'); open('MARK','w'); ('", "{open('MARK','w')}", "\0", "é" * 50, "",
]
SIZES_OF_GIGABYTES = [2**31 - 1, 2**31, 2_000_000_000]  # which some machines can allocate, in more or less time
HOSTILE_NUMBERS = [-1, 0, 1, *SIZES_OF_GIGABYTES, 2**63, -(2**63), 10**30, 1.5, float("nan"), float("inf")]


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flips, inserts, deletes, repeats or truncates a few bytes."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(damaged) + 1)
        span = rng.choice([1, 1, 4, 8, 64])
        match rng.randrange(5):
            case 0 if damaged:
                damaged[at % len(damaged)] ^= 1 << rng.randrange(8)
            case 1:
                damaged[at:at] = rng.randbytes(span)
            case 2:
                del damaged[at : at + span]
            case 3:
                damaged[at:at] = damaged[at : at + span]
            case _:
                damaged[at : at + span] = rng.choice([b"\xff", b"\0"]) * span
    return bytes(damaged[: rng.randrange(len(damaged) + 1)] if rng.random() < 0.1 else damaged)


def mutate_json(text: str | bytes, rng: random.Random, numbers: Sequence[float] = HOSTILE_NUMBERS) -> str:
    """Replaces, renames, deletes, duplicates or swaps a few values anywhere in a JSON document."""
    document = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        slots = list(_slots(document))
        if not slots:
            break
        container, key = rng.choice(slots)
        _mutate_slot(container, key, slots, rng, numbers)
    return json.dumps(document)


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yields every (container, key) of nested dicts and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield value, key
        yield from _slots(part)


def _mutate_slot(
    container: Any, key: Any, slots: list[tuple[Any, Any]], rng: random.Random, numbers: Sequence[float]
) -> None:
    other_container, other_key = rng.choice(slots)
    match rng.randrange(6):
        case 0:
            container[key] = rng.choice(numbers)
        case 1:
            container[key] = rng.choice(HOSTILE_TEXT)
        case 2:
            container[key] = rng.choice([None, True, [], {}, [[]], [0] * 40])
        case 3:
            del container[key]
        case 4 if isinstance(container, dict):
            container[rng.choice([*HOSTILE_TEXT, *container])] = container.pop(key)
        case _:
            try:
                container[key] = copy.deepcopy(other_container[other_key])
            except (LookupError, TypeError):  # an earlier mutation removed it
                container[key] = None


def mutate_json_alike(text: str | bytes, rng: random.Random) -> str:
    """Replaces a few values of a JSON document by others of the same type, similar ones or ones from elsewhere."""
    document = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        slots = list(_slots(document))
        if not slots:
            break
        container, key = rng.choice(slots)
        value = container[key]
        alike = [c[k] for c, k in slots if type(c[k]) is type(value) and c[k] != value]
        match rng.randrange(4):
            case 0 if type(value) is int:
                container[key] = value + rng.choice([-2, -1, 1, 2, 5])
            case 0 if type(value) is bool:
                container[key] = not value
            case 1 if isinstance(container, list):
                other = rng.randrange(len(container))
                container[key], container[other] = container[other], container[key]
            case 2 if isinstance(container, list):
                container.insert(rng.randrange(len(container) + 1), copy.deepcopy(value))
            case _ if alike:
                container[key] = copy.deepcopy(rng.choice(alike))
    return json.dumps(document)


def mutate_zip(data: bytes, rng: random.Random, mutate_member: Callable[[str, bytes], bytes]) -> bytes:
    """Changes one member of an archive by `mutate_member(name, content)`, or drops, renames or duplicates it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    at = rng.randrange(len(members))
    name, content = members[at]
    match rng.randrange(8):
        case 0:
            del members[at]
        case 1:
            members[at] = (rng.choice(["../MARK", "/MARK", "MARK", name + "x", name.upper()]), content)
        case 2:
            members.append((name, rng.choice(members)[1]))
        case _:
            members[at] = (name, mutate_member(name, content))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for members with the same name
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def replace_member(data: bytes, name: str, replace: Callable[[bytes], bytes]) -> bytes:
    """Returns the archive with `replace(content)` in place of one member, and valid checksums."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as changed:
        for info in archive.infolist():
            content = archive.read(info)
            changed.writestr(info.filename, replace(content) if info.filename == name else content)
    return out.getvalue()
