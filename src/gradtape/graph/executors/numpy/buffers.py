"""In-place analysis: finds an argument of a ufunc whose buffer may hold its result.

The argument must be dead after the ufunc, allocated by the run itself, and have no live alias. Unless an op declares
that its kernel always allocates (`Op.never_aliases`), its result counts as an alias of its arguments.
"""

from __future__ import annotations

from ...ir.dynamic_sizes import dynamic_values
from ...ir.graph import Graph, Node, Value
from .lowering import Primitive, view


def overwritten(graph: Graph) -> dict[int, Value]:
    """Map the indices of some nodes to the argument that the result overwrites."""
    origin: dict[Value, Value] = {}  # from a value in memory of the run to the value it was allocated for
    candidates: dict[int, list[Value]] = {}
    dynamic = dynamic_values(graph)
    for i, node in enumerate(graph.nodes):
        if isinstance(node.op, Primitive) and node.op.writes and _has_elements(node.outputs[0], dynamic):
            y = node.outputs[0]
            candidates[i] = [v for v in node.inputs if v.shape == y.shape and v.dtype is y.dtype and v in origin]
        for y in node.outputs:
            if getattr(node.op, "never_aliases", False):
                origin[y] = y
            elif (node.op is view or _keeps_elements(node)) and node.inputs[0] in origin:
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


def _has_elements(value: Value, dynamic: set[Value]) -> bool:
    """Whether the value is a non-empty array of known shape; a scalar has no buffer to write to."""
    return bool(value.shape) and 0 not in value.shape and value not in dynamic


def _keeps_elements(node: Node) -> bool:
    """Whether the output is the whole first argument or a new array, so that nothing else shares its memory."""
    return bool(node.op.name == "reshape" and node.op.family == "linear")
