"""Profiles a step: time and saved bytes, forward and backward, by op, by layer and by source line.

A traced tape records the time of every record. The op of a record is run again on its inputs to measure its part of the
time since the previous record; the rest is Python overhead, a row of its own. Backward times are those of a second
sweep, which keeps everything. The time the process has waited for other processes since the tape began is a separate
row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

from ...core.budgets import readable_bytes
from ...core.protocols import Line
from ...core.tensor import Tensor
from ...engine.registry.cotangents import PendingSum
from ...engine.registry.devices import DeviceTensor
from ...engine.run import dispatch
from ...engine.run.namespace import raw
from ...engine.tape.backprop import SparseCotangents, sweep
from ...state.waits import waits_since
from ..records.event_log import TracingLog
from ..records.layers import layer_paths
from ..records.reading import Reading, readable_time, short, source_text
from ..records.tables import Printable, Table
from .memory import iterate_kept_arrays

_MOST_ROWS = 15


@dataclass
class Cost:
    """The cost of records: seconds forward (None if the tape was not traced) and backward, bytes saved."""

    records: int = 0
    forward: float | None = None
    backward: float = 0.0
    kept: int = 0

    @property
    def time(self) -> float:
        """Forward plus backward time."""
        return (self.forward or 0.0) + self.backward

    def add(self, other: Cost) -> None:
        """Adds the cost of further records."""
        self.records += other.records
        if other.forward is not None:
            self.forward = (self.forward or 0.0) + other.forward
        self.backward += other.backward
        self.kept += other.kept


@dataclass(frozen=True, repr=False)
class Profile(Printable):
    """The costs of a tape's records; `of_records` by position."""

    of_records: dict[int, Cost]
    ops: dict[int, str] = field(default_factory=dict)
    lines: dict[int, Line | None] = field(default_factory=dict)
    layers: dict[int, str] = field(default_factory=dict)
    collectives: Cost | None = None  # one record per call; None if there were none, or the tape was not traced
    python: Cost | None = None  # between ops; None if the tape was not traced

    @property
    def total(self) -> Cost:
        """The total, excluding collectives."""
        total = _sum_costs((0, cost) for cost in self.of_records.values()).get(0, Cost())
        if self.python is not None:
            total.add(self.python)
        return total

    @property
    def by_op(self) -> dict[str, Cost]:
        """The cost of each op, the most expensive first."""
        return _sum_costs((self.ops[at], cost) for at, cost in self.of_records.items())

    @property
    def by_line(self) -> dict[Line, Cost]:
        """The cost of each source line, the most expensive first."""
        known = ((self.lines[at], cost) for at, cost in self.of_records.items())
        return _sum_costs((line, cost) for line, cost in known if line is not None)

    @property
    def by_layer(self) -> dict[str, Cost]:
        """The cost of each layer (name scope, Keras layer or user function call), the most expensive first."""
        known = ((self.layers.get(at, ""), cost) for at, cost in self.of_records.items())
        return _sum_costs((layer, cost) for layer, cost in known if layer)

    def tables(self) -> list[Table]:
        """Returns the costs by op, by layer, then by line."""
        total = self.total
        traced = total.forward is not None
        spent = readable_time(total.time) if total.records else "nothing"
        title = f"{total.records} records, {spent}, {readable_bytes(total.kept)} kept"
        numbers = [">records", ">forward", ">backward", ">share", ">kept"]
        ops = Table(title, ["op", *numbers])
        ops.rows = [[op, *_cells(cost, total)] for op, cost in list(self.by_op.items())[:_MOST_ROWS]]
        if self.python is not None and self.of_records:
            ops.rows.append(["Python", "", *_cells(self.python, total)[1:4], ""])
        if self.collectives is not None:
            waited = self.collectives
            share = waited.time / (total.time + waited.time)
            cells = [str(waited.records), readable_time(waited.forward or 0.0), readable_time(waited.backward)]
            ops.rows.append(["collectives", *cells, f"{share:.0%}", ""])
            ops.notes.append("Collectives: the time that this process waited for others, outside XLA programs.")
        if not traced:
            ops.notes.append("GradientTape(trace=True) adds forward times and the lines of the program.")
            return [ops]
        ops.notes.append("Python: the time between the ops, forward. An op's own time is that of running it once more.")
        layers = Table("By layer", ["layer", *numbers])
        layers.rows = [[layer, *_cells(cost, total)] for layer, cost in list(self.by_layer.items())[:_MOST_ROWS]]
        lines = Table("By line", ["line", *numbers, ""])
        for line, cost in list(self.by_line.items())[:_MOST_ROWS]:
            lines.rows.append([short(line), *_cells(cost, total), source_text(line)[:60]])
        return [ops, *([layers] if len(layers.rows) > 1 else []), lines]


def _cells(cost: Cost, total: Cost) -> list[str]:
    forward = "" if cost.forward is None else readable_time(cost.forward)
    share = f"{cost.time / total.time:.0%}" if total.time else ""
    return [str(cost.records), forward, readable_time(cost.backward), share, readable_bytes(cost.kept)]


