"""Measures what tapes keep alive: saved arrays by op and line; lists live tapes and their referrers."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from ...core.budgets import readable_bytes
from ...core.protocols import Line
from ...core.tensor import Tensor
from ...engine.memory.policy import Account
from ...engine.memory.store import Store
from ...engine.registry.devices import DeviceTensor
from ...engine.registry.op import SingleInputRule
from ...engine.run import dispatch
from ...engine.run.source_lines import line_at
from ...engine.tape.budgets import BudgetedLog
from ...engine.tape.log import Log
from ...engine.tape.tape import Tape
from ..records.charts import BLUE, ORANGE, render_lines, sparkline
from ..records.reading import array_in_run, require_log, short
from ..records.tables import Printable, Table

_OLD = 60.0  # seconds after which a persistent tape is reported
_MANY = 3  # this many tapes from one line are one per step: a leak
_MOST_ROWS = 12


@dataclass(frozen=True)
class RetainedArray:
    """One array that a tape keeps, and the record that needs it."""

    bytes: int
    shape: tuple[int, ...]
    dtype: str
    op: str
    position: int
    line: Line | None
    for_derivative: bool = True  # otherwise kept only for explanations, by a traced or checked tape


@dataclass(frozen=True, repr=False)
class Memory(Printable):
    """What a tape keeps alive for gradients and, if it is traced or checked, for explanations; excludes variables."""

    kept: list[RetainedArray]
    records: int
    variables: int  # bytes of the watched variables, which are alive anyway
    budget: Account | None = None  # what a tape with a memory budget did to stay within it
    limit: float | None = None  # the bytes that the budget allows

    @property
    def total(self) -> int:
        """The bytes kept."""
        return sum(k.bytes for k in self.kept)

    @property
    def by_op(self) -> dict[str, int]:
        """The bytes kept for each op, the most first."""
        return _sum_by_key((k.op, k.bytes) for k in self.kept)

    @property
    def by_line(self) -> dict[Line | None, int]:
        """The bytes kept for each source line, the most first."""
        return _sum_by_key((k.line, k.bytes) for k in self.kept)

    @property
    def biggest(self) -> list[RetainedArray]:
        """The arrays, the biggest first."""
        return sorted(self.kept, key=lambda k: -k.bytes)

    def tables(self) -> list[Table]:
        """Returns the totals, by op, by line, and the biggest arrays."""
        title = f"This tape keeps {readable_bytes(self.total)} in {len(self.kept)} arrays for {self.records} records"
        notes = [f"The variables it watches hold {readable_bytes(self.variables)} more, which are live in any case."]
        if explaining := sum(k.bytes for k in self.kept if not k.for_derivative):
            kept = readable_bytes(explaining)
            notes.append(f"{kept} of it are kept for explanations only (trace=True, check='nan').")
        if self.budget is not None:
            notes.append(_budget_note(self.budget))
            if self.limit == Store.least_limit:
                notes.append(f"The budget is the minimum for a tape, {readable_bytes(Store.least_limit)}.")
        ops = Table(title, ["op", ">kept", ">share"], notes=notes)
        ops.rows = [[op, readable_bytes(n), _share(n, self.total)] for op, n in self.by_op.items()][:_MOST_ROWS]
        arrays = Table("The largest arrays", ["shape", "dtype", ">bytes", "kept for", "line"])
        for k in self.biggest[:_MOST_ROWS]:
            arrays.rows.append([str(list(k.shape)), k.dtype, readable_bytes(k.bytes), k.op, short(k.line)])
        if self.budget is not None and self.limit is not None:
            return [ops, _timeline(self.budget, self.limit), arrays]
        if not any(self.by_line):
            ops.notes.append("GradientTape(trace=True) adds the lines of the program.")
            return [ops, arrays]
        lines = Table("By line", ["line", ">kept", ">share"])
        known = [(line, n) for line, n in self.by_line.items() if line is not None]
        lines.rows = [[short(line), readable_bytes(n), _share(n, self.total)] for line, n in known[:_MOST_ROWS]]
        return [ops, lines, arrays]

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the tables, with a chart of the memory over time if there is a budget."""
        from ..records.html import render_table

        if self.budget is None or self.limit is None:
            return super()._repr_html_()
        ops, _, arrays = map(render_table, self.tables())
        return ops + _render_timeline(self.budget, self.limit) + arrays


