"""A tape that remembers where: of each record the line, the value and the time; and a witness of what is not recorded.

An explanation of a missing gradient needs to know what happened outside of the tape: before its block, after it, in
another thread, with a value that was never watched. The witness is told of all that, in every thread, while `tracing`
is on or a traced tape lives. It writes into the marks of tensors, as a tape does: an `Event` for each, which refers to
the marks of what it was computed from.
"""

from __future__ import annotations

import itertools
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from sys import is_finalizing
from time import perf_counter_ns
from typing import Any, NamedTuple

from ...core import nest, scopes
from ...core.tensor import Tensor, when_made
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.run import dispatch
from ...engine.run.dispatch import entry
from ...engine.run.source_lines import Line, LineReference, here, line_at, users_frame
from ...engine.tape import inspection
from ...engine.tape.log import Log, new_key
from ...graph.ir import graph
from ...graph.ir.effects import guard, shape_guard
from .never_raises import never_raises, say_once
from .noting import NO_ATTRIBUTES, NotingLog
from .variable_reads import UpdateByCall, VariableVersions

_RECENT_LOGS = 4  # whose values may be met again: two steps of a program with two tapes
_MOST_STEPS = 2000  # of a computation that nobody records, the last ones are remembered

_tick = itertools.count(1).__next__
_lock = threading.RLock()  # the collector may end a traced tape while it is held here
_holders = 0


class _Replayed(threading.local):
    """The line of the node that this thread replays outside of a trace: of a function that several tapes record."""

    line: Line | None = None


_replayed = _Replayed()


_replays = 0  # how many graphs are replayed, in all threads: whether `_replayed` has to be looked at


def _at_node(node: Any) -> None:
    global _replays
    line = None if node is None else node.line
    with _lock:
        _replays += (line is not None) - (_replayed.line is not None)
    _replayed.line = line


def _here(depth: int) -> LineReference | Line:
    """Where something happens: where a graph has it from, if it is one that is run again, in a trace or op by op."""
    trace = dispatch.thread.trace
    if trace is not None and trace.line is not None:
        return trace.line
    if _replayed.line is not None:
        return _replayed.line
    frame = users_frame(depth + 1)
    return frame.f_code, frame.f_lasti


def _node_count() -> int:
    """How many nodes the graph that is being traced has."""
    trace = dispatch.thread.trace
    return 0 if trace is None else len(trace.nodes)


class Event(NamedTuple):
    """Something that no tape recorded: an op, the making of a constant (`op` is None), the reading of a variable.

    `recording` are the keys of the tapes that were recording in this thread then; `steps` how many events deep it is.
    """

    op: Any
    inputs: tuple[Any, ...]  # the marks of the op's inputs
    variable: Any
    reference: Any  # to the source line
    clock: int
    thread: int
    recording: tuple[object, ...]
    steps: int

    @property
    def line(self) -> Line:
        """Where it happened."""
        return line_at(self.reference)


class Gradient:
    """Stands for an op in the event of a gradient that was asked for while no tape recorded it."""

    name = "gradient"
    vjp = None


class FunctionCall(NamedTuple):
    """Stands for an op in the event of a call of a traced function that no tape recorded."""

    name: str
    moves_data: bool = False

    def vjp(self) -> None:
        """It has a derivative, as far as is known here."""


_new = tuple.__new__
_thread = threading.get_ident
_STEPS = Event._fields.index("steps")
_MADE = (None, (), None, None, 0, 0, (), 0)  # of what was made nothing is asked but whether it is the same


class _Feeding(threading.local):
    """How many functions of datasets this thread is in."""

    depth = 0


