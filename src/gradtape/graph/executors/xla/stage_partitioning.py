"""Splits a planned graph into stages separated by XLA optimization barriers, so that rematerialization survives.

XLA merges duplicate computations (CSE) and reorders ops freely, and so would keep alive what a plan frees. A value
behind an optimization barrier is opaque to XLA, and is available only when all operands of the barrier are. Invariant:
everything that a stage uses, and everything computed so far and still needed, passes the barrier in front of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from ....engine.registry.op import Unregistered
from ...ir.graph import Graph, Node, Value, subgraphs
from ..numpy.footprint import Layouts, largest, size
from .constants import passed_in


class _Barrier(Unregistered):
    """The identity on several values, opaque to XLA; its results are available only when all operands are."""

    name = title = "optimization_barrier"
    family = "linear"

    def numpy(self, *arrays: Any) -> tuple[Any, ...]:
        return arrays


barrier = _Barrier()

_PART = 0.5  # fraction of the largest op: a stage that has allocated more ends before the next product


def in_stages(planned: Graph, original: Iterable[Node]) -> Graph:
    """Split a planned graph into stages; one begins at each sequence of rematerialized nodes.

    Another begins before a product if much memory has been allocated that XLA might reorder.
    """
    own = {v for node in original for v in node.outputs}
    return _Staged(planned, own).graph(_PART * largest(planned))


class _Staged:
    """The stages built so far."""

    def __init__(self, planned: Graph, own: set[Value]) -> None:
        self._planned, self._own = planned, own
        self._root = Layouts(planned).root
        self._maker = {v: node for node in planned.nodes for v in node.outputs}
        self._last: dict[Value, int] = {v: i for i, node in enumerate(planned.nodes) for v in node.inputs}
        self._last.update(dict.fromkeys(planned.all_outputs, len(planned.nodes)))
        self._now: dict[Value, Value] = {}  # maps a value to its copy behind the last barrier that it passed
        self._nodes: list[Node] = []

    def graph(self, most: float) -> Graph:
        """Returns the graph of all stages in order."""
        nodes = self._planned.nodes
        starts = [0, *self._starts(most), len(nodes)]
        made: list[Value] = []
        for start, end in pairwise(starts):
            stage = nodes[start:end]
            if start:
                self._begin(stage, [v for v in made if self._last.get(v, -1) >= start])
            self._nodes += [node.on(self._now) for node in stage]
            made = [v for node in stage for v in node.outputs]
        return self._planned.substituted(self._nodes, self._now)

    def _starts(self, most: float) -> Iterator[int]:
        made = 0
        again = True
        for i, node in enumerate(self._planned.nodes):
            before, again = again, bool(node.outputs) and node.outputs[0] not in self._own
            # The operands of a product are materialized anyway: a barrier before it prevents no fusion.
            alone = node.op.family == "bilinear" or any(subgraphs(node))
            if i and (not before if again else alone and made > most):
                yield i
                made = 0
            made += sum(size(v) for v in node.outputs if v not in self._root)

    def _begin(self, stage: Sequence[Node], needed: Sequence[Value]) -> None:
        """Insert a barrier before a stage; views are recomputed from the values behind it."""
        inside = {v for node in stage for v in node.outputs}
        used = [v for node in stage for v in node.inputs if v not in inside]
        through: dict[Value, None] = {}
        views: dict[tuple[Value, ...], Node] = {}
        for value in (*used, *needed):
            if value.constant is not None and not passed_in(value):
                continue
            path = []
            while value in self._root and value in self._maker:
                path.append(self._maker[value])
                root = self._root[value]
                value = next(v for v in path[-1].inputs if self._root.get(v, v) is root)
            through[value] = None
            views.update((node.outputs, node) for node in reversed(path))
        if through:
            self._add(Node(barrier, tuple(through), {}, tuple(through), True))
        for node in views.values():
            self._add(node)

    def _add(self, node: Node) -> None:
        """Append a node with fresh outputs."""
        new = tuple([Value(v.shape, v.dtype) for v in node.outputs])
        self._nodes.append(node.on(self._now)._replace(outputs=new))
        self._now.update(zip(node.outputs, new, strict=True))