def memory(tape: Any) -> Memory:
    """Measures what `tape` keeps alive; see `GradientTape.memory`.

    >>> x = tf.Variable(tf.ones([1000]))
    >>> with tf.GradientTape() as tape:
    ...     y = tf.exp(x * 2.0)
    >>> tf.inspect.memory(tape).by_op
    {'exp': 4000, 'mul': 4}
    """
    log = require_log(tape, "measure the memory of this tape")
    records = sum(op is not None for op in log.ops)
    account, limit = None, None
    if isinstance(log, BudgetedLog):
        account, limit = log.store.account, log.store.limit
        account = replace(account, recording=copy(account.recording), sweeping=copy(account.sweeping))
    return Memory(list(iterate_kept_arrays(log)), records, sum(map(_bytes, _variables(log).values())), account, limit)


def _budget_note(account: Account) -> str:
    without, most = readable_bytes(account.wanted), readable_bytes(account.peak)
    text = (
        f"Without its budget it would keep {without}; it kept {most} at most. {account.evictions} blocks were evicted"
    )
    text += f" ({readable_bytes(account.written)} written to disk)" if account.written else ""
    return f"{text}, {account.recomputations} ops recomputed in {account.seconds:.2g} s."


def _timeline(account: Account, limit: float) -> Table:
    """Returns the bytes held over time as characters, relative to the most that a tape without a budget would hold."""
    without = [wanted for _, wanted in account.recording]
    series = {"recording, without a budget": without, "recording": [held for held, _ in account.recording]}
    if account.sweeping:
        series["backward pass"] = account.sweeping
    top = max(map(max, filter(None, series.values())), default=0)
    table = Table(f"Bytes held over time, within {readable_bytes(limit)}", ["while", ">most", "over time"])
    table.rows = [[name, readable_bytes(max(line, default=0)), sparkline(line, top)] for name, line in series.items()]
    return table


def _render_timeline(account: Account, limit: float) -> str:
    held, wanted = [x for x, _ in account.recording], [x for _, x in account.recording]
    length = len(held) + len(account.sweeping)
    return render_lines(
        [("held", BLUE, held + account.sweeping), ("without a budget", ORANGE, wanted)],
        [("budget", limit)], "The bytes held over time", readable_bytes,
        ("backward pass", len(held) / length) if account.sweeping else None,
    )  # fmt: skip


def iterate_kept_arrays(log: Log) -> Iterator[RetainedArray]:
    """Yields each array that a tape keeps once, for the first record that needs it; excludes those of variables."""
    seen = set(_variables(log))
    line = getattr(log, "line", lambda at: None)
    for at, op, values, for_derivative in (*_iterate_residuals(log), *_iterate_explanation_values(log)):
        for array in _arrays(values):
            owner = _owner(array)
            if id(owner) not in seen:
                seen.add(id(owner))
                yield RetainedArray(_bytes(owner), array.shape, str(array.dtype), op, at, line(at), for_derivative)


def _iterate_residuals(log: Log) -> Iterator[tuple[int, str, Any, bool]]:
    if isinstance(log, BudgetedLog):
        for at, op, held in log.held():
            yield at, op.op.name if type(op) is SingleInputRule else op.name, held, True
        return
    for at, record in enumerate(log.records):
        if type(record) is tuple:
            yield at, record[0].name, (record[2], getattr(record[0], "_kept", ())), True


def _iterate_explanation_values(log: Log) -> Iterator[tuple[int, str, Any, bool]]:
    """Yields the entries of a traced log and the outputs of a checked one, some of which are on no tape."""
    for at, (_, outputs, _, inputs, _) in log.notes.items():
        yield at, log.records[at][0].name, (outputs, tuple(inputs)), False
    for y in getattr(log, "outputs", ()):
        if (position := log.position(y)) is not None:
            record = log.records[position]
            first = record if type(record) is int else position
            yield first, "a watched tensor" if record is None else log.records[first][0].name, y, False


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, Tensor):
        yield _array_of(value)
    elif hasattr(value, "nbytes"):  # an array, also of PyTorch: what its kernel leaves for the derivative
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _arrays(part)


def _array_of(x: Tensor) -> Any:
    """Returns the array that a tensor holds, on its device if it has one."""
    return x.buffer if type(x) is DeviceTensor else array_in_run(x)


def _owner(array: Any) -> Any:
    """Returns the array that owns the memory of a view."""
    while isinstance(array, np.ndarray) and type(array.base) is np.ndarray:
        array = array.base
    return array


def _bytes(array: Any) -> int:
    return int(array.nbytes)


