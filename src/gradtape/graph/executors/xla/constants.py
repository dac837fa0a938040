"""Which constants of a graph a program is given as arguments: XLA would keep a copy of a large one in the program."""

from __future__ import annotations

from ....core import dtypes
from ...ir.graph import Graph, Value

_LARGE = 1 << 16  # bytes


def passed_in(value: Value) -> bool:
    """Whether a value is such a constant."""
    return value.constant is not None and value.dtype is not dtypes.string and value.constant.nbytes >= _LARGE


def large_constants(graph: Graph) -> list[Value]:
    """Those that the nodes use, or that the graph gives back."""
    used = [*(v for node in graph.nodes for v in node.inputs), *graph.all_outputs]
    return list(dict.fromkeys(filter(passed_in, used)))
