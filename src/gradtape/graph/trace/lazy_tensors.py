"""Lazily computed values, in a trace for XLA or with a memory budget.

Such a trace infers only shapes and dtypes; a `Thunk` stands for the computation of a node. Reading a value makes NumPy
compute it and its dependencies, from the values of inputs and variables, once. Effects keep their order: one that must
be performed for its value is performed after all earlier ones, and the run that follows replays them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import cache, partial
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.errors import FailedPreconditionError, InvalidArgumentError
from ...core.tensor import Tensor, wrap
from ...engine.registry.op import Op, Unregistered
from ...engine.run import dispatch
from ...engine.run.dispatch import thread
from ...state.variable import Variable
from ..ir.effects import EffectRecording, check_shape, is_imagined, performance, performed_as, shape_guard
from ..ir.graph import Attrs, GraphOp, Value, graphs_in
from .assigned import assigned

Outcome = tuple[Sequence[tuple[tuple[int, ...], DType]], bool]  # shapes and dtypes, and whether they form a tuple


class LazyTensor(Tensor):
    """A tensor whose value is computed at its first read."""

    __slots__ = ("_at", "_dims", "work")

    def __init__(self, dims: tuple[int, ...], dtype: DType, work: Thunk, at: int = 0) -> None:
        self._dims, self.dtype = dims, dtype
        self.tracer = None
        self.work, self._at = work, at

    @property
    def dims(self) -> tuple[int, ...]:
        return self._dims

    @property
    def array(self) -> Any:
        """The value, computed now if necessary."""
        return self.work.results()[self._at].array


class Thunk:
    """A deferred computation of lazy tensors: `run(*inputs)` returns them as plain tensors, and is called once.

    An effect is performed in the mode in which it was traced: abstract or not, replayed or recorded.
    """

    __slots__ = ("_performance", "_results", "after", "inputs", "run")

    def __init__(
        self, run: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor] = (), effect: bool = False,
        after: Thunk | None = None,
    ) -> None:  # fmt: skip
        self.run, self.inputs = run, inputs
        self.after = after  # an effect that must be performed first
        self._performance = {"frames": (), "imagined": False, **performance()} if effect else None
        self._results: Sequence[Tensor] | None = None

    @property
    def is_done(self) -> bool:
        """Whether the values have been computed."""
        return self._results is not None

    def results(self) -> Sequence[Tensor]:
        """Returns the values. Dependencies are computed first, iteratively: a chain may be thousands of steps long."""
        todo = [self]
        while todo:
            work = todo[-1]
            missing = [] if work.is_done else work._missing()
            todo += missing
            if not missing:
                todo.pop()._compute()
        assert self._results is not None
        return self._results

    def _missing(self) -> list[Thunk]:
        before = [] if self.after is None or self.after.is_done else [self.after]
        return before or [x.work for x in self.inputs if type(x) is LazyTensor and not x.work.is_done]

    def _compute(self) -> None:
        if self._results is not None:
            return
        recorder, thread.recorder = thread.recorder, None
        try:
            with nullcontext() if self._performance is None else performed_as(self._performance):
                self._results = self.run(*map(plain, self.inputs))
        except InvalidArgumentError as error:
            error.about_values = True
            raise
        finally:
            thread.recorder = recorder
        self.inputs, self.after = (), None  # releases the dependencies

    def take_over(self, other: Thunk) -> None:
        """Adopt the computation of `other`, whose first results are this thunk's own."""
        self.run, self.inputs = other.run, other.inputs

    def wait_for(self, other: Thunk) -> None:
        """Take the results of `other`."""
        self.run, self.inputs, self.after = (lambda: other.results()), (), other


class Evaluator:
    """Computes the values of a trace's nodes in this run, at once or lazily."""

    def __init__(self, enclosing: Evaluator | None, for_xla: bool, lazy: bool) -> None:
        self.for_xla: bool = for_xla if enclosing is None else enclosing.for_xla  # whether XLA will run the graph
        self.is_lazy: bool = for_xla or lazy if enclosing is None else enclosing.is_lazy
        self.last_effect: Thunk | None = None if enclosing is None else enclosing.last_effect  # if lazy
        self.lazy_values: dict[Value, Tensor] = {}  # of the trace's nodes
        self.performed: dict[Value, list[Any]] = {}  # results of the effects inside a node, by its first output

    def compute(self, op: GraphOp, values: Sequence[Tensor], attrs: Attrs) -> Any:
        """Returns the results of `op`, as lazy tensors if their values are not needed now."""
        if not self.is_lazy:
            return computed(op, values, attrs)
        if op is assigned:
            return values[0]
        if op is shape_guard:  # shapes are known, and the graph of a called function may be for another one
            check_shape(values[0].dims, attrs["shape"])
            return ()
        if op.forwards_inputs is not None:
            return op.forwards_inputs(values, attrs)
        effect = isinstance(op, Unregistered) and (op.effect or any(graph.has_effects for graph in graphs_in(attrs)))
        at_once = (effect and is_replayed()) or (not self.for_xla and must_run(op))
        found = None if at_once else outcome_of(op, values, attrs, self.for_xla)
        if found is None:
            if effect:
                self.catch_up()
            return computed(op, list(map(plain, values)), attrs)
        outcome, several = found
        imagined = is_imagined()
        work = Thunk(partial(_outputs, op, attrs), values, effect, None if imagined or not effect else self.last_effect)
        if effect and not imagined:
            self.last_effect = work
        results = tuple([LazyTensor(dims, dtype, work, i) for i, (dims, dtype) in enumerate(outcome)])
        return results if several else results[0]

    def catch_up(self) -> None:
        """Perform the effects that have been traced but not yet performed."""
        if self.last_effect is not None and not is_imagined():
            self.last_effect.results()


