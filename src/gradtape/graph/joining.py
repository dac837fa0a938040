"""Two ops that share most of their work, as one: a sparse cross entropy and its softmax, a maximum and where it is.

The second of each pair is what the first one's derivative needs. In a graph that holds both, one node computes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.op import registry
from ..ops.losses import sparse_with_softmax
from ..ops.pooling import max_pool_with_place
from .graph import Graph, Node, Value


class Pair:
    """The op that gives the results of both."""

    family = "opaque"
    effect = False

    def __init__(self, name: str, numpy: Callable[..., tuple[Any, Any]]) -> None:
        self.name = self.title = name
        self.numpy = numpy

    def __repr__(self) -> str:
        return f"<op {self.name}>"


with_softmax = Pair("cross_entropy_and_softmax", sparse_with_softmax)
with_place = Pair("max_pool_and_place", max_pool_with_place)


def joined(graph: Graph) -> Graph:
    """The graph with one node for each pair whose first member comes first."""
    firsts: dict[tuple[str, Value], int] = {}  # by what the second member will be, and of which value
    nodes: list[Node] = []
    for node in graph.nodes:
        name = node.op.name
        if node.op is not registry.get(name):
            nodes.append(node)
            continue
        at = None
        if name == "sparse_softmax_cross_entropy" and 0 not in node.inputs[1].shape:
            firsts["softmax", node.inputs[1]] = len(nodes)
        elif name == "max_pool":
            firsts["max_pool_place", node.outputs[0]] = len(nodes)
        elif name == "softmax" and node.attrs["axis"] == len(node.inputs[0].shape) - 1:
            at = firsts.pop((name, node.inputs[0]), None)
        elif name == "max_pool_place":
            at = firsts.get((name, node.inputs[1]))
            if at is not None and (nodes[at].inputs[0] is not node.inputs[0] or nodes[at].attrs != node.attrs):
                at = None
            if at is not None:
                del firsts[name, node.inputs[1]]
        if at is None:
            nodes.append(node)
            continue
        first = nodes[at]
        pair = with_softmax if name == "softmax" else with_place
        nodes[at] = Node(pair, first.inputs, first.attrs, (*first.outputs, *node.outputs), True, first.line)
    return graph.substituted(nodes)
