"""What a traced tape has recorded, run again: as it was, or in float64 throughout.

The records are steps on a list: op, inputs, attributes, line. A call of a function, one record on the tape, is a step
for each node of its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ...core.tensor import Tensor, wrap
from ...engine.registry.op import registry
from ...engine.run import dispatch
from ...engine.run.source_lines import Line, line_at
from ...engine.tape.custom import OneCall
from ...engine.tape.tape import GradientTape
from ...graph.control_flow.custom import Traced
from ...graph.ir.effects import assertion, guard, never, output, shape_guard
from ...graph.ir.graph import Graph, all_nodes, graphs_in
from ...graph.trace.assigned import assigned
from .event_log import InlinedCall, Unrecorded
from .reading import Reading, short
from .variable_reads import UpdateByCall
from .wide import WideTensor, widened

_CHECKS = (guard, shape_guard, never, assertion)  # which another run may well make again
Key = Hashable  # of a value: its position on the tape, or that of a call with the value of the graph


@dataclass(frozen=True)
class RepeatedStep:
    """One op: which values it took (a tensor where it took a constant), and which it made."""

    op: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    outputs: tuple[Key, ...]
    several: bool  # whether the outputs are a tuple
    line: Line | None
    known: tuple[Tensor, ...] = ()  # the outputs, where they have no position on the tape and are known all the same
    is_beside: bool = False  # whether it is an op without a derivative, which the tape has not recorded

    @property
    def can_run_again(self) -> bool:
        """Whether that computes, and does nothing else."""
        if isinstance(self.op, OneCall):
            return False
        rule = self.attrs.get("rule")
        inner = [*graphs_in(self.attrs), *([rule.graph] if isinstance(rule, Traced) and rule.graph is not None else [])]
        return (self.op in _CHECKS or not getattr(self.op, "effect", False)) and can_run_again(inner)

    def run(self, given: Sequence[Tensor]) -> Sequence[Tensor]:
        """The outputs for other inputs."""
        op = self.op
        if op in _CHECKS:
            return ()
        if isinstance(op, OneCall):
            if op.again is None:
                raise _cannot(op, self.line, "its function is not known any more")
            return op.again(given)
        unrolled = getattr(op, "unrolled", None)  # of a branch or a loop
        if unrolled is not None:
            return tuple(unrolled(given, self.attrs))
        result = dispatch.run(op, given, self.attrs)
        return result if type(result) is tuple else (result,)


def steps_of(reading: Reading, unrecorded: Callable[[Unrecorded], bool] | None = None) -> list[RepeatedStep]:
    """What was recorded, in order; before what uses a variable that was assigned on the tape, a step that reads it.

    Of the ops without a derivative, for which `unrecorded` says so, those are steps as well that others depend on.
    Their outputs are constants otherwise, which may be others if the program is run on other inputs. A call that was
    recorded op by op may take other branches then, or more rounds of a loop: it is the steps of its graph.
    """
    found: list[RepeatedStep] = []
    reads = _ReadSteps(reading)
    beside = [] if unrecorded is None else _unrecorded(reading.log, unrecorded)
    beside.reverse()
    stop = 0  # of the records of a call whose graph the steps are of
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
                "Cannot repeat what this tape has recorded: it has not noted what its ops were given. Make it with "
                "GradientTape(trace=True)"
            )
        line = reading.line(at)
        inputs = tuple([reads.key(at, x, p, found, line) for x, p in zip(note[3], parents, strict=True)])
        outputs = tuple(range(at, at + len(several or (None,))))
        if getattr(op, "family", None) == "call":
            found += _inside(op, _without_prints(op.as_run), at, inputs, outputs, line, reads)
        elif isinstance(op, OneCall) and op.node is not None:
            node, given, attrs = op.node
            known = tuple([reads.key(at, x, reading.log.position(x), found, line) for x in given])
            found.append(RepeatedStep(node, known, attrs, outputs, True, line))
        else:
            found.append(RepeatedStep(op, inputs, note[4], outputs, several is not None, line))
    for made in reversed(beside):
        reads.add_unrecorded(len(reading.records), made, found)
    reading.keys_beside.update(reads.beside)
    return _without_unused(found, reading) if unrecorded is not None else found


def _unrecorded(log: Any, wanted: Callable[[Unrecorded], bool]) -> list[Unrecorded | InlinedCall]:
    """What is beside the tape in order of execution: the `wanted` ops, and calls instead of what they have run.

    A call that was recorded op by op stays that, with its checks, if a part of it cannot run again. So it does if the
    tape has recorded a sweep of its own: which ops a sweep runs depends on the branches that were taken.
    """
    found: list[tuple[int, Unrecorded | InlinedCall]] = []
    for number, made in enumerate(getattr(log, "unrecorded", {}).values()):
        if not isinstance(made, InlinedCall):
            if wanted(made):
                found.append((number, made))
        elif (made.stop == made.position or not log.has_own_sweep) and can_run_again(
            [_without_prints(made.call.as_run)]
        ):
            while found and found[-1][0] >= made.first:
                found.pop()
            found.append((number, made))
    return [made for _, made in found]


def _without_unused(steps: Sequence[RepeatedStep], reading: Reading) -> list[RepeatedStep]:
    """The steps without those beside the tape whose outputs nothing on it uses, and which nothing is asked about."""
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
    """The reads of variables that were assigned before, as steps: their cotangents belong to the variables."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.beside: dict[int, Key] = {}  # by the `id` of a tensor that an op without a derivative gave
        self._log = reading.log
        self._keys: dict[tuple[Any, Any], Key] = {}  # by the variable's position, and the identity of what was read
        self.left_by_calls: dict[tuple[Any, int], Any] = {}  # by a call and a variable's `id`: what it became

    def key(self, at: int, x: Tensor, p: int | None, steps: list[RepeatedStep], line: Line | None) -> Any:
        """What `x`, a value at position `p` that is used at `at`, is called; a step that reads it may be added."""
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
                source = x if value is x else self.key(at, value, place, steps, line)  # or a read of another variable
            self._keys[same] = key = (at, ("read", len(self._keys)))
            if p is None:  # of a variable that is not watched: no cotangent goes there
                steps.append(RepeatedStep(registry["stop_gradient"], (source,), {}, (key,), False, line, (x,)))
            else:
                steps.append(RepeatedStep(assigned, (source, p), {}, (key,), False, line, (x,)))
        return self._keys[same]

    def _add_call(self, at: int, made: InlinedCall, steps: list[RepeatedStep]) -> None:
        """Adds the steps of a call that is not one record, named as what it has given."""
        line, call, graph = line_at(made.reference), made.call, _without_prints(made.call.as_run)
        inputs = tuple([self.key(at, x, self._log.position(x), steps, line) for x in made.inputs])
        named: dict[Any, Key] = {}
        for v, y in zip(graph.all_outputs, made.outputs, strict=False):
            place = self._log.position(y)
            if place is not None and made.position <= place < made.stop:
                named[v] = place
        keys = _checked_inputs(call, graph, inputs, line)
        for step in steps_inside(graph, keys, (at, len(steps)), line, named):
            op = getattr(step.op, "tracked", step.op) if self._log.tracks else step.op
            steps.append(replace(step, op=op))
        for v, y in zip(graph.all_outputs, made.outputs, strict=False):
            if v.constant is None and self._log.position(y) is None:
                self.beside[id(y)] = keys[v]
        for variable, v in graph.updates:
            self.left_by_calls[id(made), id(variable)] = _key_in(keys, v)

    def add_unrecorded(self, at: int, made: Unrecorded | InlinedCall, steps: list[RepeatedStep]) -> int:
        """Adds the steps of what is not recorded; returns the position up to which they replace records."""
        if isinstance(made, InlinedCall):
            self._add_call(at, made, steps)
            return made.stop
        self._add_op(at, made, steps)
        return at

    def _add_op(self, at: int, made: Unrecorded, steps: list[RepeatedStep]) -> None:
        line = None if made.reference is None else line_at(made.reference)
        if isinstance(made.op, OneCall):  # what it gives are copies of what its function computed
            for y, x in zip(made.outputs, made.op.results or (), strict=False):
                if not isinstance(key := self.key(at, x, self._log.position(x), steps, line), Tensor):
                    self.beside[id(y)] = key
            return
        inputs = tuple([self.key(at, x, self._log.position(x), steps, line) for x in made.inputs])
        if made.op in _CHECKS and all(isinstance(x, Tensor) for x in inputs):  # constants, which stay the same
            return
        outputs = []
        for i, y in enumerate(made.outputs):
            place = self._log.position(y)  # of a leaf: what is floating may be a source
            outputs.append((at, ("beside", len(steps), i)) if place is None or place < 0 else place)
            self.beside[id(y)] = outputs[-1]
        steps.append(RepeatedStep(made.op, inputs, made.attrs, tuple(outputs), made.several, line, made.outputs, True))