def must_run(op: GraphOp) -> bool:
    """Whether an op runs for more than its result: an effect, a check, or user code."""
    return type(op) is not Op or op.name == "check_numerics"


def plain(x: Tensor) -> Tensor:
    """Returns a plain tensor, forcing a lazy one."""
    return wrap(x.array, x.dtype) if type(x) is LazyTensor else x


def _outputs(op: GraphOp, attrs: Attrs, *values: Tensor) -> Sequence[Tensor]:
    """Compute the outputs of a node."""
    result = computed(op, values, attrs)
    return result if type(result) is tuple else (result,)


def computed(op: GraphOp, values: Sequence[Tensor], attrs: Attrs) -> Any:
    """Apply `op` to plain tensors; a registered op goes through its eager call, which handles large arrays."""
    return op.call(*values, **attrs) if type(op) is Op else dispatch.run(op, values, attrs)


def of_variable(variable: Variable) -> LazyTensor:
    """Returns the variable's value as a lazy tensor."""
    return LazyTensor(variable.dims, variable.dtype, Thunk(lambda: (wrap(variable._storage.host(), variable.dtype),)))


def lazy_copy(x: Tensor) -> LazyTensor:
    """Returns the value of a tensor on a device as a lazy tensor on the host."""
    return LazyTensor(x.dims, x.dtype, Thunk(lambda: (wrap(x.array, x.dtype),)))


def ones_like(x: Tensor, lazy: bool) -> Tensor:
    """Returns ones as an example cotangent of `x` for a trace, lazy if `lazy`."""
    dims, dtype = x.dims, x.dtype

    def make() -> tuple[Tensor]:
        return (wrap(np.ones(dims, dtype.numpy), dtype),)

    return LazyTensor(dims, dtype, Thunk(make)) if lazy else make()[0]


def first_of(x: Tensor) -> Tensor:
    """Returns the first row of a tensor."""
    if type(x) is not LazyTensor:
        return wrap(x.array[0, ...], x.dtype)  # for strings, `array[0]` is bytes instead of an array
    return LazyTensor(x.dims[1:], x.dtype, Thunk(lambda rows: (wrap(rows.array[0, ...], rows.dtype),), (x,)))


def is_replayed() -> bool:
    """Whether the next effect would be replayed."""
    frames = performance().get("frames", ())
    return any(not isinstance(frame, EffectRecording) and operator.length_hint(frame) for frame in frames)


def outcome_of(op: GraphOp, inputs: Sequence[Tensor], attrs: Attrs, for_xla: bool) -> Outcome | None:
    """Infer the output shapes and dtypes of `op`, and whether it returns a tuple; None if they depend on values."""
    if op.shaped_by_values:
        return None
    if isinstance(op, Unregistered):
        return op.outcome(inputs, attrs)
    return _on_xla()(op, inputs, attrs) if for_xla else _by_numpy(op, inputs, attrs)


def _by_numpy(op: Op, inputs: Sequence[Tensor], attrs: Attrs) -> Outcome | None:
    """Infer shapes by running the kernel on broadcast zeros, which take no memory, and discarding the result."""
    if any(x.dtype.kind == dtypes.STRING for x in inputs):
        return None
    zeros = [np.broadcast_to(np.zeros((), x.dtype.numpy), x.dims) for x in inputs]
    try:
        with np.errstate(all="ignore"):
            result = op.numpy(*zeros, **attrs)
    except Exception:  # a kernel that rejects zeros, or incompatible shapes, which the run itself reports
        return None
    several = type(result) is tuple
    arrays = result if several else (result,)
    if any(not isinstance(y, np.ndarray | np.generic) or y.dtype.kind == "O" for y in arrays):
        return None
    return [(y.shape, dtypes.of_numpy(y.dtype)) for y in arrays], several


@cache
def _on_xla() -> Callable[..., Outcome | None]:
    """Returns the shape inference for XLA. JAX is imported when a function is first traced for XLA.

    JAX is then initialized with the number of devices that the program has requested.
    """
    from ..executors.xla.executor import check_jax
    from ..executors.xla.mesh import prepare

    check_jax()
    with suppress(FailedPreconditionError):  # code that needs several devices reports it later
        prepare()
    from ..executors.xla.shapes import outcome

    return outcome
