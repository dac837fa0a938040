"""Rematerialization: reorders and repeats nodes so that a run holds fewer bytes at a time, with the same results.

The planner simulates a run under a memory limit. Where a node would exceed it, the planner evicts a memory that is
needed only later: one that is cheap to recompute for its size and not needed for long (dynamic tensor
rematerialization, Kirisame et al., 2021; here the next use is known). Before a node that uses an evicted value, the
nodes that produce it run again, from what is held then. Values that only serve recomputation stay while there is room.

Only nodes without effects run again. Random ops qualify: the state that they draw from is an input.

Planning time is linear in the number of nodes: the next need of a memory is cached until that node has run, and
searches over many memories, or over the neighborhood of one, are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from ..ir.graph import Graph, Node, Value

_SMALL = 1 / 20_000  # fraction of the limit below which a memory is never evicted
_CANDIDATES = 64  # maximum number of memories examined to choose the next eviction
_FAR = 64  # maximum number of memories visited to estimate a recomputation cost
_UNLIKELY = 4.0  # factor on the total time: the due time of a memory whose dependents are all present


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
    """Return a schedule that holds at most `limit` bytes besides inputs, as far as possible.

    `patience` is the weight of the time until a value's next use. Returns None if the repeated nodes take more than
    `most` seconds.
    """
    return _Simulation(graph, weights, limit, patience).result(most)


def profile(graph: Graph, weights: Weights) -> list[int]:
    """Return the bytes held while each node runs, without in-place writes."""
    last: dict[Value, int] = {}
    root = weights.root
    for i, node in enumerate(graph.nodes):
        last.update((root.get(v, v), i) for v in (*node.inputs, *node.outputs))
    last.update((root.get(v, v), len(graph.nodes)) for v in graph.all_outputs)
    made: dict[Value, int] = {}
    held, result = 0, []
    for i, node in enumerate(graph.nodes):
        for v in node.outputs:
            if v not in root:
                made[v] = weights.bytes(v)
                held += made[v]
        result.append(held)
        held -= sum(made.pop(v, 0) for v in {root.get(v, v) for v in (*node.inputs, *node.outputs)} if last[v] == i)
    return result


class _Memory:
    """The memory of one value and of its views."""

    __slots__ = (
        "above", "at", "below", "bytes", "evicted", "given", "kept", "members", "next_need", "output", "passed",
        "present", "price", "seconds", "uses",
    )  # fmt: skip

    def __init__(self, size: int, seconds: float, at: int) -> None:
        self.at = at  # the node that produces it
        self.uses: list[int] = []  # the nodes that use one of its members, in order
        self.passed = 0  # how many of them have run
        self.next_need = -1  # the next node that needs it, cached; see `_next_need`
        self.bytes = size
        self.seconds = seconds  # to recompute it from its inputs
        self.members: list[Value] = []
        self.above: dict[_Memory, None] = {}  # the memories that it is computed from
        self.below: dict[_Memory, None] = {}  # the memories computed from it, later
        self.price: float | None = None  # cached cost of recomputing it together with its evicted neighbors
        self.kept = False  # evicted only when no longer needed
        self.output = False  # never evicted
        self.given = False  # by an effect, which runs once
        self.present = self.evicted = False


class _Simulation:
    """A simulated run: the memories held and evicted, and when each is needed."""

    def __init__(self, graph: Graph, weights: Weights, limit: float, patience: float) -> None:
        self._nodes = graph.nodes
        self._weights = weights
        self._limit = limit
        self._patience = patience
        self._maker: dict[Value, int] = {v: i for i, node in enumerate(graph.nodes) for v in node.outputs}
        self._seconds = [weights.seconds(node) for node in graph.nodes]
        self._clock = [0.0]  # when each node starts if nothing is recomputed
        for seconds in self._seconds:
            self._clock.append(self._clock[-1] + seconds)
        self._memory = self._laid_out(graph)
        self._at = 0  # the node that runs next
        self._held = 0
        self._evictable: dict[_Memory, None] = {}  # held memories that may be evicted while still needed
        self._unneeded: dict[_Memory, None] = {}  # held memories that may only be freed once no longer needed
        self._asked = 0  # number of samplings, which rotates the sample
        self._there: dict[Value, Value] = {}  # the values held, each with its most recent definition
        self._again = 0.0
        self._result: list[Node] = []

    def _laid_out(self, graph: Graph) -> dict[Value, _Memory]:
        """Return the memory of each value that a node produces."""
        roots: dict[Value, _Memory] = {}
        climbs = self._climbs(graph)
        found: dict[Value, _Memory] = {}
        outputs = set(graph.all_outputs)
        for i, node in enumerate(graph.nodes):
            around = list(dict.fromkeys([found[v] for v in node.inputs if v in found]))
            for memory in around:
                memory.uses.append(i)
            effect = node.effect
            for v in node.outputs:
                root = self._weights.root.get(v, v)
                if root not in roots:
                    size = self._weights.bytes(root) if root in self._maker else 0
                    roots[root] = _Memory(size, self._seconds[i], i)
                    roots[root].kept = not climbs[i]
                memory = found[v] = roots[root]
                memory.members.append(v)
                memory.output |= v in outputs
                memory.given |= effect
                memory.kept |= memory.output or effect or memory.bytes < _SMALL * self._limit
                for other in around:
                    if other is not memory:
                        memory.above[other] = None
                        other.below[memory] = None
        for memory in roots.values():
            # A view whose other inputs are later memories: the edge would close a cycle, so their uses count as its
            # own.
            for other in [m for m in memory.below if m.at < memory.at]:
                del memory.below[other]
                memory.uses = sorted({*memory.uses, *[i for i in other.uses if i > memory.at]})
        return found

    def _climbs(self, graph: Graph) -> list[bool]:
        """For each node, whether memory use rises after it to a peak above the limit.

        Memories created on the descent from a peak, mostly gradients, need nearly everything to be recomputed: they are
        kept. A descent reaches half of the peak, an ascent twice the preceding minimum.
        """
        held = profile(graph, self._weights)
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
            missing = self._missing(node)
            if missing:
                self._run_again(missing, node)
                if self._again > most:
                    return None
            self._run(i, node.outputs, (), again=False)
        return Recomputed(self._result, self._again)

    def _missing(self, node: Node) -> list[Value]:
        return [v for v in node.inputs if v in self._maker and v not in self._there]

    def _memories(self, values: Iterable[Value]) -> list[_Memory]:
        return [self._memory[v] for v in values if v in self._memory]

    def _run_again(self, missing: Sequence[Value], node: Node) -> None:
        """Rerun the nodes that produce these inputs of a node."""
        chain: set[int] = set()
        todo = list(missing)
        while todo:
            i = self._maker[todo.pop()]
            if i not in chain:
                chain.add(i)
                todo += self._missing(self._nodes[i])
        order = sorted(chain)
        last: dict[_Memory, int] = {}  # the last rerun node that uses a memory
        for k, i in enumerate(order):
            last.update(dict.fromkeys(self._memories((*self._nodes[i].inputs, *self._nodes[i].outputs)), k))
        last.update(dict.fromkeys(self._memories(node.inputs), len(order)))
        done: dict[int, list[_Memory]] = {}
        for memory, k in last.items():
            done.setdefault(k, []).append(memory)
        later = set(last)
        wanted = set(node.inputs).union(*(self._nodes[i].inputs for i in order))
        for k, i in enumerate(order):
            again = self._nodes[i]
            outputs = [v for v in again.outputs if v not in self._there]
            if hasattr(again.op, "for_some"):  # it can omit outputs that are not needed
                used = [v for v in outputs if v in wanted or self._is_needed(self._memory[v])]
                outputs = used or outputs[:1]
            later.difference_update(done.get(k, ()))
            self._run(i, outputs, later, again=True)
            self._again += self._seconds[i]

    def _run(self, i: int, outputs: Sequence[Value], later: Collection[_Memory], again: bool) -> None:
        """Run a node for some of its outputs; the memories `later` are pinned, as following reruns need them."""
        node = self._nodes[i]
        new = [memory for memory in dict.fromkeys(self._memories(outputs)) if not memory.present]
        given = self._memories(node.inputs)
        if not again:
            self._at = i + 1
        over = self._overwritten(i, later)
        if over is not None:
            self._held -= over.bytes  # the result takes over its memory
        self._make_room(sum(memory.bytes for memory in new), {*given, *new}, later)
        for memory in new:
            self._come(memory)
        self._write(node, outputs, again)
        if over is not None:
            self._held += over.bytes
            self._let_go(over)
        for memory in {*given, *new}:
            if memory.present and memory not in later and not memory.output and not self._is_needed(memory):
                self._let_go(memory)

    def _write(self, node: Node, outputs: Sequence[Value], again: bool) -> None:
        """Append a node to the schedule; a repeated node defines new values."""
        given = tuple([self._there[v] if v in self._maker else v for v in node.inputs])
        made = dict(zip(node.outputs, node.outputs, strict=True))
        if again:
            if hasattr(node.op, "for_some") and len(outputs) < len(node.outputs):
                node = node._replace(op=node.op.for_some([v in outputs for v in node.outputs]), outputs=tuple(outputs))
            made = {v: Value(v.shape, v.dtype) for v in node.outputs}
        self._result.append(node._replace(inputs=given, outputs=tuple(made.values())))
        self._there.update((v, made[v]) for v in outputs)

    def _overwritten(self, i: int, later: Collection[_Memory]) -> _Memory | None:
        """Return the memory that the node writes its result over, if the node is the only one that still needs it."""
        node = self._nodes[i]
        if not self._weights.overwrites(node):
            return None
        y = node.outputs[0]
        for v in node.inputs:
            memory = self._memory.get(v)
            if memory is None or v.shape != y.shape or v.dtype is not y.dtype or memory in later:
                continue
            if memory.output or memory.given:
                continue
            if memory.present and memory.bytes and not self._is_needed_beside(memory, i):
                return memory
        return None

    def _come(self, memory: _Memory) -> None:
        memory.present = True
        if not memory.output:
            (self._unneeded if memory.kept else self._evictable)[memory] = None
        self._held += memory.bytes
        if memory.evicted:
            memory.evicted = False
            self._reprice(memory)
        memory.price = None

    def _let_go(self, memory: _Memory) -> None:
        memory.present = False
        self._evictable.pop(memory, None)
        self._unneeded.pop(memory, None)
        self._held -= memory.bytes
        for v in memory.members:
            self._there.pop(v, None)
        if self._is_needed(memory):
            memory.evicted = True
            self._reprice(memory)

    def _reprice(self, memory: _Memory) -> None:
        """Invalidate the cached prices of the memories around the evicted ones connected to `memory`."""
        seen = {memory}
        todo = [memory]
        while todo and len(seen) < _FAR:
            one = todo.pop()
            for others in (one.above, one.below):
                for other in islice(others, _FAR):
                    other.price = None
                    if other.evicted and other not in seen:
                        seen.add(other)
                        todo.append(other)

    def _price(self, memory: _Memory) -> float:
        """Return the seconds to recompute a memory, its absent ancestors and the evicted memories computed from it."""
        if memory.price is None:
            seconds = 0.0
            for side in ("above", "below"):
                seen = {memory}
                todo = [memory]
                while todo and len(seen) < _FAR:
                    for other in islice(getattr(todo.pop(), side), _FAR):
                        if other not in seen and not other.present and (other.evicted or side == "above"):
                            seen.add(other)
                            todo.append(other)
                            seconds += other.seconds
            memory.price = seconds + memory.seconds
        return memory.price

    def _make_room(self, size: int, pinned: Collection[_Memory], later: Collection[_Memory]) -> None:
        """Evict memories, best score first, until `size` bytes fit or only pinned ones remain."""
        if self._held + size > self._limit:
            self._let_go_of_unneeded(pinned, later)
        while self._held + size > self._limit:
            best, least, none_left = None, float("inf"), True
            for memory in self._candidates():
                if memory in pinned or memory in later:
                    continue
                none_left = False
                due = self._due(memory)
                if due is None:
                    self._let_go(memory)
                    continue
                score = self._score(memory, due)
                if score < least:
                    best, least = memory, score
            if self._held + size <= self._limit:
                return
            if best is not None:
                self._let_go(best)
            elif none_left and len(self._evictable) <= _CANDIDATES:
                return  # what remains is needed now
            elif none_left and all(memory in pinned or memory in later for memory in self._evictable):
                return

    def _candidates(self) -> list[_Memory]:
        """Return a sample of the evictable memories, a different one each time; all of them if they are few."""
        found = list(self._evictable)
        if len(found) <= _CANDIDATES:
            return found
        self._asked += 1
        every = -(-len(found) // _CANDIDATES)
        return found[self._asked % every :: every]

    def _let_go_of_unneeded(self, pinned: Collection[_Memory], later: Collection[_Memory]) -> None:
        """Free some of the kept memories that are no longer needed."""
        for memory in list(islice(self._unneeded, _CANDIDATES)):
            if memory in pinned or memory in later:
                continue
            if self._is_needed(memory):
                self._unneeded[memory] = self._unneeded.pop(memory)  # to the end: others are examined first next time
            else:
                self._let_go(memory)

    def _score(self, memory: _Memory, due: float) -> float:
        """Return the cost of evicting a memory, per byte and per time until its next need."""
        return self._price(memory) / (memory.bytes * max(due, 1e-9) ** self._patience)

    def _due(self, memory: _Memory) -> float | None:
        """Return the seconds until a memory is needed, or None if it never is again.

        A memory that no later node uses may still be needed to recompute the memories computed from it.
        """
        need = self._next_need(memory)
        if need == len(self._nodes):
            return None
        if self._next_use(memory) == need or self._serves_what_is_gone(memory):
            return self._clock[need] - self._clock[self._at]
        return _UNLIKELY * self._clock[-1]

    def _is_needed(self, memory: _Memory) -> bool:
        return self._next_need(memory) < len(self._nodes)

    def _next_use(self, memory: _Memory) -> int:
        """Return the index of the next node that uses a memory directly, or the number of nodes if there is none."""
        uses = memory.uses
        k = memory.passed
        while k < len(uses) and uses[k] < self._at:
            k += 1
        memory.passed = k
        return uses[k] if k < len(uses) else len(self._nodes)

    def _next_need(self, memory: _Memory) -> int:
        """Return the next node that uses a memory, or one recomputable from it; the number of nodes if there is none.

        The answer only grows during a run, so a cached one is valid until that node has run.
        """
        at, never = self._at, len(self._nodes)
        if memory.next_need >= at:
            return memory.next_need
        todo = [memory]
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
        return memory.next_need

    def _is_needed_beside(self, memory: _Memory, i: int) -> bool:
        """Whether a memory is needed for anything except the results of node `i`."""
        never = len(self._nodes)
        made = {self._memory[v] for v in self._nodes[i].outputs}
        seen = {memory}
        todo = [memory]
        while todo:
            one = todo.pop()
            if self._next_use(one) < never:
                return True
            for other in one.below:
                if other not in seen and other not in made and not other.kept and self._is_needed(other):
                    if len(seen) > _FAR:
                        return True
                    seen.add(other)
                    todo.append(other)
        return False

    def _serves_what_is_gone(self, memory: _Memory) -> bool:
        """Whether an absent memory that is needed later would be recomputed from this one."""
        seen = {memory}
        todo = [memory]
        while todo:
            for other in islice(todo.pop().below, _FAR):
                if other in seen or other.kept or not self._is_needed(other):
                    continue
                if self._next_use(other) < len(self._nodes):
                    if not other.present:
                        return True
                elif len(seen) > _FAR:
                    return True
                else:
                    seen.add(other)
                    todo.append(other)
        return False
