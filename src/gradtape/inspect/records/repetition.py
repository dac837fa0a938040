"""Re-executes what a traced tape recorded, in the original dtypes or entirely in float64.

The records become a list of steps: op, inputs, attributes, line. A function call, one record on the tape, becomes one
step for each node of its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ...core.protocols import Line
from ...core.tensor import Tensor, wrap
from ...engine.registry.op import op_named
from ...engine.run import dispatch
from ...engine.run.source_lines import line_at
from ...engine.tape.custom import OneCall
from ...engine.tape.tape import Tape
from ...graph.control_flow.custom import Traced
from ...graph.ir.effects import assertion, guard, never, output, shape_guard
from ...graph.ir.graph import Graph, all_nodes, graphs_in
from ...graph.trace.assigned import assigned
from .event_log import InlinedCall, Unrecorded
from .reading import Reading, short
from .variable_reads import UpdateByCall
from .wide import WideTensor, widen_arrays

_CHECKS = (guard, shape_guard, never, assertion)  # effects that may be repeated
Key = Hashable  # of a value: its position on the tape, or a call's position with the graph's value


@dataclass(frozen=True)
class RepeatedStep:
    """One op: the keys of its inputs (a tensor for a constant) and of its outputs."""

    op: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    outputs: tuple[Key, ...]
    several: bool  # whether the outputs are a tuple
    line: Line | None
    known: tuple[Tensor, ...] = ()  # the outputs, if they have no position on the tape but are known
    is_beside: bool = False  # whether it is an op without a derivative, which the tape did not record

    @property
    def can_run_again(self) -> bool:
        """Whether the step is a pure computation."""
        if isinstance(self.op, OneCall):
            return False
        rule = self.attrs.get("rule")
        inner = [*graphs_in(self.attrs), *([rule.graph] if isinstance(rule, Traced) and rule.graph is not None else [])]
        return (self.op in _CHECKS or not getattr(self.op, "effect", False)) and can_run_again(inner)

    def run(self, given: Sequence[Tensor]) -> Sequence[Tensor]:
        """Computes the outputs for other inputs."""
        op = self.op
        if op in _CHECKS:
            return ()
        if isinstance(op, OneCall):
            if op.again is None:
                raise _cannot(op, self.line, "its function is no longer known")
            return op.again(given)
        unrolled = getattr(op, "unrolled", None)  # of a conditional or loop
        if unrolled is not None:
            return tuple(unrolled(given, self.attrs))
        result = dispatch.run(op, given, self.attrs)
        return result if type(result) is tuple else (result,)


def steps_of(reading: Reading, unrecorded: Callable[[Unrecorded], bool] | None = None) -> list[RepeatedStep]:
    """Returns the records as steps, in order; a step that reads an assigned variable precedes its first use.

    Ops without a derivative that `unrecorded` selects become steps too, if others depend on them. Otherwise their
    outputs are constants, although they might differ on other inputs. A call that was recorded op by op becomes the
    steps of its graph, since on other inputs it may take other branches or run more loop iterations.
    """
    found: list[RepeatedStep] = []
    reads = _ReadSteps(reading)
    beside = [] if unrecorded is None else _order_unrecorded(reading.log, unrecorded)
    beside.reverse()
    stop = 0  # the end of the records that a call's steps replace
    for at, record in enumerate(reading.records):
        while beside and beside[-1].position <= at:
            made = beside.pop()
            stop = max(stop, reads.add_unrecorded(at, made, found))
        if type(record) is not tuple or at < stop:
            continue
        op, parents, _, several = record
        note = reading.log.notes.get(at)
        if note is None:
            raise RuntimeError(
                "Cannot replay this tape: it has not kept the inputs of its ops. Create it with "
                "GradientTape(trace=True)"
            )
        line = reading.line(at)
        inputs = tuple([reads.key(at, x, p, found, line) for x, p in zip(note[3], parents, strict=True)])
        outputs = tuple(range(at, at + len(several or (None,))))
        if getattr(op, "family", None) == "call":
            found += _steps_of_call(op, _drop_prints(op.as_run), at, inputs, outputs, line, reads)
        elif isinstance(op, OneCall) and op.node is not None:
            node, given, attrs = op.node
            known = tuple([reads.key(at, x, reading.log.position(x), found, line) for x in given])
            found.append(RepeatedStep(node, known, attrs, outputs, True, line))
        else:
            found.append(RepeatedStep(op, inputs, note[4], outputs, several is not None, line))
    for made in reversed(beside):
        reads.add_unrecorded(len(reading.records), made, found)
    reading.keys_beside.update(reads.beside)
    return _drop_unused(found, reading) if unrecorded is not None else found


def _order_unrecorded(log: Any, wanted: Callable[[Unrecorded], bool]) -> list[Unrecorded | InlinedCall]:
    """Returns the unrecorded work in order of execution: the `wanted` ops, and calls in place of the ops they ran.

    A call that was recorded op by op remains its ops and guards if a part of it cannot run again, or if the tape
    recorded a sweep of its own: which ops a sweep runs depends on the branches taken.
    """
    found: list[tuple[int, Unrecorded | InlinedCall]] = []
    for number, made in enumerate(getattr(log, "unrecorded", {}).values()):
        if not isinstance(made, InlinedCall):
            if wanted(made):
                found.append((number, made))
        elif (made.stop == made.position or not log.has_own_sweep) and can_run_again(
            [_drop_prints(made.call.as_run)]
        ):
            while found and found[-1][0] >= made.first:
                found.pop()
            found.append((number, made))
    return [made for _, made in found]


def _drop_unused(steps: Sequence[RepeatedStep], reading: Reading) -> list[RepeatedStep]:
    """Removes unrecorded steps whose outputs are neither used on the tape nor targets or sources."""
    asked = (*reading.targets, *(source for _, source, _ in reading.sources))
    used: set[Any] = {*reading.seeds, *(at for _, _, at in reading.sources)}
    used.update(reading.keys_beside[id(x)] for x in asked if id(x) in reading.keys_beside)
    found = []
    for step in reversed(steps):
        if not step.is_beside or step.op in _CHECKS or not used.isdisjoint(step.outputs):
            used.update(x for x in step.inputs if not isinstance(x, Tensor))
            found.append(step)
    return found[::-1]


class _ReadSteps:
    """Reads of reassigned variables as steps, so that their cotangents accumulate in the variables."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.beside: dict[int, Key] = {}  # by the `id` of an output of an op without a derivative
        self._log = reading.log
        self._keys: dict[tuple[Any, Any], Key] = {}  # by the variable's position and the identity of the value read
        self.left_by_calls: dict[tuple[Any, int], Any] = {}  # by call and a variable's `id`: its value after the call

    def key(self, at: int, x: Tensor, p: int | None, steps: list[RepeatedStep], line: Line | None) -> Any:
        """Returns the key of `x`, a value at position `p` used at `at`; adds a read step if necessary."""
        if p is not None and p < 0:
            p = None
        value = self._reading.origin(x, p)
        if value is None or value is x:
            if p is None:
                return self.beside.get(id(x), x)
            if value is None:
                return p
        same = (p, value[:1] if isinstance(value, UpdateByCall) else id(value))
        if same not in self._keys:
            if isinstance(value, UpdateByCall):
                source = self.left_by_calls.get((value.call, id(value.variable)), x)
            else:
                place = None if value is x else self._log.position(value)
                source = x if value is x else self.key(at, value, place, steps, line)  # or a variable's read
            self._keys[same] = key = (at, ("read", len(self._keys)))
            if p is None:  # an unwatched variable receives no cotangent
                steps.append(RepeatedStep(op_named("stop_gradient"), (source,), {}, (key,), False, line, (x,)))
            else:
                steps.append(RepeatedStep(assigned, (source, p), {}, (key,), False, line, (x,)))
        return self._keys[same]

    def _add_call(self, at: int, made: InlinedCall, steps: list[RepeatedStep]) -> None:
        """Adds the steps of a call that is not one record; its outputs keep the keys they have on the tape."""
        line, call, graph = line_at(made.reference), made.call, _drop_prints(made.call.as_run)
        inputs = tuple([self.key(at, x, self._log.position(x), steps, line) for x in made.inputs])
        named: dict[Any, Key] = {}
        for v, y in zip(graph.all_outputs, made.outputs, strict=False):
            place = self._log.position(y)
            if place is not None and made.position <= place < made.stop:
                named[v] = place
        keys = _check_inputs(call, graph, inputs, line)
        for step in steps_inside(graph, keys, (at, len(steps)), line, named):
            op = getattr(step.op, "tracked", step.op) if self._log.tracks else step.op
            steps.append(replace(step, op=op))
        for v, y in zip(graph.all_outputs, made.outputs, strict=False):
            if v.constant is None and self._log.position(y) is None:
                self.beside[id(y)] = keys[v]
        for variable, v in graph.updates:
            self.left_by_calls[id(made), id(variable)] = _key_in(keys, v)

    def add_unrecorded(self, at: int, made: Unrecorded | InlinedCall, steps: list[RepeatedStep]) -> int:
        """Adds the steps of unrecorded work; returns the position up to which they replace records."""
        if isinstance(made, InlinedCall):
            self._add_call(at, made, steps)
            return made.stop
        self._add_op(at, made, steps)
        return at

    def _add_op(self, at: int, made: Unrecorded, steps: list[RepeatedStep]) -> None:
        line = None if made.reference is None else line_at(made.reference)
        if isinstance(made.op, OneCall):  # its outputs are copies of the function's results
            for y, x in zip(made.outputs, made.op.results or (), strict=False):
                if not isinstance(key := self.key(at, x, self._log.position(x), steps, line), Tensor):
                    self.beside[id(y)] = key
            return
        inputs = tuple([self.key(at, x, self._log.position(x), steps, line) for x in made.inputs])
        if made.op in _CHECKS and all(isinstance(x, Tensor) for x in inputs):  # constants do not change
            return
        outputs = []
        for i, y in enumerate(made.outputs):
            place = self._log.position(y)  # a floating output is a leaf, which may be a source
            outputs.append((at, ("beside", len(steps), i)) if place is None or place < 0 else place)
            self.beside[id(y)] = outputs[-1]
        steps.append(RepeatedStep(made.op, inputs, made.attrs, tuple(outputs), made.several, line, made.outputs, True))


