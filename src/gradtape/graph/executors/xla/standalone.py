"""Which graphs XLA can run alone: without calls of Python, without strings, and with shapes known in advance."""

from __future__ import annotations

from ....core import dtypes
from ...ir.effects import Effect, assertion, draw
from ...ir.graph import Graph, all_nodes


class NotCompilable(Exception):
    """XLA cannot run a graph alone; says why."""


def check_standalone(graph: Graph) -> None:
    """Raises `NotCompilable` if the nodes themselves show that XLA cannot run the graph alone."""
    at_top = set(map(id, graph.nodes))
    for node in all_nodes(graph):
        if node.op is draw and id(node) not in at_top:
            raise NotCompilable("it draws random numbers in a branch or a loop, from streams of Python")
        if (isinstance(node.op, Effect) and node.op is not draw) or node.op is assertion:
            raise NotCompilable(f"{node.op.title} runs in Python")
        if node.op.shaped_by_values:
            raise NotCompilable(f"the shape of {node.op.title}'s result depends on values")
        if any(v.dtype is dtypes.string for v in (*node.inputs, *node.outputs)):
            raise NotCompilable(f"{node.op.title} computes with strings")
    if any(v.dtype is dtypes.string for v in (*graph.all_inputs, *graph.all_outputs)):
        raise NotCompilable("it takes or returns strings")
