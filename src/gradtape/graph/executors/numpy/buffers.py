"""In-place analysis: finds an argument of a ufunc whose buffer may hold its result.

The argument must be dead after the ufunc, allocated by the run itself, and have no live alias. Unless an op declares
that its kernel always allocates (`Op.never_aliases`), its result counts as an alias of its arguments.
"""

from __future__ import annotations

from ...ir.dynamic_sizes import dynamic_values
from ...ir.graph import Graph, Value
from .lowering import Primitive, view


def overwritten(graph: Graph) -> dict[int, Value]:
    """Map the indices of some nodes to the argument that the result overwrites."""
    origin: dict[Value, Value] = {}  # from a value in memory of the run to the value it was allocated for
    candidates: dict[int, list[Value]] = {}
    dynamic = dynamic_values(graph)
    for i, node in enumerate(graph.nodes):
        y = node.outputs[0] if isinstance(node.op, Primitive) and node.op.writes else None
        # A scalar has no buffer to write to.
        if y is not None and y.shape and 0 not in y.shape and y not in dynamic:
            candidates[i] = [v for v in node.inputs if v.shape == y.shape and v.dtype is y.dtype and v in origin]
        # The output is the whole argument or a new array, so that nothing else shares its memory.
        is_reshape = node.op.name == "reshape" and node.op.family == "linear"
        for y in node.outputs:
            if getattr(node.op, "never_aliases", False):
                origin[y] = y
            elif (node.op is view or is_reshape) and node.inputs[0] in origin:
                origin[y] = origin[node.inputs[0]]
    last = _last_uses(graph)
    chosen = {i: next((v for v in found if last[origin[v]] == i), None) for i, found in candidates.items()}
    return {i: v for i, v in chosen.items() if v is not None}


def _last_uses(graph: Graph) -> dict[Value, float]:
    """Map each used value to the index of the last node that uses it or a possible alias of it."""
    forever = float("inf")
    last: dict[Value, float] = dict.fromkeys(graph.all_outputs, forever)
    for i in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[i]
        use = forever if node.effect else float(i)
        if not getattr(node.op, "never_aliases", False):
            use = max([use, *[last.get(y, -1.0) for y in node.outputs]])
        for v in node.inputs:
            if last.get(v, -1.0) < use:
                last[v] = use
    return last
