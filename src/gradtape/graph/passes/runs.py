"""Runs: groups of nodes that can be computed together (fusion), because no path between members leaves the group.

All members of a run produce values of one shape. Their `frame` carries further compatibility conditions: joining two
frames gives a frame, or None if they are incompatible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..ir.graph import Graph, Node, Value
from .rewriting import Uses


class Run:
    """The indices of the nodes that are computed together, in increasing order."""

    def __init__(self, members: list[int], shape: tuple[int, ...], frame: Any) -> None:
        self.members, self.shape, self.frame = members, shape, frame


class Runs:
    """The assignment of nodes to runs."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.of: dict[int, Run] = {}
        self._parents: list[list[int]] = []  # dependencies of each node: effects also depend on the preceding effect
        maker: dict[Value, int] = {}
        last_effect: int | None = None
        for i, node in enumerate(nodes):
            parents = [maker[v] for v in node.inputs if v in maker]
            if node.effect:
                parents += [] if last_effect is None else [last_effect]
                last_effect = i
            self._parents.append(parents)
            maker.update(dict.fromkeys(node.outputs, i))

    def place(self, i: int, frame: Any) -> None:
        """Merge a node with the runs of its inputs, where possible, or start a new run."""
        run = self.of[i] = Run([i], self.nodes[i].outputs[0].shape, frame)
        before = {id(self.of[p]): self.of[p] for p in self._parents[i] if p in self.of}
        for other in sorted(before.values(), key=lambda other: -other.members[-1]):
            run = self._merged(run, other)

    def _merged(self, run: Run, other: Run) -> Run:
        """Returns the union of two runs, or `run` if they cannot be merged."""
        frame = run.frame.joined(other.frame)
        if run.shape != other.shape or frame is None:
            return run
        both = Run(sorted(run.members + other.members), run.shape, frame)
        if self._waits_for_itself(both):
            return run
        self.of.update(dict.fromkeys(both.members, both))
        return both

    def _waits_for_itself(self, run: Run) -> bool:
        """Whether a path between two members leads through a node outside the run, which would make a cycle."""
        members = set(run.members)
        first = run.members[0]
        stack = [p for i in run.members for p in self._parents[i] if p not in members]
        seen: set[int] = set()
        while stack:
            p = stack.pop()
            if p in members:
                return True
            if p in seen:
                continue
            group = self.of[p].members if p in self.of else [p]
            seen.update(group)
            if group[-1] > first:
                stack.extend(q for k in group for q in self._parents[k])
        return False

    def keep(self, pays: Callable[[Run], bool]) -> None:
        """Dissolve the runs for which `pays` is false."""
        self.of = {i: run for i, run in self.of.items() if pays(run)}

    def in_order(self) -> Iterator[list[int]]:
        """Iterate over groups of nodes in topological order, the members of a run together."""
        done: set[int] = set()
        for i in range(len(self.nodes)):
            # A run is emitted when another node needs it, or at its last member.
            stack = [i] if i not in self.of or i == self.of[i].members[-1] else []
            while stack:
                group = self.of[stack[-1]].members if stack[-1] in self.of else [stack[-1]]
                if stack[-1] in done:
                    stack.pop()
                    continue
                waiting = [p for k in group for p in self._parents[k] if p not in done and p not in group]
                if waiting:
                    stack.extend(waiting)
                    continue
                done.update(group)
                yield group

    def joined(self, graph: Graph, made: Callable[[list[Node], list[Value], Run], Node]) -> Graph:
        """Returns the graph with one node `made(members, results, run)` per run; `results` are used outside the run."""
        used = Uses(graph).count
        nodes: list[Node] = []
        for group in self.in_order():
            if group[0] not in self.of:
                nodes.append(self.nodes[group[0]])
                continue
            members = [self.nodes[i] for i in group]
            inside = Counter(v for node in members for v in node.inputs)
            results = [v for node in members for v in node.outputs if used[v] > inside[v]]
            nodes.append(made(members, results, self.of[group[0]]))
        return graph.substituted(nodes)


def inputs_of(members: Sequence[Node]) -> tuple[Value, ...]:
    """Returns the values that the members of a run take from outside."""
    inner = {v for node in members for v in node.outputs}
    return tuple(dict.fromkeys(v for node in members for v in node.inputs if v not in inner))
