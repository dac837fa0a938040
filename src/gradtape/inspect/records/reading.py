"""Reads a tape back: the value and cotangent at every position between targets and sources, with names and lines.

Which forward values are known depends on the tape: a traced tape has an entry for every output, a checked tape keeps
them, any other tape has only the residuals of its gradient rules.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from ...backends.numpy.floating_point import run_silently
from ...core import nest
from ...core.composites import tensors_for_gradients
from ...core.locks import cached_property
from ...core.protocols import Line
from ...core.tensor import Tensor
from ...engine.registry.cotangents import materialize, zeros
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...engine.run.namespace import ops, raw
from ...engine.run.source_lines import LineReference, line_at
from ...engine.tape.backprop import SparseCotangents, between, sweep
from ...engine.tape.log import Log, Past
from ...engine.tape.validation import differentiable, native, ones
from .cells import cell_name
from .event_log import Event, TracingLog, events
from .variable_reads import Origin


class Reading:
    """One gradient computation on a tape, of `target` with respect to `sources`, and all intermediate results.

    Without a target it is the tape's last gradient computation or, if there was none, about the last recorded value;
    without sources, it is about everything the tape watches.
    """

    def __init__(self, tape: Any, target: Any = None, sources: Any = None, doing: str = "inspect this tape") -> None:
        self.log = require_log(tape, doing)
        # A list, as a record takes long to read; but a log with a budget would recompute all residuals for it.
        self.records = list(self.log.records) if type(self.log.saved) is list else self.log.records
        self._lines: dict[LineReference | Line, Line] = {}
        # By the `id` of an output of an op without a derivative: its key in `steps_of`.
        self.keys_beside: dict[int, Hashable] = {}
        asked_targets, asked_cotangents, asked_sources = self.log.last_query or ([], [], [])
        if target is not None:
            targets = [differentiable(t, "target") for t in tensors_for_gradients(nest.flatten(target))]
            cotangents = [None] * len(targets)
        else:
            targets, cotangents = asked_targets, asked_cotangents
        if sources is None and target is None and asked_sources:
            sources = asked_sources
        flat = None if sources is None else tensors_for_gradients(nest.flatten(sources))
        self.targets, self._asked_sources = tuple(targets), tuple(flat or ())
        self.target_values = [array_in_run(t) for t in targets if isinstance(t, Tensor)]
        self.seeds = self._seeds(targets, cotangents)
        if flat is not None:
            found = list(zip(flat, self.log.positions([differentiable(s, "source") for s in flat]), strict=True))
        else:
            found = list(self._watched())
        self.sources = [(source_name(s, self.line(at)), s, at) for s, at in found]

    def _seeds(self, targets: Iterable[Any], cotangents: Iterable[Any]) -> dict[int, Any]:
        seeds: dict[int, Any] = {}
        for target, g in zip(targets, cotangents, strict=True):
            at = self.log.position(target)
            if at is not None:
                g = ones(target) if g is None else g
                seeds[at] = seeds[at] + g if at in seeds else g
        if not seeds and not targets and (last := self._last_value()) is not None:
            at, value = last
            self.target_values = [value]
            seeds[at] = ones(self.tensors[at])
        return seeds

    def _last_value(self) -> tuple[int, Any] | None:
        """Returns the last recorded floating value, the most likely target if no gradient was computed."""
        for at in reversed(range(len(self.records))):
            if at in self.values and self.values[at].dtype.kind in "fcV":
                return at, self.values[at]
        return None

    def _watched(self) -> Iterator[tuple[Any, int]]:
        leaves = set(self.log.leaves)
        for variable, at in self.log.variable_positions():
            if at >= 0:
                leaves.discard(at)
                yield variable, at
        for at in sorted(leaves):
            yield self.tensors.get(at), at

    @cached_property
    def path(self) -> list[int]:
        """The positions between targets and sources, in order of execution."""
        return between(self.log, self.seeds, {at for _, _, at in self.sources if at is not None})

    @cached_property
    def _variables(self) -> dict[int, Any]:
        """The variables of a traced tape by position; empty if the tape tracks assignments."""
        if not isinstance(self.log, TracingLog) or self.log.tracks:
            return {}
        return {at: variable for variable, at in self.log.variable_positions() if at >= 0}

    def origin(self, x: Tensor, at: int | None) -> Origin | None:
        """Returns the origin of `x`, the value at position `at`, if it was read from a variable after an assignment."""
        if not isinstance(self.log, TracingLog) or type(x) not in REAL:
            return None
        variable = None if at is None else self._variables.get(at)
        return None if variable is None and at is not None else self.log.versions.origin(x, variable)

    @cached_property
    def tensors(self) -> dict[int, Tensor]:
        """The known tensors, by position."""
        log, key = self.log, self.log.key
        found: dict[int, Tensor] = {}

        def see(x: Any) -> None:
            if isinstance(x, Tensor):
                at = dispatch.entry(x.tracers, key)
                if at is not None:
                    found.setdefault(at, x)
            elif type(x) is tuple:
                for part in x:
                    see(part)

        if isinstance(log, TracingLog):
            for at, variable in self._variables.items():
                if (first := log.versions.initial(variable)) is not None:
                    found[at] = first
        see(self.targets)
        see(self._asked_sources)
        for record in log.records:
            if type(record) is tuple:
                see(record[2])
        for note in log.notes.values():
            see(note[1])
            see(tuple(note[3]))
        for at, x in getattr(log, "watched_tensors", {}).items():
            found.setdefault(at, x)
        see(tuple(getattr(log, "outputs", ())))
        for variable, at in log.variable_positions():
            if at >= 0 and at not in found:
                with dispatch.recorded_by(()):
                    found[at] = variable._as_tensor()
        return found

    @cached_property
    def values(self) -> dict[int, Any]:
        """The known arrays, by position."""
        return {at: array_in_run(x) for at, x in self.tensors.items()}

    @cached_property
    def cotangents(self) -> dict[int, Any]:
        """The cotangent at each position of the path, as an array."""
        return {at: as_array(g) for at, g in self._swept.items()}

    @cached_property
    def _swept(self) -> dict[int, Any]:
        """The same, as the values that gradient rules run on."""
        path = self.path
        m = self.namespace
        grads = SparseCotangents({at: g.array if m is raw else g for at, g in self.seeds.items()})
        with dispatch.recorded_by(()):
            sweep(
                self.log, grads, set(path), m=m, order=reversed(path), need=set(path), release=False, hooks={}
            )  # fmt: skip
            return {at: materialize(m, g) for at, g in grads.items() if g is not None}

    @property
    def namespace(self) -> Any:
        """The namespace that rules run on: bare arrays if every recorded value is a plain tensor, ops otherwise."""
        return raw if self.log.plain else ops

    def vjp(self, at: int, scale: float | None = None) -> tuple[Any, ...]:
        """Applies the rule of the record at `at` to its (scaled) cotangent; returns an array or None for each input."""
        op, parents, saved, outputs = self.records[at]
        m = self.namespace
        incoming = tuple(self._swept.get(i) for i in range(at, at + len(outputs or (None,))))
        if scale is not None:
            incoming = tuple(None if g is None else g * scale for g in incoming)
        if outputs is not None:
            incoming = tuple(
                zeros(m, shape, dtype) if g is None and not op.takes_none else g
                for g, (shape, dtype) in zip(incoming, outputs, strict=True)
            )
        given: Any = incoming if outputs is not None else incoming[0]
        on_path = set(self.path)
        parents = tuple(p if p in on_path else -1 for p in parents)
        with dispatch.recorded_by(()):
            found = run_silently(op.vjp_raw if m is raw else op.vjp, m, given, saved, parents)
            dense = [None if g is None else materialize(m, g) for g in found]
        return tuple(None if g is None else as_array(g) for g in dense)

    def inputs(self, at: int) -> list[Any]:
        """Returns the input arrays of the record at `at`, None for unknown ones."""
        op, parents, saved, _ = self.records[at]
        if at in self.log.notes:
            return [array_in_run(x) for x in self.log.notes[at][3]]
        found = [self.values.get(p) if p >= 0 else None for p in parents]
        kept = dict(zip(getattr(op, "kept", ()), saved, strict=False))
        for i, name in enumerate(getattr(op, "args", ())[: len(found)]):
            if found[i] is None and isinstance(kept.get(name), Tensor):
                found[i] = array_in_run(kept[name])
        return found

    def made_outside(self, at: int, i: int) -> Event | None:
        """Returns the event that produced input `i` of the record at `at` off the tape, if the event log has it."""
        noted = self.log.notes.get(at)
        event = None if noted is None else dispatch.entry(noted[3][i].tracers, events.key)
        return event if event is not None and event.op is not None else None

    def users(self, at: int) -> Iterator[int]:
        """Yields the positions of the records that use the value at `at`."""
        for i in range(at + 1, len(self.records)):
            record = self.records[i]
            if type(record) is tuple and at in record[1]:
                yield i

    def first(self, at: int) -> int:
        """Returns the position of the first output of the record that produced the value at `at`."""
        record = self.records[at]
        return record if type(record) is int else at

    def operation(self, at: int) -> Any:
        """Returns the op that produced the value at `at`; None for a leaf."""
        record = self.records[self.first(at)]
        return None if record is None else record[0]

    def parents(self, at: int) -> tuple[int, ...]:
        """Returns the positions that the value at `at` was computed from."""
        record = self.records[self.first(at)]
        return () if record is None else tuple(p for p in record[1] if p >= 0)

    def line(self, at: int | None) -> Line | None:
        """Returns the source line of the record at `at`, if the tape is traced."""
        if at is None or not isinstance(self.log, TracingLog):
            return None
        first = self.first(at)
        note = self.log.notes.get(first)
        reference = self.log.watch_lines.get(first) if note is None else note[0]
        if reference is not None and reference not in self._lines:  # cached: loops repeat the same lines
            self._lines[reference] = line_at(reference)
        return None if reference is None else self._lines[reference]

    def reference(self, at: int | None) -> LineReference | Line | None:
        """Returns the reference to the source line of the record at `at`, if the tape is traced."""
        return self.log.reference(at) if at is not None and isinstance(self.log, TracingLog) else None

    def name(self, at: int) -> str:
        """Returns the name of the value at `at`: that of the variable, or of the op that produced it."""
        op = self.operation(at)
        if op is not None:
            return op.name
        variable = self._variable_at.get(at)
        return "a watched tensor" if variable is None else source_name(variable, None)

    def is_variable(self, at: int) -> bool:
        """Whether the value at `at` is that of a variable, and not a watched tensor or a result."""
        return at in self._variable_at

    @cached_property
    def _variable_at(self) -> dict[int, Any]:
        return {at: variable for variable, at in self.log.variable_positions()}


def array_in_run(x: Any) -> Any:
    """Returns the array of a tensor as it is in this run.

    The value of a tensor being traced is read without making the graph depend on it; that of a batched tensor has an
    additional leading axis.
    """
    while hasattr(type(x), "value"):  # a traced or batched tensor, or one wrapped by `nan_safe`
        x = x.value
    return np.asarray(x.array)


def as_array(g: Any) -> Any:
    """Returns a cotangent as an array."""
    return array_in_run(g) if isinstance(g, Tensor) else np.asarray(g)


def require_log(tape: Any, doing: str) -> Log:
    """Returns the log of a tape with all of its records, or raises an error that says how to keep them."""
    log = tape._log or tape._past
    if log is None and not tape._entered:
        raise RuntimeError(f"Cannot {doing}: it was never entered. Use `with tape:` first")
    if log is None or any(type(op) is Past for op in log.ops):
        raise RuntimeError(
            f"Cannot {doing}: a GradientTape releases its records after its first gradient. Create it with trace=True "
            "(which also gives lines and times), check='nan' or persistent=True"
        )
    return log


def require_path(path: object, usage: str) -> None:
    """Raises TypeError, with the usage of a method of tapes, if what it got as a path is none."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"{usage}: got {path!r} of type {type(path).__name__}")


