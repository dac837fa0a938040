"""A tracing log, which keeps the line, value and time of every record, and the event log of unrecorded computation.

Explaining a missing gradient requires what happened off the tape: before or after its block, in another thread, or on a
value that was never watched. While `tracing` is active or a traced tape is alive, the event log (`EventLog`) observes
all of that, in every thread. Like a tape it writes into the tracers of tensors: one `Event` per op, which refers to the
tracers of the op's inputs.
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

from ...core import modes, nest, scopes
from ...core.locks import fork_safe_rlock
from ...core.protocols import Line, Recorder
from ...core.tensor import Tensor
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.run import dispatch
from ...engine.run.dispatch import entry
from ...engine.run.source_lines import LineReference, here, line_at, users_frame
from ...engine.tape.log import Key, Log
from ...engine.tape.queries import QueryResult
from ...engine.tape.tape import Tape
from ...graph.ir.effects import guard, shape_guard
from ...graph.trace.trace import active_trace
from .never_raises import never_raises, say_once
from .noting import NO_ATTRIBUTES, NotingLog
from .variable_reads import UpdateByCall, VariableVersions

_RECENT_LOGS = 4  # logs whose values may be used again: two steps of a program with two tapes
_MOST_STEPS = 2000  # the longest chain of unrecorded events that is kept; longer chains are cut

_tick = itertools.count(1).__next__
_lock = fork_safe_rlock()  # reentrant: the garbage collector may finalize a traced tape while this thread holds it


class _Replayed(threading.local):
    """The source line of the graph node this thread is replaying op by op outside a trace, or None."""

    line: Line | None = None


_replayed = _Replayed()


def _here(depth: int) -> LineReference | Line:
    """Returns the current source line: the replayed node's line if a graph is running, otherwise the user's frame."""
    trace = dispatch.thread.trace
    if trace is not None and trace.line is not None:
        return trace.line
    if _replayed.line is not None:
        return _replayed.line
    frame = users_frame(depth + 1)
    return frame.f_code, frame.f_lasti


def _node_count() -> int:
    """Returns the number of nodes in the graph being traced, or 0 outside a trace."""
    trace = active_trace()
    return 0 if trace is None else len(trace.builder.nodes)


class Event(NamedTuple):
    """A computation that no tape recorded: an op, the creation of a constant (`op` is None) or a variable read.

    `recording` holds the keys of the tapes that were recording in this thread; `steps` is the depth of the event chain.
    """

    op: Any
    inputs: tuple[Any, ...]  # the tracers of the op's inputs
    variable: Any
    reference: Any  # to the source line
    clock: int
    thread: int
    recording: tuple[object, ...]
    steps: int

    @property
    def line(self) -> Line:
        """The source line of the event."""
        return line_at(self.reference)


class Gradient:
    """Placeholder op for the event of a gradient that no tape recorded."""

    name = "gradient"
    vjp = None


class FunctionCall(NamedTuple):
    """Placeholder op for the event of a traced function's call that no tape recorded."""

    name: str
    moves_data: bool = False

    def vjp(self) -> None:
        """Present so that the call counts as differentiable; never called."""


_new = tuple.__new__
_thread = threading.get_ident
_STEPS = Event._fields.index("steps")
_MADE = (None, (), None, None, 0, 0, (), 0)  # of a tensor whose creation was not observed: an early one, a number