def _inside(
    op: Any, graph: Graph, at: int, inputs: tuple[Any, ...], outputs: tuple[Key, ...], line: Line | None,
    reads: _ReadSteps,
) -> list[RepeatedStep]:  # fmt: skip
    """The steps of a call."""
    keys = _checked_inputs(op, graph, inputs, line)
    found = steps_inside(graph, keys, at, line, dict(zip(graph.outputs, outputs, strict=False)))
    for v, key in zip(graph.outputs, outputs, strict=False):
        given = keys[v] if v.constant is None else wrap(v.constant, v.dtype)
        if isinstance(given, Tensor) or given != key:  # an input that is handed on, or one value given twice
            found.append(RepeatedStep(registry["identity"], (given,), {}, (key,), False, line))
    for variable, v in graph.updates:
        reads.left_by_calls[at, id(variable)] = _key_in(keys, v)
    return found


def _without_prints(graph: Graph) -> Graph:
    """The graph that prints nothing: once is enough."""
    return replace(graph, nodes=tuple(node for node in graph.nodes if node.op is not output))


def _checked_inputs(op: Any, graph: Graph, inputs: tuple[Any, ...], line: Line | None) -> dict[Any, Any]:
    """The keys of the inputs of a call, if it can be run again."""
    if not can_run_again([graph]):
        raise _cannot(op, line, "it draws random numbers, prints or calls Python")
    return dict(zip(graph.all_inputs, inputs, strict=True))