def source_name(source: Any, line: Line | None) -> str:
    """Returns the name of a variable or watched tensor; of a Keras variable, its path."""
    path = getattr(source, "path", None) or getattr(native(source), "path", None)
    if isinstance(path, str):
        return path
    if source is not None and not isinstance(source, Tensor):
        return str(native(source).name).partition(":")[0]
    shape = "" if source is None else f" of shape {source.dims}"
    return f"tensor{shape}" + ("" if line is None else f" watched at {short(line)}")


def short(line: Line | None) -> str:
    """Formats a line as `file.py:12 in step`; empty for None."""
    if line is None:
        return ""
    file, number, function = line
    return f"{_short_file(file)}:{number}" + ("" if function == "<module>" else f" in {function}")


def _short_file(file: str) -> str:
    return cell_name(file) or os.path.basename(file)


def source_text(line: Line | None) -> str:
    """Returns the text of a source line, or an empty string if it cannot be read."""
    return "" if line is None else linecache.getline(line[0], line[1]).strip()


def line_data(line: Line) -> dict[str, Any]:
    """Returns a source line and its text as a JSON object."""
    file, number, function = line
    return {"file": _short_file(file), "number": number, "function": function, "text": source_text(line)}


def readable_time(seconds: float) -> str:
    """Formats a duration: `1.5 ms`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e6:.1f} µs"