def _sum_costs(pairs: Any) -> dict[Any, Cost]:
    sums: dict[Any, Cost] = {}
    for key, cost in pairs:
        sums.setdefault(key, Cost()).add(cost)
    return dict(sorted(sums.items(), key=lambda item: -item[1].time))


def profile(tape: Any, target: Any = None, sources: Any = None) -> Profile:
    """Measures the costs of the records on `tape`; see `GradientTape.profile`.

    >>> v = tf.Variable(tf.ones([100, 100]))
    >>> with tf.GradientTape(trace=True) as tape:
    ...     y = tf.reduce_sum(v @ v)
    >>> found = tf.inspect.profile(tape, y, v)
    >>> sorted(found.by_op), found.total.forward > 0 and found.total.backward > 0
    (['matmul', 'sum'], True)
    """
    reading = Reading(tape, target, sources, "profile this tape")
    positions = [at for at, record in enumerate(reading.records) if type(record) is tuple]
    costs = {at: Cost(records=1) for at in positions}
    collectives = _collectives(reading.log) if isinstance(reading.log, TracingLog) else None
    python = None
    if isinstance(reading.log, TracingLog):
        python = Cost(forward=0.0 if collectives is None else -(collectives.forward or 0.0))
        before = reading.log.started
        for at in positions:
            if (note := reading.log.notes.get(at)) is not None:
                passed = (note[2] - before) * 1e-9
                costs[at].forward = min(passed, _measure_op(reading.records[at][0], note, passed))
                python.add(Cost(forward=passed - (costs[at].forward or 0.0)))
                before = note[2]
        python.forward = max(0.0, python.forward or 0.0)
    for at, seconds in backward_times(reading).items():
        costs[at].backward = seconds
    for kept in iterate_kept_arrays(reading.log):
        if kept.for_derivative:
            costs[kept.position].kept += kept.bytes
    names = {at: reading.records[at][0].name for at in positions}
    layers = {at: "/".join(path) for at, path in layer_paths(reading, positions)}
    return Profile(costs, names, {at: reading.line(at) for at in positions}, layers, collectives, python)


def _measure_op(op: Any, note: Any, otherwise: float) -> float:
    """Measures an op on its recorded inputs; returns `otherwise` if a replay would call Python or have side effects."""
    if getattr(op, "family", None) in ("call", "custom") or getattr(op, "effect", False) or not hasattr(op, "numpy"):
        return otherwise
    if any(type(x) is not Tensor for x in note[3]):
        return otherwise
    with dispatch.recorded_by(()):
        began = perf_counter_ns()
        try:
            dispatch.run(op, note[3], note[4])
        except Exception:  # a value was overwritten since: only the total time is known
            return otherwise
        return (perf_counter_ns() - began) * 1e-9


def _collectives(log: TracingLog) -> Cost | None:
    """Returns the time spent waiting for other processes: before the last record, and after it."""
    waits = waits_since(log.started)
    forward_ends = max([note[2] for note in log.notes.values()], default=log.started)
    forward, after = (
        sum([wait.end - wait.start for wait in waits if (wait.start < forward_ends) is early]) * 1e-9
        for early in (True, False)
    )
    return Cost(len(waits), forward, after) if waits else None


class _Clock:
    """Hooks that time rules: the sweep tests a position's membership when its cotangent is complete.

    That is when the rule of the position starts.

    Pending sums are evaluated in the time of the position whose cotangent they are.
    """

    def __init__(self, grads: SparseCotangents) -> None:
        self.started: list[tuple[int, int]] = []
        self._grads = grads

    def __contains__(self, position: int) -> bool:
        if type(self._grads[position]) is DeviceTensor:
            self._grads[position].module.synchronize()
        self.started.append((position, perf_counter_ns()))
        if isinstance(self._grads[position], PendingSum):
            self._grads[position].value()
        return False

    def __getitem__(self, position: int) -> Any:
        raise KeyError(position)


def backward_times(reading: Reading) -> dict[int, float]:
    """Returns the seconds that the rule of each record takes in a sweep."""
    plain = reading.namespace is raw
    grads = SparseCotangents({at: g.array if plain else g for at, g in reading.seeds.items()})
    clock: Any = _Clock(grads)
    path = reading.path
    with dispatch.recorded_by(()):
        sweep(
            reading.log, grads, {at for _, _, at in reading.sources if at is not None}, m=reading.namespace,
            order=reversed(path), need=set(path), release=False, hooks=clock,
        )  # fmt: skip
    ends = [time for _, time in clock.started[1:]] + [perf_counter_ns()][: len(clock.started)]
    found: dict[int, float] = {}
    for (at, start), end in zip(clock.started, ends, strict=True):
        record = reading.records[at]
        if record is None:  # work at a leaf is deferred work of the rules of its users
            owners = [i for i in path if type(reading.records[i]) is tuple and at in reading.records[i][1]]
        else:
            owners = [record if type(record) is int else at]
        for owner in owners:
            found[owner] = found.get(owner, 0.0) + (end - start) * 1e-9 / len(owners)
    return found
