"""The variables as a trace sees them: their current values, and what the graph reads and writes.

The variables themselves are not modified before the end of the run. Methods take the trace as an argument: a view that
referred to its trace would keep both alive until the garbage collector runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...backends.arrays import ArrayModule
from ...core import modes
from ...core.protocols import Line
from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.run.source_lines import caller
from ...state.variable import Variable
from ..ir.graph import Value
from .assigned import assigned
from .lazy_tensors import of_variable
from .traced import NeedsXLA, TracedTensor, Untraceable, value_of

if TYPE_CHECKING:
    from .trace import Trace

CaptureKey = tuple[Value, int, int]  # the outer value, the id of its tracer, the id of the variable it was read from


class VariableView:
    """The values of variables in one trace, by the variables' ids."""

    def __init__(self, outer: VariableView | None) -> None:
        self.reads: dict[int, tuple[Variable, Value]] = {}  # the values that the graph gets from variables
        self.first_reads: dict[int, Tensor] = {}  # the value of each variable at its first read
        self._later_reads: dict[int, tuple[Tensor, Tensor]] = {}  # an assigned value, and the tensor that reads it
        self._current: dict[int, Tensor] = {}
        self.capture_keys: dict[int, CaptureKey] = {}  # the keys of captured values of variables in `Trace.captured`
        self.written: dict[int, Variable] = {}
        self._written_at: dict[int, Line] = {}  # source lines, if explanations are enabled
        self._local: dict[int, Variable] = {}  # variables that exist only during a run
        self.created: list[Variable] = [] if outer is None else outer.created
        self.may_create: bool = True if outer is None else outer.may_create
        # Whether XLA will run the graph if a variable is on the device of this array library.
        self.compiled_on: Callable[[ArrayModule], bool] = lambda module: False

    def read(self, variable: Variable, trace: Trace) -> Tensor:
        """Returns the current value, with tracers for the active recorders."""
        at = id(variable)
        held = self._current.get(at)
        if held is None:
            held = self._current[at] = self.first_reads[at] = self._first_read(variable, trace)
        if (at in self.written or at in self._local) and variable.dtype.differentiable:
            held = self._later_read(variable, held, trace)
        if isinstance(held, TracedTensor):
            read: Tensor = TracedTensor(held.value, held.place, trace)
        else:
            read = wrap(held.array, held.dtype)
        for recorder in dispatch.thread.recorders:
            read.tracer = recorder.tracer_of(variable, read.tracer)
        return read

    def _first_read(self, variable: Variable, trace: Trace) -> Tensor:
        if trace.outer is not None:
            with dispatch.recorded_by(trace.outer_recorders):
                outer = trace.outer.read(variable)
            return trace.capture(outer, variable)
        if trace.enclosing is not None:
            value = value_of(trace.enclosing.read_quietly(variable))
        elif not trace.for_xla and (required := self._xla_need(variable)) is not None:
            raise NeedsXLA(required)
        elif trace.evaluator.is_lazy:
            value = of_variable(variable)
        else:
            value = wrap(variable._storage.host(), variable.dtype)
        place = Value(value.dims, value.dtype)
        self.reads[id(variable)] = (variable, place)
        return trace.give(value, place)

    def _xla_need(self, variable: Variable) -> bool | None:
        """Whether only XLA can use the variable; None if the trace may be for NumPy."""
        storage = variable._storage
        if storage.layout is not None:
            return True
        return False if storage.module is not None and self.compiled_on(storage.module) else None

    def _later_read(self, variable: Variable, held: Tensor, trace: Trace) -> Tensor:
        """Wrap an assigned value as a read of the variable, to which its cotangent goes."""
        found = self._later_reads.get(id(variable))
        if found is None or found[0] is not held:
            with trace.at_line(self._written_at.get(id(variable))), dispatch.recorded_by(()):
                found = (held, trace.run(assigned, (held, self.first_reads[id(variable)]), {}))
            self._later_reads[id(variable)] = found
        return found[1]

    def current(self, variable: Variable) -> Tensor:
        """Returns the tensor, traced or not, that holds the value of a variable that has been read or written."""
        return self._current[id(variable)]

    def write(self, variable: Variable, value: Tensor, trace: Trace) -> None:
        """Set the current value."""
        held = self._current.get(id(variable))
        if value.dims != (trace.read_quietly(variable) if held is None else held).dims:
            raise Untraceable(f"{variable.name} changes its shape")
        self._current[id(variable)] = trace.own(value)
        if id(variable) not in self._local:
            self.written[id(variable)] = variable
            if modes.active:  # an explanation may need the line
                self._written_at[id(variable)] = trace.builder.line or caller()

    def write_from_inside(self, variable: Variable, value: Tensor, inner: Sequence[VariableView], trace: Trace) -> None:
        """Set the value that a branch or loop, with the views `inner`, has assigned."""
        lines = [view._written_at[id(variable)] for view in inner if id(variable) in view._written_at]
        with trace.at_line(lines[0] if lines else None):
            for recorder in dispatch.listeners():
                recorder.assigned(variable, value)
            trace.write(variable, value)

    def add_created(self, variable: Variable) -> None:
        """Register a variable that was created inside the function."""
        self.check_creation()
        self.created.append(variable)

    def check_creation(self) -> None:
        """Raises ValueError unless this traces the function's first call, the only one that may create variables."""
        if not self.may_create:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                "is only created once or created outside tf.function. See "
                "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
            )

    def is_local(self, variable: Variable) -> bool:
        """Whether the variable exists only during a run."""
        return id(variable) in self._local

    def add_local(self, variable: Variable, value: Tensor, trace: Trace) -> None:
        """Register a variable that is local to each run of the function, with its initial value."""
        if type(value) is TracedTensor:
            value = ops.stop_gradient(trace.own(value))
        self._local[id(variable)] = variable
        self._current[id(variable)] = self.first_reads[id(variable)] = value

    def updates(self, place_of: Callable[[Tensor], Value]) -> tuple[tuple[Variable, Value], ...]:
        """Returns the written variables with their new values.

        In the order of the reads, so that XLA can alias each update with its input buffer instead of copying.
        """
        written = [*filter(self.written.__contains__, self.reads), *[at for at in self.written if at not in self.reads]]
        return tuple([(self.written[at], place_of(self._current[at])) for at in written])

    def arrays_replaced(self) -> list[tuple[Variable, Any]]:
        """Returns the written variables that were read before, with the arrays that were read."""
        return [(v, value_of(self.first_reads[at]).array) for at, v in self.written.items() if at in self.reads]

    def arrays_written(self) -> list[tuple[Variable, Any]]:
        """Returns the written variables with their new arrays."""
        return [(variable, value_of(self._current[at]).array) for at, variable in self.written.items()]

    def release(self) -> None:
        """Drop the tensors of the run."""
        for tensors in (self._current, self.first_reads, self._later_reads):
            tensors.clear()
