"""Rematerialization: reorders and repeats nodes so that a run holds fewer bytes at a time, with the same results.

The planner simulates a run under a memory limit. Where a node would exceed it, the planner evicts blocks that are
needed only later, by the policy of `engine.memory`; here the next use is known. Before a node that uses an evicted
value, the nodes that produce it run again, from what is held then. Values that only serve recomputation stay while
there is room.

Only nodes without effects run again. Random ops qualify: the state that they draw from is an input.

Planning time is linear in the number of nodes: the next need of a block is cached until that node has run, searches in
the neighborhood of a block are bounded, and a choice among many blocks evicts several.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from math import inf
from typing import NamedTuple

from ...engine.memory.costs import CostModel, MemoryBlock
from ...engine.memory.policy import BlockStore
from ...engine.memory.rematerialization import rerun_order
from ..ir.graph import Graph, Node, Value

_FAR = 64  # maximum number of blocks visited around one
_UNLIKELY = 4.0  # factor on the total time: the due time of a block whose dependents are all held


class Weights(NamedTuple):
    """The cost model of a graph's run: memory of values (views share one), sizes in bytes, durations of nodes."""

    root: dict[Value, Value]  # the value whose memory a view aliases
    bytes: Callable[[Value], int]
    seconds: Callable[[Node], float]
    overwrites: Callable[[Node], bool]  # whether it may write its result over a dead argument


class Recomputed(NamedTuple):
    """A schedule: nodes in execution order, and the total seconds of the repeated ones."""

    nodes: list[Node]
    seconds: float


def recomputed(graph: Graph, weights: Weights, limit: float, patience: float, most: float) -> Recomputed | None:
    """Returns a schedule that holds at most `limit` bytes besides inputs, as far as possible.

    `patience` is the weight of the time until a value's next use. Returns None if the repeated nodes take more than
    `most` seconds.
    """
    return _Simulation(graph, weights, limit, patience).result(most)


def profile(graph: Graph, root: dict[Value, Value], size: Callable[[Value], int]) -> list[int]:
    """Returns the bytes held while each node runs; `root` maps a value in another's memory to that value."""
    last: dict[Value, int] = {}
    for i, node in enumerate(graph.nodes):
        last.update((root.get(v, v), i) for v in (*node.inputs, *node.outputs))
    last.update((root.get(v, v), len(graph.nodes)) for v in graph.all_outputs)
    made: dict[Value, int] = {}
    held, result = 0, []
    for i, node in enumerate(graph.nodes):
        for v in node.outputs:
            if v not in root:
                made[v] = size(v)
                held += made[v]
        result.append(held)
        held -= sum(made.pop(v, 0) for v in {root.get(v, v) for v in (*node.inputs, *node.outputs)} if last[v] == i)
    return result


class _PlannedBlock(MemoryBlock):
    """The memory of one value of a graph and of its views."""

    __slots__ = ("at", "below", "from_effect", "kept", "members", "next_need", "output", "passed", "unneeded", "uses")
    sources: tuple[_PlannedBlock, ...]

    def __init__(self, size: int, seconds: float, at: int) -> None:
        super().__init__(size, seconds)
        self.at = at  # the node that produces it
        self.uses: list[int] = []  # the nodes that use one of its members, in order; then the number of all nodes
        self.passed = 0  # how many of them have run
        self.next_need = -1  # the next node that needs it, cached; see `_next_need`
        self.members: list[Value] = []
        self.below: dict[_PlannedBlock, None] = {}  # the blocks computed from it, later
        self.kept = False  # released only when no longer needed
        self.output = False  # never released
        self.from_effect = False  # whether an effect, which runs once, produced it
        self.unneeded = False  # and found to be so


