"""Inside a call of a function, which is one record on a tape: where a derivative ends there."""

from __future__ import annotations

from typing import Any

from ...engine.run.source_lines import Line
from ...graph.ir.graph import Graph, Node, Value, all_nodes
from ...graph.trace.assigned import assigned


def cut_inside(op: Any, argument: int) -> tuple[Any, Line | None] | None:
    """The op without a derivative that an argument of a call goes through on its way to the results, and its line."""
    if getattr(op, "family", None) != "call":
        return None
    graph: Graph = op.forward
    node = _first_constant(graph, graph.all_inputs[argument])
    return None if node is None else (node.op, node.line)


def python_inside(op: Any) -> Line | None:
    """Where a call of a function runs Python (`tf.py_function`), which may compute beside all tapes."""
    if getattr(op, "family", None) != "call":
        return None
    return next((node.line for node in all_nodes(op.forward) if node.op.name == "py_function"), None)


def _first_constant(graph: Graph, start: Value) -> Node | None:
    """The first node, computed from `start`, that has no derivative and leads on to an output.

    None if another way from `start` to an output has derivatives throughout: one of its rules gives none then.
    """
    leading = set(graph.outputs)
    for node in reversed(graph.nodes):
        if not leading.isdisjoint(node.outputs):
            leading.update(node.inputs)
    reached = {start}
    first: Node | None = None
    for node in graph.nodes:
        if reached.isdisjoint(node.inputs) or leading.isdisjoint(node.outputs):
            continue
        # Of several outputs those count that lead on: the indices of `top_k` may, and its values not.
        followed = [y for y in node.outputs if y in leading and y.dtype.differentiable]
        is_written = node.op is assigned and node.inputs[0] in reached  # the variable gets it all
        if not followed or is_written or getattr(node.op, "vjp", None) is None:
            first = first or node
        else:
            reached.update(followed)
    return first if reached.isdisjoint(graph.outputs) else None