class Witness(dispatch.Recorder):
    """Told of every op on tensors that no traced tape records."""

    level = 0

    def __init__(self) -> None:
        self.key = new_key(self)
        self.feeding = _Feeding()
        self.traces_all = 0  # by how many every tape that is made now is wanted to be a traced one
        self.recent: deque[Any] = deque(maxlen=_RECENT_LOGS)  # the logs of the last tapes, in a block of `witnessed`
        self.fed: dict[int, tuple[Any, Event]] = {}  # the variables that functions of datasets have read, by their ids

    @never_raises()
    def answered(self, tape: Any, targets: Sequence[Any], sources: Sequence[Any], found: Sequence[Any]) -> None:
        """Marks gradients, or Jacobians, as computed from the targets."""
        tracers = tuple([x.tracers for x in targets if isinstance(x, Tensor)])
        recording = [recorder.key for recorder in dispatch.thread.recorders]
        for g in found:
            if isinstance(g, Tensor) and not any(entry(g.tracers, key) is not None for key in recording):
                g.tracer = (self.key, self._event(Gradient, (*tracers, g.tracers), None), g.tracers)

    # The methods that are told of every op are guarded by themselves: a call of a guard would be a good part of them.

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: Any = None) -> None:
        """Marks the outputs as computed by `op` from the inputs."""
        try:
            key = self.key
            tracers = []
            for x in inputs:
                if x.tracer is None:
                    x.tracer = self.made(x)
                tracers.append(x.tracers)
            event = self._event(op, tuple(tracers), None)
            if type(outputs) is tuple:
                for y in outputs:
                    y.tracer = (key, event, y.tracers)
            else:
                outputs.tracer = (key, event, outputs.tracers)
        except Exception:
            say_once("Witness.record")

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """The same for an op without a derivative."""
        self.record(op, inputs, outputs)

    @never_raises()
    def called(self, name: str, tensors: Sequence[Tensor], variables: Sequence[Any], result: Any) -> None:
        """Marks what a call of a function has given, if no tape has recorded it, as computed from all it was given."""
        made = [y for y in nest.flatten(result, expand_composites=True) if isinstance(y, Tensor) and y.tracer is None]
        if made:
            for x in tensors:
                if x.tracer is None:
                    x.tracer = self.made(x)
            tracers = [x.tracers for x in tensors] + [self.tracer_of(variable, None) for variable in variables]
            event = self._event(FunctionCall(name), tuple(tracers), None)
            for y in made:
                y.tracer = (self.key, event, None)

    def made(self, x: Tensor) -> Any:
        """The mark of a tensor that is made from what is none."""
        return (self.key, _new(Event, _MADE), None)

    def event_of(self, x: Tensor) -> Event:
        """What made a tensor, as far as is known."""
        event: Event | None = entry(x.tracers, self.key)
        if event is None:
            event = _new(Event, _MADE)
            x.tracer = (self.key, event, x.tracers)
        return event

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """The mark of a value that is read from `variable`."""
        try:
            event = self._event(None, (), variable)
            if self.feeding.depth:
                self.fed[id(variable)] = (variable, event)
            return (self.key, event, rest)
        except Exception:
            say_once("Witness.mark_of")
            return rest

    def _event(self, op: Any, tracers: tuple[Any, ...], variable: Any) -> Event:
        deepest = 0
        for tracer in tracers:
            before = entry(tracer, self.key)
            if before is not None and before[_STEPS] > deepest:
                deepest = before[_STEPS]
        if deepest > _MOST_STEPS:
            tracers, deepest = (), 0
        recorders = dispatch.thread.recorders
        recording = tuple([r.key for r in recorders]) if recorders else ()
        return _new(Event, (op, tracers, variable, _here(3), _tick(), _thread(), recording, deepest + 1))


witness = Witness()


reporters: list[Any] = []  # who is told of every answer, the innermost last


def _answered(tape: Any, targets: list[Any], sources: list[Any], found: list[Any], none: bool, zeros: bool) -> None:
    if reporters:
        reporters[-1](tape, targets, sources, found, none, zeros)
    witness.answered(tape, targets, sources, found)
    _tell_outer_tapes(tape, targets)


@never_raises()
def _tell_outer_tapes(tape: Any, targets: Sequence[Any]) -> None:
    """Tells the tapes that record the sweep of an inner tape which question that sweep has answered."""
    inner = tape._log or tape._past
    if isinstance(inner, TracingLog) and inner in dispatch.thread.recorders:
        inner.has_own_sweep = True
    for outer in dispatch.thread.recorders:
        if outer.traces and outer is not inner and isinstance(inner, TracingLog):
            outer.note_sweep(Sweep(_here(4), inner, tuple(targets), len(outer.ops)))


