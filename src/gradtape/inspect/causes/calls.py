"""Finds where a derivative ends inside a function call, which is one record on a tape."""

from __future__ import annotations

from typing import Any

from ...core.protocols import Line
from ...graph.control_flow.cond import cond
from ...graph.control_flow.loop import loop
from ...graph.ir.graph import Graph, Node, Value, all_nodes
from ...graph.trace.assigned import assigned

COMPARISONS = {
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "is_nan", "is_inf", "is_finite",
    "zeros_like", "ones_like", "all", "any", "logical_and", "logical_or", "logical_not",
}  # fmt: skip


def cut_inside(op: Any, argument: int) -> tuple[Any, Line | None] | None:
    """Returns the op without a derivative between an argument of a call and its results, and its line."""
    if getattr(op, "family", None) != "call":
        return None
    graph: Graph = op.forward
    node = _blocking_node(graph, graph.all_inputs[argument])
    return None if node is None else (node.op, node.line)


def python_inside(op: Any) -> Line | None:
    """Returns the line where a call runs Python (`tf.py_function`), which may compute off all tapes."""
    if getattr(op, "family", None) != "call":
        return None
    return next((node.line for node in all_nodes(op.forward) if node.op.name == "py_function"), None)


def _blocking_node(graph: Graph, start: Value) -> Node | None:
    """Returns the node without a derivative that separates `start` from the outputs.

    Of several it is the last, as differentiable paths lead past the others; a comparison only if there is nothing else,
    and one with another cut behind it, such as the `round` in stop_gradient(round(x)), only if there is no last one.
    None if a path from `start` to an output is differentiable throughout: then one of its rules gives None.
    """
    reached, cuts = _reach(graph, {start})
    if not reached.isdisjoint(graph.outputs):
        return None
    last = [node for node in cuts if not _reach(graph, set(node.outputs))[0].isdisjoint(graph.outputs)]
    last = last or cuts
    found = [node for node in last if node.op.name not in COMPARISONS] or last
    return found[-1] if found else None


def _reach(graph: Graph, starts: set[Value]) -> tuple[set[Value], list[Node]]:
    """Returns the values that are differentiably reachable from `starts`, and the nodes where paths to outputs end."""
    leading = set(graph.outputs)
    for node in reversed(graph.nodes):
        if not leading.isdisjoint(node.outputs):
            leading.update(node.inputs)
    reached = set(starts)
    cuts: list[Node] = []
    for node in graph.nodes:
        if reached.isdisjoint(node.inputs) or leading.isdisjoint(node.outputs):
            continue
        # Only outputs that lead on count: for `top_k` that may be the indices but not the values.
        followed = [y for y in node.outputs if y in leading and y.dtype.differentiable]
        is_written = node.op is assigned and node.inputs[0] in reached  # the variable receives the whole cotangent
        if node.op is cond:
            reached.update(_reach_in_branches(node, reached, cuts))
        elif node.op is loop:
            reached.update(_reach_in_body(node, reached, leading, cuts))
        elif not followed or is_written or getattr(node.op, "vjp", None) is None:
            cuts.append(node)
        else:
            reached.update(followed)
    return reached, cuts


def _reach_in_branches(node: Node, reached: set[Value], cuts: list[Node]) -> set[Value]:
    """Returns the outputs of a cond that are reachable in one of its branches; if there are none, extends `cuts`.

    The last cut is the one reported, and the branch of a true condition comes last.
    """
    found: set[Value] = set()
    ends: list[Node] = []
    for branch in node.attrs["branches"]:
        starts = {inner for inner, x in zip(branch.inputs, node.inputs[1:], strict=True) if x in reached}
        inside, inner_cuts = _reach(branch, starts)
        found.update(y for y, result in zip(node.outputs, branch.outputs, strict=False) if result in inside)
        ends += inner_cuts
    if not found:
        cuts += ends
    return found


def _reach_in_body(node: Node, reached: set[Value], leading: set[Value], cuts: list[Node]) -> set[Value]:
    """Returns the outputs of a loop that its body reaches in any iteration; if none leads on, extends `cuts`."""
    body, carried = node.attrs["body"], node.attrs["rounds"].carried
    starts = {inner for inner, x in zip(body.inputs, node.inputs, strict=False) if x in reached}
    while True:  # what one iteration reaches is carried into the next
        inside, inner_cuts = _reach(body, starts)
        again = {body.inputs[i] for i, y in enumerate(body.outputs[:carried]) if y in inside}
        if again <= starts:
            break
        starts |= again
    found = {y for y, result in zip(node.outputs, body.outputs, strict=False) if result in inside}
    found |= {y for y, inner in zip(node.outputs[:carried], body.inputs, strict=False) if inner in starts}
    found = {y for y in found if y.dtype.differentiable}
    if found.isdisjoint(leading):
        cuts += inner_cuts or [node]
    return found
