"""Runs: nodes of a graph that can be computed together, as nothing outside comes between them.

That is what waits for one of them and is waited for by another. The nodes of a run make values of one shape. What else
they must have in common is their `frame`: two frames joined are a frame, or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..ir.graph import Graph, Node, Value
from .rewriting import Uses


class Run:
    """The numbers of the steps that are computed together, in increasing order."""

    def __init__(self, members: list[int], shape: tuple[int, ...], frame: Any) -> None:
        self.members = members
        self.shape = shape
        self.frame = frame


class Runs:
    """Which step belongs to which run."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.of: dict[int, Run] = {}
        self._parents: list[list[int]] = []  # what each node waits for: effects also wait for the effect before
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
        """Puts a step into the runs of its arguments, which may become one by this, or begins a new run."""
        run = self.of[i] = Run([i], self.nodes[i].outputs[0].shape, frame)
        before = {id(self.of[p]): self.of[p] for p in self._parents[i] if p in self.of}
        for other in sorted(before.values(), key=lambda other: -other.members[-1]):
            run = self._merged(run, other)

    def _merged(self, run: Run, other: Run) -> Run:
        """The two runs as one, or `run` if they cannot be."""
        frame = run.frame.joined(other.frame)
        if run.shape != other.shape or frame is None:
            return run
        both = Run(sorted(run.members + other.members), run.shape, frame)
        if self._waits_for_itself(both):
            return run
        self.of.update(dict.fromkeys(both.members, both))
        return both

    def _waits_for_itself(self, run: Run) -> bool:
        """Whether a step waits for something outside that waits for another step of the run."""
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
        """Forgets the runs that do not pay."""
        self.of = {i: run for i, run in self.of.items() if pays(run)}

    def in_order(self) -> Iterator[list[int]]:
        """The nodes, those of a run together, each after what it waits for."""
        done: set[int] = set()
        for i in range(len(self.nodes)):
            # A run waits until something needs it, or its last step is reached.
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
        """The graph with one node for each run: `made(members, results, run)`, with what others use of its values."""
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
    """What the nodes of a run take from outside."""
    inner = {v for node in members for v in node.outputs}
    return tuple(dict.fromkeys(v for node in members for v in node.inputs if v not in inner))
