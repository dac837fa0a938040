"""The registry of causes: each module in `families` registers the detectors of one family of causes.

A cause is one function, `detect(query) -> Finding | None`, with a priority. The first detector that finds something
answers; a more specific cause therefore has a smaller priority than a more general one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import NamedTuple, Protocol

from .query import Finding, Query
from .reasons import declare


class Priority(IntEnum):
    """When a detector runs. Values in between are for causes between two of them."""

    SOURCE = 100  # what the source is: an integer, not trainable, the target itself
    CONNECTED = 200  # a recorded path exists: zeros, and rules that give None
    OBSERVED_PATH = 300  # a path exists that the tape did not record
    UNKNOWN_SOURCE = 400  # the tape does not know the source, or came to know it too late
    ESCAPE = 500  # a value computed from the source left the tape
    NO_PATH = 600  # nothing leads to the target


class CauseDetector(Protocol):
    """Tests one hypothesis about a gradient; returns a finding if it holds."""

    def __call__(self, query: Query) -> Finding | None: ...


class RegisteredCause(NamedTuple):
    """A detector and its place in the order."""

    priority: int
    detect: CauseDetector
    name: str


_registered: list[RegisteredCause] = []


def detector(priority: int, label: str | None = None) -> Callable[[CauseDetector], CauseDetector]:
    """Registers a detector; with a `label`, declares the `Cause` of that value, which its findings have."""
    if label is not None:
        declare(label)

    def register(detect: CauseDetector) -> CauseDetector:
        name = f"{detect.__module__}.{getattr(detect, '__name__', detect)}"  # reloading a module replaces its detectors
        _registered[:] = [known for known in _registered if known.name != name]
        _registered.append(RegisteredCause(int(priority), detect, name))
        _registered.sort(key=lambda known: known.priority)
        return detect

    return register


@cache
def _load_families() -> None:
    """Imports all modules of `families`, found by name: the registry does not depend on them."""
    families = importlib.import_module(f"{__package__}.families")
    for module in sorted(found.name for found in pkgutil.iter_modules(families.__path__)):
        importlib.import_module(f"{families.__name__}.{module}")


def detectors() -> tuple[RegisteredCause, ...]:
    """Returns the detectors of all families in the order in which they are asked."""
    _load_families()
    return tuple(_registered)


def find_cause(query: Query) -> Finding:
    """Returns what the first detector finds."""
    for _, detect, _ in detectors():
        finding = detect(query)
        if finding is not None:
            return finding
    raise AssertionError("a detector always answers: `other_sources`")