def _steps_of_call(
    op: Any, graph: Graph, at: int, inputs: tuple[Any, ...], outputs: tuple[Key, ...], line: Line | None,
    reads: _ReadSteps,
) -> list[RepeatedStep]:  # fmt: skip
    """Returns the steps of a call."""
    keys = _check_inputs(op, graph, inputs, line)
    found = steps_inside(graph, keys, at, line, dict(zip(graph.outputs, outputs, strict=False)))
    for v, key in zip(graph.outputs, outputs, strict=False):
        given = keys[v] if v.constant is None else wrap(v.constant, v.dtype)
        if isinstance(given, Tensor) or given != key:  # a forwarded input, or a value returned twice
            found.append(RepeatedStep(op_named("identity"), (given,), {}, (key,), False, line))
    for variable, v in graph.updates:
        reads.left_by_calls[at, id(variable)] = _key_in(keys, v)
    return found


def _drop_prints(graph: Graph) -> Graph:
    """Returns the graph without its print nodes, which should run only once."""
    return replace(graph, nodes=tuple(node for node in graph.nodes if node.op is not output))


def _check_inputs(op: Any, graph: Graph, inputs: tuple[Any, ...], line: Line | None) -> dict[Any, Any]:
    """Returns the keys of a call's inputs; raises if the call cannot run again."""
    if not can_run_again([graph]):
        raise _cannot(op, line, "it draws random numbers, prints or calls Python")
    return dict(zip(graph.all_inputs, inputs, strict=True))


