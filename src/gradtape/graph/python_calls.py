"""Python inside a graph: `tf.py_function` and `tf.numpy_function` call it at every run, and a check may raise.

A call of `tf.py_function` is recorded by a tape of its own, which is one more output of its node: going backwards asks
that tape. The derivative of that is one more Python function, which calls the user's again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import dispatch
from ..engine.cotangents import finished
from ..engine.op import ops
from ..engine.tape import GradientTape
from ..tensor import Tensor, wrap
from .effects import Effect
from .traced import Untraceable

Tensors = Sequence[Tensor]


class _Seen:
    """The shapes and dtypes that a call gave when it was traced, for runs in which it is only imagined."""

    def __init__(self, first: tuple[Any, ...] | None = None) -> None:
        self.first = first

    def imagined(self) -> tuple[Any, ...]:
        """Arrays of these shapes."""
        if self.first is None:
            raise Untraceable("what a Python function returns is known when it is called")
        return self.first


def _remembered(seen: _Seen, results: tuple[Any, ...]) -> tuple[Any, ...]:
    if seen.first is None:
        seen.first = tuple(np.zeros_like(array) for array in results)
    return results


def _plain(arrays: Sequence[Any], dtypes: Sequence[Any]) -> list[Tensor]:
    return [wrap(array, dtype) for array, dtype in zip(arrays, dtypes, strict=True)]


def _perform(*arrays: Any, f: Callable[..., Any], dtypes: Any, seen: _Seen) -> tuple[Any, ...]:
    with dispatch.traced_by(None):
        return _remembered(seen, tuple(y.array for y in f(_plain(arrays, dtypes))))


def _perform_on_tape(*arrays: Any, f: Callable[..., Any], dtypes: Any, seen: _Seen) -> tuple[Any, ...]:
    xs = _plain(arrays, dtypes)
    with dispatch.traced_by(None):
        with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch([x for x in xs if x.dtype.differentiable])
            ys = f(xs)
    memory = np.empty((), object)
    memory[()] = (tape, xs, ys)
    return (*_remembered(seen, tuple(y.array for y in ys)), memory)


def _gradient(tape: GradientTape, xs: Tensors, ys: Tensors, gs: Tensors, wanted: Sequence[bool]) -> list[Tensor]:
    """The cotangents wanted, zeros where there is none."""
    sources = [x for x, flag in zip(xs, wanted, strict=True) if flag]
    pairs = [(y, g) for y, g in zip(ys, gs, strict=True) if y.dtype.differentiable]
    found = tape.gradient([y for y, _ in pairs], sources, output_gradients=[g for _, g in pairs])
    return [
        Tensor(np.zeros(x.dims, x.dtype.numpy), x.dtype) if g is None else finished(ops, g)
        for x, g in zip(sources, found, strict=True)
    ]


def _perform_backwards(memory: Any, *arrays: Any, f: Any, dtypes: Any, wanted: Any) -> tuple[Any, ...]:
    tape, xs, ys = memory[()]
    with dispatch.traced_by(None):
        gs = _plain(arrays[len(xs) :], dtypes[len(xs) :])
        return tuple(g.array for g in _gradient(tape, xs, ys, gs, wanted))


def _imagine_backwards(memory: Any, *arrays: Any, wanted: Any, **attrs: Any) -> tuple[Any, ...]:
    return tuple(np.zeros_like(x) for x, flag in zip(arrays, wanted, strict=False) if flag)


class _Recorded(Effect):
    """A call that a tape can go back through; all that was given and made is kept for that."""

    takes_none = True

    def keep(self, inputs: Any, outputs: Any, attrs: Any) -> Any:
        """All there is."""
        return tuple(inputs), tuple(outputs), attrs

    def pull_raw(self, m: Any, gs: Any, saved: Any, parents: Any) -> list[Any]:
        """`pull` on arrays."""
        pulled = self.pull(ops, [None if g is None else Tensor(g) for g in gs], saved, parents)
        return [None if g is None else g.array for g in pulled]


class _PythonCall(_Recorded):
    """`f(*xs)` on a tape; the last output is what the tape remembers."""

    shaped_by_values = True

    def __init__(self) -> None:
        super().__init__("py_function", _perform_on_tape, lambda *arrays, seen, **attrs: (*seen.imagined(), _NOTHING))

    def pull(self, m: Any, gs: Any, saved: Any, parents: Any) -> list[Any]:
        """The cotangents, from the tape of the call."""
        xs, (*ys, memory), attrs = saved
        wanted = tuple(p >= 0 and x.dtype.differentiable for p, x in zip(parents, xs, strict=True))
        gs = [_zeros(y) if g is None else g for y, g in zip(ys, gs, strict=False)]
        dtypes = (*attrs["dtypes"], *(y.dtype for y in ys))
        given = {"f": attrs["f"], "dtypes": dtypes, "wanted": wanted}
        found = iter(_run(_backwards, [memory, *xs, *gs], given))
        return [next(found) if flag else None for flag in wanted]


class _PythonCallBackwards(_Recorded):
    """The cotangents of a call, which depend on its inputs and on the cotangents of its outputs."""

    def __init__(self) -> None:
        super().__init__("py_function_gradient", _perform_backwards, _imagine_backwards)

    def pull(self, m: Any, gs: Any, saved: Any, parents: Any) -> list[Any]:
        """The second derivative: the function is called again, between two tapes."""
        (_, *inputs), _, attrs = saved
        f, dtypes, wanted = attrs["f"], attrs["dtypes"], attrs["wanted"]
        count = len(wanted)

        def first_order(tensors: Tensors) -> list[Tensor]:
            xs, cotangents = tensors[:count], tensors[count:]
            with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
                tape.watch([x for x in xs if x.dtype.differentiable])
                ys = f(xs)
            return _gradient(tape, xs, ys, cotangents, wanted)

        *ys, memory = _run(call, inputs, {"f": first_order, "dtypes": dtypes, "seen": _Seen()})
        saved = (tuple(inputs), (*ys, memory), {"f": first_order, "dtypes": dtypes})
        return [None, *call.pull(m, [*gs, None], saved, parents[1:])]


def _zeros(x: Tensor) -> Tensor:
    return Tensor(np.zeros(x.dims, x.dtype.numpy), x.dtype)


def _run(op: Any, inputs: Tensors, attrs: dict[str, Any]) -> Any:
    trace = dispatch.thread.trace
    return dispatch.run(op, inputs, attrs) if trace is None else trace.run(op, inputs, attrs)


_NOTHING = np.empty((), object)
call = _PythonCall()
_backwards = _PythonCallBackwards()
constant_call = Effect("numpy_function", _perform, lambda *arrays, seen, **attrs: seen.imagined())
constant_call.shaped_by_values = True  # type: ignore[attr-defined]


def traced_call(
    f: Callable[[Tensors], list[Tensor]], inputs: Tensors, outputs: Sequence[Any], differentiable: bool
) -> list[Tensor]:
    """`f(inputs)` as part of the function being traced: called at every run. `outputs` are its dtypes, or its specs."""
    known = [spec for spec in outputs if hasattr(spec, "shape") and spec.shape.is_fully_defined()]
    first = tuple(np.zeros(spec.shape, spec.dtype.numpy) for spec in known) if len(known) == len(outputs) else None
    attrs = {"f": f, "dtypes": tuple(x.dtype for x in inputs), "seen": _Seen(first)}
    if not differentiable:
        return list(_run(constant_call, inputs, attrs))
    *results, _ = _run(call, inputs, attrs)
    return results

