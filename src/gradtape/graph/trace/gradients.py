"""`tf.gradients`: differentiates ops that a trace already contains, without a tape that has recorded them.

A tape is reconstructed from the nodes that lead to the targets: their values are recomputed outside the graph and keep
their existing places in it, so that only the backward pass adds nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import modes, nest
from ...core.locks import cached_property
from ...core.protocols import Tensors
from ...core.tensor import Tensor
from ...engine.derivatives.jacobians import jacobians
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.tape.log import Log
from ...engine.tape.queries import QueryResult
from ...engine.tape.results import OptionalGradient
from ...engine.tape.tape import Tape
from ...engine.tape.validation import as_cotangent, zeros_like
from ..ir.effects import replaying
from ..ir.graph import Node, Value
from .lazy_tensors import plain
from .trace import Trace, active_trace
from .traced import RetraceFollowingConstants, TracedTensor, out_of_scope, value_of

_EAGER = "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, stop_gradients: Any = None, zeros: bool = False
) -> list[OptionalGradient]:
    """Returns the gradients of the sum of `ys` with respect to each of `xs`, in the function being traced.

    One that `ys` do not depend on gets None or, if `zeros`, zeros.
    """
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
    given = [None if w is None else as_cotangent(y, w) for y, w in zip(targets, weights, strict=True)]
    tape, targets, sources = _reconstructed(targets, _listed(xs), _listed(stop_gradients))
    log = tape._required_log()
    found = tape.vjp(targets, given, sources)
    if log.retain:
        log.last_query = (targets, given, sources)
    tape.release()
    modes.results_found(tape, QueryResult(targets, sources, found, not zeros))
    return [zeros_like(x) if g is None and zeros else g for x, g in zip(sources, found, strict=True)]


def hessians(ys: object, xs: object) -> list[Any]:
    """Returns the second derivatives of the sum of `ys` with respect to each of `xs`."""
    found = []
    for x in _listed(xs):
        (gradient,) = gradients(ys, [x])
        if gradient is None:
            raise ValueError("None values not supported.")
        tape, (target,), (source,) = _reconstructed([to_tensor(gradient)], [x], [])
        (hessian,) = jacobians(tape, target, [source])
        tape.release()
        modes.results_found(tape, QueryResult([target], [source], [hessian]))
        if hessian is None:
            raise ValueError("None values not supported.")
        found.append(hessian)
    return found


def _listed(value: object) -> list[Any]:
    return [] if value is None else nest.flatten(value) if isinstance(value, list | tuple) else [value]


def _reconstructed(ys: Sequence[Any], xs: Sequence[Any], stops: Sequence[Any]) -> tuple[Tape, list[Any], list[Any]]:
    """Returns a tape that has recorded the way from `xs` to `ys`, and both as the tensors that the tape knows."""
    trace = active_trace()
    if trace is None:
        raise RuntimeError(_EAGER)
    tape = Tape(persistent=True, watch_accessed_variables=False)
    tape._of_a_graph = True
    with tape:
        log = tape._required_log()
    sources = [_source(trace, x) for x in xs]
    targets, stopped = ([_of(trace, x) for x in given] for given in (ys, stops))
    past = _Past(trace, (*dispatch.thread.recorders, log), log, sources, stopped)
    return tape, [past.tensor(y) for y in targets], [past.tensor(x) for x in sources]


def _of(trace: Trace, x: Any) -> Tensor:
    """Convert a source or target to a tensor: for a variable, the value of its first read."""
    if hasattr(x, "_as_tensor"):
        trace.read_quietly(x)
        return trace.variables.first_reads[id(x)]
    tensor = to_tensor(x)
    if type(tensor) is TracedTensor and tensor.trace is not trace:
        if not tensor.trace.open:
            raise out_of_scope(tensor)
        return trace.capture(tensor)
    if type(tensor) in REAL and trace.is_external(tensor):
        return TracedTensor(tensor, trace.place_of(tensor), trace)
    return tensor


def _source(trace: Trace, x: object) -> Tensor:
    tensor = _of(trace, x)
    if type(tensor) in REAL and tensor.dtype.differentiable:
        if not trace.tracks_all_external:
            raise RetraceFollowingConstants
        raise NotImplementedError(
            f"{tensor!r} was computed from Python values or is from outside the function, and what was computed from "
            "it may be constant too: tf.gradients cannot go back to it. Make it with tf.constant inside the function, "
            "or use a tf.GradientTape that watches it"
        )
    return tensor


class _Past:
    """Replays nodes of a trace onto tapes, on demand.

    In a loop or branch, the way back to a source may lead into the outer traces. Then their nodes are recorded too, on
    the tensors that this trace captures of theirs, so that the derivatives become nodes of this trace.
    """

    def __init__(self, trace: Trace, recorders: Sequence[Any], log: Log | None, xs: Tensors, stops: Tensors) -> None:
        self._trace = trace
        self._recorders = tuple(recorders)
        self._log = log
        self._origins: dict[Value, Value] = {}  # the defining value, in an outer trace, of each captured value
        for each in _from_outermost(trace):
            for (outer, _, variable), (_, x) in each.captured.items():
                if not variable:  # whose outer and inner values are distinct sources, as in TensorFlow
                    self._origins[x.place] = self._origins.get(outer, outer)
        self._watched = self._places(xs)
        self._stopped = self._places(stops)
        self._makers = {value: node for node in trace.builder.nodes for value in node.outputs}
        self._outside = self._between()
        self._tensors: dict[Value, Tensor] = {}

    def tensor(self, x: Tensor) -> Tensor:
        """Returns the tensor at the place of `x`, recorded together with everything that leads to it."""
        return self._at(x.place, x) if type(x) is TracedTensor else x

    def _at(self, wanted: Value, x: TracedTensor | None = None) -> Tensor:
        todo = [self._known_as(wanted)]
        while todo:
            place = todo[-1]
            node = self._outside.get(place)
            if node is None and place.constant is None and place not in self._trace.given:
                node = self._makers.get(place)
            if place in self._tensors:
                todo.pop()
            elif node is None:
                self._keep(place, self._leaf(place, x))
                todo.pop()
            else:
                inputs = map(self._known_as, node.inputs)
                missing = [v for v in inputs if v not in self._tensors and self._matters(v)]
                if missing:
                    todo += missing
                else:
                    self._run(node)
        return self._tensors[self._known_as(wanted)]

    def _places(self, xs: Tensors) -> set[Value]:
        return {self._origins.get(x.place, x.place) for x in xs if type(x) is TracedTensor}

    def _between(self) -> dict[Value, Node]:
        """Returns the producers, in the outer traces, of the values that depend on the sources."""
        found: dict[Value, Node] = {}
        for trace in _from_outermost(self._trace)[:-1]:
            for node in trace.builder.nodes:
                places = [self._origins.get(v, v) for v in node.inputs]
                if not self._watched.isdisjoint(places) or not found.keys().isdisjoint(places):
                    found.update(dict.fromkeys(node.outputs, node))
        return found

    def _known_as(self, place: Value) -> Value:
        """Returns the canonical place of a value: where it is defined, if that matters, or else the place itself."""
        made = self._origins.get(place, place)
        return made if made in self._outside or made in self._watched or made in self._stopped else place

    def _matters(self, place: Value) -> bool:
        """Whether a place holds a non-constant or a source."""
        return place.constant is None or place in self._watched

    def _leaf(self, place: Value, x: TracedTensor | None) -> Tensor:
        """Returns a new tensor for a place that no relevant node produces."""
        found = self._trace.given.get(place)
        if found is None and x is not None and x.place is place:
            found = x
        if found is None and place.constant is not None:
            plain_constant = TracedTensor(Tensor(place.constant, place.dtype), place, self._trace)
            found = next((y for y in self._trace.given.values() if self._origins.get(y.place) is place), plain_constant)
        if found is None:
            found = self._captured(place)
        fresh = TracedTensor(found.value, found.place, self._trace)
        fresh.tracer = found.tracers
        return fresh

    @cached_property
    def _outer(self) -> _Past:
        assert self._trace.outer is not None
        return _Past(self._trace.outer, self._trace.outer_recorders, None, (), ())

    def _captured(self, place: Value) -> TracedTensor:
        """Capture the tensor at a place of an outer trace, recorded on the outer tapes along the way to it."""
        return self._trace.capture(self._outer._at(place))

    def _keep(self, place: Value, x: Tensor) -> None:
        if place in self._stopped:
            x.tracer = None
        if place in self._watched and x.dtype.differentiable and self._log is not None:
            self._log.watch(x)
        self._tensors[place] = x

    def _run(self, node: Node) -> None:
        places = [self._known_as(v) for v in node.inputs]
        inputs = [self._tensors[v] if self._matters(v) else Tensor(v.constant, v.dtype) for v in places]
        outputs: tuple[TracedTensor, ...]
        if node.outputs[0] in self._outside:
            captured = [self._captured(place) for place in node.outputs]
            outputs = tuple([TracedTensor(y.value, y.place, self._trace) for y in captured])
        else:
            values = self._values(node, inputs)
            outputs = tuple([TracedTensor(y, at, self._trace) for y, at in zip(values, node.outputs, strict=True)])
        if self._recorders and any(x.tracer is not None for x in inputs):
            with self._trace.at_line(node.line):  # for explanations
                group = dispatch.RecorderGroup(self._recorders)
                group.record(node.op, inputs, outputs if node.several else outputs[0], node.attrs)
        for place, y in zip(node.outputs, outputs, strict=True):
            self._keep(place, y)

    def _values(self, node: Node, inputs: Tensors) -> Tensors:
        evaluator = self._trace.evaluator
        if node.outputs[0] in evaluator.lazy_values:
            return [evaluator.lazy_values[place] for place in node.outputs]
        done = evaluator.performed.get(node.outputs[0], [])
        with dispatch.traced_by(None), replaying(done):
            result = dispatch.run(node.op, [plain(value_of(x)) for x in inputs], node.attrs)
        return result if node.several else (result,)


def _from_outermost(trace: Trace) -> list[Trace]:
    return [*([] if trace.outer is None else _from_outermost(trace.outer)), trace]