def _key_in(keys: Mapping[Any, Any], v: Any) -> Any:
    """Returns the key of a graph value, or its constant."""
    return keys[v] if v.constant is None else wrap(v.constant, v.dtype)


def steps_inside(
    graph: Graph, keys: dict[Any, Any], at: Key, line: Line | None, named: Mapping[Any, Key] = MappingProxyType({})
) -> list[RepeatedStep]:
    """Returns a step for each node; `keys` maps the graph's inputs to their keys, and receives its other values."""
    found = []
    for node in graph.nodes:
        given = tuple(_key_in(keys, v) for v in node.inputs)
        made = tuple(named.get(v, (at, v)) for v in node.outputs)
        keys.update(zip(node.outputs, made, strict=True))
        found.append(RepeatedStep(node.op, given, node.attrs, made, node.several, node.line or line))
    return found


def can_run_again(given: Iterable[Graph]) -> bool:
    """Whether these graphs are free of side effects other than guards and assertions."""
    nodes = (node for graph in given for node in all_nodes(graph))
    return not any(getattr(node.op, "effect", False) and node.op not in _CHECKS for node in nodes)


def _cannot(op: Any, line: Line | None, why: str) -> RuntimeError:
    where = "" if line is None else f" at {short(line)}"
    return RuntimeError(
        f"Cannot rerun the call of {op.name}{where}: {why}. tf.config.run_functions_eagerly(True) records its ops, "
        "which can be rerun"
    )