def start(of_all: bool = False) -> None:
    """The witness is told from now on; if it is to know of all tapes, these are traced ones."""
    global _holders
    with _lock:
        _holders += 1
        witness.traces_all += of_all
        if _holders == 1:
            dispatch.set_event_log(witness)
            inspection.when_asked = _answered
            when_made(witness.made)
            scopes.when_changed(_scope_changed)
            graph.when_replayed = _at_node


def stop(of_all: bool = False) -> None:
    """Takes one `start` back."""
    global _holders
    with _lock:
        _holders -= 1
        witness.traces_all -= of_all
        if _holders == 0:
            dispatch.set_event_log(None)
            inspection.when_asked = None
            witness.fed.clear()
            witness.recent.clear()
            when_made(None)
            scopes.when_changed(None)
            graph.when_replayed = None


class EventLogLease:
    """As long as this lives, the witness is told."""

    def __init__(self) -> None:
        start()

    def __del__(self, is_finalizing: Any = is_finalizing, stop: Any = stop) -> None:  # names may be gone at the end
        if not is_finalizing():
            stop()


def _scope_changed() -> None:
    for recorder in dispatch.thread.recorders:
        if recorder.traces:
            recorder._note_scope()


@contextmanager
def witnessed() -> Iterator[None]:
    """Inside the block every tape is a traced one, and what happens outside of tapes is remembered as well."""
    start(of_all=True)
    try:
        yield
    finally:
        stop(of_all=True)


# Of a record: the source line, the outputs, when it had been recorded, and the inputs and attributes it came from.
Note = tuple[LineReference | Line, Any, int, Sequence[Tensor], dict[str, Any]]
_NOTE_SIZE = 7  # entries of `TracingLog._pending`


def _note_from(where: Any, instruction: int | None, outputs: Any, clock: int, first: Any, second: Any) -> Note:
    """A note as a tuple: of an op on one or two tensors, or (without an instruction) of inputs and attributes."""
    if instruction is None:
        return where, outputs, clock, first, second
    return (where, instruction), outputs, clock, (first,) if second is None else (first, second), NO_ATTRIBUTES


class Unrecorded(NamedTuple):
    """An op on values of a tape that has no derivative, and is not recorded: a comparison, `stop_gradient`."""

    position: int  # how much the tape had recorded before it
    op: Any
    inputs: tuple[Tensor, ...]
    attrs: dict[str, Any]
    outputs: tuple[Tensor, ...]
    several: bool
    reference: LineReference | Line


class InlinedCall(NamedTuple):
    """A call that the tape was not told of as one record: it has recorded the ops of it, or nothing.

    It stands among what is `unrecorded`, after the `first` entries that came before the call.
    """

    position: int  # how much the tape had recorded before it
    stop: int  # and after it
    first: int
    call: Any
    inputs: tuple[Tensor, ...]  # those of the call and the values of its variables
    outputs: tuple[Tensor, ...]
    reference: LineReference | Line


class ForwardOp(NamedTuple):
    """The op of an inner tape whose rule has made a record: where it ran, and which of the record's inputs it saved."""

    op: Any
    reference: LineReference | Line
    saved: tuple[int, ...]


class Sweep(NamedTuple):
    """The backward sweep of an inner tape, which an outer tape records: where it was asked for, and of what."""

    reference: LineReference | Line
    log: TracingLog
    targets: tuple[Any, ...]
    stop: int  # the position on the outer tape that follows its last record


