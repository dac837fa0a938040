"""A graph in stages, for XLA: none begins before the one before it has made all that is needed later.

XLA computes a value that was to be made twice once, and does what it can do early or late as it likes: so it keeps what
a plan lets go. Behind an optimization barrier a value is another one to it, and nothing is there before all that goes
through the barrier is. What a stage uses goes through the one in front of it, with all that is made and still needed.
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
    """`barrier(*xs)` is `xs`, of which XLA knows no more than that all of them are there."""

    name = title = "optimization_barrier"
    family = "linear"

    def numpy(self, *arrays: Any) -> tuple[Any, ...]:
        """The values."""
        return arrays


barrier = _Barrier()

# XLA for CPUs removes barriers before it looks for what is computed twice. Without this pass they stay; running them
# costs nothing.
_KEPT = {"cpu": {"xla_disable_hlo_passes": "cse_barrier_expander"}}


def options(graph: Graph, backend: str) -> dict[str, str] | None:
    """What XLA's compiler is to be told about a graph, if it is one in stages."""
    return _KEPT.get(backend) if any(node.op is barrier for node in graph.nodes) else None


_PART = 0.5  # of the largest op: a stage that has made so much ends before the next product


def in_stages(planned: Graph, original: Iterable[Node]) -> Graph:
    """The graph as planned, from nodes of which some run again, in stages: one begins where nodes run again.

    Another begins before a product, if there is much that XLA might do early or late.
    """
    own = {v for node in original for v in node.outputs}
    return _Staged(planned, own).graph(_PART * largest(planned))


class _Staged:
    """The stages made so far."""

    def __init__(self, planned: Graph, own: set[Value]) -> None:
        self._planned = planned
        self._own = own
        self._root = Layouts(planned).root
        self._maker = {v: node for node in planned.nodes for v in node.outputs}
        self._last: dict[Value, int] = {v: i for i, node in enumerate(planned.nodes) for v in node.inputs}
        self._last.update(dict.fromkeys(planned.all_outputs, len(planned.nodes)))
        self._now: dict[Value, Value] = {}  # what a value is behind the last barrier that it went through
        self._nodes: list[Node] = []

    def graph(self, most: float) -> Graph:
        """All stages, one after the other."""
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
            before, again = again, self._runs_again(node)
            # What a product takes is in memory in any case: before it, a barrier parts nothing that XLA would fuse.
            alone = node.op.family == "bilinear" or any(subgraphs(node))
            if i and (not before if again else alone and made > most):
                yield i
                made = 0
            made += sum(size(v) for v in node.outputs if v not in self._root)

    def _runs_again(self, node: Node) -> bool:
        return bool(node.outputs) and node.outputs[0] not in self._own

    def _begin(self, stage: Sequence[Node], needed: Sequence[Value]) -> None:
        """Puts a barrier in front of a stage; views are taken again of what comes through it."""
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
                value = self._viewed(path[-1], self._root[value])
            through[value] = None
            views.update((node.outputs, node) for node in reversed(path))
        if through:
            self._add(Node(barrier, tuple(through), {}, tuple(through), True))
        for node in views.values():
            self._add(node)

    def _viewed(self, node: Node, root: Value) -> Value:
        return next(v for v in node.inputs if self._root.get(v, v) is root)

    def _add(self, node: Node) -> None:
        """Adds a node that makes its outputs anew."""
        new = tuple([Value(v.shape, v.dtype) for v in node.outputs])
        self._nodes.append(node.on(self._now)._replace(outputs=new))
        self._now.update(zip(node.outputs, new, strict=True))
