"""A log of the times when this process waits for others: collectives write it and the profiler reads it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import NamedTuple

_KEPT = 10_000  # only the most recent waits are retained


class Wait(NamedTuple):
    """What the process waited for, with start and end in nanoseconds of `perf_counter_ns`."""

    what: str
    start: int
    end: int


_waits: deque[Wait] = deque(maxlen=_KEPT)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Records the duration of the block as a wait for other processes."""
    start = perf_counter_ns()
    try:
        yield
    finally:
        _waits.append(Wait(what, start, perf_counter_ns()))


def waits_since(start: int) -> list[Wait]:
    """Returns the waits that began at `start` or later."""
    return [wait for wait in list(_waits) if wait.start >= start]
