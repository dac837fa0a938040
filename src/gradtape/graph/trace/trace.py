"""Tracing by execution: a traced tensor carries its real value and its place in the graph that is being made.

Every op on a traced tensor runs its kernel on the real values and adds a node. So shapes and dtypes are known without
shape rules, and the first call of a function has its result when the graph is done. A trace for XLA finds out shapes
and dtypes alone, and computes a value when somebody looks at it (`awaited`).

What depends on a value in another way (an axis, a size, a Python `if` inside gradtape) takes the value of this run and
leaves a guard in the graph: a run in which the value is different raises `Changed`, and the function is traced again.
The user's own code may not look at the value: it gets TensorFlow's errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor, placed, wrap
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.registry.op import Op
from ...engine.run import dispatch
from ...engine.run.dispatch import thread
from ...engine.run.namespace import ops
from ...engine.run.randomness import Draw, Stream
from ...engine.run.source_lines import Line, caller
from ...state.sharded_variable import ShardedVariable
from ..ir.effects import assertion, draw, guard, is_imagined, shape_guard
from ..ir.graph import Graph, Node, Value, graphs_in, maker, unique
from .assigned import assigned
from .conversion_status import ask as ask_for_conversion
from .conversion_status import thread as conversion
from .lazy_tensors import LazyTensor, Thunk, computed, is_replayed, of_variable, outcome_of, plain, work_of
from .traced import InlineIntoCaller, NeedsXLA, PoisonTensor, TracedTensor, Untraceable, out_of_scope

_NARROW = dtypes.NARROW
remembered: set[Any] = set()  # the ops whose results tell, as `made_by`, what they were computed from


class Trace(dispatch.Recorder):
    """A graph in the making. A trace inside another (a branch, the body of a loop) captures what it uses of the outer.

    `values` is what each variable holds at this point of the program: nothing is written to variables before the end.

    A plain tensor is a constant of the graph. It may also be one that somebody outside follows, as a tape does that
    watches it. What is computed from it is no constant for them: it gets a node too, and a mark that tells its place.
    """

    assertion = assertion  # the op of a check of values: see `verify`

    def __init__(self, name: str, nested: bool = False, for_xla: bool = False, awaits: bool = False) -> None:
        self.level = dispatch.next_level()
        self.key = object()
        self.name = name
        self.outer: Trace | None = thread.trace if nested else None
        self.within: Trace | None = thread.trace  # the trace that is interrupted for this one
        self.for_xla = for_xla if self.within is None else self.within.for_xla  # who is to run the graph in the end
        # Whether values are computed only when somebody looks at them: see `awaited`.
        self.awaits = for_xla or awaits if self.within is None else self.within.awaits
        self.outer_recorders = thread.recorders
        self.inputs: list[Value] = []
        self.late: dict[Value, Tensor] = {}  # inputs that were added on the way: what they are at first
        self.nodes: list[Node] = []
        self.budget: int | float | None = None  # that of a tape inside
        self.line: Any = None  # where the node being added comes from, when that is not the caller
        self.captured: dict[Any, tuple[Tensor, TracedTensor]] = {}  # the outer tensor, and ours
        self.variable_inputs: dict[int, Any] = {}  # where among the captured tensors the value of a variable is
        self.reads: dict[int, tuple[Any, Value]] = {}
        self.given: dict[Value, TracedTensor] = {}  # what no node of computation makes: inputs, what effects gave
        self.first_reads: dict[int, Tensor] = {}  # what each variable that has been read held at first
        self._later_reads: dict[int, tuple[Tensor, Tensor]] = {}  # a value that was assigned, and as it is read
        self.values: dict[int, tuple[Any, Any]] = {}  # what each variable holds: a tensor, traced or not
        self.written: dict[int, Any] = {}
        self.written_at: dict[int, Line] = {}  # where, if somebody explains
        self.own_variables: dict[int, Any] = {}  # those that are made and forgotten in every run
        self.variables_made: list[Any] = []
        self.may_make_variables = True if self.outer is None else self.outer.may_make_variables
        self._op_seeds = self._draws = self._parts = 0
        self.streams: dict[Any, Stream] = {} if self.outer is None else self.outer.streams
        # In a derivative: the streams of the graph that is differentiated, by their ids, and those that stand for them.
        self.standing_for: dict[int, Stream] | None = None
        self._path: tuple[int, ...] = () if self.outer is None else self.outer.next_path()
        self._constants: dict[int, tuple[Tensor, Value]] = {}
        self.known_places: set[Value] = set()  # those that a guard watches
        self._names: dict[Value, str] = {}
        self._parameters: dict[Value, str] = {}  # what the inputs are called
        self.last_effect: Thunk | None = None if self.within is None else self.within.last_effect  # if for XLA
        self.awaited: dict[Value, Tensor] = {}  # the values of its nodes, if it awaits them
        self.open = True
        self.asks_a_tape = False
        self.shows: list[Callable[[], None]] = []  # what is to be seen of this run, if it is the one that counts
        self.performed: dict[Value, list[Any]] = {}  # by its first output: what the effects inside a node gave
        self.externals: dict[Value, Tensor] = {}  # plain tensors from outside that are or may be followed
        self.tracks_external = bool(self.outer_recorders) or (self.outer is not None and self.outer.tracks_external)
        # Even constants that the function makes:
        self.tracks_all_external = self.outer is not None and self.outer.tracks_all_external

    @property
    def outermost(self) -> Trace:
        """The trace that this one is a part of."""
        return self if self.outer is None else self.outer.outermost

    def tape_is_asked(self) -> None:
        """A tape is asked for a gradient here, or in a part of this trace."""
        self.outermost.asks_a_tape = True

    def entered(self) -> Any:
        """A context in which ops on traced tensors are added to this trace."""
        return dispatch.traced_by(self)

    @contextmanager
    def from_here(self) -> Iterator[None]:
        """Nodes added inside the block, in which no code of the user's runs, come from the line that runs now."""
        before, self.line = self.line, self.line or caller()
        try:
            yield
        finally:
            self.line = before

    def input(self, value: Tensor, name: str = "args") -> TracedTensor:
        """A further input of the graph, with its value in this run."""
        place = Value(value.dims, value.dtype)
        self.inputs.append(place)
        self._parameters[place] = name
        self.given[place] = x = TracedTensor(value, place, self)
        return x

    def late_input(self, x: Tensor) -> TracedTensor:
        """A further input that turns out to be needed, and begins as `x`, which is of the trace around this one."""
        y = self.input(value_of(x))
        self.late[y.place] = x
        return y

    def add_external(self, x: Tensor) -> None:
        """Makes ops on the plain tensor `x` nodes of the graph, until its mark is taken away."""
        self.tracks_external = True
        x.tracer = (self.key, self.place_of(x), x.tracers)

    def is_external(self, x: Tensor) -> bool:
        """Whether the plain tensor `x` is more than a constant to somebody: to this trace or to those around it."""
        if x.tracer is None:
            return False
        outer = self.outer
        return (
            dispatch.entry(x.tracers, self.key) is not None
            or any(dispatch.entry(x.tracers, recorder.key) is not None for recorder in self.outer_recorders)
            or (outer is not None and outer.is_external(x))
        )

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """An op has run on plain tensors: if one of them is followed, it gets a node."""
        several = type(outputs) is tuple
        results = outputs if several else (outputs,)
        if any(type(x) not in REAL for x in (*inputs, *results)) or not any(map(self.is_external, inputs)):
            return
        places = tuple([self.place_of(x) for x in inputs])
        made = tuple([Value(y.dims, y.dtype) for y in results])
        self.nodes.append(Node(op, places, attrs, made, several, self.line or caller()))
        for y, place in zip(results, made, strict=True):
            y.tracer = (self.key, place, y.tracers)

    def run(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any], line: Line | None = None) -> Any:
        """Runs `op` on the real values and adds a node, which comes from this line, or from the caller's."""
        places, values = [], []
        for x in inputs:
            if x.dtype.kind == _NARROW and not op.moves_data and not (self.for_xla and x.dtype is dtypes.bfloat16):
                return dispatch.run_in_float32(op, inputs, attrs)
            if type(x) is TracedTensor:
                places.append(x.place if x.trace is self else self.capture(x).place)
                values.append(x.value)
            elif type(x) is PoisonTensor and not _must_run(op):
                return x
            else:
                places.append(self.place_of(x))
                values.append(value_of(x) if type(x) is DeviceTensor else x)
        recorder, thread.recorder = thread.recorder, None
        try:
            result: Any = self._awaited(op, values, attrs) if self.awaits else computed(op, values, attrs)
        except InvalidArgumentError as error:
            error.about_values = True
            if _must_run(op) or isinstance(error, ValueError):
                raise
            return PoisonTensor(error, inputs[0].dtype, self)
        finally:
            thread.recorder = recorder
        line = line or self.line or caller()
        if type(result) is tuple:
            outputs: Any = tuple([TracedTensor(y, Value(y.dims, y.dtype), self) for y in result])
            made = tuple([y.place for y in outputs])
            self.nodes.append(Node(op, tuple(places), attrs, made, True, line))
        else:
            place = Value(result.dims, result.dtype)
            outputs = TracedTensor(result, place, self)
            if op in remembered:
                outputs.made_by = (op, inputs, attrs)
            made = (place,)
            self.nodes.append(Node(op, tuple(places), attrs, made, False, line))
        if self.awaits:
            self.awaited.update(zip(made, result if type(result) is tuple else (result,), strict=True))
        if op.family != "elementwise":
            if getattr(op, "shaped_by_values", False):
                self.nodes += [Node(shape_guard, (v,), {"shape": v.shape}, (), True, line) for v in made]
            if getattr(op, "effect", False):
                self.given.update(zip(made, outputs if type(outputs) is tuple else (outputs,), strict=True))
        if thread.recorders:
            for x in inputs:
                if x.tracer is not None:
                    recorder.record(op, inputs, outputs, attrs)
                    break
        return outputs

    def _awaited(self, op: Any, values: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """What `op` gives, as values that nobody has looked at; where its values must be known, computed at once."""
        if op is assigned:
            return values[0]
        if op.forwards_inputs is not None:
            return op.forwards_inputs(values, attrs)
        effect = type(op) is not Op and (op.effect or any(graph.has_effects for graph in graphs_in(attrs)))
        at_once = (effect and is_replayed()) or (not self.for_xla and _must_run(op))
        found = None if at_once else outcome_of(op, values, attrs, self.for_xla)
        if found is None:
            if effect:
                self.catch_up()
            return computed(op, list(map(plain, values)), attrs)
        outcome, several = found
        imagined = is_imagined()
        work = work_of(op, values, attrs, effect, None if imagined or not effect else self.last_effect)
        if effect and not imagined:
            self.last_effect = work
        results = tuple([LazyTensor(dims, dtype, work, i) for i, (dims, dtype) in enumerate(outcome)])
        return results if several else results[0]

    def catch_up(self) -> None:
        """Performs the effects that were traced, and have not been performed."""
        if self.last_effect is not None and not is_imagined():
            self.last_effect.results()

    def place_of(self, x: Tensor) -> Value:
        """Where an input of an op stands in this graph."""
        if type(x) is TracedTensor:
            return x.place if x.trace is self else self.capture(x).place
        if type(x) is PoisonTensor:
            raise x.error
        if type(x) not in REAL:
            raise Untraceable(f"a {type(x).__name__} from outside the function")
        if x.tracer is not None and self.is_external(x):
            place: Value | None = dispatch.entry(x.tracers, self.key)
            if place is not None:
                return place
            if self.outer is not None:
                return self.capture(x).place
        found = self._constants.get(id(x))
        if found is None:
            found = self._constants[id(x)] = (x, Value(x.dims, x.dtype, x.array))
        if x.tracer is not None and self.is_external(x):
            self.externals[found[1]] = x
        return found[1]

    def capture(self, x: Tensor, variable: Any = None) -> TracedTensor:
        """A tensor of an outer trace, as an input of this one; what a variable holds is an input of its own."""
        if type(x) is TracedTensor:
            self._check_access(x)
        assert self.outer is not None
        if variable is None:
            key = (self.outer.place_of(x), id(x.tracer), 0)  # one value may be on a tape by several ways
        else:  # every read is a tensor of its own: what tells two of them apart is the variable
            held = x if type(x) is TracedTensor else self.outer.values[id(variable)][1]
            key = self.variable_inputs[id(variable)] = (self.outer.place_of(held), 0, id(variable))
        found = self.captured.get(key)
        if found is None:
            value = x.value if type(x) is TracedTensor else wrap(x.array, x.dtype)
            found = self.captured[key] = (x, TracedTensor(value, Value(x.dims, x.dtype), self))
            self.given[found[1].place] = found[1]
        return found[1]

    def _check_access(self, x: TracedTensor) -> None:
        """Raises unless `x` is of a trace around this one."""
        if not x.trace.open:
            raise out_of_scope(x)
        if self.outer is not None:
            if x.trace is not self.outer and x.trace.outer is self.outer:
                raise ValueError(f"Tensor {x.name} in {x.trace.name} is accessed from {self.name}.")
            return
        trace = self.within
        while trace is not None and trace is not x.trace:
            trace = trace.within
        raise out_of_scope(x) if trace is None else InlineIntoCaller

    def known(self, x: TracedTensor) -> Any:
        """The value of `x` in this run, which the graph from now on relies on."""
        if not self.open:
            raise out_of_scope(x)
        conversion.looks += 1
        if x.place not in self.known_places:
            self.known_places.add(x.place)
            attrs = {"value": x.value.array}
            self.nodes.append(Node(guard, (x.place,), attrs, (), True, caller()))
        return x.value.array

    def iterated(self) -> None:
        """Somebody goes through the rows of a tensor: if it is a loop of the user's, it is to be converted."""
        ask_for_conversion(2)

    def draw(self, take: Callable[[], Any]) -> Tensor:
        """The state of a random draw: a new one in every run."""
        return self.run(draw, (), {"take": take})

    def next_op_seed(self) -> int:
        """The seed of a random op that is given none: its number among those of the graph."""
        self._op_seeds += 1
        return self._op_seeds - 1

    def next_path(self) -> tuple[int, ...]:
        """Which of the traces in this one the next is."""
        self._parts += 1
        return (*self._path, self._parts)

    @contextmanager
    def within_part(self, path: tuple[int, ...]) -> Iterator[None]:
        """Random ops inside the block are those of the part at `path`: the same ones when it is gone through again."""
        before = self._path, self._op_seeds, self._draws, self._parts
        self._path, self._op_seeds, self._draws, self._parts = path, 0, 0, 0
        try:
            yield
        finally:
            self._path, self._op_seeds, self._draws, self._parts = before

    def stream(self, first: int, second: int, blocks: int) -> Draw:
        """What the next random op draws, from the same stream whenever the function is traced."""
        self._draws += 1
        key = (self._path, self._draws, first, second)
        return Draw(self.streams.setdefault(key, Stream(first, second)), blocks)

    def stream_for(self, stream: Stream) -> Stream:
        """What a random op draws from here that drew from `stream` in another graph: its own, and always the same."""
        if self.standing_for is not None:
            found = self.standing_for.get(id(stream))
            if found is None:
                found = self.standing_for[id(stream)] = stream.fresh()
            return found
        self._draws += 1
        return self.streams.setdefault((self._path, self._draws, *stream.seeds), stream.fresh())

    def read(self, variable: Any) -> Tensor:
        """What `variable` holds at this point, marked for whoever records."""
        found = self.values.get(id(variable))
        if found is None:
            found = (variable, self._first_read(variable))
            self.values[id(variable)] = found
            self.first_reads[id(variable)] = found[1]
        held: Any = found[1]
        if (id(variable) in self.written or id(variable) in self.own_variables) and variable.dtype.differentiable:
            held = self._later_read(variable, held)
        read = wrap(held.array, held.dtype) if type(held) is Tensor else TracedTensor(held.value, held.place, self)
        for recorder in thread.recorders:
            read.tracer = recorder.tracer_of(variable, read.tracer)
        return read

    def _first_read(self, variable: Any) -> Tensor:
        if self.outer is not None:
            with dispatch.recorded_by(self.outer_recorders):
                outer = self.outer.read(variable)
            return self.capture(outer, variable)
        within = self.within
        if within is not None:
            value = value_of(within.read_quietly(variable))
        elif isinstance(variable, ShardedVariable) and not self.for_xla:
            raise NeedsXLA
        elif self.awaits:
            value = of_variable(variable)
        else:
            value = wrap(variable._settled(), variable.dtype)
        place = Value(value.dims, value.dtype)
        self.reads[id(variable)] = (variable, place)
        self.given[place] = x = TracedTensor(value, place, self)
        return x

    def _later_read(self, variable: Any, held: Tensor) -> Tensor:
        """What was assigned to a variable, as a read of the variable, where its gradient goes."""
        found = self._later_reads.get(id(variable))
        if found is None or found[0] is not held:
            before, self.line = self.line, self.written_at.get(id(variable), self.line)
            try:
                with dispatch.recorded_by(()):
                    found = (held, self.run(assigned, (held, self.first_reads[id(variable)]), {}))
            finally:
                self.line = before
            self._later_reads[id(variable)] = found
        return found[1]

    def write(self, variable: Any, value: Tensor) -> None:
        """`variable` holds `value` from here on."""
        held = self.values.get(id(variable))
        if value.dims != (self.read_quietly(variable) if held is None else held[1]).dims:
            raise Untraceable(f"{variable.name} changes its shape")
        if type(value) is TracedTensor and value.trace is not self:
            value = self.capture(value)
        self.values[id(variable)] = (variable, value)
        if id(variable) not in self.own_variables:
            self.written[id(variable)] = variable
            if dispatch.event_log is not None:
                self.written_at[id(variable)] = self.line or caller()

    def write_from_inside(self, variable: Any, value: Tensor, inner: Sequence[Trace]) -> None:
        """`variable` holds `value` from here on, by an assignment in a branch or a loop: in one of these traces."""
        lines = [trace.written_at[id(variable)] for trace in inner if id(variable) in trace.written_at]
        before, self.line = self.line, lines[0] if lines else self.line
        try:
            for recorder in dispatch.listeners():
                recorder.assigned(variable, value)
            self.write(variable, value)
        finally:
            self.line = before

    def read_quietly(self, variable: Any) -> Tensor:
        """`read` without telling anybody."""
        with dispatch.recorded_by(()):
            return self.read(variable)

    def made(self, variable: Any) -> None:
        """A variable was made inside the function."""
        self.check_variable_creation()
        self.outermost.variables_made.append(variable)

    def check_variable_creation(self) -> None:
        """Raises ValueError unless this trace is of the function's first call, the only one that may make variables."""
        if not self.may_make_variables:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                "is only created once or created outside tf.function. See "
                "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
            )

    def made_for_a_run(self, variable: Any, value: Tensor) -> None:
        """A variable was made that every run of the function has for itself: it holds `value` at first."""
        if type(value) is TracedTensor:
            value = ops.stop_gradient(value if value.trace is self else self.capture(value))
        self.own_variables[id(variable)] = variable
        self.values[id(variable)] = (variable, value)
        self.first_reads[id(variable)] = value

    def lifted(self, value: Any) -> Any:
        """The value in this run of what a variable starts with."""
        return placed(plain(value.value)) if type(value) is TracedTensor else value

    def name_of(self, place: Value) -> str:
        """A name for a place: that of its parameter, or of the op that made it."""
        if place not in self._names:
            made = maker(self.nodes, place)
            name = self._parameters.get(place, "captured") if made is None else made.op.name
            self._names[place] = unique(name, set(self._names.values()))
        return self._names[place]

    def read_and_written(self) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        """The variables written, with the arrays that were read of them, if any, and with those they become."""
        read = [
            (variable, self.given[self.reads[at][1]].value.array)
            for at, variable in self.written.items() if at in self.reads
        ]  # fmt: skip
        return read, [(variable, value_of(self.values[at][1]).array) for at, variable in self.written.items()]

    def let_go(self) -> None:
        """Forgets the tensors of this run, which know their trace: without it they would wait for the collector."""
        for tensors in (self.values, self.given, self.captured, self.first_reads, self._later_reads, self.awaited):
            tensors.clear()

    def finished(self, outputs: Sequence[Tensor]) -> Graph:
        """The graph that gives these outputs, where nothing else of the trace is wanted."""
        graph = self.graph(outputs)
        self.let_go()
        return graph

    def graph(self, outputs: Sequence[Tensor]) -> Graph:
        """The graph that gives these outputs."""
        self.open = False
        # In the order of the variables, in which XLA finds the memory that an update may have: another means copies.
        written = [*filter(self.written.__contains__, self.reads), *[at for at in self.written if at not in self.reads]]
        updates = [(self.written[at], self.place_of(self.values[at][1])) for at in written]
        return Graph(
            self.name, tuple(self.inputs), tuple(self.nodes), tuple([self.place_of(y) for y in outputs]),
            tuple(self.reads.values()), tuple(updates),
        )  # fmt: skip


def _must_run(op: Any) -> bool:
    """Whether an op is run for more than its result: an effect, a check, what runs the user's code."""
    return type(op) is not Op or op.name == "check_numerics"


def value_of(x: Tensor) -> Tensor:
    """The real value of a tensor in this run, as a plain one, or as one that nobody has looked at."""
    while type(x) is TracedTensor:
        x = x.value
    if type(x) is LazyTensor:
        return x
    if type(x) is DeviceTensor and thread.trace is not None and thread.trace.for_xla:
        return LazyTensor(x.dims, x.dtype, Thunk(lambda: (wrap(x.array, x.dtype),)))
    if type(x) not in REAL:
        raise Untraceable(f"it is called with a {type(x).__name__}")
    return wrap(x.array, x.dtype)
