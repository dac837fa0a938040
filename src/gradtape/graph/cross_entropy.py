"""A sparse cross entropy and the softmax in its derivative, computed together: they exponentiate the same logits."""

from __future__ import annotations

from ..engine.op import registry
from ..ops.losses import sparse_with_softmax
from .graph import Graph, Node, Value


class _WithSoftmax:
    """The op that gives both."""

    name = "cross_entropy_and_softmax"
    title = "sparse_softmax_cross_entropy"
    family = "opaque"
    effect = False
    numpy = staticmethod(sparse_with_softmax)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


with_softmax = _WithSoftmax()


def joined_with_softmax(graph: Graph) -> Graph:
    """The graph with one node for a cross entropy and the softmax, after it, of the same logits over the last axis."""
    losses: dict[Value, int] = {}  # by their logits
    nodes: list[Node] = []
    for node in graph.nodes:
        logits = node.inputs[-1] if node.inputs else None
        if node.op is registry.get("sparse_softmax_cross_entropy") and 0 not in node.inputs[1].shape:
            losses[node.inputs[1]] = len(nodes)
        elif node.op is registry.get("softmax") and logits in losses and node.attrs["axis"] == len(logits.shape) - 1:
            at = losses.pop(logits)
            loss = nodes[at]
            nodes[at] = Node(with_softmax, loss.inputs, {}, (*loss.outputs, *node.outputs), True, loss.line)
            continue
        nodes.append(node)
    return graph.substituted(nodes)
