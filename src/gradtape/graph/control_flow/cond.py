"""Conditionals in a graph: the op `cond` runs one of several graphs on the same inputs.

For a derivative, each branch is split into a forward and a backward graph (see `derivative`). The forward graph
replaces the branch, so that the residuals become outputs of the cond; for branches not taken they are zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ...core import errors, nest
from ...core.dtypes import zero_array
from ...core.locks import cached_property
from ...core.protocols import OpNamespace, Outputs, Tensors
from ...core.tensor import Tensor
from ...engine.registry.cotangents import materialize
from ...engine.registry.op import Unregistered
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.run.randomness import function_streams
from ...engine.tape.validation import zeros_like
from ...state.tensor_array import TensorArray
from ..executors.numpy.executor import compiled
from ..ir.effects import Changed, never, record_decision, recording, replaying
from ..ir.graph import Attrs, Graph, Node, Parents, Saved, Value, replay
from ..trace.derivative import Derivative
from ..trace.lazy_tensors import LazyTensor, Thunk
from ..trace.results import returned_value
from ..trace.trace import Trace, active_trace, present_trace
from ..trace.traced import PoisonTensor, TracedTensor, Untraceable, value_of
from ..trace.variable_view import CaptureKey
from .subgraphs import Subgraph, batched, captured_by, example_of, written_by


def traced_cond(
    index: Tensor, branches: dict[str, Callable[[], Any]], mismatch: Callable[..., Exception], last_first: bool = False
) -> Any:
    """Returns the result of branch number `index`; all branches must return the same structure and dtypes.

    The branches have names; they are traced in order, or in reverse with `last_first`. `mismatch(first, other, reason)`
    returns the error to raise for a branch that returns something else.
    """
    trace = present_trace()
    asked = _Taken(index)
    named = list(enumerate(branches.items()))
    visited = {i: _visited(branch, name, i, asked) for i, (name, branch) in (named[::-1] if last_first else named)}
    subgraphs = [visited[i] for i, _ in named]
    # A trace for XLA need not know the branch taken: all are alike, unless one of them could not be traced.
    taken = 0 if trace.for_xla and None not in subgraphs else asked.number
    example = subgraphs[taken].returned  # type: ignore[union-attr]
    traced = [subgraph for subgraph in subgraphs if subgraph is not None]
    _settle_arrays([subgraph.returned for subgraph in traced])
    leaves = nest.flatten(example, expand_composites=True)
    for other in traced:
        _check_same(example, other.returned, mismatch)
    written = written_by(traced)
    tensors = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    places = [[] if subgraph is None else _places(subgraph, tensors, written) for subgraph in subgraphs]
    captured = captured_by(traced)
    graphs = [
        subgraph.graph(captured, places[i]) if subgraph is not None
        else _unvisited(captured, places[taken], asked.refused[i])
        for i, subgraph in enumerate(subgraphs)
    ]
    with recording() as performed:
        outputs = trace.run(cond, [index, *captured.values()], {"branches": tuple(graphs)})
    if outputs:
        trace.evaluator.performed[outputs[0].place] = performed
    for i, y in enumerate(outputs):
        if any(its_places and its_places[i].shape != y.dims for its_places in places):
            trace.guards.fix_shapes([y.place], trace.builder.nodes[-1].line)
    for variable, value in zip(written, outputs[len(tensors) :], strict=True):
        trace.variables.write_from_inside(variable, value, [subgraph.trace.variables for subgraph in traced], trace)
    for i, y in zip(tensors, outputs, strict=False):
        leaves[i] = y
    return nest.pack_sequence_as(example, leaves, expand_composites=True)


def branch_streams(taken: object) -> AbstractContextManager[None]:
    """Returns a context in which the random ops are those of one branch, if a function runs eagerly.

    The true branch is the first part of a conditional in a graph, the false one the second.
    """
    streams = function_streams()
    if streams is None:
        return nullcontext()
    paths = streams.next_path(), streams.next_path()
    return streams.within_part(paths[0 if taken else 1])


def _places(subgraph: Subgraph, tensors: list[int], written: list[Any]) -> list[Value]:
    """Returns the values of a branch's results, for the leaves that are tensors, and of the variables it assigns."""
    flat = nest.flatten(subgraph.returned, expand_composites=True)
    return subgraph.outputs([flat[i] for i in tensors], written)


