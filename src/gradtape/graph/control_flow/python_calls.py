"""Python calls in a graph: `tf.py_function` and `tf.numpy_function`, which run user code in every run.

A call of `tf.py_function` is recorded by a tape of its own, which is an additional output of the node: the backward
pass uses that tape. The derivative of the backward pass is another Python call, which calls the user's function again.

The variables that the code uses are discovered at its first call, or in its closure. Each one's value at that point of
the graph is an additional input, and each value assigned an additional output: a graph's variables change only after
its run has succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...backends.numpy.floating_point import reports_of_caller
from ...core.dtypes import DType
from ...core.errors import InvalidArgumentError
from ...core.protocols import OpNamespace, Outputs, VariableLike
from ...core.tensor import Tensor, wrap
from ...engine.registry.cotangents import materialize
from ...engine.registry.op import Unregistered
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.tape.tape import Tape
from ...engine.tape.validation import zeros_like
from ...state.specs import as_spec
from ..ir.effects import Effect, given, is_imagined, once
from ..ir.graph import Attrs, Parents, Saved
from ..trace.closures import variables_around
from ..trace.lazy_tensors import plain
from ..trace.trace import Trace, present_trace
from ..trace.traced import Untraceable, value_of

Array = np.ndarray[Any, Any]
Tensors = Sequence[Tensor]
PythonFunction = Callable[[Tensors], Sequence[Tensor]]


class _Seen:
    """The output shapes and dtypes seen when a call was traced, for abstract runs."""

    def __init__(self, first: tuple[Any, ...] | None = None) -> None:
        self.first = first

    def imagined(self) -> tuple[Any, ...]:
        """Returns arrays of these shapes."""
        if self.first is None:
            raise Untraceable("what a Python function returns is known when it is called")
        return self.first


def _plain(arrays: Sequence[Any], dtypes: Sequence[Any]) -> list[Tensor]:
    return [wrap(array, dtype) for array, dtype in zip(arrays, dtypes, strict=True)]


class _Uses(dispatch.Recorder):
    """Recorder of the variables that Python code reads and assigns."""

    def __init__(self) -> None:
        self._used: dict[int, Any] = {}
        self._assigned: dict[int, Any] = {}

    def tracer_of(self, variable: VariableLike, rest: Any) -> Any:
        """Record a read."""
        self._used[id(variable)] = variable
        return rest

    def assigned(self, variable: VariableLike, value: Tensor) -> None:
        """Record an assignment."""
        self._assigned[id(variable)] = variable

    def found(self) -> dict[str, Any]:
        """Returns the variables as attributes of the node."""
        return {"used": tuple(self._used.values()), "assigned": tuple(self._assigned.values())}


class _Performed(tuple[Any, ...]):
    """The results of a call, with the variables that it used."""

    uses: Attrs


@contextmanager
def _holding(values: Iterable[tuple[Any, Any]]) -> Iterator[None]:
    """Temporarily set variables to these arrays."""
    before = [(variable, variable._storage.host()) for variable, _ in values]
    try:
        for variable, array in values:
            if array is not variable._storage.array:
                variable._storage.take(array)
        yield
    finally:
        for variable, array in before:
            if array is not variable._storage.array:
                variable._storage.take(array)


def _perform(
    arrays: Sequence[Any], f: PythonFunction, dtypes: Sequence[DType], seen: _Seen, uses: Attrs, on_tape: bool
) -> _Performed:
    count = len(dtypes)
    with dispatch.traced_by(None), _holding(list(zip(uses["used"], arrays[count:], strict=True))):
        return _called(_plain(arrays[:count], dtypes), f, seen, lambda: uses, on_tape)


def _perform_first(trace: Trace, inputs: Tensors, f: PythonFunction, seen: _Seen, on_tape: bool) -> _Performed:
    """Make the first call, which discovers the variables used; they hold their values at this point of the graph."""
    watch = _Uses()
    held: dict[int, Any] = {}
    place: Trace | None = trace
    while place is not None:
        for variable, array in place.variables.arrays_written():
            held.setdefault(id(variable), (variable, array))
        place = place.enclosing
    xs = [plain(value_of(x)) for x in inputs]
    with dispatch.traced_by(None), dispatch.recorded_by((watch,)), _holding(list(held.values())):
        return _called(xs, f, seen, watch.found, on_tape)


def _called(
    xs: Tensors, f: PythonFunction, seen: _Seen, uses: Callable[[], dict[str, Any]], on_tape: bool
) -> _Performed:
    memory: tuple[Any, ...] = ()
    if on_tape:
        with Tape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch([x for x in xs if x.dtype.differentiable])
            with reports_of_caller():
                ys = f(xs)
        memory = (np.empty((), object),)
        memory[0][()] = (tape, xs, ys)
    else:
        with reports_of_caller():
            ys = f(xs)
    results = [y.array for y in ys]
    if seen.first is None:
        seen.first = tuple(map(np.zeros_like, results))
    found = uses()
    later = [variable._storage.host() for variable in found["assigned"]]
    performed = _Performed((*results, *later, *memory))
    performed.uses = found
    return performed


def _gradient(tape: Tape, xs: Tensors, ys: Tensors, gs: Tensors, wanted: Sequence[bool]) -> list[Tensor]:
    """Returns the wanted cotangents, zeros where unconnected."""
    sources = [x for x, flag in zip(xs, wanted, strict=True) if flag]
    pairs = [(y, g) for y, g in zip(ys, gs, strict=True) if y.dtype.differentiable]
    found = tape.vjp([y for y, _ in pairs], [g for _, g in pairs], sources)
    return [zeros_like(x) if g is None else materialize(ops, g) for x, g in zip(sources, found, strict=True)]


def _perform_backwards(
    memory: Array, *arrays: Array, f: PythonFunction, dtypes: Sequence[DType], wanted: Sequence[bool]
) -> tuple[Array, ...]:
    tape, xs, ys = memory[()]
    with dispatch.traced_by(None):
        gs = _plain(arrays[len(xs) :], dtypes[len(xs) :])
        return tuple(g.array for g in _gradient(tape, xs, ys, gs, wanted))


def _imagine_backwards(memory: Array, *arrays: Any, wanted: Sequence[bool], **attrs: Any) -> tuple[Any, ...]:
    return tuple(np.zeros_like(x) for x, flag in zip(arrays, wanted, strict=False) if flag)


class _Recorded(Effect):
    """A differentiable call, which saves all its inputs and outputs."""

    takes_none = True

    def keep(self, inputs: Tensors, outputs: Outputs, attrs: Attrs) -> Any:
        """Save everything."""
        return tuple(inputs), tuple(outputs), attrs


class _PythonCall(_Recorded):
    """`f(*xs)`: its outputs, the new values of assigned variables and, with `on_tape`, the tape of the call."""

    shaped_by_values = True

    def __init__(self, name: str, on_tape: bool) -> None:
        def perform(*arrays: Any, f: PythonFunction, dtypes: Sequence[DType], seen: _Seen, uses: Attrs) -> _Performed:
            return _perform(arrays, f, dtypes, seen, uses, on_tape)

        def imagined(*arrays: Any, dtypes: Sequence[DType], seen: _Seen, uses: Attrs, **attrs: Any) -> tuple[Any, ...]:
            held = dict(zip(map(id, uses["used"]), arrays[len(dtypes) :], strict=True))
            later = [held[id(variable)] for variable in uses["assigned"]]
            return (*seen.imagined(), *later, *([_NOTHING] if on_tape else []))

        super().__init__(name, perform, imagined)
        kernel = self.numpy
        self.numpy = lambda *arrays, **attrs: tuple(kernel(*arrays, **attrs))
        self.vjp = self._vjp if on_tape else None

    def _vjp(self, m: OpNamespace, gs: Sequence[Tensor | None], saved: Saved, parents: Parents) -> list[Any]:
        """Compute the cotangents with the tape of the call."""
        inputs, (*outputs, memory), attrs = saved
        count = len(attrs["dtypes"])
        xs, ys = inputs[:count], outputs[: len(outputs) - len(attrs["uses"]["assigned"])]
        wanted = tuple(p >= 0 and x.dtype.differentiable for p, x in zip(parents, xs, strict=False))
        arrivals = [zeros_like(y) if g is None else g for y, g in zip(ys, gs, strict=False)]
        dtypes = (*attrs["dtypes"], *(y.dtype for y in ys))
        given = {"f": attrs["f"], "dtypes": dtypes, "wanted": wanted}
        found = iter(_run(_backwards, [memory, *xs, *arrivals], given))
        return [next(found) if flag else None for flag in wanted] + [None] * (len(inputs) - count)


class _PythonCallBackwards(_Recorded):
    """The cotangents of a call, as a function of its inputs and of the cotangents of its outputs."""

    def __init__(self) -> None:
        super().__init__("py_function_gradient", _perform_backwards, _imagine_backwards)

    def outcome(self, inputs: Tensors, attrs: Attrs) -> Any:
        """Returns the shapes and dtypes of the wanted inputs, which their cotangents share."""
        _, *xs = inputs
        return [(x.dims, x.dtype) for x, flag in zip(xs, attrs["wanted"], strict=False) if flag], True

    def vjp(self, m: OpNamespace, gs: Sequence[Tensor | None], saved: Saved, parents: Parents) -> list[Any]:
        """Compute the second derivative by calling the function again under two nested tapes."""
        (_, *inputs), _, attrs = saved
        f, dtypes, wanted = attrs["f"], attrs["dtypes"], attrs["wanted"]
        count = len(wanted)

        def first_order(tensors: Tensors) -> list[Tensor]:
            xs, cotangents = tensors[:count], tensors[count:]
            with Tape(persistent=True, watch_accessed_variables=False) as tape:
                tape.watch([x for x in xs if x.dtype.differentiable])
                ys = f(xs)
            return _gradient(tape, xs, ys, cotangents, wanted)

        attrs = {"f": first_order, "dtypes": dtypes, "seen": _Seen(), "uses": _NO_USES}
        *ys, memory = _run(call, inputs, attrs)
        saved = (tuple(inputs), (*ys, memory), attrs)
        return [None, *call.vjp(m, [*gs, None], saved, parents[1:])]


def _run(op: Unregistered, inputs: Tensors, attrs: Attrs) -> Any:
    trace = dispatch.thread.trace
    return dispatch.run(op, inputs, attrs) if trace is None else trace.run(op, inputs, attrs)


_NOTHING = np.empty((), object)
_NO_USES: dict[str, Any] = {"used": (), "assigned": ()}
call = _PythonCall("py_function", on_tape=True)
_backwards = _PythonCallBackwards()
constant_call = _PythonCall("numpy_function", on_tape=False)


def traced_call(
    f: Callable[[Tensors], list[Tensor]], inputs: Tensors, outputs: Sequence[Any], differentiable: bool
) -> list[Tensor]:
    """Add `f(inputs)`, called in every run, to the active trace. `outputs` are the dtypes or specs of its results."""
    specs = list(map(as_spec, outputs))
    is_known = all(spec.shape.is_fully_defined() for spec in specs)
    first = tuple(np.zeros(spec.shape, spec.dtype.numpy) for spec in specs) if is_known else None
    seen = _Seen(first)
    attrs = {"f": f, "dtypes": tuple(x.dtype for x in inputs), "seen": seen, "uses": _NO_USES}
    op = call if differentiable else constant_call
    trace = present_trace()
    if is_imagined():
        around = tuple(variables_around(f))  # it may assign any of them
        attrs["uses"] = uses = {"used": around, "assigned": around}
        results = trace.run(op, [*inputs, *map(trace.read_quietly, around)], attrs)
    else:
        try:
            trace.evaluator.catch_up()
            performed = once(lambda: _perform_first(trace, inputs, f, seen, differentiable))
        except InvalidArgumentError as error:
            error.about_values = True
            raise
        attrs["uses"] = uses = performed.uses
        with given(performed):
            results = trace.run(op, [*inputs, *map(trace.read_quietly, uses["used"])], attrs)
    count = len(results) - len(uses["assigned"]) - (1 if differentiable else 0)
    for variable, value in zip(uses["assigned"], results[count:], strict=False):
        trace.write(variable, value)
    return list(results[:count])