def _key_in(keys: Mapping[Any, Any], v: Any) -> Any:
    """What a value of a graph is called, or the constant that it is."""
    return keys[v] if v.constant is None else wrap(v.constant, v.dtype)


def steps_inside(
    graph: Graph, keys: dict[Any, Any], at: Key, line: Line | None, named: Mapping[Any, Key] = MappingProxyType({})
) -> list[RepeatedStep]:
    """A step for each node; `keys` has what the inputs of the graph are, and gets what its other values are called."""
    found = []
    for node in graph.nodes:
        given = tuple(_key_in(keys, v) for v in node.inputs)
        made = tuple(named.get(v, (at, v)) for v in node.outputs)
        keys.update(zip(node.outputs, made, strict=True))
        found.append(RepeatedStep(node.op, given, node.attrs, made, node.several, node.line or line))
    return found


def can_run_again(given: Iterable[Graph]) -> bool:
    """Whether nothing happens in these graphs beside what they compute."""
    nodes = (node for graph in given for node in all_nodes(graph))
    return not any(getattr(node.op, "effect", False) and node.op not in _CHECKS for node in nodes)


def _cannot(op: Any, line: Line | None, why: str) -> RuntimeError:
    where = "" if line is None else f" at {short(line)}"
    return RuntimeError(
        f"Cannot run the call of {op.name}{where} again: {why}. tf.config.run_functions_eagerly(True) makes it ops, "
        "which can be run again"
    )


class Repetition:
    """The steps run again, and differentiated: values and cotangents as arrays, by key."""

    def __init__(self, reading: Reading, steps: Sequence[RepeatedStep], wide: bool) -> None:
        self.dtypes: dict[Key, Any] = {}
        tensors: dict[Key, Tensor] = {}
        with dispatch.recorded_by(()), GradientTape(persistent=True, watch_accessed_variables=False) as tape:
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
        tape._log.question = ([tensors[at] for at in targets], weights, [tensors[at] for at in wanted])
        again = Reading(tape)
        self.values = {key: x.array for key, x in tensors.items()}
        self.cotangents = {
            key: again.cotangents[place]
            for key, x in tensors.items()
            if (place := again.log.position(x)) is not None and place in again.cotangents
        }


def _leaves(reading: Reading, steps: Sequence[RepeatedStep], wide: bool) -> dict[Key, Tensor]:
    """What the steps start from."""
    made = {key for step in steps for key in step.outputs}
    taken = {x for step in steps for x in step.inputs if not isinstance(x, Tensor)}
    keys = sorted(taken - made)  # positions: what a graph makes is made by a step
    known = [reading.tensors[at] for at in keys]
    if wide:
        known = [
            w if x.dtype.is_floating else x
            for x, w in zip(known, widened([x.array for x in known], [x.dtype for x in known]), strict=True)
        ]
    else:
        known = [wrap(x.array, x.dtype) for x in known]
    return dict(zip(keys, known, strict=True))


def _plain(x: Tensor) -> Tensor:
    return x.value if type(x) is WideTensor else x


def _as(weight: Tensor, x: Tensor) -> Tensor:
    with dispatch.recorded_by(()):
        return Tensor(weight.array.astype(x.array.dtype))
