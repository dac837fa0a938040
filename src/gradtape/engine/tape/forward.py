"""Forward mode: every value that depends on a primal carries a tangent in its tracer, and no residuals are saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core import dtypes
from ...core.protocols import Attrs, OpLike, Outputs, Recorder, Tensors, Tracers, VariableLike
from ...core.tensor import Tensor
from ..registry.cotangents import materialize
from ..run import dispatch
from ..run.namespace import Namespace, ops
from .backprop import SparseCotangents, sweep
from .log import Key, Log, living
from .validation import Differentiable, ones, zeros_like


class JvpAccumulator(dispatch.Block, Recorder):
    """Computes the tangents of all values that depend on the primals, while the computation runs."""

    _STILL = "Accumulator is already recording."

    def __init__(self, pairs: Iterable[tuple[Differentiable, Tensor]] = ()) -> None:
        self.key = Key(self)
        self.level = 0
        self._variables: dict[int, tuple[Any, Tensor | None]] = {}
        self._tensors: list[tuple[Tensor, Tensor]] = []
        for primal, tangent in pairs:
            self.add_tangent(primal, tangent)

    def add_tangent(self, primal: Differentiable, tangent: Tensor) -> None:
        """Sets the tangent of a primal, or adds to the one that it has."""
        if tangent is primal:
            tangent = ops.identity(tangent)  # a tensor whose tracer refers to itself would be a reference cycle
        if not isinstance(primal, Tensor):
            before = self.tangent_of(primal)
            self._variables[id(primal)] = (primal, tangent if before is None else before + tangent)
        elif self._recording:
            before = dispatch.entry(primal.tracers, self.key)
            primal.tracer = (self.key, tangent if before is None else before + tangent, living(primal.tracers))
        else:
            self._tensors.append((primal, tangent))

    def _begin(self) -> None:
        self.level = dispatch.next_level()
        for primal, tangent in self._tensors:
            primal.tracer = (self.key, tangent, living(primal.tracers))
        self._tensors = []
        self._recording = True
        dispatch.enter(self)

    def _end(self) -> None:
        dispatch.leave(self)
        self._recording = False

    def tangent_of(self, x: Differentiable) -> Tensor | None:
        """The tangent of a value computed inside the block or of a variable; None if it depends on no primal."""
        if isinstance(x, Tensor):
            return dispatch.entry(x.tracers, self.key)
        return self._variables.get(id(x), (x, None))[1]

    def record(self, op: OpLike, inputs: Tensors, outputs: Outputs, attrs: Attrs) -> None:
        """Computes the tangents of an op's outputs."""
        tangents = [dispatch.entry(x.tracers, self.key) for x in inputs]
        if op.vjp is None or all(t is None for t in tangents):
            return
        outer = tuple(r for r in dispatch.thread.recorders if r.level < self.level)
        with dispatch.recorded_by(outer):
            jvp = op.jvp or transposed_rule(op)
            result = jvp(ops, inputs, outputs, attrs, tangents)
        ys, result = (outputs, result) if isinstance(outputs, tuple) else ((outputs,), (result,))
        for y, t in zip(ys, result or (None,) * len(ys), strict=True):
            if t is not None and y.dtype.differentiable:
                y.tracer = (self.key, t, y.tracers)

    def tracer_of(self, variable: VariableLike, rest: Tracers) -> Tracers:
        """Returns the tracer of a value read from `variable` now, chained to `rest`."""
        entry = self._variables.get(id(variable))
        return rest if entry is None or entry[1] is None else (self.key, entry[1], rest)

    def assigned(self, variable: VariableLike, value: Tensor) -> None:
        """Replaces the variable's tangent with that of the assigned value."""
        tangent = dispatch.entry(value.tracers, self.key)
        if tangent is not None or id(variable) in self._variables:
            self._variables[id(variable)] = (variable, tangent)


def transposed_rule(op: OpLike) -> Callable[..., Any]:
    """Derives a forward rule from the reverse rule: `vjp` is linear in the cotangent, and its transpose is the jvp.

    This is the double-backward trick: the vjp is recorded at a zero cotangent, then differentiated with respect to it.
    """

    def jvp(m: Namespace, inputs: Tensors, outputs: Outputs, attrs: Attrs, tangents: Sequence[Tensor | None]) -> Any:
        several = type(outputs) is tuple
        log = Log(watch_accessed_variables=False)
        blanks = [zeros_like(y) for y in (outputs if isinstance(outputs, tuple) else (outputs,))]
        for g in blanks:
            if g.dtype.differentiable:
                log.watch(g)
        parents = tuple(-1 if t is None else 0 for t in tangents)
        with dispatch.recorded_by((*dispatch.thread.recorders, log)):
            saved = op.keep(inputs, outputs, attrs)
            assert op.vjp is not None
            cotangents = op.vjp(ops, tuple(blanks) if several else blanks[0], saved, parents)
            terms = [_inner(c, t) for c, t in zip(cotangents, tangents, strict=True) if c is not None and t is not None]
            if len({term.dtype for term in terms}) > 1:  # an op, such as a call, with inputs of several dtypes
                common = dtypes.complex128 if any(term.dtype.is_complex for term in terms) else dtypes.float64
                terms = [ops.cast(term, dtype=common) for term in terms]
            total = sum(terms[1:], terms[0]) if terms else None
        position = None if total is None else log.position(total)
        if total is None or position is None:
            return (None,) * len(blanks) if several else None
        at = [log.position(g) for g in blanks]
        grads = SparseCotangents({position: ones(total)})
        wanted = {i for i in at if i is not None}
        sweep(log, grads, wanted, m=ops, order=range(position, -1, -1), need=None, release=False, hooks={})
        found = tuple(None if i is None else grads[i] for i in at)
        return found if several else found[0]

    return jvp


def _inner(cotangent: Tensor, tangent: Tensor) -> Tensor:
    cotangent = materialize(ops, cotangent)
    if cotangent.dtype.is_complex:
        cotangent = ops.conj(cotangent)
    return ops.sum(cotangent * tangent, axis=tuple(range(len(tangent.dims))), keepdims=False)
