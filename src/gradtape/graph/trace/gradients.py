"""Gradients asked for after the fact: `tf.gradients` differentiates what a trace already holds, without a tape.

A tape is made of the nodes that lead to the targets: their values are computed once more, off the graph, and their
places are the ones they have, so that only the backward pass adds nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import nest
from ...core.tensor import Tensor
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.tape.log import Log
from ...engine.tape.questions import UnconnectedGradients
from ...engine.tape.tape import GradientTape
from ..ir.effects import replaying
from ..ir.graph import Node, Value
from .awaited import plain
from .trace import Trace, value_of
from .traced import TracedTensor, Unfollowed, out_of_scope

_EAGER = "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."


def gradients(ys: Any, xs: Any, grad_ys: Any, stop_gradients: Any, unconnected: Any) -> list[Any]:
    """The gradients of the sum of `ys` with respect to each of `xs`, in the function that is being traced."""
    targets = [to_tensor(y) for y in _listed(ys)]
    if grad_ys is None:
        weights: list[Any] = [None] * len(targets)
    else:
        weights = list(grad_ys) if isinstance(grad_ys, list | tuple) else [grad_ys]
    if len(weights) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(weights)} grad_ys for {len(targets)} ys")
    for y, weight in zip(targets, weights, strict=True):
        if y.dtype.is_complex and weight is None:
            raise TypeError(
                f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name}): give a weight for "
                "each y"
            )
    given = [w if w is None else to_tensor(w, hint=y.dtype) for y, w in zip(targets, weights, strict=True)]
    tape, targets, sources = _reconstructed(targets, _listed(xs), _listed(stop_gradients))
    return tape.gradient(targets, sources, output_gradients=given, unconnected_gradients=unconnected)


def hessians(ys: Any, xs: Any) -> list[Any]:
    """The second derivatives of the sum of `ys` with respect to each of `xs`."""
    found = []
    for x in _listed(xs):
        (gradient,) = gradients(ys, [x], None, None, UnconnectedGradients.NONE)
        if gradient is None:
            raise ValueError("None values not supported.")
        tape, (target,), (source,) = _reconstructed([to_tensor(gradient)], [x], [])
        hessian = tape.jacobian(target, source)
        if hessian is None:
            raise ValueError("None values not supported.")
        found.append(hessian)
    return found


def _listed(value: Any) -> list[Any]:
    return [] if value is None else nest.flatten(value) if isinstance(value, list | tuple) else [value]


def _reconstructed(
    ys: Sequence[Any], xs: Sequence[Any], stops: Sequence[Any]
) -> tuple[GradientTape, list[Any], list[Any]]:
    """A tape that has watched `xs` on the way to `ys`; and those, as the tape knows them."""
    trace = dispatch.thread.trace
    if trace is None:
        raise RuntimeError(_EAGER)
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    with tape:
        log = tape._log
        assert log is not None
    sources = [_source(trace, x) for x in xs]
    _check_within(trace, [_of(trace, y) for y in ys], xs)
    past = _Past(trace, log, sources, [_of(trace, x) for x in stops])
    return tape, [past.tensor(_of(trace, y)) for y in ys], [past.tensor(x) for x in sources]


def _of(trace: Trace, x: Any) -> Tensor:
    """A source or a target as a tensor: a variable is what was first read of it."""
    if hasattr(x, "_as_tensor"):
        trace.read_quietly(x)
        return trace.first_reads[id(x)]
    tensor = to_tensor(x)
    if type(tensor) is TracedTensor and tensor.trace is not trace:
        if not tensor.trace.open:
            raise out_of_scope(tensor)
        return trace.capture(tensor)
    if type(tensor) in REAL and trace.is_followed(tensor):
        return TracedTensor(tensor, trace.place_of(tensor), trace)
    return tensor


def _source(trace: Trace, x: Any) -> Tensor:
    tensor = _of(trace, x)
    if type(tensor) in REAL and tensor.dtype.differentiable:
        if not trace.follows_all:
            raise Unfollowed
        raise NotImplementedError(
            f"{tensor!r} was computed from Python values or is from outside the function, and what was computed from "
            "it may be constant too: tf.gradients cannot go back to it. Make it with tf.constant inside the function, "
            "or use a tf.GradientTape that watches it"
        )
    return tensor


def _check_within(trace: Trace, ys: Sequence[Tensor], xs: Sequence[Any]) -> None:
    """Raises if what leads from `xs` to `ys` goes through a trace around this one, which is not looked at."""
    if trace.outer is None:
        return
    own, reached = _reach(trace.outer, xs)
    used = {y.place for y in ys if type(y) is TracedTensor}
    for node in reversed(trace.nodes):
        if not used.isdisjoint(node.outputs):
            used.update(node.inputs)
    for (place, *_), (_, x) in trace.captured.items():
        if place in reached and place not in own and x.place in used:
            raise NotImplementedError(
                "tf.gradients inside a loop or a branch goes back through what was computed before it. Compute that "
                "inside, or use a tf.GradientTape that watches the source from the start"
            )


def _reach(trace: Trace, xs: Sequence[Any]) -> tuple[set[Value], set[Value]]:
    """Where in this trace the sources are, and where what depends on them is; both as far as traces around it tell."""
    own = {x.place for x in xs if type(x) is TracedTensor and x.trace is trace}
    reached = set(own)
    if trace.outer is not None:
        outer_own, outer_reached = _reach(trace.outer, xs)
        for (place, *_), (_, x) in trace.captured.items():
            if place in outer_own:
                own.add(x.place)
            if place in outer_reached:
                reached.add(x.place)
    for node in trace.nodes:
        if not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
    return own, reached


class _Past:
    """The nodes of a trace, recorded on `log` as far as they are asked for."""

    def __init__(self, trace: Trace, log: Log, xs: Sequence[Tensor], stops: Sequence[Tensor]) -> None:
        self._trace = trace
        self._recorders = dispatch.thread.recorders
        self._log = log
        self._watched = {x.place for x in xs if type(x) is TracedTensor}
        self._stopped = {x.place for x in stops if type(x) is TracedTensor}
        self._makers = {value: node for node in trace.nodes for value in node.outputs}
        self._tensors: dict[Value, Tensor] = {}

    def tensor(self, x: Tensor) -> Tensor:
        """The tensor at the place of `x`, recorded with all that leads to it."""
        if type(x) is not TracedTensor:
            return x
        todo = [x.place]
        while todo:
            place = todo[-1]
            node = self._makers.get(place)
            if place in self._tensors:
                todo.pop()
            elif place.constant is not None:
                self._add(place, TracedTensor(Tensor(place.constant, place.dtype), place, self._trace))
                todo.pop()
            elif place in self._trace.given or node is None:
                self._add(place, self._trace.given.get(place, x))
                todo.pop()
            else:
                missing = [v for v in node.inputs if v not in self._tensors and self._matters(v)]
                if missing:
                    todo += missing
                else:
                    self._run(node)
        return self._tensors[x.place]

    def _matters(self, place: Value) -> bool:
        """Whether a place holds more than a constant."""
        return place.constant is None or place in self._watched

    def _add(self, place: Value, x: TracedTensor) -> None:
        fresh = TracedTensor(x.value, place, self._trace)
        fresh.mark = x.marks
        self._keep(place, fresh)

    def _keep(self, place: Value, x: Tensor) -> None:
        if place in self._stopped:
            x.mark = None
        if place in self._watched and x.dtype.differentiable:
            self._log.watch(x)
        self._tensors[place] = x

    def _run(self, node: Node) -> None:
        inputs = [self._tensors[v] if self._matters(v) else Tensor(v.constant, v.dtype) for v in node.inputs]
        values: Sequence[Tensor]
        if node.outputs[0] in self._trace.awaited:
            values = [self._trace.awaited[place] for place in node.outputs]
        else:
            done = self._trace.performed.get(node.outputs[0], [])
            with dispatch.traced_by(None), replaying(done):
                result = dispatch.run(node.op, [plain(value_of(x)) for x in inputs], node.attrs)
            values = result if node.several else (result,)
        outputs = tuple(TracedTensor(y, place, self._trace) for y, place in zip(values, node.outputs, strict=True))
        if any(x.mark is not None for x in inputs):
            told = dispatch.Several((*self._recorders, self._log))
            told.record(node.op, inputs, outputs if node.several else outputs[0], node.attrs)
        for place, y in zip(node.outputs, outputs, strict=True):
            self._keep(place, y)

