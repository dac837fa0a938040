"""Replays a gradient computation op by op with other numbers, with calls, branches and loops opened up.

This explains a step of a `tf.function` with the numbers of any of its runs, although its tape saw only the trace; and
it shows a function call line by line, although the tape holds it as one record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes
from ...core.protocols import Line
from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...engine.run.source_lines import LineReference
from ...engine.tape.log import Log
from ...engine.tape.tape import Tape
from ...graph.trace.trace import active_trace
from .event_log import Event, TracingLog, events
from .never_raises import never_raises
from .noting import NotingLog
from .reading import Reading
from .repetition import Key, RepeatedStep, steps_of

_STEPS_BACK = 8  # limit on the unrecorded ops reconstructed from the graph


def _maker_of(place: Any, makers: Mapping[Any, Any], steps: int) -> Event | None:
    """Builds the events of a graph value's producer and its ancestors, as the event log would have recorded them."""
    node = makers.get(place)
    if node is None or node.line is None or not steps:
        return None
    behind = [_maker_of(v, makers, steps - 1) for v in node.inputs]
    tracers = tuple([(events.key, event, None) for event in behind if event is not None])
    return Event(node.op, tracers, None, node.line, 0, 0, (), 1)


class Control(NamedTuple):
    """A replayed conditional or loop: its inputs, outputs, source line, and attributes with the graphs inside."""

    op: Any
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    line: Line | None
    attrs: Mapping[str, Any]