class _Taken:
    """The branch taken in this run."""

    def __init__(self, index: Tensor) -> None:
        self._index = index
        self.refused: dict[int, Any] = {}  # the shapes that an op rejected in a branch not taken, by branch number

    @cached_property
    def number(self) -> int:
        """The branch number; the first access reads the value of the index."""
        return int(value_of(self._index).array)


def _visited(branch: Callable[[], Any], name: str, number: int, taken: _Taken) -> Subgraph | None:
    """Trace a branch as a subgraph; None if it is not taken and fails on the values of this run."""
    try:
        return Subgraph(name, lambda: nest.map_structure(_tensor, branch()))
    except (errors.OpError, Changed) as error:
        if number == taken.number:
            raise
        taken.refused[number] = getattr(error, "operand_shapes", ())
        return None


def _tensor(leaf: Any) -> Any:
    if isinstance(leaf, TensorArray):
        return leaf if leaf.entry_dims is None else leaf.stacked(leaf.rows())
    if type(leaf) is PoisonTensor:
        raise leaf.error
    return returned_value(leaf)


def _settle_arrays(structures: list[Any]) -> None:
    """Give each array the entry shape that it has in a branch that has written to it."""
    for leaves in zip(*map(nest.flatten, structures), strict=False):
        arrays = [x for x in leaves if isinstance(x, TensorArray)]
        dims = next((x.entry_dims for x in arrays if x.entry_dims is not None), None)
        for x in arrays if dims is not None else ():
            x.rows(dims)


