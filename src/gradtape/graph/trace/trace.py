"""Tracing by execution: a traced tensor carries its concrete value and its place in the graph under construction.

Every op on a traced tensor runs its kernel on the concrete values and adds a node. So shapes and dtypes are known
without shape rules, and the first call of a function has its result when the graph is complete. A trace for XLA infers
only shapes and dtypes, and computes a value when it is read (`lazy_tensors`).

Where gradtape itself depends on a value (an axis, a size, a Python `if`), the trace uses the value of this run and adds
a guard to the graph: a run with a different value raises `Changed`, and the function is traced again. User code must
not read the value: it gets TensorFlow's errors.
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
remembered: set[Any] = set()  # the ops whose results store, as `made_by`, what they were computed from


class Trace(dispatch.Recorder):
    """A graph under construction. A nested trace (a branch, a loop body) captures what it uses of the outer one.

    `values` holds the current value of each variable: the variables themselves are not modified before the end.

    A plain tensor is a constant of the graph. If a tape or trace outside tracks it (it is external), then ops on it get
    nodes too, and their results carry tracers that hold their places.
    """

    assertion = assertion  # the op that checks values: see `run.verification`

    def __init__(self, name: str, nested: bool = False, for_xla: bool = False, awaits: bool = False) -> None:
        self.level = dispatch.next_level()
        self.key = object()
        self.name = name
        self.outer: Trace | None = thread.trace if nested else None
        self.within: Trace | None = thread.trace  # the trace that was active before
        self.for_xla = for_xla if self.within is None else self.within.for_xla  # whether XLA will run the graph
        # Whether values are computed lazily: see `lazy_tensors`.
        self.awaits = for_xla or awaits if self.within is None else self.within.awaits
        self.outer_recorders = thread.recorders
        self.inputs: list[Value] = []
        self.late: dict[Value, Tensor] = {}  # initial values of inputs that were added during tracing
        self.nodes: list[Node] = []
        self.budget: int | float | None = None  # the memory budget of a tape inside
        self.line: Any = None  # source line of new nodes, if it is not the caller's
        self.captured: dict[Any, tuple[Tensor, TracedTensor]] = {}  # the outer tensor and the inner one
        self.variable_inputs: dict[int, Any] = {}  # the keys in `captured` of the values of variables
        self.reads: dict[int, tuple[Any, Value]] = {}
        self.given: dict[Value, TracedTensor] = {}  # values that no computation produces: inputs, results of effects
        self.first_reads: dict[int, Tensor] = {}  # the value of each variable at its first read
        self._later_reads: dict[int, tuple[Tensor, Tensor]] = {}  # an assigned value, and the tensor that reads it
        self.values: dict[int, tuple[Any, Any]] = {}  # the current value of each variable: a tensor, traced or not
        self.written: dict[int, Any] = {}
        self.written_at: dict[int, Line] = {}  # source lines, if explanations are enabled
        self.own_variables: dict[int, Any] = {}  # variables that exist only during a run
        self.variables_made: list[Any] = []
        self.may_make_variables = True if self.outer is None else self.outer.may_make_variables
        self._op_seeds = self._draws = self._parts = 0
        self.streams: dict[Any, Stream] = {} if self.outer is None else self.outer.streams
        # In a derivative: maps the ids of the differentiated graph's streams to the streams that replace them.
        self.standing_for: dict[int, Stream] | None = None
        self._path: tuple[int, ...] = () if self.outer is None else self.outer.next_path()
        self._constants: dict[int, tuple[Tensor, Value]] = {}
        self.known_places: set[Value] = set()  # the values that have a guard
        self._names: dict[Value, str] = {}
        self._parameters: dict[Value, str] = {}  # the names of the inputs
        self.last_effect: Thunk | None = None if self.within is None else self.within.last_effect  # if lazy
        self.awaited: dict[Value, Tensor] = {}  # the values of its nodes, if they are lazy
        self.open = True
        self.asks_a_tape = False
        self.shows: list[Callable[[], None]] = []  # output to display if this run is the one that counts
        self.performed: dict[Value, list[Any]] = {}  # results of the effects inside a node, by its first output
        self.externals: dict[Value, Tensor] = {}  # plain tensors from outside that are or may be tracked
        self.tracks_external = bool(self.outer_recorders) or (self.outer is not None and self.outer.tracks_external)
        # Also constants that the function creates:
        self.tracks_all_external = self.outer is not None and self.outer.tracks_all_external

    @property
    def outermost(self) -> Trace:
        """The outermost trace that this one is nested in."""
        return self if self.outer is None else self.outer.outermost

    def tape_is_asked(self) -> None:
        """Record that a tape computes a gradient here, or in a nested trace."""
        self.outermost.asks_a_tape = True

    def entered(self) -> Any:
        """Return a context manager in which ops on traced tensors are added to this trace."""
        return dispatch.traced_by(self)

    @contextmanager
    def from_here(self) -> Iterator[None]:
        """Attribute nodes added in the block, in which no user code runs, to the current source line."""
        before, self.line = self.line, self.line or caller()
        try:
            yield
        finally:
            self.line = before

    def input(self, value: Tensor, name: str = "args") -> TracedTensor:
        """Add an input to the graph, with its value in this run."""
        place = Value(value.dims, value.dtype)
        self.inputs.append(place)
        self._parameters[place] = name
        self.given[place] = x = TracedTensor(value, place, self)
        return x

    def late_input(self, x: Tensor) -> TracedTensor:
        """Add an input whose need arises during tracing; its initial value `x` belongs to the enclosing trace."""
        y = self.input(value_of(x))
        self.late[y.place] = x
        return y

    def add_external(self, x: Tensor) -> None:
        """Make ops on the plain tensor `x` nodes of the graph, until its tracer is removed."""
        self.tracks_external = True
        x.tracer = (self.key, self.place_of(x), x.tracers)

    def is_external(self, x: Tensor) -> bool:
        """Whether this trace, an enclosing one or a tape outside tracks the plain tensor `x`."""
        if x.tracer is None:
            return False
        outer = self.outer
        return (
            dispatch.entry(x.tracers, self.key) is not None
            or any(dispatch.entry(x.tracers, recorder.key) is not None for recorder in self.outer_recorders)
            or (outer is not None and outer.is_external(x))
        )

    def record(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        """Add a node for an op that has run on plain tensors, if one of its inputs is tracked."""
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
        """Run `op` on the concrete values and add a node, attributed to `line` or to the caller's line."""
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
        if recorder is not None and thread.recorders:
            for x in inputs:
                if x.tracer is not None:
                    recorder.record(op, inputs, outputs, attrs)
                    break
        return outputs

    def _awaited(self, op: Any, values: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Return the results of `op` as lazy tensors, or computed now if their values are needed."""
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
        """Perform the effects that have been traced but not yet performed."""
        if self.last_effect is not None and not is_imagined():
            self.last_effect.results()

    def place_of(self, x: Tensor) -> Value:
        """Return the value in this graph that stands for an input of an op."""
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
        """Make a tensor of an outer trace an input of this one; each variable's value is an input of its own."""
        if type(x) is TracedTensor:
            self._check_access(x)
        assert self.outer is not None
        if variable is None:
            key = (self.outer.place_of(x), id(x.tracer), 0)  # one value may be on a tape along several paths
        else:  # every read creates a new tensor, so reads are identified by the variable
            held = x if type(x) is TracedTensor else self.outer.values[id(variable)][1]
            key = self.variable_inputs[id(variable)] = (self.outer.place_of(held), 0, id(variable))
        found = self.captured.get(key)
        if found is None:
            value = x.value if type(x) is TracedTensor else wrap(x.array, x.dtype)
            found = self.captured[key] = (x, TracedTensor(value, Value(x.dims, x.dtype), self))
            self.given[found[1].place] = found[1]
        return found[1]

    def _check_access(self, x: TracedTensor) -> None:
        """Raise unless `x` belongs to an enclosing trace."""
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
        """Return the value of `x` in this run and add a guard, as the graph now depends on it."""
        if not self.open:
            raise out_of_scope(x)
        conversion.looks += 1
        if x.place not in self.known_places:
            self.known_places.add(x.place)
            attrs = {"value": x.value.array}
            self.nodes.append(Node(guard, (x.place,), attrs, (), True, caller()))
        return x.value.array

    def iterated(self) -> None:
        """Request conversion if the iteration over a tensor's rows is a loop in user code."""
        ask_for_conversion(2)

    def draw(self, take: Callable[[], Any]) -> Tensor:
        """Draw random state, a new one in every run."""
        return self.run(draw, (), {"take": take})

    def next_op_seed(self) -> int:
        """Return the default seed of a random op: its index among the graph's seedless random ops."""
        self._op_seeds += 1
        return self._op_seeds - 1

    def next_path(self) -> tuple[int, ...]:
        """Return the path of the next nested trace."""
        self._parts += 1
        return (*self._path, self._parts)

    @contextmanager
    def within_part(self, path: tuple[int, ...]) -> Iterator[None]:
        """Number random ops in the block as part `path`: repeating the block gives the same seeds and streams."""
        before = self._path, self._op_seeds, self._draws, self._parts
        self._path, self._op_seeds, self._draws, self._parts = path, 0, 0, 0
        try:
            yield
        finally:
            self._path, self._op_seeds, self._draws, self._parts = before

    def stream(self, first: int, second: int, blocks: int) -> Draw:
        """Return the next random op's draw, from the same stream whenever the function is traced."""
        self._draws += 1
        key = (self._path, self._draws, first, second)
        return Draw(self.streams.setdefault(key, Stream(first, second)), blocks)

    def stream_for(self, stream: Stream) -> Stream:
        """Return the stream that replaces another graph's `stream` here, the same one at every trace."""
        if self.standing_for is not None:
            found = self.standing_for.get(id(stream))
            if found is None:
                found = self.standing_for[id(stream)] = stream.fresh()
            return found
        self._draws += 1
        return self.streams.setdefault((self._path, self._draws, *stream.seeds), stream.fresh())

    def read(self, variable: Any) -> Tensor:
        """Return the current value of `variable`, with tracers for the active recorders."""
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
        """Wrap an assigned value as a read of the variable, to which its cotangent goes."""
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
        """Set the current value of `variable` to `value`."""
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
        """Set the value of `variable` that a branch or loop, traced in `inner`, has assigned."""
        lines = [trace.written_at[id(variable)] for trace in inner if id(variable) in trace.written_at]
        before, self.line = self.line, lines[0] if lines else self.line
        try:
            for recorder in dispatch.listeners():
                recorder.assigned(variable, value)
            self.write(variable, value)
        finally:
            self.line = before

    def read_quietly(self, variable: Any) -> Tensor:
        """Read a variable without notifying recorders."""
        with dispatch.recorded_by(()):
            return self.read(variable)

    def made(self, variable: Any) -> None:
        """Register a variable that was created inside the function."""
        self.check_variable_creation()
        self.outermost.variables_made.append(variable)

    def check_variable_creation(self) -> None:
        """Raise ValueError unless this traces the function's first call, the only one that may create variables."""
        if not self.may_make_variables:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                "is only created once or created outside tf.function. See "
                "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
            )

    def made_for_a_run(self, variable: Any, value: Tensor) -> None:
        """Register a variable that is local to each run of the function, with its initial value."""
        if type(value) is TracedTensor:
            value = ops.stop_gradient(value if value.trace is self else self.capture(value))
        self.own_variables[id(variable)] = variable
        self.values[id(variable)] = (variable, value)
        self.first_reads[id(variable)] = value

    def lifted(self, value: Any) -> Any:
        """Return the concrete value, in this run, of a variable's initial value."""
        return placed(plain(value.value)) if type(value) is TracedTensor else value

    def name_of(self, place: Value) -> str:
        """Return a unique name of a value: that of its parameter, or of the op that produced it."""
        if place not in self._names:
            made = maker(self.nodes, place)
            name = self._parameters.get(place, "captured") if made is None else made.op.name
            self._names[place] = unique(name, set(self._names.values()))
        return self._names[place]

    def read_and_written(self) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        """Return the written variables with the arrays read from them, if any, and with their new arrays."""
        read = [
            (variable, self.given[self.reads[at][1]].value.array)
            for at, variable in self.written.items() if at in self.reads
        ]  # fmt: skip
        return read, [(variable, value_of(self.values[at][1]).array) for at, variable in self.written.items()]

    def let_go(self) -> None:
        """Drop the tensors of this run: they reference the trace, and would wait for the garbage collector."""
        for tensors in (self.values, self.given, self.captured, self.first_reads, self._later_reads, self.awaited):
            tensors.clear()

    def finished(self, outputs: Sequence[Tensor]) -> Graph:
        """Return the graph with these outputs, and release the trace."""
        graph = self.graph(outputs)
        self.let_go()
        return graph

    def graph(self, outputs: Sequence[Tensor]) -> Graph:
        """Close the trace and return the graph with these outputs."""
        self.open = False
        # In the order of the reads, so that XLA can alias each update with its input buffer instead of copying.
        written = [*filter(self.written.__contains__, self.reads), *[at for at in self.written if at not in self.reads]]
        updates = [(self.written[at], self.place_of(self.values[at][1])) for at in written]
        return Graph(
            self.name, tuple(self.inputs), tuple(self.nodes), tuple([self.place_of(y) for y in outputs]),
            tuple(self.reads.values()), tuple(updates),
        )  # fmt: skip


def _must_run(op: Any) -> bool:
    """Whether an op runs for more than its result: an effect, a check, or user code."""
    return type(op) is not Op or op.name == "check_numerics"


def value_of(x: Tensor) -> Tensor:
    """Return the concrete value of a tensor in this run, plain or lazy."""
    while type(x) is TracedTensor:
        x = x.value
    if type(x) is LazyTensor:
        return x
    if type(x) is DeviceTensor and thread.trace is not None and thread.trace.for_xla:
        return LazyTensor(x.dims, x.dtype, Thunk(lambda: (wrap(x.array, x.dtype),)))
    if type(x) not in REAL:
        raise Untraceable(f"it is called with a {type(x).__name__}")
    return wrap(x.array, x.dtype)
