"""Traces values back to their origins, through the records of a tape and the events of the event log.

A step is a position on the tape, or an `Event`.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...engine.run.dispatch import entry
from ...engine.tape.log import Log, positions_in
from ..records.event_log import Event, TracingLog, events

Step = int | Event


def step_of(log: Log, tracer: Any) -> Step | None:
    """Returns the step that produced a value with this tracer, preferably one on the tape."""
    at = entry(tracer, log.key)
    return at if at is not None else entry(tracer, events.key)


def steps_before(log: Log, step: Step) -> Iterator[Step]:
    """Yields the steps whose results are inputs of a step."""
    if isinstance(step, Event):
        found = (step_of(log, tracer) for tracer in step.inputs)
        yield from (before for before in found if before is not None)
        return
    record = log.records[step]
    if type(record) is int:
        yield record
    elif record is None:
        if isinstance(log, TracingLog) and step in log.origins:
            yield log.origins[step]
    else:
        inputs = log.notes[step][3] if step in log.notes else ()
        for i, p in enumerate(record[1]):
            if p >= 0:
                yield p
            elif i < len(inputs):  # off the tape when it was used, though it may be on it by now
                yield events.event_of(inputs[i])


def path_between(log: Log, end: Step, is_start: Callable[[Step], bool]) -> list[Step] | None:
    """Finds the path from a step that `is_start` to `end` with the fewest events, then the fewest steps (Dijkstra).

    The path is in order of execution, or None. Preferring records over events skips a comparison that merely runs
    parallel to a recorded path.
    """
    later: dict[int, Step] = {}  # by identity: the following step on the path
    costs = {_identity(end): (0, 0)}
    queue: list[tuple[int, int, int, Step]] = [(0, 0, 0, end)]
    done: set[int] = set()
    number = itertools.count()  # a tie-breaker, as steps are not comparable
    while queue:
        unrecorded, length, _, step = heapq.heappop(queue)
        if _identity(step) in done:
            continue
        done.add(_identity(step))
        if is_start(step):
            path = [step]
            while _identity(path[-1]) in later:
                path.append(later[_identity(path[-1])])
            return path
        for before in steps_before(log, step):
            identity = _identity(before)
            cost = (unrecorded + isinstance(before, Event), length + 1)
            if identity not in costs or cost < costs[identity]:
                costs[identity] = cost
                later[identity] = step
                heapq.heappush(queue, (*cost, next(number), before))
    return None


def elsewhere(log: Log, tracers: Iterable[Any]) -> Iterator[tuple[TracingLog, int, Event | None]]:
    """Yields the ancestors of values with these tracers that other tapes recorded: their logs and positions.

    Each comes with the event that used the value, if known. Only the tapes of the last few steps are still known: see
    `TracingLog`.
    """
    queue: deque[tuple[Any, Event | None]] = deque((tracer, None) for tracer in tracers)
    seen: set[int] = set()
    while queue:
        tracer, user = queue.popleft()
        if tracer is None or id(tracer) in seen:
            continue
        seen.add(id(tracer))
        for other, at in positions_in(tracer):
            if other is not log and isinstance(other, TracingLog):
                yield other, at, user
        event: Event | None = entry(tracer, events.key)
        if event is not None:
            queue.extend((before, event) for before in event.inputs)
        if (position := entry(tracer, log.key)) is None:
            continue
        for before in ancestors(log, position):
            noted = log.notes.get(before)
            if noted is not None:
                queue.extend((x.tracers, None) for x in noted[3] if entry(x.tracers, log.key) is None)


def _identity(step: Step) -> int:
    """Returns a hashable identity: a position itself, or an event's address, as comparing events may take long."""
    return step if isinstance(step, int) else -id(step)


def descendants(log: Log, start: int) -> set[int]:
    """Returns the positions on the tape that were computed from `start`, including itself."""
    found = {start}
    for at in range(start + 1, len(log.records)):
        record = log.records[at]
        if type(record) is int:
            if record in found:
                found.add(at)
        elif record is not None and any(p in found for p in record[1]):
            found.add(at)
    return found


def ancestors(log: Log, end: int) -> set[int]:
    """Returns the positions on the tape that `end` was computed from, including itself."""
    found = {end}
    stack = [end]
    while stack:
        record = log.records[stack.pop()]
        before = () if record is None else (record,) if type(record) is int else record[1]
        for p in before:
            if p >= 0 and p not in found:
                found.add(p)
                stack.append(p)
    return found


def first_node_between(
    nodes: Sequence[Any], starts: Iterable[Any], ends: Iterable[Any]
) -> tuple[Any, int] | tuple[None, int]:
    """Returns the first node, with its index, on the shortest path in a graph from `starts` to `ends` (tensors)."""
    first = {place for x in starts if (place := getattr(x, "place", None)) is not None}
    makers = {place: i for i, node in enumerate(nodes) for place in node.outputs}
    queue = deque(makers[place] for x in ends if (place := getattr(x, "place", None)) in makers)
    seen = set(queue)
    while queue:
        i = queue.popleft()
        for place in nodes[i].inputs:
            if place in first:
                return nodes[i], i
            before = makers.get(place)
            if before is not None and before not in seen:
                seen.add(before)
                queue.append(before)
    return None, -1