def _check_same(first: object, other: object, mismatch: Callable[..., Exception]) -> None:
    if first is other:
        return
    try:
        nest.assert_same_structure(first, other, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise mismatch(first, other, str(error)) from None
    pairs = zip(nest.flatten(first, True), nest.flatten(other, True), strict=True)
    for a, b in pairs:
        if isinstance(a, Tensor) != isinstance(b, Tensor) or (isinstance(a, Tensor) and a.dtype is not b.dtype):
            raise mismatch(first, other, f"{a!r} and {b!r} have different types")


def _unvisited(captured: Iterable[CaptureKey], places: Sequence[Value], refused: Any) -> Graph:
    """Returns the placeholder of a branch that could not be traced: taking it triggers a retrace."""
    inputs = tuple(Value(key[0].shape, key[0].dtype) for key in captured)
    node = Node(never, (), {"operand_shapes": refused}, (), True)
    return Graph("unvisited", inputs, (node,), tuple(_zeros(v) for v in places))


def _zeros(value: Value) -> Value:
    return Value(value.shape, value.dtype, np.broadcast_to(zero_array((), value.dtype), value.shape))


class Cond(Unregistered):
    """The op `cond(index, *inputs, branches)`: every branch takes all inputs."""

    name = title = "cond"
    family = "control"
    takes_none = True

    def numpy(self, index: np.ndarray[Any, Any], *arrays: Any, branches: tuple[Graph, ...]) -> tuple[Any, ...]:
        """Run the branch taken."""
        return compiled(branches[int(index)])(*arrays)

    def outcome(self, inputs: Tensors, attrs: Attrs) -> Any:
        """Returns the shapes and dtypes of the branches; None if they differ or one could not be traced."""
        first, *others = ([(v.shape, v.dtype) for v in branch.outputs] for branch in attrs["branches"])
        unvisited = any(node.op is never for branch in attrs["branches"] for node in branch.nodes)
        return None if unvisited or any(other != first for other in others) else (first, True)

    def unrolled(self, inputs: Tensors, attrs: Attrs) -> tuple[Tensor, ...]:
        """Replay the branch taken op by op, on tensors of any kind."""
        record_decision(inputs[0])
        return tuple(replay(attrs["branches"][int(inputs[0])], inputs[1:]))

    def batch(self, m: OpNamespace, size: int, inputs: Tensors, flags: Sequence[bool], attrs: Attrs) -> Any:
        """Batch every branch if the index is shared; with a batched index, fall back to one member at a time."""
        if flags[0]:
            return NotImplemented
        examples = [example_of(x) for x in inputs[1:]]
        branches = tuple(batched(b, size, examples, flags[1:]) for b in attrs["branches"])
        return dispatch.run(cond, inputs, {"branches": branches})

    def keep(self, inputs: Tensors, outputs: Outputs, attrs: Attrs) -> tuple[Any, ...]:
        """Save everything: the residuals are only known when the derivative is built."""
        return tuple(inputs), outputs, attrs

    def vjp(self, m: OpNamespace, gs: Sequence[Tensor | None], saved: Saved, parents: Parents) -> tuple[Any, ...]:
        """Run a cond over the backward graphs of the branches."""
        (index, *inputs), outputs, attrs = saved
        asked = [p >= 0 and x.dtype.differentiable for p, x in zip(parents[1:], inputs, strict=True)]
        node = node_of(outputs) or Node(cond, (), attrs, ())
        branches: tuple[Graph, ...] = node.attrs["branches"]
        further = [False] * (len(branches[0].outputs) - len(outputs))
        given = [g is not None and y.dtype.differentiable for g, y in zip(gs, outputs, strict=True)]
        values = [example_of(x) for x in inputs]
        taken = _Taken(index)
        derivatives = [_derivative(b, values, asked, [*given, *further], i, taken) for i, b in enumerate(branches)]
        wanted = _connected(derivatives, asked)
        apart = [flag and not found for flag, found in zip(asked, wanted, strict=True)]
        unused = [y.dtype.differentiable and not flag for y, flag in zip(outputs, given, strict=True)]
        if any(apart) and any(unused):  # as in TensorFlow, even an unused output connects its inputs
            others = [_derivative(b, values, apart, [*unused, *further], i, taken) for i, b in enumerate(branches)]
            wanted = [a or b for a, b in zip(wanted, _connected(others, apart), strict=True)]
        if not any(wanted):
            return (None,) * len(saved[0])
        kept = _extended(index, inputs, outputs, node, derivatives)
        arrivals = [g for g, flag in zip(gs, given, strict=True) if flag and g is not None]
        sources = [x if flag else None for x, flag in zip(inputs, wanted, strict=True)]
        backward = _backward(derivatives, sources, kept, arrivals)
        found = iter(dispatch.run(cond, [index, *kept, *arrivals], {"branches": backward}))
        return None, *(next(found) if flag else None for flag in wanted)


cond = Cond()


def _connected(derivatives: list[Any], wanted: list[bool]) -> list[bool]:
    """Returns which wanted inputs have a cotangent in some branch; an untraced branch may have any."""
    if None in derivatives:
        return wanted
    return [flag and any(d.cotangents.forms[i] is not None for d in derivatives) for i, flag in enumerate(wanted)]


def _derivative(
    branch: Graph, values: list[Tensor], wanted: list[bool], given: list[bool], number: int, taken: _Taken
) -> Any:
    try:
        return Derivative(branch, values, wanted, given)
    except (errors.OpError, Changed):
        if number == taken.number:
            raise
        return None


def node_of(outputs: Tensors) -> Node | None:
    """Returns the current node that produced these outputs, if it belongs to the active trace."""
    trace = active_trace()
    y = outputs[0]
    if trace is None or type(y) is not TracedTensor or y.trace is not trace:
        return None
    return next(node for node in trace.builder.nodes if node.outputs and node.outputs[0] is y.place)


def _extended(
    index: Tensor, inputs: list[Tensor], outputs: Tensors, node: Node, derivatives: list[Any]
) -> list[Tensor]:
    """Add the residuals of all branches to the node's outputs, and return them."""
    slots = [value for d in derivatives if d is not None for value in d.kept]
    graphs = []
    for branch, d in zip(node.attrs["branches"], derivatives, strict=True):
        if d is None:
            graphs.append(replace(branch, outputs=(*branch.outputs, *map(_zeros, slots))))
        else:
            own = set(d.kept)
            own_outputs = d.forward.outputs[: len(branch.outputs)]
            graphs.append(replace(d.forward, outputs=(*own_outputs, *(v if v in own else _zeros(v) for v in slots))))
    attrs = {"branches": tuple(graphs)}
    return extend(cond, [index, *inputs], outputs, node, attrs, len(slots))


def extend(op: Any, inputs: list[Tensor], outputs: Tensors, node: Node, attrs: Attrs, count: int) -> list[Tensor]:
    """Replace `node` by `op(*inputs, **attrs)`, which has `count` more outputs, and return these."""
    trace = active_trace()
    if trace is None:
        return list(op.unrolled(inputs, attrs))[-count:] if count else []
    if not node.outputs:  # the node belongs to another trace: it runs again here
        if node._replace(attrs=attrs).effect:
            raise Untraceable("a derivative goes through random draws or prints in a branch or a loop")
        return list(dispatch.run(op, inputs, attrs))[-count:] if count else []
    with replaying(trace.evaluator.performed.get(node.outputs[0], [])), dispatch.recorded_by(()):
        before = trace.evaluator.last_effect
        results = trace.run(op, inputs, attrs)
        _take_over(trace, outputs, results, before)
    nodes = trace.builder.nodes
    new = nodes.pop()
    old = len(node.outputs)
    at = next(i for i, n in enumerate(nodes) if n.outputs and n.outputs[0] is node.outputs[0])
    places = (*node.outputs, *new.outputs[old:])
    nodes[at] = node._replace(attrs=attrs, outputs=places)
    tensors = tuple(TracedTensor(y.value, place, trace) for y, place in zip(results, places, strict=True))
    recorder = dispatch.thread.recorder
    if recorder is not None and dispatch.thread.recorders and any(x.tracer is not None for x in inputs):
        recorder.record(op, inputs, tensors, attrs)
    return list(tensors[old:])


def _take_over(trace: Trace, old: Tensors, new: Tensors, before: Thunk | None) -> None:
    """Share one thunk between a node and its replacement, so that their effects are performed once."""
    first, second = value_of(old[0]), value_of(new[0])
    if type(first) is LazyTensor and type(second) is LazyTensor and trace.evaluator.last_effect is second.work:
        first.work.take_over(second.work)
        second.work.wait_for(first.work)
        trace.evaluator.last_effect = before


def _backward(
    derivatives: list[Any], sources: list[Tensor | None], kept: list[Tensor], arrivals: list[Tensor]
) -> tuple[Graph, ...]:
    """Build the branches of the derivative: from all residuals and the cotangents to a cotangent for each source.

    The sources are the inputs, or None for those that get no cotangent.
    """
    graphs = []
    start = 0
    for d in derivatives:
        trace = Trace("gradient")
        with trace.entered():
            values = [trace.input(example_of(x)) for x in kept]
            gs = [trace.input(example_of(g)) for g in arrivals]
            if d is None:
                found: list[Any] = [None] * len(sources)
            else:
                own = values[start : start + len(d.kept)]
                start += len(d.kept)
                found = d.cotangents.of(replay(d.backward, [*own, *gs]))
            pairs = [(g, x) for g, x in zip(found, sources, strict=True) if x is not None]
            dense = [zeros_like(x) if g is None else materialize(ops, g) for g, x in pairs]
        graph = trace.finish(dense)
        graphs.append(replace(graph, nodes=(Node(never, (), {}, (), True), *graph.nodes)) if d is None else graph)
    return tuple(graphs)
