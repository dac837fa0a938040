"""Divergence analysis of SPMD programs: a replica-dependent value must not decide whether a collective is executed.

If replicas took different branches or numbers of loop iterations around a collective, some would wait forever for the
others. GPU compilers use the same analysis for barriers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...graph.ir.graph import Graph, Node, Value, all_nodes, subgraphs
from ...graph.trace.traced import Untraceable
from ...state.variable import Variable
from .. import collective_ops
from ..shards import MirroredStorage, is_placeholder


class Agreement:
    """Checks that all replicas execute the same collectives of `graph`; `inputs` says which inputs are per-replica.

    Raises `Untraceable` if they may not. Variables may diverge after tracing, so `check` must run before every
    execution.
    """

    def __init__(self, graph: Graph, inputs: Sequence[bool]) -> None:
        inner = [node for outer in graph.nodes for part in subgraphs(outer) for node in all_nodes(part)]
        self._matters = any([collective_ops.is_collective(node.op) for node in inner])
        self._graph, self._inputs = graph, inputs
        self._variables: list[bool] | None = None  # which variables differed at the last check
        self.check()

    def check(self) -> None:
        """Raises if control flow around a collective may diverge, given the current variables."""
        if self._matters:
            variables = [_may_differ(variable) for variable, _ in self._graph.variables]
            if variables != self._variables:
                _differing(self._graph, [*self._inputs, *variables])
                self._variables = variables


def _may_differ(variable: Variable) -> bool:
    """Returns whether a variable may differ between replicas: it is sync-on-read, or replicas wrote to copies."""
    storage = variable._storage
    own = isinstance(storage, MirroredStorage) and (storage.may_differ or bool(storage.copies))
    return own or is_placeholder(variable)


def _differing(graph: Graph, inputs: Sequence[bool]) -> list[bool]:
    """Returns which outputs of a graph may differ between replicas."""
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
    while True:  # fixed-point iteration: the loop state is uniform if it starts uniform and the body keeps it so
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
        raise Untraceable("whether replicas reach a reduction in it depends on values that differ between them")
