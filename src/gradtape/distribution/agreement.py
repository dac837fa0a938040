"""What is the same at each replica of a program for all of them: only that may decide whether a collective is run.

Where replicas took different branches, or went round a loop differently often, one would wait for the others for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.ir.graph import Graph, Node, Value, all_nodes, subgraphs
from ..graph.trace.traced import Untraceable
from . import across
from .parts import LocalPart


def check_collectives(graph: Graph, inputs: Sequence[bool]) -> None:
    """Raises if replicas may part at a collective of `graph`; `inputs` says which of its inputs differ between them."""
    if any([across.is_collective(node.op) and subgraph for node, subgraph in _in_order(graph)]):
        _differing(graph, [*inputs, *(_may_differ(variable) for variable, _ in graph.variables)])


def _in_order(graph: Graph) -> list[tuple[Node, bool]]:
    """The nodes, and whether each is in a branch or a loop."""
    inner = [node for outer in graph.nodes for part in subgraphs(outer) for node in all_nodes(part)]
    return [*((node, False) for node in graph.nodes), *((node, True) for node in inner)]


def _may_differ(variable: Any) -> bool:
    """Whether replicas may have different values of a variable."""
    return isinstance(variable, LocalPart) or getattr(variable, "may_differ", False)


def _differing(graph: Graph, inputs: Sequence[bool]) -> list[bool]:
    """Which of the outputs differ between replicas."""
    found: set[Value] = {v for v, differs in zip(graph.all_inputs, inputs, strict=True) if differs}
    for node in graph.nodes:
        given = [v in found for v in node.inputs]
        if node.op.name == "loop":
            differ = _of_loop(node, given)
        elif node.op.name == "cond":
            differ = _of_cond(node, given)
        else:
            differs = across.differs_between_replicas(node.op, any(given)) or node.effect
            differ = [differs] * len(node.outputs)
        found |= {v for v, differs in zip(node.outputs, differ, strict=True) if differs}
    return [v in found for v in graph.outputs]


def _of_cond(node: Node, given: Sequence[bool]) -> list[bool]:
    if given[0]:
        _refuse_collectives(node)
    rows = [_differing(branch, given[1:]) for branch in node.attrs["branches"]]
    return [given[0] or any(row) for row in zip(*rows, strict=True)]


def _of_loop(node: Node, given: Sequence[bool]) -> list[bool]:
    rounds, body, test = node.attrs["rounds"], node.attrs["body"], node.attrs["test"]
    state, scanned, fixed = rounds.divided(given)
    while True:  # what is carried is the same if it begins so, and a round of such values leaves it so
        results = _differing(body, [*state, *scanned, *fixed])
        after = [a or b for a, b in zip(state, results, strict=False)]
        if after == list(state):
            break
        state = after
    if test is not None and _differing(test, [*state, *fixed])[0]:
        _refuse_collectives(node)
        return [True] * len(node.outputs)
    return [*state, *results[rounds.carried :]]


def _refuse_collectives(node: Node) -> None:
    if any([across.is_collective(inner.op) for part in subgraphs(node) for inner in all_nodes(part)]):
        raise Untraceable("whether replicas come to a reduction in it depends on values that differ between them")