class TracingLog(NotingLog):
    """A log that notes of each record its source line, its output, and the time; of what it does not record, it tells.

    `spans` are the times it was recording, on the witness' clock.
    """

    traces = retain = True

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self._notes: dict[int, Note] = {}
        # What was noted since: seven entries an op, which make no objects that the collector would have to look at.
        self._pending: list[Any] = []
        self.exit_lines: dict[int, LineReference | Line] = {}  # of `disconnections`, by index
        self.exit_positions: dict[int, int] = {}  # of the same: how much had been recorded before
        self.watch_lines: dict[int, LineReference] = {}  # of leaves that are tensors
        self.origins: dict[int, Event] = {}  # of leaves that are outputs of ops without a derivative
        self.thread = threading.get_ident()
        self.spans: list[list[int]] = []
        self.node_spans: list[list[int]] = []  # the same, in nodes of the graph that was being traced
        self.scopes: list[tuple[int, tuple[str, ...]]] = [(0, ())]  # from which position on, the scopes it belongs to
        self.started = perf_counter_ns()
        if witness.traces_all:
            witness.recent.append(self)
        self.before_reset: list[tuple[TracingLog, LineReference]] = []  # what `tape.reset()` made it forget, and where
        self.overwritten_at: dict[int, LineReference] = {}  # of a variable, by its `id`: where it became a constant
        self.versions = VariableVersions()
        self.watched_tensors: dict[int, Tensor] = {}  # by position: those that no op may use
        # By the `id` of the first output, or of the call; in order of execution, calls after what they have run.
        self.unrecorded: dict[int, Unrecorded | InlinedCall] = {}
        self._followed: set[int] = set()  # the ids of the outputs of these, all of which live as long as this log
        self.sweeps: list[Sweep] = []  # of inner tapes
        self.has_own_sweep = False  # whether it was asked for a gradient while it recorded
        # Of records that the rule of an inner tape's op has made: that op, and where it was recorded.
        self.forward_ops: dict[int, ForwardOp] = {}
        self.refused: list[tuple[Any, LineReference | Line]] = []  # integers that were to be watched, and where

    @property  # type: ignore[override]
    def notes(self) -> dict[int, Note]:
        """The notes by position, of first outputs: leaves have none, nor have further outputs."""
        pending, found = self._pending, self._notes
        for i in range(0, len(pending), _NOTE_SIZE):
            found[pending[i]] = _note_from(*pending[i + 1 : i + _NOTE_SIZE])
        pending.clear()
        return found

    @notes.setter
    def notes(self, notes: dict[int, Note]) -> None:
        self._pending, self._notes = [], notes

    def note_at(self, at: int | None) -> Note | None:
        """What was noted at a position, found without going through all notes if it was the last."""
        pending = self._pending
        if pending and pending[-_NOTE_SIZE] == at:
            return _note_from(*pending[1 - _NOTE_SIZE :])
        return None if at is None else self.notes.get(at)

    @never_raises()
    def continue_from(self, before: Log) -> None:
        """It goes on where `before` has been forgotten, by `GradientTape.reset`."""
        if isinstance(before, TracingLog):
            self.before_reset = [*before.before_reset, (before, here(4))]

    def assigned(self, variable: Any, value: Tensor) -> None:
        """Notes what a variable becomes, which reads of it give from now on."""
        super().assigned(variable, value)
        if dispatch.thread.trace is None:  # a graph has ops for what is read after an assignment
            self.versions.assign(variable, value)

    @never_raises()
    def overwritten(self, variable: Any) -> None:
        """A value that is not on the tape became a variable's, whose assignments are followed."""
        self.overwritten_at[id(variable)] = here(4)

    @never_raises()
    def refuse_watch(self, source: Any) -> None:
        """A tensor or variable of integers was to be watched."""
        self.refused.append((source, _here(3)))

    def note_sweep(self, sweep: Sweep) -> None:
        """Finds the op of the inner tape behind each record of its sweep, by the tensors that the op has saved.

        The sweep goes backwards, so the records of a later op come first.
        """
        self.sweeps.append(sweep)
        inner = sweep.log
        savers: dict[int, list[int]] = {}  # by the id of a tensor: the positions of the ops that have saved it
        for at, saved in enumerate(inner.saved):
            for x in saved if type(saved) is tuple else (saved,):
                if isinstance(x, Tensor):
                    savers.setdefault(id(x), []).append(at)
        start = sweep.stop
        while start and (start - 1 not in self.notes or self.notes[start - 1][0] == sweep.reference):
            start -= 1
        last = len(inner.saved)
        for at in range(start, sweep.stop):
            noted = self.notes.get(at)
            if noted is None:
                continue
            found = [(x, f) for x in noted[3] for f in savers.get(id(x), ()) if f <= last]
            if not found:
                continue
            name = self.records[at][0].name
            # The op of the same name, as a product in the rule of a product; or else that which made what it saved.
            alike = [f for _, f in found if inner.records[f][0].name == name]
            own = [f for x, f in found if inner.position(x) == f]
            last = max(alike or own or [f for _, f in found])
            where = inner.reference(last)
            if where is not None:
                saved_by = [i for i, x in enumerate(noted[3]) if last in savers.get(id(x), ())]
                self.forward_ops[at] = ForwardOp(inner.records[last][0], where, tuple(saved_by))

    def blamed(self, at: int) -> LineReference | Line | None:
        """Where the record at a position was written down: of one that an inner tape's sweep made, the forward op."""
        first = self.parents[at][0] if self.ops[at] is None and self.parents[at] is not None else at
        return self.forward_ops[first].reference if first in self.forward_ops else self.reference(at)

    def ended_before(self, other: Log) -> bool:
        """Whether its recording had ended when that of another began."""
        if not isinstance(other, TracingLog) or not self.spans or not other.spans:
            return False
        return len(self.spans[-1]) > 1 and self.spans[-1][1] < other.spans[0][0]

    def resumes(self) -> None:
        """Recording begins, or goes on."""
        self.spans.append([_tick()])
        self.node_spans.append([_node_count()])
        self._note_scope()

    @never_raises()
    def _note_scope(self) -> None:
        self.scopes.append((len(self.ops), scopes.parts()))

    def pauses(self) -> None:
        """Recording ends, perhaps for a while."""
        if self.spans and len(self.spans[-1]) == 1:
            self.spans[-1].append(_tick())
            self.node_spans[-1].append(_node_count())

    # Of every op that is recorded the user's line is looked for: these two do it without a further call.

    def unary(
        self, op: Any, x: Tensor, y: Tensor, _record: Any = Log.unary, _clock: Any = perf_counter_ns
    ) -> None:
        """Records `y = op(x)` for plain tensors, and notes it."""
        _record(self, op, x, y)
        at = y.tracer
        if type(at) is not int or y.tape_id is not self.key or _replays or dispatch.thread.trace is not None:
            self._note(op, (x,), y, NO_ATTRIBUTES)
            return
        frame = users_frame(2)
        self._pending += (at, frame.f_code, frame.f_lasti, y, _clock(), x, None)

    def binary(
        self, op: Any, a: Tensor, b: Tensor, y: Tensor, _record: Any = Log.binary, _clock: Any = perf_counter_ns
    ) -> None:
        """Records `y = op(a, b)` for plain tensors, and notes it."""
        _record(self, op, a, b, y)
        at = y.tracer
        if type(at) is not int or y.tape_id is not self.key or _replays or dispatch.thread.trace is not None:
            self._note(op, (a, b), y, NO_ATTRIBUTES)
            return
        frame = users_frame(2)
        self._pending += (at, frame.f_code, frame.f_lasti, y, _clock(), a, b)

    def _note(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Notes what was recorded, at the position that the first output has; of what was not, tells the witness."""
        try:
            first = outputs[0] if type(outputs) is tuple else outputs
            tracer, key = first.tracer, self.key
            at = (tracer if first.tape_id is key else None) if type(tracer) is int else entry(tracer, key)
            if type(first) is DeviceTensor:
                first.module.synchronize()  # a device works on while Python goes on: the time is that of the work
            if at is not None:
                trace = dispatch.thread.trace  # as `_here` does
                where: Any = _replayed.line if trace is None or trace.line is None else trace.line
                if where is None:
                    frame = users_frame(3)
                    where = (frame.f_code, frame.f_lasti)
                self._pending += (at, where, None, outputs, perf_counter_ns(), inputs, attrs)
            else:
                if (made := entry(first.tracers, witness.key)) is None or made.op is None:
                    witness.record(op, inputs, outputs)  # `constant` has not told
                self._note_unrecorded(len(self.ops), op, inputs, outputs, attrs)
        except Exception:
            say_once("TracingLog._note")

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Records any op, if it has a derivative and one of its inputs is on the tape."""
        count = len(self.ops)
        super().record(op, inputs, outputs, attrs)
        if op.vjp is None:
            self._note_unrecorded(count, op, inputs, outputs, attrs)
        elif getattr(op, "family", None) == "call":
            for variable, _ in op.forward.updates:
                self.versions.assign(variable, UpdateByCall(count, variable))

    @never_raises()
    def _note_unrecorded(
        self, count: int, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any], line: Any = None
    ) -> None:
        """Notes an op that is not recorded, if what it computes depends on what the tape has recorded."""
        if any(map(self._is_followed, inputs)):
            made = outputs if type(outputs) is tuple else (outputs,)
            if made:
                reference = _here(3) if line is None else line
                several = type(outputs) is tuple
                self.unrecorded[id(made[0])] = Unrecorded(count, op, tuple(inputs), attrs, made, several, reference)
                self._followed.update(map(id, made))

    def _is_followed(self, x: Tensor) -> bool:
        """Whether a value depends on what the tape has recorded, with a derivative or without."""
        return id(x) in self._followed or self.position(x) is not None or self.versions.origin(x) is not None

    @never_raises()
    def note_check(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
        """Notes a check that held: with inputs for which it does not, what follows would be other ops."""
        if op in (guard, shape_guard) and any(map(self._is_followed, inputs)):
            made = Unrecorded(len(self.ops), op, tuple(inputs), attrs, (), True, _here(3))
            self.unrecorded[id(made)] = made

    def bookmark_call(self) -> tuple[int, int]:
        """Where the log stands before a call that it is not told of as one record, for `note_call`."""
        return len(self.ops), len(self.unrecorded)

    @never_raises()
    def note_call(
        self, bookmark: tuple[int, int], call: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        """Notes a call that was recorded op by op, or not at all, if what it did depends on what is recorded.

        `outputs` are those of the graph, and then as many values of the variables that it updates as are known.
        """
        if any(map(self._is_followed, inputs)) and all(type(x) in REAL for x in inputs):
            position, count = bookmark
            entry = InlinedCall(position, len(self.ops), count, call, tuple(inputs), tuple(outputs), _here(4))
            self.unrecorded[id(entry)] = entry
            self._followed.update(id(y) for y in outputs if not any(y is x for x in inputs))
            for variable, _ in call.forward.updates[len(outputs) - len(call.forward.outputs) :]:
                self.versions.assign(variable, UpdateByCall(id(entry), variable))

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Notes which positions go into an op that has no derivative; what comes out may be a source."""
        at = len(self.ops)
        super().constant(op, inputs, outputs)
        self._note_unrecorded(at, op, inputs, outputs, {})  # who knows of attributes tells of it once more
        witness.record(op, inputs, outputs)
        for y in outputs if type(outputs) is tuple else (outputs,):
            position = self.position(y)
            if position is not None and position >= at:
                self.origins[position] = event = witness.event_of(y)
                self.watch_lines[position] = event.reference

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """The mark a value read from `variable` now gets, on top of `rest`."""
        if dispatch.thread.trace is None and not self.tracks:  # there, a read is what was assigned
            rest = self.versions.tracer(variable, rest)
        tracer = super().tracer_of(variable, rest)
        return witness.tracer_of(variable, rest) if tracer is rest else tracer

    trace_read = dispatch.Recorder.trace_read

    def watch(self, tensor: Tensor) -> None:
        """Makes `tensor` a leaf of this log."""
        at = len(self.ops)
        super().watch(tensor)
        if len(self.ops) > at:
            self.watched_tensors[at] = tensor
            self._note_watch(at)

    @never_raises()
    def _note_watch(self, at: int) -> None:
        self.watch_lines[at] = here(4)

    def forget(self) -> None:
        """Who traces wants to ask again: nothing is let go."""

    def reference(self, at: int) -> LineReference | Line | None:
        """Where the record at a position was made."""
        first = self.parents[at][0] if self.ops[at] is None and self.parents[at] is not None else at
        noted = self.notes.get(first)
        return self.watch_lines.get(first) if noted is None else noted[0]

    def line(self, at: int) -> Line | None:
        """The line of the record at a position."""
        reference = self.reference(at)
        return None if reference is None else line_at(reference)

    def scope(self, at: int) -> tuple[str, ...]:
        """The name scopes and layers that the record at a position belongs to, the outermost first."""
        return self.scopes[bisect_right(self.scopes, at, key=itemgetter(0)) - 1][1]

    def escaped(self, x: Tensor, how: Any) -> None:
        """Notes that the value at a position goes where it is not recorded."""
        before = len(self.disconnections)
        super().escaped(x, how)
        if len(self.disconnections) > before:
            self._note_exit_line(before)

    @never_raises()
    def _note_exit_line(self, i: int) -> None:
        self.exit_lines[i] = _here(4)
        self.exit_positions[i] = len(self.ops)

