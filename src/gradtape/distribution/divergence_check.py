"""What is the same at each replica of a program for all of them: only that may decide whether a collective is run.

Where replicas took different branches, or went round a loop differently often, one would wait for the others for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.ir.graph import Graph, Node, Value, all_nodes, subgraphs
from ..graph.trace.traced import Untraceable
from . import collective_ops
from .shards import LocalPart


class Agreement:
    """That replicas come to the collectives of `graph` together; `inputs` says which of its inputs differ between them.

    It raises where they may part. What variables were when the graph was made they need not be later: `check` again.
    """

    def __init__(self, graph: Graph, inputs: Sequence[bool]) -> None:
        inner = [node for outer in graph.nodes for part in subgraphs(outer) for node in all_nodes(part)]
        self._matters = any([collective_ops.is_collective(node.op) for node in inner])
        self._graph, self._inputs = graph, inputs
        self._variables: list[bool] | None = None  # which of them differed when it was last looked
        self.check()

    def check(self) -> None:
        """Raises if replicas may part, as the variables are now."""
        if self._matters:
            variables = [_may_differ(variable) for variable, _ in self._graph.variables]
            if variables != self._variables:
                _differing(self._graph, [*self._inputs, *variables])
                self._variables = variables


def _may_differ(variable: Any) -> bool:
    """Whether replicas may have different values of a variable: their own parts of it, or copies that they wrote to."""
    own = getattr(variable, "may_differ", False) or getattr(variable, "_copies", ())
    return isinstance(variable, LocalPart) or bool(own)


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
            differs = collective_ops.differs_between_replicas(node.op, any(given)) or node.effect
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
    if any([collective_ops.is_collective(inner.op) for part in subgraphs(node) for inner in all_nodes(part)]):
        raise Untraceable("whether replicas come to a reduction in it depends on values that differ between them")
