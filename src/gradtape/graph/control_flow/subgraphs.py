"""Traces parts of a program as graphs of their own: the branches of a cond, the condition and body of a loop.

Tensors captured from the enclosing trace become inputs; variables that the part assigns become outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core.dtypes import zero_array
from ...core.tensor import Tensor, wrap
from ...engine.registry.batching import BatchedTensor, leave
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.tape.forward import JvpAccumulator
from ...engine.tape.log import Log
from ..ir.effects import imagining
from ..ir.graph import Graph, Value, replay
from ..trace.lazy_tensors import first_of
from ..trace.trace import Trace
from ..trace.traced import Untraceable, value_of


class Subgraph:
    """`f` applied to tensors with these values, traced inside the active trace.

    `returned` is its return value; the graph is built once the captures of the sibling subgraphs are known.
    """

    def __init__(self, name: str, f: Callable[..., Any], values: Sequence[Tensor] = ()) -> None:
        self.trace = Trace(name, nested=True)
        with self.trace.entered(), imagining():
            self.returned = f(*[self.trace.input(value_of(x)) for x in values])

    def outputs(self, outputs: Sequence[Tensor], written: Iterable[Any]) -> list[Value]:
        """Returns the graph values of these outputs, and of the final values of the variables `written`."""
        with self.trace.entered():
            held = [self.trace.read_quietly(variable) for variable in written]
        return [self.trace.place_of(y) for y in (*outputs, *held)]

    def capture_of(self, variable: Any) -> Any:
        """Returns the capture key of a variable's initial value, or None."""
        return self.trace.variables.capture_keys.get(id(variable))

    def graph(self, captured: Iterable[Any], places: Sequence[Value]) -> Graph:
        """Build the graph: its own inputs, then those captured under these keys."""
        self.trace.open = False
        further = []
        for key in captured:
            found = self.trace.captured.get(key)
            further.append(Value(key[0].shape, key[0].dtype) if found is None else found[1].place)
        self.trace.release()
        builder = self.trace.builder
        return Graph(builder.name, (*builder.inputs, *further), tuple(builder.nodes), tuple(places))


def written_by(subgraphs: Sequence[Subgraph]) -> list[Any]:
    """Returns the variables that any of the subgraphs assigns."""
    written = {at: variable for subgraph in subgraphs for at, variable in subgraph.trace.variables.written.items()}
    if any(variable.dtype.differentiable for variable in written.values()):
        check_not_followed()
    return list(written.values())


def check_not_followed() -> None:
    """Raises if an accumulator, or a tape with `track_assign`, would track assignments in subgraphs.

    The backward pass sends nothing to an assigned value, and forward mode through subgraphs is its transposition.
    """
    if any(isinstance(recorder, JvpAccumulator) for recorder in dispatch.thread.recorders):
        raise Untraceable("a ForwardAccumulator follows variables that are assigned in branches or loops")
    check_not_tracked()


def check_not_tracked() -> None:
    """Raises if a tape with `track_assign` would track assignments in subgraphs."""
    if any(isinstance(recorder, Log) and recorder.tracks for recorder in dispatch.thread.recorders):
        raise Untraceable("a tape with track_assign follows variables that are assigned in branches or loops")


def captured_by(subgraphs: Sequence[Subgraph]) -> dict[Any, Tensor]:
    """Returns the outer tensors that the subgraphs capture, by key."""
    return {key: outer for subgraph in subgraphs for key, (outer, _) in subgraph.trace.captured.items()}


def example_of(x: Tensor) -> Tensor:
    """Returns a plain tensor like `x`: its value in this run, or the first member of a batch."""
    if type(x) is BatchedTensor:
        first = example_of(x.value)
        return first_of(first) if x.size else wrap(zero_array(x.dims, x.dtype), x.dtype)
    return value_of(x)


def batched(graph: Graph, size: int, inputs: Sequence[Tensor], flags: Sequence[bool]) -> Graph:
    """Vectorize the graph over a batch; all outputs have the batch axis.

    `inputs` are examples, with the batch axis where flagged.
    """
    trace = Trace(graph.name)
    level = dispatch.next_level()
    with trace.entered(), imagining():
        xs = [trace.input(x) for x in inputs]
        members = [BatchedTensor(x, level) if flag else x for x, flag in zip(xs, flags, strict=True)]
        outputs = [leave(ops.constant(y), level, size) for y in replay(graph, members)]
    return trace.finish(outputs)