class _Simulation(BlockStore[_PlannedBlock]):
    """A simulated run: the blocks held and evicted, and when each is needed."""

    def __init__(self, graph: Graph, weights: Weights, limit: float, patience: float) -> None:
        super().__init__(CostModel(), patience)
        self._nodes = graph.nodes
        self._weights, self._limit = weights, limit
        self._maker: dict[Value, int] = {v: i for i, node in enumerate(graph.nodes) for v in node.outputs}
        self._seconds = [weights.seconds(node) for node in graph.nodes]
        self._clock = [0.0, *accumulate(self._seconds)]  # when each node starts if nothing is recomputed
        self._block = self._build_blocks(graph)
        self._at = 0  # the node that runs next
        self._never = len(graph.nodes)  # the next use of a block that has none
        self._evictable: dict[_PlannedBlock, None] = {}  # held blocks that may be evicted while still needed
        self._current: dict[Value, Value] = {}  # the values held, each with its most recent definition
        self._result: list[Node] = []

    def _build_blocks(self, graph: Graph) -> dict[Value, _PlannedBlock]:
        """Returns the block of each value that a node produces."""
        roots: dict[Value, _PlannedBlock] = {}
        ascends = self._find_ascents(graph)
        found: dict[Value, _PlannedBlock] = {}
        outputs = set(graph.all_outputs)
        for i, node in enumerate(graph.nodes):
            around = list(dict.fromkeys([found[v] for v in node.inputs if v in found]))
            for block in around:
                block.uses.append(i)
            effect = node.effect
            for v in node.outputs:
                root = self._weights.root.get(v, v)
                if root not in roots:
                    size = self._weights.bytes(root) if root in self._maker else 0
                    roots[root] = _PlannedBlock(size, self._seconds[i], i)
                    roots[root].kept = not ascends[i]
                block = found[v] = roots[root]
                block.members.append(v)
                block.output |= v in outputs
                block.from_effect |= effect
                block.kept |= block.output or effect
                block.sources = tuple(dict.fromkeys([*block.sources, *[b for b in around if b is not block]]))
                for other in around:
                    if other is not block:
                        other.below[block] = None
        for block in roots.values():
            block.uses.append(len(graph.nodes))
        for block in roots.values():
            # A view whose other inputs are later blocks: the edge would close a cycle, so their uses count as its own.
            for other in [b for b in block.below if b.at < block.at]:
                del block.below[other]
                block.uses = sorted({*block.uses, *[i for i in other.uses if i > block.at]})
        return found

    def _find_ascents(self, graph: Graph) -> list[bool]:
        """For each node, whether memory use rises after it to a peak above the limit.

        Blocks created on the descent from a peak, mostly gradients, need nearly everything to be recomputed: they are
        kept. A descent reaches half of the peak, an ascent twice the preceding minimum.
        """
        held = profile(graph, self._weights.root, self._weights.bytes)
        result = [False] * len(held)
        start = top = low = 0
        for i, here in enumerate([*held, 0]):
            if here < low:
                low, start, top = here, i, i
            elif here > held[top]:
                top = i
            elif 2 * here < held[top] and held[top] > max(self._limit, 2 * low):
                result[start:top] = [True] * (top - start)
                low, start, top = here, i, i
        return result

    def result(self, most: float) -> Recomputed | None:
        """Simulate all nodes. Returns None once the repeated nodes take more than `most` seconds."""
        for i, node in enumerate(self._nodes):
            self._at = i
            if self._missing(i):
                self._run_again(i)
                if self.account.seconds > most:
                    return None
            self._run(i, node.outputs, (), again=False)
        return Recomputed(self._result, self.account.seconds)

    def _missing(self, i: int) -> list[Value]:
        return [v for v in self._nodes[i].inputs if v in self._maker and v not in self._current]

    def _blocks(self, values: Iterable[Value]) -> list[_PlannedBlock]:
        return [self._block[v] for v in values if v in self._block]

    def _run_again(self, at: int) -> None:
        """Rerun the nodes that produce the missing inputs of a node."""
        order = rerun_order(self._missing(at), self._maker.__getitem__, self._missing)
        last: dict[_PlannedBlock, int] = {}  # the last rerun node that uses a block
        for k, i in enumerate(order):
            last.update(dict.fromkeys(self._blocks((*self._nodes[i].inputs, *self._nodes[i].outputs)), k))
        last.update(dict.fromkeys(self._blocks(self._nodes[at].inputs), len(order)))
        done: dict[int, list[_PlannedBlock]] = {}
        for block, k in last.items():
            done.setdefault(k, []).append(block)
        later = set(last)
        wanted = {v for i in (at, *order) for v in self._nodes[i].inputs}
        for k, i in enumerate(order):
            again = self._nodes[i]
            outputs = [v for v in again.outputs if v not in self._current]
            if hasattr(again.op, "for_some"):  # it can omit outputs that are not needed
                outputs = [v for v in outputs if v in wanted or self._is_needed(self._block[v])] or outputs[:1]
            later.difference_update(done.get(k, ()))
            self._run(i, outputs, later, again=True)
            self.account.seconds += self._seconds[i]

    def _run(self, i: int, outputs: Sequence[Value], later: Collection[_PlannedBlock], again: bool) -> None:
        """Run a node for some of its outputs; the blocks `later` are pinned, as following reruns need them."""
        node = self._nodes[i]
        new = [block for block in dict.fromkeys(self._blocks(outputs)) if not block.held]
        used = {*self._blocks(node.inputs), *new}
        if not again:
            self._at = i + 1
        over = self._overwritten(i, later)
        if over is not None:
            self.account.held -= over.bytes  # the result takes over its memory
        goal = self._limit - sum(block.bytes for block in new)
        if self.account.held > goal:
            self.evict_cheapest(self._evictable, used.union(later), goal, self._limit)
        for block in new:
            block.held = True
            if not block.kept:
                self._evictable[block] = None
            self.add_bytes(block.bytes)
        self._write(node, outputs, again)
        if over is not None:
            self.account.held += over.bytes
            self.evict(over)
        self._release_unneeded(used, later)

    def _release_unneeded(self, blocks: Iterable[_PlannedBlock], later: Collection[_PlannedBlock]) -> None:
        """Release those of the blocks, and of the blocks that they are computed from, that are no longer needed."""
        todo = list(blocks)
        while todo:
            block = todo.pop()
            if block.output or block in later or self._is_needed(block):
                continue
            if block.held:
                self.evict(block)
            if not block.unneeded:
                block.unneeded = True
                todo += block.sources

    def _write(self, node: Node, outputs: Sequence[Value], again: bool) -> None:
        """Append a node to the schedule; a repeated node defines new values."""
        inputs = tuple([self._current[v] if v in self._maker else v for v in node.inputs])
        made = dict(zip(node.outputs, node.outputs, strict=True))
        if again:
            if hasattr(node.op, "for_some") and len(outputs) < len(node.outputs):
                node = node._replace(op=node.op.for_some([v in outputs for v in node.outputs]), outputs=tuple(outputs))
            made = {v: Value(v.shape, v.dtype) for v in node.outputs}
        self._result.append(node._replace(inputs=inputs, outputs=tuple(made.values())))
        self._current.update((v, made[v]) for v in outputs)

    def _overwritten(self, i: int, later: Collection[_PlannedBlock]) -> _PlannedBlock | None:
        """Returns the block that the node writes its result over, if the node is the only one that still needs it."""
        node = self._nodes[i]
        if not self._weights.overwrites(node):
            return None
        y = node.outputs[0]
        for v in node.inputs:
            block = self._block.get(v)
            if block is None or v.shape != y.shape or v.dtype is not y.dtype or block in later:
                continue
            if block.output or block.from_effect:
                continue
            if block.held and block.bytes and not self._is_needed_beside(block, i):
                return block
        return None

    def evict(self, block: _PlannedBlock) -> None:
        """Release a block and its values."""
        block.held = False
        self._evictable.pop(block, None)
        self.account.held -= block.bytes
        for v in block.members:
            self._current.pop(v, None)

    def staleness(self, block: _PlannedBlock) -> float:
        """The seconds until a block is needed, infinite if it never is again.

        A block that no later node uses may still be needed to recompute the blocks computed from it.
        """
        need = self._next_need(block)
        if need == self._never:
            return inf
        if self._next_use(block) == need or any(not other.held for other in self._dependents(block)):
            return self._clock[need] - self._clock[self._at]
        return _UNLIKELY * self._clock[-1]

    def _is_needed(self, block: _PlannedBlock) -> bool:
        return self._next_need(block) < self._never

    def _next_use(self, block: _PlannedBlock) -> int:
        """Returns the index of the next node that uses a block directly, or the number of nodes if there is none."""
        uses = block.uses
        while uses[block.passed] < self._at:
            block.passed += 1
        return uses[block.passed]

    def _next_need(self, block: _PlannedBlock) -> int:
        """Returns the next node that uses a block, or one recomputable from it; the number of nodes if there is none.

        The answer only grows during a run, so a cached one is valid until that node has run.
        """
        at, never = self._at, self._never
        if block.next_need >= at:
            return block.next_need
        todo = [block]
        while todo:
            one = todo[-1]
            need = self._next_use(one)
            if need == never:
                unknown = []
                for other in one.below:
                    if other.kept:
                        continue
                    if other.next_need < at:
                        unknown.append(other)
                    elif other.next_need < need:
                        need = other.next_need
                if unknown:
                    todo += unknown
                    continue
            one.next_need = need
            todo.pop()
        return block.next_need

    def _is_needed_beside(self, block: _PlannedBlock, i: int) -> bool:
        """Whether a block is needed for anything except the results of node `i`."""
        made = {self._block[v] for v in self._nodes[i].outputs}
        return self._next_use(block) < self._never or any(True for _ in self._dependents(block, made))

    def _dependents(self, block: _PlannedBlock, excluded: Collection[_PlannedBlock] = ()) -> Iterator[_PlannedBlock]:
        """Iterate over the nearest blocks computed from a block that nodes will use; ends at a distant one."""
        seen = {block}
        todo = [block]
        while todo:
            for other in islice(todo.pop().below, _FAR):
                if other in seen or other in excluded or other.kept or self._next_need(other) == self._never:
                    continue
                if self._next_use(other) < self._never:
                    yield other
                elif len(seen) > _FAR:
                    yield other
                    return
                else:
                    todo.append(other)
                seen.add(other)
