"""When this process has waited for others: collectives note it, and a profile reads it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import NamedTuple

_KEPT = 10_000  # of the last ones


class Wait(NamedTuple):
    """What was waited for, and from when to when, in nanoseconds of `perf_counter_ns`."""

    what: str
    start: int
    end: int


_waits: deque[Wait] = deque(maxlen=_KEPT)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """In the block this thread waits for other processes."""
    start = perf_counter_ns()
    try:
        yield
    finally:
        _waits.append(Wait(what, start, perf_counter_ns()))


def waits_since(start: int) -> list[Wait]:
    """Those that began after a moment."""
    return [wait for wait in list(_waits) if wait.start >= start]
