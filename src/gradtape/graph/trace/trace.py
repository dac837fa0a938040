"""Tracing by execution: a traced tensor carries its concrete value and its place in the graph under construction.

Every op on a traced tensor runs its kernel on the concrete values and adds a node. So shapes and dtypes are known
without shape rules, and the first call of a function has its result when the graph is complete. A trace for XLA infers
only shapes and dtypes, and computes a value when it is read (`lazy_tensors`).

Where gradtape itself depends on a value (an axis, a size, a Python `if`), the trace uses the value of this run and adds
a guard to the graph: a run with a different value raises `Changed`, and the function is traced again. User code must
not read the value: it gets TensorFlow's errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ...core import dtypes
from ...core.errors import InvalidArgumentError, NeedsExamples
from ...core.protocols import Line, OpLike, Outputs
from ...core.tensor import Tensor, placed, wrap
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.run import dispatch
from ...engine.run.dispatch import thread
from ...engine.run.source_lines import caller
from ...engine.tape.log import Key
from ...state.variable import Variable
from ..ir.dynamic_sizes import DynamicSizes
from ..ir.effects import assertion, draw
from ..ir.graph import Attrs, Graph, GraphOp, Node, Value
from .conversion_status import request_conversion
from .graph_builder import GraphBuilder, Guards
from .lazy_tensors import Evaluator, must_run, plain
from .random_streams import RandomStreams
from .traced import InlineIntoCaller, PoisonTensor, TracedTensor, Untraceable, out_of_scope, value_of
from .variable_view import CaptureKey, VariableView

_NARROW = dtypes.NARROW
# Ops whose results store, as `made_by`, what they were computed from: Keras' losses use the logits.
ACTIVATIONS = frozenset(("softmax", "sigmoid"))


class Trace(dispatch.Recorder):
    """A graph under construction. A nested trace (a branch, a loop body) captures what it uses of the outer one.

    Its parts are the `builder` of the graph, the `variables` as the function sees them, the `random` streams, the
    `guards` on values, and the `evaluator` of values in this run. The trace itself maps tensors to values of the graph.

    A plain tensor is a constant of the graph. If a tape or trace outside tracks it (it is external), then ops on it get
    nodes too, and their results carry tracers that hold their places.
    """

    is_scratch: bool = False
    for_examples: Callable[[Callable[..., Any], Sequence[Any], dict[str, Any]], Any] | None = None  # of scratch graphs

    def __init__(self, name: str, nested: bool = False, for_xla: bool = False, lazy: bool = False) -> None:
        self.level = dispatch.next_level()
        self.key = Key(self)
        self.enclosing = around = active_trace()
        if around is not None and around.for_examples is not None:
            raise NeedsExamples(around.for_examples)
        outer: Trace | None = around if nested else None
        self.outer = outer
        self.open = True
        self.builder = GraphBuilder(name)
        self.variables: VariableView = VariableView(None if outer is None else outer.variables)
        self.random: RandomStreams = RandomStreams(
            None if outer is None else outer.random, seed=None if around is None else around.random.seed
        )
        self.guards = Guards(self.builder)
        self.sizes: DynamicSizes | None = None  # None if all sizes are fixed
        self.evaluator: Evaluator = Evaluator(None if around is None else around.evaluator, for_xla, lazy)
        self.captured: dict[CaptureKey, tuple[Tensor, TracedTensor]] = {}  # the outer tensor and the inner one
        self.given: dict[Value, TracedTensor] = {}  # values that no computation produces: inputs, results of effects
        self.displays: list[Callable[[], None]] = []  # output to display if this run is the one that counts
        self.api_calls: dict[str, Any] = {}  # the calls of functions with several implementations, by API
        self.budget: int | float | None = None  # the memory budget of a tape inside
        self.asks_a_tape = False
        self.outer_recorders = thread.recorders
        self.externals: dict[Value, Tensor] = {}  # plain tensors from outside that are or may be tracked
        self.tracks_external: bool = bool(self.outer_recorders) or (outer is not None and outer.tracks_external)
        # Also constants that the function creates:
        self.tracks_all_external: bool = outer is not None and outer.tracks_all_external

    @property
    def for_xla(self) -> bool:
        """Whether XLA will run the graph."""
        return self.evaluator.for_xla

    @property
    def line(self) -> Line | None:
        """The source line that new nodes are attributed to, if it is not the caller's."""
        return self.builder.line

    @property
    def outermost(self) -> Trace:
        """The outermost trace that this one is nested in."""
        return self if self.outer is None else self.outer.outermost

    def tape_is_asked(self) -> None:
        """Record that a tape computes a gradient here, or in a nested trace."""
        self.outermost.asks_a_tape = True

    def target_is_unrecorded(self, target: Any) -> None:
        """Accepts a target that a tape has not recorded: its gradients are None."""

    def entered(self) -> dispatch.traced_by:
        """Returns a context manager in which ops on traced tensors are added to this trace."""
        return dispatch.traced_by(self)

    def at_line(self, line: Line | None = None) -> AbstractContextManager[None]:
        """Attribute nodes added in the block to `line`, by default to the current line of user code."""
        return self.builder.at_line(line)

    def give(self, value: Tensor, place: Value) -> TracedTensor:
        """Returns a tensor that no computation in the graph produces."""
        self.given[place] = x = TracedTensor(value, place, self)
        return x

    def input(self, value: Tensor, name: str = "args") -> TracedTensor:
        """Add an input to the graph, with its value in this run."""
        return self.give(value, self.builder.add_input(value, name))

    def late_input(self, x: Tensor) -> TracedTensor:
        """Add an input whose need arises during tracing; its initial value `x` belongs to the enclosing trace."""
        y = self.input(value_of(x))
        self.builder.late_inputs[y.place] = x
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

    def record(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: Attrs) -> None:
        """Add a node for an op that has run on plain tensors, if one of its inputs is tracked."""
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        if any(type(x) not in REAL for x in (*inputs, *results)) or not any(map(self.is_external, inputs)):
            return
        made = [Value(y.dims, y.dtype) for y in results]
        self.builder.add_node(op, list(map(self.place_of, inputs)), attrs, made, results is outputs)
        for y, place in zip(results, made, strict=True):
            y.tracer = (self.key, place, y.tracers)

    def run(self, op: GraphOp, inputs: Sequence[Tensor], attrs: Attrs, line: Line | None = None) -> Any:
        """Run `op` on the concrete values and add a node, attributed to `line` or to the caller's line."""
        places, values = [], []
        for x in inputs:
            if x.dtype.kind == _NARROW and not op.moves_data and not (self.for_xla and x.dtype is dtypes.bfloat16):
                return dispatch.run_in_float32(op, inputs, attrs)
            if type(x) is TracedTensor:
                places.append(x.place if x.trace is self else self.capture(x).place)
                values.append(x.value)
            elif type(x) is PoisonTensor and not must_run(op):
                return x
            else:
                places.append(self.place_of(x))
                values.append(value_of(x) if type(x) is DeviceTensor else x)
        recorder, thread.recorder = thread.recorder, None
        try:
            result: Any = self.evaluator.compute(op, values, attrs)
        except InvalidArgumentError as error:
            error.about_values = True
            if must_run(op) or isinstance(error, ValueError):
                raise
            return PoisonTensor(error, inputs[0].dtype, self)
        finally:
            thread.recorder = recorder
        several = type(result) is tuple
        results: tuple[Tensor, ...] = result if several else (result,)
        made = [Value(y.dims, y.dtype) for y in results]
        traced = tuple([TracedTensor(y, place, self) for y, place in zip(results, made, strict=True)])
        outputs = traced if several else traced[0]
        line = line or self.builder.line or caller()
        self.builder.add_node(op, places, attrs, made, several, line)
        if op.name in ACTIVATIONS:
            traced[0].made_by = (op, inputs, attrs)
        if self.evaluator.is_lazy:
            self.evaluator.lazy_values.update(zip(made, results, strict=True))
        if op.family != "elementwise":
            if op.shaped_by_values:
                self.guards.fix_shapes(made, line)
            if getattr(op, "effect", False):
                self.given.update(zip(made, traced, strict=True))
        sizes = self.sizes
        if sizes is not None and (sizes.dims or op.shaped_by_values):
            sizes.follow(Node(op, tuple(places), attrs, tuple(made), several))
        if recorder is not None and thread.recorders:
            for x in inputs:
                if x.tracer is not None:
                    recorder.record(op, inputs, outputs, attrs)
                    break
        return outputs

    def place_of(self, x: Tensor) -> Value:
        """Returns the value in this graph that stands for an input of an op."""
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
        constant = self.builder.constant(x)
        if x.tracer is not None and self.is_external(x):
            self.externals[constant] = x
        return constant

    def own(self, x: Tensor) -> Tensor:
        """Returns `x`, captured if it is a traced tensor of an outer trace."""
        return self.capture(x) if type(x) is TracedTensor and x.trace is not self else x

    def capture(self, x: Tensor, variable: Variable | None = None) -> TracedTensor:
        """Make a tensor of an outer trace an input of this one; each variable's value is an input of its own."""
        if type(x) is TracedTensor:
            self._check_access(x)
        assert self.outer is not None
        if variable is None:
            key = (self.outer.place_of(x), id(x.tracer), 0)  # one value may be on a tape along several paths
        else:  # every read creates a new tensor, so reads are identified by the variable
            held = x if type(x) is TracedTensor else self.outer.variables.current(variable)
            key = self.variables.capture_keys[id(variable)] = (self.outer.place_of(held), 0, id(variable))
        found = self.captured.get(key)
        if found is None:
            value = x.value if type(x) is TracedTensor else wrap(x.array, x.dtype)
            found = self.captured[key] = (x, self.give(value, Value(x.dims, x.dtype)))
        return found[1]

    def _check_access(self, x: TracedTensor) -> None:
        """Raises unless `x` belongs to an enclosing trace."""
        if not x.trace.open:
            raise out_of_scope(x)
        if self.outer is not None:
            if x.trace is not self.outer and x.trace.outer is self.outer:
                raise ValueError(f"Tensor {x.name} in {x.trace.builder.name} is accessed from {self.builder.name}.")
            return
        trace = self.enclosing
        while trace is not None and trace is not x.trace:
            trace = trace.enclosing
        raise out_of_scope(x) if trace is None else InlineIntoCaller

    def known(self, x: TracedTensor) -> Any:
        """Returns the array of `x` in this run, on which the graph is specialized."""
        if not self.open:
            raise out_of_scope(x)
        if self.sizes is not None:
            self.sizes.fix(x.place)
        return self.guards.specialize(x.place, x.value)

    def verify(self, test: Callable[..., None], inputs: Sequence[Tensor]) -> None:
        """Add a check: `test(*arrays)`, called in every run, raises if it fails."""
        self.run(assertion, inputs, {"test": test})

    def iterated(self) -> None:
        """Request conversion, as the iteration over a tensor's rows may be a loop in user code."""
        request_conversion()

    def draw(self, take: Callable[[], Any]) -> Tensor:
        """Draw random state, a new one in every run."""
        return self.run(draw, (), {"take": take})

    def read(self, variable: Variable) -> Tensor:
        """Returns the current value of `variable`, with tracers for the active recorders."""
        return self.variables.read(variable, self)

    def read_quietly(self, variable: Variable) -> Tensor:
        """Read a variable without notifying recorders."""
        with dispatch.recorded_by(()):
            return self.read(variable)

    def write(self, variable: Variable, value: Tensor) -> None:
        """Set the current value of `variable` to `value`."""
        self.variables.write(variable, value, self)

    def made(self, variable: Variable) -> None:
        """Register a variable that was created inside the function."""
        self.variables.add_created(variable)

    def lifted_out(self, variable: Variable) -> None:
        """Register a variable that was created in an `init_scope` inside the function."""
        if self.variables.may_create:
            self.variables.created.append(variable)

    def made_for_a_run(self, variable: Variable, value: Tensor) -> None:
        """Register a variable that is local to each run of the function, with its initial value."""
        self.variables.add_local(variable, value, self)

    def lifted(self, value: Any) -> Any:
        """Returns the concrete value, in this run, of a variable's initial value."""
        return placed(plain(value.value)) if type(value) is TracedTensor else value

    def release(self) -> None:
        """Drop the tensors of this run: they reference the trace, and would wait for the garbage collector."""
        self.variables.release()
        for tensors in (self.given, self.captured, self.evaluator.lazy_values, self.api_calls):
            tensors.clear()

    def finish(self, outputs: Sequence[Tensor]) -> Graph:
        """Returns the graph with these outputs, and release the trace."""
        graph = self.graph(outputs)
        self.release()
        return graph

    def graph(self, outputs: Sequence[Tensor]) -> Graph:
        """Close the trace and return the graph with these outputs."""
        self.open = False
        builder, reads, updates = self.builder, self.variables.reads, self.variables.updates(self.place_of)
        places = tuple(map(self.place_of, outputs))
        # A memory budget is planned for the sizes of this run.
        nodes = builder.nodes if self.sizes is None or self.budget is not None else self.sizes.relaxed(builder.nodes)
        return Graph(builder.name, tuple(builder.inputs), tuple(nodes), places, tuple(reads.values()), updates)


def present_trace() -> Trace:
    """Returns the innermost trace in progress in this thread, which must exist."""
    trace = active_trace()
    assert trace is not None
    if trace.for_examples is not None:
        raise NeedsExamples(trace.for_examples)
    return trace


def active_trace() -> Trace | None:
    """Returns the innermost trace in progress in this thread."""
    trace = thread.trace
    assert trace is None or isinstance(trace, Trace)
    return trace
