"""Selects the constants that a program takes as arguments: XLA would embed a copy of each large one in the program."""

from __future__ import annotations

from ....core import dtypes
from ...ir.graph import Graph, Value

_LARGE = 1 << 16  # bytes


def passed_in(value: Value) -> bool:
    """Whether a value is a constant large enough to be passed as an argument."""
    return value.constant is not None and value.dtype is not dtypes.string and value.constant.nbytes >= _LARGE


def large_constants(graph: Graph) -> list[Value]:
    """The large constants that the nodes use or the graph returns."""
    used = [*(v for node in graph.nodes for v in node.inputs), *graph.all_outputs]
    return list(dict.fromkeys(filter(passed_in, used)))