class Repetition:
    """Re-executes and differentiates the steps; values and cotangents are arrays, by key."""

    def __init__(self, reading: Reading, steps: Sequence[RepeatedStep], wide: bool) -> None:
        self.dtypes: dict[Key, Any] = {}
        tensors: dict[Key, Tensor] = {}
        with dispatch.recorded_by(()), Tape(persistent=True, watch_accessed_variables=False) as tape:
            made = _leaves(reading, steps, wide)
            tape.watch([_plain(x) for x in made.values() if x.dtype.differentiable])
            for step in steps:
                given = [made[x] if not isinstance(x, Tensor) else x for x in step.inputs]
                made.update(zip(step.outputs, step.run(given), strict=True))
            for key, x in made.items():
                if x.dtype.is_floating:
                    tensors[key], self.dtypes[key] = _plain(x), x.dtype
        targets = [at for at in reading.seeds if at in tensors]
        wanted = [at for _, _, at in reading.sources if at in tensors]
        weights = [_as(reading.seeds[at], tensors[at]) for at in targets]
        assert tape._log is not None  # the tape is persistent
        tape._log.last_query = ([tensors[at] for at in targets], weights, [tensors[at] for at in wanted])
        again = Reading(tape)
        self.values = {key: x.array for key, x in tensors.items()}
        self.cotangents = {
            key: again.cotangents[place]
            for key, x in tensors.items()
            if (place := again.log.position(x)) is not None and place in again.cotangents
        }


def _leaves(reading: Reading, steps: Sequence[RepeatedStep], wide: bool) -> dict[Key, Tensor]:
    """Returns the values that the steps start from, by key."""
    made = {key for step in steps for key in step.outputs}
    taken = {x for step in steps for x in step.inputs if not isinstance(x, Tensor)}
    keys = sorted(taken - made)  # positions only: values inside a graph are outputs of steps
    known = [reading.tensors[at] for at in keys]
    if wide:
        known = [
            w if x.dtype.is_floating else x
            for x, w in zip(known, widen_arrays([x.array for x in known], [x.dtype for x in known]), strict=True)
        ]
    else:
        known = [wrap(x.array, x.dtype) for x in known]
    return dict(zip(keys, known, strict=True))


def _plain(x: Tensor) -> Tensor:
    return x.value if type(x) is WideTensor else x


def _as(weight: Tensor, x: Tensor) -> Tensor:
    with dispatch.recorded_by(()):
        return Tensor(weight.array.astype(x.array.dtype))
