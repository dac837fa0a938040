"""Fuses pairs of ops that share most of their work: a sparse cross entropy and its slope, a max pool and its argmax.

The backward pass of the first op of each pair needs the second. In a graph that has both, one node computes both.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ...core.locks import cached_property
from ...engine.registry.op import Unregistered, registry
from ..ir.graph import Graph, Node


class FusedOp(Unregistered):
    """The op of a node that replaces a pair."""

    family = "opaque"
    never_aliases = True  # like the ops of the pair
    is_repeatable = True

    def __init__(self, name: str, module: str, kernel: str, first: str) -> None:
        self.name = self.title = name
        self._module, self._kernel = module, kernel  # the module in `ops.nn` of both ops, and its function
        self._first = first  # the op whose attributes it takes

    @cached_property
    def numpy(self) -> Callable[..., Any]:
        """The kernel of both ops. A graph that has them has imported their module."""
        return getattr(import_module(f"gradtape.ops.nn.{self._module}"), self._kernel)

    @property
    def attributes(self) -> dict[str, bool]:
        """The attributes of the pair's first op."""
        return registry[self._first].attributes


FUSED = {  # keyed by the name of the second op
    "softmax": FusedOp(
        "cross_entropy_and_softmax", "losses", "sparse_with_softmax", "sparse_softmax_cross_entropy"
    ),
    "sparse_softmax_slope": FusedOp(
        "cross_entropy_and_slope", "losses", "sparse_with_slope", "sparse_softmax_cross_entropy"
    ),
    "max_pool_place": FusedOp("max_pool_and_place", "pooling", "max_pool_and_place", "max_pool"),
}


def with_fused_ops(graph: Graph) -> Graph:
    """Returns the graph with one node for each pair whose first op precedes the second."""
    firsts: dict[tuple[Any, ...], int] = {}  # indices of first ops, keyed by the second op's name and inputs
    nodes: list[Node] = []
    for node in graph.nodes:
        name, inputs = node.op.name, node.inputs
        if node.op is not registry.get(name):
            nodes.append(node)
            continue
        at = None
        if name == "sparse_softmax_cross_entropy" and 0 not in inputs[1].shape:
            firsts["sparse_softmax_slope", *inputs] = firsts["softmax", inputs[1]] = len(nodes)
        elif name == "max_pool":
            firsts["max_pool_place", *inputs, *node.outputs] = len(nodes)
        elif name in FUSED and (name != "softmax" or node.attrs["axis"] == len(inputs[0].shape) - 1):
            at = firsts.pop((name, *inputs), None)
        if at is None or nodes[at].several or (name == "max_pool_place" and nodes[at].attrs != node.attrs):
            nodes.append(node)
            continue
        first = nodes[at]
        nodes[at] = Node(FUSED[name], first.inputs, first.attrs, (*first.outputs, *node.outputs), True, first.line)
    return graph.substituted(nodes)
