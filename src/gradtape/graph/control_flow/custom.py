"""Custom gradients inside a traced function: a node that forwards its results and holds the rule.

The node does no work of its own: it returns the results that were computed before it. Differentiating the graph runs
the user's rule, which is traced into a graph too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...core.extension_points import add_custom_call
from ...core.protocols import OpNamespace, Outputs
from ...core.tensor import Tensor
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.op import Unregistered
from ...engine.run import dispatch
from ..ir.graph import Attrs, Graph, Parents, Saved, replay
from ..trace.derivative import Cotangents
from ..trace.lazy_tensors import ones_like
from ..trace.trace import Trace
from .subgraphs import Subgraph, batched, captured_by, example_of

Rule = Callable[[tuple[Tensor, ...]], Sequence[Any]]


class Traced(NamedTuple):
    """A traced rule: a graph from the outputs' cotangents, and captured tensors, to the inputs' cotangents."""

    graph: Graph | None
    cotangents: Cotangents
    failure: Exception | None = None  # the error raised while tracing the rule, reraised by the backward pass


def with_rule(
    trace: Trace, inputs: Sequence[Tensor], outputs: Sequence[Tensor], rule: Rule
) -> tuple[tuple[Tensor, ...], tuple[Any, list[Tensor], dict[str, Any]] | None]:
    """Returns the outputs as new tensors whose gradient follows the rule, and the node that forwards them."""
    if trace.for_examples is not None:  # a scratch graph has no nodes
        return tuple(outputs), None
    ones = [ones_like(y, trace.evaluator.is_lazy) for y in outputs]
    captured: dict[Any, Tensor] = {}
    try:
        subgraph = Subgraph("rule", lambda *gs: rule(gs), ones)
        cotangents = Cotangents(subgraph.returned)
        captured = captured_by([subgraph])
        traced = Traced(subgraph.graph(captured, subgraph.outputs(cotangents.taken(), ())), cotangents)
    except Exception as error:
        traced = Traced(None, Cotangents([]), error)
    counts = (len(inputs), len(outputs))
    attrs = {"rule": traced, "counts": counts}
    given = [*inputs, *outputs, *captured.values()]
    with dispatch.recorded_by(()):
        return trace.run(custom_gradient, given, attrs), (custom_gradient, given, attrs)


class CustomGradient(Unregistered):
    """The op `custom_gradient(*inputs, *outputs, *captured, rule, counts)`: returns the outputs."""

    name = title = "custom_gradient"
    family = "custom"
    backward_may_raise = True

    def forwards_inputs(self, inputs: Sequence[Any], attrs: Attrs) -> tuple[Any, ...]:
        """Returns the outputs, which are among the inputs."""
        first, count = attrs["counts"]
        return tuple(inputs[first : first + count])

    def numpy(self, *arrays: Any, rule: Traced, counts: tuple[int, int]) -> tuple[Any, ...]:
        """Forward the outputs."""
        return self.forwards_inputs(arrays, {"rule": rule, "counts": counts})

    def batch(self, m: OpNamespace, size: int, inputs: Sequence[Tensor], flags: Sequence[bool], attrs: Attrs) -> Any:
        """Run the op on whole batches, with a batched rule."""
        rule, counts = attrs["rule"], attrs["counts"]
        first, end = counts[0], sum(counts)
        whole = [broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)]
        if rule.graph is not None:
            used = [example_of(x) for x in inputs[end:]]
            gs = [example_of(y) for y in whole[first:end]]
            graph = batched(rule.graph, size, [*gs, *used], [*[True] * counts[1], *flags[end:]])
            rule = rule._replace(graph=graph)
        return dispatch.run(self, [*whole[:end], *inputs[end:]], {"rule": rule, "counts": counts})

    def keep(self, inputs: Sequence[Tensor], outputs: Outputs, attrs: Attrs) -> tuple[Any, ...]:
        """Save the tensors that the rule captures."""
        return inputs[sum(attrs["counts"]) :], attrs

    def vjp(self, m: OpNamespace, gs: Sequence[Tensor], saved: Saved, parents: Parents) -> list[Any]:
        """Apply the user's rule."""
        used, attrs = saved
        rule, (inputs, _) = attrs["rule"], attrs["counts"]
        if rule.failure is not None:
            raise rule.failure
        found = rule.cotangents.of(replay(rule.graph, [*gs, *used]))
        return [*found, *[None] * (len(parents) - inputs)]


custom_gradient = CustomGradient()
add_custom_call.install(with_rule)
