"""Which array a ufunc may write its result to: one of its arguments that nobody needs any more.

Such an argument is an array that the run itself has made and that no other value may be an alias of. Unless an op says
that its kernel always makes new arrays (`Op.fresh`), its result counts as an alias of its arguments.
"""

from __future__ import annotations

from ...ir.graph import Graph, Node, Value
from .lowering import Primitive, view


class _Memory:
    """Memory that one array, and its views, may lie in; `last` is the node that uses it last."""

    __slots__ = ("last", "ours")

    def __init__(self, ours: bool) -> None:
        self.ours = ours
        self.last: float = -1


def overwritten(graph: Graph) -> dict[int, Value]:
    """For some of the nodes, by number: the argument that the result is to be written to."""
    places: dict[Value, frozenset[_Memory]] = {}  # where a value may lie
    elsewhere = frozenset({_Memory(False)})
    candidates: dict[int, list[tuple[Value, _Memory]]] = {}

    def of(value: Value) -> frozenset[_Memory]:
        return places.get(value, elsewhere)  # arguments of the function and constants are not ours

    for i, node in enumerate(graph.nodes):
        for v in node.inputs:
            for memory in of(v):
                memory.last = float("inf") if node.effect else max(memory.last, i)
        if isinstance(node.op, Primitive) and node.op.writes and _has_elements(node.outputs[0]):
            y = node.outputs[0]
            alike = [v for v in node.inputs if v.shape == y.shape and v.dtype is y.dtype and len(of(v)) == 1]
            candidates[i] = [(v, next(iter(of(v)))) for v in alike]
        for y in node.outputs:
            if getattr(node.op, "fresh", False):
                places[y] = frozenset({_Memory(True)})
            elif node.op is view or _keeps_elements(node):
                places[y] = of(node.inputs[0])
            else:
                places[y] = elsewhere.union(*map(of, node.inputs))
    for v in graph.all_outputs:
        for memory in of(v):
            memory.last = float("inf")
    chosen = {i: next((v for v, m in found if m.ours and m.last == i), None) for i, found in candidates.items()}
    return {i: v for i, v in chosen.items() if v is not None}


def _has_elements(value: Value) -> bool:
    """Whether it is an array with something in it; a number has no array that could be written to."""
    return bool(value.shape) and 0 not in value.shape


def _keeps_elements(node: Node) -> bool:
    """Whether the output is the whole first argument, or a new array: nothing else lies in its memory."""
    return bool(node.op.name == "reshape" and node.op.family == "linear")