class EventLog(Recorder, modes.Mode):
    """Recorder of every op on tensors that no traced tape records, in all threads."""

    level = 0

    def __init__(self) -> None:
        self.key = Key(self)
        self.holders = 0  # how many blocks and traced tapes need it; it is active while there are any
        self.traces_all = 0  # how many active blocks want every new tape to be a traced one
        self.replays = 0  # graphs being replayed, in all threads; zero means `_replayed` need not be read
        self.recent: deque[Any] = deque(maxlen=_RECENT_LOGS)  # the logs of the last tapes, inside `trace_all_tapes`
        self.fed: dict[int, tuple[Any, Event]] = {}  # the variables that dataset functions have read, by id

    def at_node(self, line: Line | None) -> None:
        """Attributes events of this thread to the line of a graph's node."""
        with _lock:
            events.replays += (line is not None) - (_replayed.line is not None)
        _replayed.line = line

    def log_class(self, in_function: bool) -> type[Log] | None:
        """Makes new tapes traced ones while a block wants that."""
        return TracingLog if self.traces_all else None

    def results_found(self, tape: Tape, query: QueryResult) -> None:
        """Traces the results of a query, and reports its sweep to the outer tapes."""
        self._trace_results(query)
        _tell_outer_tapes(tape, query.targets)

    @never_raises()
    def _trace_results(self, query: QueryResult) -> None:
        """Traces gradients or Jacobians as computed from the targets."""
        tracers = tuple([x.tracers for x in query.targets if isinstance(x, Tensor)])
        recording = [recorder.key for recorder in dispatch.thread.recorders]
        for g in query.results:
            if isinstance(g, Tensor) and not any(entry(g.tracers, key) is not None for key in recording):
                g.tracer = (self.key, self._event(Gradient, (*tracers, g.tracers), None), g.tracers)

    def tensor_created(self, x: Tensor) -> None:
        """Traces a tensor created from a non-tensor value, and when."""
        x.tracer = (self.key, _new(Event, (None, (), None, None, _tick(), 0, (), 0)), None)

    def scope_changed(self) -> None:
        """Notes the scope in the thread's traced tapes."""
        for recorder in dispatch.thread.recorders:
            if isinstance(recorder, TracingLog):
                recorder._note_scope()

    # The methods called for every op catch exceptions inline: a decorator's call would be a large part of their cost.

    def op_finished(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Traces the outputs of an op without traced inputs, of which dispatch does not notify recorders."""
        for x in inputs:
            if x.tracer is not None:
                return
        if dispatch.thread.recorder is not None:
            self.record(op, inputs, outputs)

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: Any = None) -> None:
        """Traces the outputs as computed by `op` from the inputs."""
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
            say_once("EventLog.record")

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Does the same for an op without a derivative."""
        self.record(op, inputs, outputs)

    @never_raises()
    def graph_called(self, name: str, tensors: Sequence[Tensor], variables: Sequence[Any], result: Any) -> None:
        """Traces the results of a function call that no tape recorded as computed from all of its arguments."""
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
        """Returns the tracer of a tensor whose creation was not observed."""
        return (self.key, _new(Event, _MADE), None)

    def event_of(self, x: Tensor) -> Event:
        """Returns the event that created a tensor, or a new creation event if it is unknown."""
        event: Event | None = entry(x.tracers, self.key)
        if event is None:
            event = _new(Event, _MADE)
            x.tracer = (self.key, event, x.tracers)
        return event

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """Returns the tracer of a value read from `variable`."""
        try:
            event = self._event(None, (), variable)
            if dispatch.thread.in_dataset:
                self.fed[id(variable)] = (variable, event)
            return (self.key, event, rest)
        except Exception:
            say_once("EventLog.tracer_of")
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


events = EventLog()


@never_raises()
def _tell_outer_tapes(tape: Tape, targets: Sequence[Any]) -> None:
    """Reports the finished sweep of an inner tape to the outer tapes that recorded it."""
    inner = tape._log or tape._past
    if isinstance(inner, TracingLog) and inner in dispatch.thread.recorders:
        inner.has_own_sweep = True
    for outer in dispatch.thread.recorders:
        if isinstance(outer, TracingLog) and outer is not inner and isinstance(inner, TracingLog):
            outer.note_sweep(Sweep(_here(4), inner, tuple(targets), len(outer.ops)))


def start(of_all: bool = False) -> None:
    """Activates the event log; with `of_all`, every new tape is a traced one."""
    with _lock:
        events.holders += 1
        events.traces_all += of_all
        if events.holders == 1:
            dispatch.set_base_recorder(events)
            modes.enter(events)


def stop(of_all: bool = False) -> None:
    """Undoes one `start`."""
    with _lock:
        events.holders -= 1
        events.traces_all -= of_all
        if events.holders == 0:
            dispatch.set_base_recorder(None)
            modes.leave(events)
            events.fed.clear()
            events.recent.clear()


class EventLogLease:
    """Keeps the event log active for as long as the object lives."""

    def __init__(self) -> None:
        start()

    def __del__(self, is_finalizing: Any = is_finalizing, stop: Any = stop) -> None:  # bound now: globals may be gone
        if not is_finalizing():
            stop()


@contextmanager
def trace_all_tapes() -> Iterator[None]:
    """Makes every tape inside the block a traced one, and logs what happens outside of tapes as well."""
    start(of_all=True)
    try:
        yield
    finally:
        stop(of_all=True)


# An entry of a record: its source line, outputs, time of recording, inputs and attributes.
Note = tuple[LineReference | Line, Any, int, Sequence[Tensor], dict[str, Any]]
_NOTE_SIZE = 7  # items per entry in `TracingLog._pending`


def _note_from(where: Any, instruction: int | None, outputs: Any, clock: int, first: Any, second: Any) -> Note:
    """Builds an entry from its packed items: of an op on one or two tensors or, without `instruction`, of any op."""
    if instruction is None:
        return where, outputs, clock, first, second
    return (where, instruction), outputs, clock, (first,) if second is None else (first, second), NO_ATTRIBUTES


class Unrecorded(NamedTuple):
    """An op on values of a tape that is not recorded because it has no derivative: a comparison, `stop_gradient`."""

    position: int  # the length of the log before it
    op: Any
    inputs: tuple[Tensor, ...]
    attrs: dict[str, Any]
    outputs: tuple[Tensor, ...]
    several: bool
    reference: LineReference | Line


class InlinedCall(NamedTuple):
    """A function call that the tape did not record as one record: it recorded the call's ops, or nothing.

    It is an item of `unrecorded` and comes after the `first` items that preceded the call.
    """

    position: int  # the length of the log before it
    stop: int  # and after it
    first: int
    call: Any
    inputs: tuple[Tensor, ...]  # the arguments of the call and the values of its variables
    outputs: tuple[Tensor, ...]
    reference: LineReference | Line


class ForwardOp(NamedTuple):
    """The inner tape's op whose gradient rule made a record: its line, and which of the record's inputs it saved."""

    op: Any
    reference: LineReference | Line
    saved: tuple[int, ...]


class Sweep(NamedTuple):
    """The backward sweep of an inner tape that an outer tape recorded: its source line and targets."""

    reference: LineReference | Line
    log: TracingLog
    targets: tuple[Any, ...]
    stop: int  # the position after the sweep's last record on the outer tape

    def is_at(self, reference: LineReference | Line | None) -> bool:
        """Whether a reference is that of the sweep; entries of a function being traced have resolved lines."""
        if reference is None or len(reference) == len(self.reference):
            return reference == self.reference
        return line_at(reference) == line_at(self.reference)

    def savers(self) -> dict[int, list[int]]:
        """Returns the positions on the inner tape of the ops that saved a tensor, by the tensor's id."""
        found: dict[int, list[int]] = {}
        for at, saved in enumerate(self.log.saved):
            for x in saved if type(saved) is tuple else (saved,):
                if isinstance(x, Tensor):
                    found.setdefault(id(x), []).append(at)
        return found

    def forward_op(self, at: int, saved: tuple[int, ...]) -> ForwardOp | None:
        """Returns the inner tape's op at a position; if the rule of yet another tape made that one, the rule's op."""
        before = self.log.forward_ops.get(at)
        if before is not None:
            return before._replace(saved=saved)
        where = self.log.reference(at)
        return None if where is None else ForwardOp(self.log.records[at][0], where, saved)

    def forward_op_behind(self, noted: Unrecorded | InlinedCall) -> ForwardOp | None:
        """Returns the op whose rule ran this op without a derivative on a saved tensor, or saved its output."""
        savers = self.savers()
        tensors = noted.inputs if self.is_at(noted.reference) else noted.outputs
        found = [at for x in tensors for at in savers.get(id(x), ())]
        return self.forward_op(max(found), ()) if found else None


def _is_made_by(outputs: Sequence[Tensor], event: Event) -> bool:
    return any(entry(y.tracers, events.key) is event for y in outputs)


class TracingLog(NotingLog):
    """A log that keeps the source line, output and time of every record, and reports unrecorded ops to the event log.

    `spans` are the periods it was recording, in ticks of the event log's clock.
    """

    traces = retain = True
    at_node = EventLog.at_node

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self._notes: dict[int, Note] = {}
        # Entries not yet unpacked, flat: seven items per op, so that there are no containers for the garbage collector.
        self._pending: list[Any] = []
        self.exit_lines: dict[int, LineReference | Line] = {}  # of `disconnections`, by index
        self.exit_positions: dict[int, int] = {}  # of the same, by index: the length of the log then
        self.exit_clocks: dict[int, int] = {}  # and the tick of the event log's clock
        self.watch_lines: dict[int, LineReference] = {}  # of leaves that are tensors, by position
        self.origins: dict[int, Event] = {}  # of leaves that are outputs of ops without a derivative
        self.thread = threading.get_ident()
        self.spans: list[list[int]] = []
        self.node_spans: list[list[int]] = []  # the same periods, in nodes of the graph being traced
        self.scopes: list[tuple[int, tuple[str, ...]]] = [(0, ())]  # (first position, the scopes that apply from there)
        self.started = perf_counter_ns()
        if events.traces_all:
            events.recent.append(self)
        self.before_reset: list[tuple[TracingLog, LineReference]] = []  # what `tape.reset()` discarded, and where
        self.overwritten_at: dict[int, LineReference] = {}  # by a variable's `id`: where an off-tape value was assigned
        self.versions = VariableVersions()
        self.watched_tensors: dict[int, Tensor] = {}  # by position; includes tensors that no op uses
        # By the `id` of the first output, or of the entry; in order of execution, a call after the ops it ran.
        self.unrecorded: dict[int, Unrecorded | InlinedCall] = {}
        self._followed: set[int] = set()  # the ids of their outputs, all of which this log keeps alive
        self.sweeps: list[Sweep] = []  # of inner tapes
        self.has_own_sweep = False  # whether its own gradient was computed while it was recording
        # By the position of a record made by a gradient rule of an inner tape: the forward op of that rule.
        self.forward_ops: dict[int, ForwardOp] = {}
        self.refused: list[tuple[Any, LineReference | Line]] = []  # integers passed to `watch`, and where

    @property  # type: ignore[override]
    def notes(self) -> dict[int, Note]:
        """The entries by position of the first output; leaves and further outputs have none."""
        pending, found = self._pending, self._notes
        for i in range(0, len(pending), _NOTE_SIZE):
            found[pending[i]] = _note_from(*pending[i + 1 : i + _NOTE_SIZE])
        pending.clear()
        return found

    @notes.setter
    def notes(self, notes: dict[int, Note]) -> None:
        self._pending, self._notes = [], notes

    def note_at(self, at: int | None) -> Note | None:
        """Returns the entry at a position; the last one is found without unpacking the pending ones."""
        pending = self._pending
        if pending and pending[-_NOTE_SIZE] == at:
            return _note_from(*pending[1 - _NOTE_SIZE :])
        return None if at is None else self.notes.get(at)

    @never_raises()
    def continue_from(self, before: Log) -> None:
        """Continues after `GradientTape.reset` has discarded `before`."""
        if isinstance(before, TracingLog):
            self.before_reset = [*before.before_reset, (before, here(4))]

    def assigned(self, variable: Any, value: Tensor) -> None:
        """Records the value assigned to a variable, which later reads return."""
        super().assigned(variable, value)
        if dispatch.thread.trace is None:  # a graph has ops for what is read after an assignment
            self.versions.assign(variable, value)

    @never_raises()
    def overwritten(self, variable: Any) -> None:
        """Records where a value that is not on the tape was assigned to a tracked variable."""
        self.overwritten_at[id(variable)] = here(4)

    @never_raises()
    def refuse_watch(self, source: Any) -> None:
        """Records that an integer tensor or variable was passed to `watch`."""
        self.refused.append((source, _here(3)))

    def note_sweep(self, sweep: Sweep) -> None:
        """Attributes each record of an inner tape's sweep to the forward op whose saved tensors it uses.

        The sweep runs in reverse order, so records of a later op come first.
        """
        self.sweeps.append(sweep)
        inner, savers = sweep.log, sweep.savers()
        start = sweep.stop
        while start and (start - 1 not in self.notes or sweep.is_at(self.notes[start - 1][0])):
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
            # Prefer the op of the same name (a product's gradient is a product), then the op that produced the tensor.
            alike = [f for _, f in found if inner.records[f][0].name == name]
            own = [f for x, f in found if inner.position(x) == f]
            last = max(alike or own or [f for _, f in found])
            saved_by = [i for i, x in enumerate(noted[3]) if last in savers.get(id(x), ())]
            if (forward := sweep.forward_op(last, tuple(saved_by))) is not None:
                self.forward_ops[at] = forward

    def forward_op_of(self, made: Event, user: Event | int | None) -> ForwardOp | None:
        """Returns the op of an inner tape whose gradient rule ran or used an op without a derivative, if one did.

        `made` is the event of the op, `user` the step that used its output.
        """
        noted = next((each for each in self.unrecorded.values() if _is_made_by(each.outputs, made)), None)
        used_at = self.reference(user) if isinstance(user, int) else None if user is None else user.reference
        for sweep in () if noted is None else reversed(self.sweeps):
            if sweep.is_at(made.reference) or sweep.is_at(used_at):
                if (found := sweep.forward_op_behind(noted)) is not None:
                    return found
        return None

    def forward_op_in(self, reference: LineReference | Line, below: set[int]) -> ForwardOp | None:
        """Does the same for the inner tape's sweep at a line, for any op without a derivative on values of `below`."""
        for sweep in reversed(self.sweeps):
            for noted in reversed([*self.unrecorded.values()]) if sweep.is_at(reference) else ():
                if any(self.position(x) in below for x in noted.inputs):
                    if (found := sweep.forward_op_behind(noted)) is not None:
                        return found
        return None

    def blamed(self, at: int) -> LineReference | Line | None:
        """Returns the line to report for a record; for one made by an inner tape's sweep, that of the forward op."""
        first = self.parents[at][0] if self.ops[at] is None and self.parents[at] is not None else at
        return self.forward_ops[first].reference if first in self.forward_ops else self.reference(at)

    def ended_before(self, other: Log) -> bool:
        """Whether this log's recording ended before that of `other` began."""
        if not isinstance(other, TracingLog) or not self.spans or not other.spans:
            return False
        return len(self.spans[-1]) > 1 and self.spans[-1][1] < other.spans[0][0]

    def resumes(self) -> None:
        """Called when recording starts or resumes."""
        self.spans.append([_tick()])
        self.node_spans.append([_node_count()])
        self._note_scope()

    @never_raises()
    def _note_scope(self) -> None:
        self.scopes.append((len(self.ops), scopes.parts()))

    def pauses(self) -> None:
        """Called when recording stops or pauses."""
        if self.spans and len(self.spans[-1]) == 1:
            self.spans[-1].append(_tick())
            self.node_spans[-1].append(_node_count())

    # Both methods look up the user's line for every recorded op; they do so inline to avoid a further call.

    def unary(
        self, op: Any, x: Tensor, y: Tensor, _record: Any = Log.unary, _clock: Any = perf_counter_ns
    ) -> None:
        """Records `y = op(x)` for plain tensors, and keeps an entry."""
        _record(self, op, x, y)
        at = y.tracer
        if type(at) is not int or y.tape_id is not self.key or events.replays or dispatch.thread.trace is not None:
            self._note(op, (x,), y, NO_ATTRIBUTES)
            return
        frame = users_frame(3)  # the frame before is the op's
        self._pending += (at, frame.f_code, frame.f_lasti, y, _clock(), x, None)

    def binary(
        self, op: Any, a: Tensor, b: Tensor, y: Tensor, _record: Any = Log.binary, _clock: Any = perf_counter_ns
    ) -> None:
        """Records `y = op(a, b)` for plain tensors, and keeps an entry."""
        _record(self, op, a, b, y)
        at = y.tracer
        if type(at) is not int or y.tape_id is not self.key or events.replays or dispatch.thread.trace is not None:
            self._note(op, (a, b), y, NO_ATTRIBUTES)
            return
        frame = users_frame(3)  # the frame before is the op's
        self._pending += (at, frame.f_code, frame.f_lasti, y, _clock(), a, b)

    def _note(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Keeps an entry at the first output's position; reports an op that was not recorded to the event log."""
        try:
            first = outputs[0] if type(outputs) is tuple else outputs
            tracer, key = first.tracer, self.key
            at = (tracer if first.tape_id is key else None) if type(tracer) is int else entry(tracer, key)
            if type(first) is DeviceTensor:
                first.module.synchronize()  # devices run asynchronously: wait, so that the time includes the work
            if at is not None:
                trace = dispatch.thread.trace  # inlined `_here`
                where: Any = _replayed.line if trace is None or trace.line is None else trace.line
                if where is None:
                    frame = users_frame(3)
                    where = (frame.f_code, frame.f_lasti)
                self._pending += (at, where, None, outputs, perf_counter_ns(), inputs, attrs)
            else:
                if (made := entry(first.tracers, events.key)) is None or made.op is None:
                    events.record(op, inputs, outputs)  # `constant` has not reported it
                self._note_unrecorded(len(self.ops), op, inputs, outputs, attrs)
        except Exception:
            say_once("TracingLog._note")

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Records any op that has a derivative and an input on the tape."""
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
        """Keeps an unrecorded op if its inputs depend on the tape."""
        if any(map(self._is_followed, inputs)):
            made = outputs if type(outputs) is tuple else (outputs,)
            if made:
                reference = _here(3) if line is None else line
                several = type(outputs) is tuple
                self.unrecorded[id(made[0])] = Unrecorded(count, op, tuple(inputs), attrs, made, several, reference)
                self._followed.update(map(id, made))

    def _is_followed(self, x: Tensor) -> bool:
        """Whether a value depends on recorded values, differentiably or not."""
        return id(x) in self._followed or self.position(x) is not None or self.versions.origin(x) is not None

    @never_raises()
    def record_check(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
        """Keeps a guard that held: for inputs that violate it, the recorded ops would be different ones."""
        if op in (guard, shape_guard) and any(map(self._is_followed, inputs)):
            made = Unrecorded(len(self.ops), op, tuple(inputs), attrs, (), True, _here(3))
            self.unrecorded[id(made)] = made

    def bookmark_call(self) -> tuple[int, int]:
        """Returns the state of the log before a call that is not one record, for `record_call`."""
        return len(self.ops), len(self.unrecorded)

    @never_raises()
    def record_call(
        self, bookmark: tuple[int, int], call: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        """Keeps a call that was recorded op by op, or not at all, if it depends on recorded values.

        `outputs` are those of the graph, followed by as many values of the variables it updates as are known.
        """
        if any(map(self._is_followed, inputs)) and all(type(x) in REAL for x in inputs):
            position, count = bookmark
            entry = InlinedCall(position, len(self.ops), count, call, tuple(inputs), tuple(outputs), _here(4))
            self.unrecorded[id(entry)] = entry
            self._followed.update(id(y) for y in outputs if not any(y is x for x in inputs))
            for variable, _ in call.forward.updates[len(outputs) - len(call.forward.outputs) :]:
                self.versions.assign(variable, UpdateByCall(id(entry), variable))

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Records the inputs of an op without a derivative; its outputs may be sources."""
        at = len(self.ops)
        super().constant(op, inputs, outputs)
        self._note_unrecorded(at, op, inputs, outputs, {})  # `record`, which has the attributes, overwrites this entry
        events.record(op, inputs, outputs)
        for y in outputs if type(outputs) is tuple else (outputs,):
            position = self.position(y)
            if position is not None and position >= at:
                self.origins[position] = event = events.event_of(y)
                self.watch_lines[position] = event.reference

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """Returns the tracer for a value read from `variable` now, on top of `rest`."""
        if dispatch.thread.trace is None and not self.tracks:  # otherwise a read gives the assigned value itself
            rest = self.versions.tracer(variable, rest)
        tracer = super().tracer_of(variable, rest)
        return events.tracer_of(variable, rest) if tracer is rest else tracer

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
        """Keeps everything: a traced tape may be queried again."""

    def reference(self, at: int) -> LineReference | Line | None:
        """Returns the reference to the source line of the record at a position."""
        first = self.parents[at][0] if self.ops[at] is None and self.parents[at] is not None else at
        noted = self.notes.get(first)
        return self.watch_lines.get(first) if noted is None else noted[0]

    def line(self, at: int) -> Line | None:
        """Returns the source line of the record at a position."""
        reference = self.reference(at)
        return None if reference is None else line_at(reference)

    def scope(self, at: int) -> tuple[str, ...]:
        """Returns the name scopes and layers of the record at a position, the outermost first."""
        return self.scopes[bisect_right(self.scopes, at, key=itemgetter(0)) - 1][1]

    def escaped(self, x: Tensor, how: Any) -> None:
        """Records that a value leaves the tape, and where."""
        before = len(self.disconnections)
        super().escaped(x, how)
        if len(self.disconnections) > before:
            self._note_exit_line(before)

    @never_raises()
    def _note_exit_line(self, i: int) -> None:
        self.exit_lines[i] = _here(4)
        self.exit_positions[i] = len(self.ops)
        self.exit_clocks[i] = _tick()