class ReplayLog(TracingLog):
    """The log of a replay; its lines are those of the original run."""

    now: LineReference | Line | None = None
    unary = NotingLog.unary  # type: ignore[assignment]  # which do not look up the user's frame
    binary = NotingLog.binary  # type: ignore[assignment]

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self.controls: list[Control] = []

    @never_raises()
    def _note(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        at = self.position(outputs[0] if type(outputs) is tuple else outputs)
        if at is None:
            self._note_unrecorded(len(self.ops), op, inputs, outputs, attrs, self.now)
        elif self.now is not None:
            self.notes[at] = (self.now, outputs, perf_counter_ns(), inputs, attrs)

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Records the inputs of an op without a derivative; does not report to the event log."""
        at = len(self.ops)
        Log.constant(self, op, inputs, outputs)
        self._note_unrecorded(at, op, inputs, outputs, {}, self.now)

    def _note_watch(self, at: int) -> None:
        pass

    def _note_exit_line(self, i: int) -> None:
        if self.now is not None:
            self.exit_lines[i] = self.now

    def at_node(self, line: Line | None) -> None:
        """Sets the current line to that of a node inside a branch or loop."""
        if line is not None:
            self.now = line


class Question:
    """A gradient computation that can be replayed; `tensors` are its inputs, whose values may differ in each replay.

    Raises `RuntimeError` if a replay would call user code again or draw random numbers.
    """

    def __init__(self, tape: Any, targets: Sequence[Any], sources: Sequence[Any]) -> None:
        reading = Reading(tape, targets, sources)
        log: Any = reading.log
        asked = log.last_query
        same = asked is not None and list(map(id, asked[0])) == list(map(id, targets))
        self._steps = steps_of(reading)
        if not all(step.can_run_again for step in self._steps):
            raise RuntimeError("user code would run again")
        # Calls have source lines for the ops inside them; other steps have references to instructions.
        first: list[Any] = [step.outputs[0] for step in self._steps if step.outputs]
        self._scopes = {key: log.scope(key if type(key) is int else key[0]) for key in first}
        called = {at for at, op in enumerate(log.ops) if getattr(op, "family", None) == "call"}
        self._where = {at: noted[0] for at, noted in log.notes.items() if at not in called}
        self._forward_ops = dict(log.forward_ops)
        self._variables = [(variable, at) for variable, at in log.variable_positions() if at >= 0]
        self._targets = [log.position(target) for target in targets]
        self._sources = [at for _, _, at in reading.sources]
        self.tensors: list[Tensor] = []
        self._keys: list[Key] = []  # the key of each of `tensors`
        self._others: dict[int, Key] = {}  # of constants, by id
        self._take_leaves(log)
        self._steps = [self._with_keys(step) for step in self._steps]
        known = {*self._keys, *(key for step in self._steps for key in step.outputs)}
        if not known.issuperset(at for at in (*self._targets, *self._sources)):
            raise RuntimeError("a target or a source is no longer known")
        weights = asked[1] if same else [None] * len(targets)
        self._weights = [None if g is None else self._key_of(g) for g in weights]
        trace = active_trace()
        makers = {} if trace is None else {place: node for node in trace.builder.nodes for place in node.outputs}
        self._makers = [_maker_of(getattr(x, "place", None), makers, _STEPS_BACK) for x in self.tensors]

    def _take_leaves(self, log: Any) -> None:
        made = {key for step in self._steps for key in step.outputs}
        taken = {x for step in self._steps for x in step.inputs if not isinstance(x, Tensor)} - made
        for noted in log.notes.values():
            for x in noted[3]:
                at = log.position(x)
                if at in taken:
                    taken.discard(at)
                    self._keys.append(at)
                    self.tensors.append(x)
        if taken:
            raise RuntimeError("a value is no longer known")

    def _key_of(self, x: Tensor) -> Key:
        if id(x) not in self._others:
            self._others[id(x)] = key = ("given", len(self.tensors))
            self.tensors.append(x)
            self._keys.append(key)
        return self._others[id(x)]

    def _with_keys(self, step: RepeatedStep) -> RepeatedStep:
        """Returns the step with keys as inputs, except for constants that have values."""
        inputs = [x if not isinstance(x, Tensor) or type(x) in REAL else self._key_of(x) for x in step.inputs]
        return RepeatedStep(step.op, tuple(inputs), step.attrs, step.outputs, step.several, step.line)

    def replay(self, arrays: Sequence[Any]) -> Tape:
        """Replays the computation with other numbers and returns its tape."""
        made: dict[Key, Tensor] = {
            key: wrap(array, x.dtype) for key, array, x in zip(self._keys, arrays, self.tensors, strict=True)
        }
        for key, node in zip(self._keys, self._makers, strict=True):
            if node is not None:
                made[key].tracer = (events.key, node, None)
        with dispatch.traced_by(None), dispatch.recorded_by(()):
            tape = Tape(persistent=True, watch_accessed_variables=False)
            log = tape._log = ReplayLog(False)
            with tape:
                tape.watch([x for key, x in made.items() if type(key) is int and x.dtype.differentiable])
                for variable, at in self._variables:
                    if at in made:
                        log.variables.append(variable)
                        log.variable_index[id(variable)] = log.position(made[at])  # type: ignore[assignment]
                for step in self._steps:
                    if not step.outputs:
                        continue
                    log.now = self._where.get(step.outputs[0], step.line)
                    log.scopes.append((len(log.ops), self._scopes[step.outputs[0]]))
                    given = [x if isinstance(x, Tensor) else made[x] for x in step.inputs]
                    if (forward := self._forward_ops.get(step.outputs[0])) is not None:
                        log.forward_ops[len(log.ops)] = forward
                    outputs = step.run(given)
                    made.update(zip(step.outputs, outputs, strict=True))
                    if getattr(step.op, "family", None) == "control":
                        log.controls.append(Control(step.op, given, outputs, step.line, step.attrs))
            weights = [None if g is None else made[g] for g in self._weights]
            variables = {at: variable for variable, at in self._variables}
            sources = [variables.get(at, made[at]) for at in self._sources]
            log.last_query = ([made[at] for at in self._targets], weights, sources)
        return tape

    def perturbed_gradients(self, arrays: Sequence[Any]) -> list[Any]:
        """Returns the gradients after perturbing the watched values slightly: an array or None for each source."""
        rng = np.random.default_rng(0)

        def moved(key: Key, array: Any) -> Any:
            if type(key) is not int or not dtypes.of_numpy(array.dtype).is_floating:
                return array
            wide = array.astype(np.float64)
            noise = rng.uniform(0.01, 0.1, array.shape) * np.where(wide < 0, -1.0, 1.0)
            return (wide + noise * (1.0 + np.abs(wide))).astype(array.dtype)

        tape = self.replay([moved(key, array) for key, array in zip(self._keys, arrays, strict=True)])
        reading = Reading(tape)
        return [None if at is None else reading.cotangents.get(at) for _, _, at in reading.sources]