def _variables(log: Log) -> dict[int, Any]:
    with dispatch.recorded_by(()):
        held = [_owner(_array_of(variable._as_tensor())) for variable in log.variables]
    return {id(owner): owner for owner in held}


def _sum_by_key(pairs: Any) -> dict[Any, int]:
    sums: Counter[Any] = Counter()
    for key, count in pairs:
        sums[key] += count
    return dict(sums.most_common())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""


@dataclass(frozen=True)
class LiveTape:
    """A live tape: its age (None unless it is persistent or traced), what it keeps, and its referrers."""

    age: float | None
    line: Line | None
    persistent: bool
    records: int
    bytes: int
    held_by: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class LiveTapes(Printable):
    """The live tapes that hold records, those that keep the most first."""

    rows: list[LiveTape]

    @property
    def warnings(self) -> list[str]:
        """Likely leaks."""
        found = []
        made = Counter(row.line for row in self.rows if row.line is not None)
        for line, count in made.items():
            kept = sum(row.bytes for row in self.rows if row.line == line)
            if count >= _MANY:
                found.append(
                    f"{count} tapes created at {short(line)} are alive and keep {readable_bytes(kept)}: one per step? "
                    "Delete each after use (`del tape`); do not store tapes, or closures over them, in lists."
                )
        for row in self.rows:
            if row.persistent and row.line is not None and (row.age or 0) > _OLD and made[row.line] < _MANY:
                found.append(
                    f"A persistent tape created at {short(row.line)} is {row.age:.0f} s old and keeps "
                    f"{readable_bytes(row.bytes)}. Delete it (`del tape`) once its gradients have been computed."
                )
        return found

    def tables(self) -> list[Table]:
        """Returns the tapes, with the warnings."""
        table = Table(
            f"{len(self.rows)} tapes are alive", ["made at", ">age", "kind", ">records", ">keeps", "held by"],
            notes=[f"Warning: {text}" for text in self.warnings],
        )  # fmt: skip
        for row in self.rows:
            age = "" if row.age is None else f"{row.age:.0f} s"
            kind = "persistent" if row.persistent else "one question"
            holders = "; ".join(row.held_by) or "a local variable"
            table.rows.append([short(row.line), age, kind, str(row.records), readable_bytes(row.bytes), holders])
        return [table]


def live_tapes() -> LiveTapes:
    """Lists the live tapes that hold records: their ages, what they keep, and their referrers.

    >>> x = tf.Variable(tf.ones([1000]))
    >>> with tf.GradientTape(persistent=True) as tape:
    ...     y = tf.exp(x)
    >>> found = tf.inspect.live_tapes()
    >>> any(row.persistent and row.bytes == 4000 for row in found.rows)
    True
    """
    tapes = [x for x in gc.get_objects() if issubclass(type(x), Tape)]
    rows = []
    for tape in tapes:
        log = tape._log or tape._past
        if log is None or not log.records:
            continue
        born = tape._born
        age, line = (None, None) if born is None else (time.monotonic() - born[0], line_at(born[1]))
        kept = sum(k.bytes for k in iterate_kept_arrays(log))
        records = sum(type(r) is tuple for r in log.records)
        rows.append(LiveTape(age, line, tape._persistent, records, kept, tuple(_holders(tape, tapes))))
    return LiveTapes(sorted(rows, key=lambda row: -row.bytes))


def _holders(tape: Any, tapes: list[Any]) -> Iterator[str]:
    """Yields the referrers of a tape that the garbage collector knows."""
    for referrer in gc.get_referrers(tape):
        if referrer is tapes or isinstance(referrer, FrameType):
            continue
        if isinstance(referrer, dict):
            name = _key_of(referrer, tape)
            owners = [o for o in gc.get_referrers(referrer) if getattr(o, "__dict__", None) is referrer]
            if not owners:
                yield f"key {name} of a dict"
            elif isinstance(owners[0], ModuleType):
                yield f"global {name} of {owners[0].__name__}"
            else:
                yield f"attribute {name} of a {type(owners[0]).__name__}"
        elif isinstance(referrer, list | tuple | set):
            yield f"a {type(referrer).__name__} of {len(referrer)}"
        elif type(referrer).__name__ == "cell":
            yield "a closure"
        elif hasattr(referrer, "__dict__"):
            yield f"attribute {_key_of(vars(referrer), tape)} of a {type(referrer).__name__}"


def _key_of(items: dict[Any, Any], value: Any) -> str:
    for key, found in items.items():
        if found is value:
            return repr(key)
    return "?"
