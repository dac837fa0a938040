"""Runs of elementwise steps on large arrays, computed block by block on all cores.

The steps of a run go over one shape; its arguments have that shape, or are stretched to it as a number, a row or a
column. Steps join a run as long as nothing outside comes between: what waits for the run and is waited for by it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from ....backends.numpy import blocks
from ....backends.tuning import FUSED, THREADED
from ...ir.graph import Graph, Node, Value
from ...passes.rewriting import Uses
from . import lowering
from .blockwise import Frame, Fused, frame_of

_WORK = 1 << 20  # elements times the costs of steps from which blocks, or another thread, pay
_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "absolute", "square", "maximum", "minimum", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_not", "astype",
})  # fmt: skip
_EXPENSIVE = 5  # what another function costs, such as an exponential


def fused(graph: Graph) -> Graph:
    """The lowered graph with runs of steps on large arrays made one node each."""
    nodes = graph.nodes
    runs = _Runs(nodes)
    for i, node in enumerate(nodes):
        frame = _frame(node) if isinstance(node.op, lowering.Primitive) else None
        if frame is not None and math.prod(node.outputs[0].shape) >= FUSED:
            runs.place(i, frame)
    cores = 1 if _keeps_cores_busy(graph) and blocks.CORES <= 2 else blocks.CORES
    runs.drop_small(cores)
    if not runs.of:
        return graph
    used = Uses(graph).count
    made: list[Node] = []
    for group in runs.in_order():
        if group[0] not in runs.of:
            made.append(nodes[group[0]])
            continue
        inside = Counter(v for i in group for v in nodes[i].inputs)
        results = [v for i in group for v in nodes[i].outputs if used[v] > inside[v]]
        made.append(_joined([nodes[i] for i in group], results, runs.of[group[0]].frame, cores))
    return graph.substituted(made)


def _keeps_cores_busy(graph: Graph) -> bool:
    """Whether the graph multiplies large matrices: the threads that do it wait busily for the next product.

    Convolutions use threads of ours, which do not, and so do the products among them.
    """
    names = {node.op.name for node in graph.nodes}
    return names.isdisjoint(("conv", "conv_input", "conv_filter")) and any(map(_is_large_product, graph.nodes))


def _is_large_product(node: Node) -> bool:
    if node.op.name != "matmul" or len(node.inputs[1].shape) != 2:
        return False
    summed = node.inputs[1].shape[1 if node.attrs.get("transpose_b") else 0]
    return math.prod(node.outputs[0].shape) * summed >= THREADED


def _cost(node: Node) -> int:
    return 0 if node.op is lowering.view else 1 if node.op.name in _CHEAP else _EXPENSIVE


def _joined(members: list[Node], outputs: Sequence[Value], frame: Frame, cores: int) -> Node:
    inner = {v for node in members for v in node.outputs}
    inputs = tuple(dict.fromkeys(v for node in members for v in node.inputs if v not in inner))
    return Node(Fused(members, inputs, outputs, frame, cores), inputs, {}, tuple(outputs), True, members[-1].line)


def _frame(node: Node) -> Frame | None:
    """The frame that all arguments of a step fit into, or None."""
    frame: Frame | None = Frame()
    for v in node.inputs:
        other = frame_of(v, node.outputs[0].shape)
        frame = None if frame is None or other is None else frame.joined(other)
    return frame


class _Run:
    """The numbers of the steps that are computed together, in increasing order."""

    def __init__(self, members: list[int], shape: tuple[int, ...], frame: Frame) -> None:
        self.members = members
        self.shape = shape
        self.frame = frame


class _Runs:
    """Which step belongs to which run."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.of: dict[int, _Run] = {}
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

    def place(self, i: int, frame: Frame) -> None:
        """Puts a step into the runs of its arguments, which may become one by this, or begins a new run."""
        run = self.of[i] = _Run([i], self.nodes[i].outputs[0].shape, frame)
        before = {id(self.of[p]): self.of[p] for p in self._parents[i] if p in self.of}
        for other in sorted(before.values(), key=lambda other: -other.members[-1]):
            run = self._merged(run, other)

    def _merged(self, run: _Run, other: _Run) -> _Run:
        """The two runs as one, or `run` if they cannot be."""
        frame = run.frame.joined(other.frame)
        if run.shape != other.shape or frame is None:
            return run
        both = _Run(sorted(run.members + other.members), run.shape, frame)
        if self._waits_for_itself(both):
            return run
        self.of.update(dict.fromkeys(both.members, both))
        return both

    def _waits_for_itself(self, run: _Run) -> bool:
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

    def drop_small(self, cores: int) -> None:
        """Forgets the runs that are too little work: those of one step too, where there is one core to do it."""

        def pays(run: _Run) -> bool:
            costs = [_cost(self.nodes[i]) for i in run.members]
            return math.prod(run.shape) * sum(costs) >= _WORK and (cores > 1 or len(costs) - costs.count(0) > 1)

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
