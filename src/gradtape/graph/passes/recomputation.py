"""Values computed again instead of kept: a graph whose run holds fewer bytes at a time, and gives the same numbers.

The nodes are gone through in order, as a run would, with a limit on what is held. Where a node would go beyond it,
something is let go that is needed only later: what is quick to make again for its size, and is not needed for long
(dynamic tensor rematerialisation, Kirisame et al., 2021; here it is known when a value is needed next). Before a node
that uses such a value, those that make it run again, on what is held then. What only served to make others is kept as
long as there is room, for one can begin again from it.

Only nodes without effects run again. A random op is such a node: the state that it draws from is an input of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from ..ir.graph import Graph, Node, Value

_SMALL = 1 / 20_000  # what takes a smaller part of the limit is always kept
_UNLIKELY = 4.0  # how much later than the end a value is needed from which others were made that are all there


class Weights(NamedTuple):
    """What a run of a graph takes: in which memory values lie, its bytes, and how long nodes run."""

    root: dict[Value, Value]  # of a value that is a view: the value that it lies in
    bytes: Callable[[Value], int]
    seconds: Callable[[Node], float]
    overwrites: Callable[[Node], bool]  # whether its result may be written over an argument that nobody needs any more


class Recomputed(NamedTuple):
    """Nodes in the order in which they are to run, and how long those run that run again."""

    nodes: list[Node]
    seconds: float


def recomputed(graph: Graph, weights: Weights, limit: float, patience: float, most: float) -> Recomputed | None:
    """The nodes of the graph such that a run holds at most `limit` bytes beside inputs, as far as that is possible.

    `patience` says how much it counts that a value is not needed for long. It is given up, and None, where what runs
    again takes more than `most` seconds.
    """
    return _Simulation(graph, weights, limit, patience).result(most)


def profile(graph: Graph, weights: Weights) -> list[int]:
    """The bytes that are held while each node runs, if nothing is written over."""
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
    """The memory of one value, and of those that are views of it."""

    __slots__ = (
        "above", "below", "bytes", "evicted", "given", "kept", "members", "output", "present", "price", "seconds",
    )  # fmt: skip

    def __init__(self, size: int, seconds: float) -> None:
        self.bytes = size
        self.seconds = seconds  # to make it again from what it is made of
        self.members: list[Value] = []
        self.above: set[_Memory] = set()  # what it is made of
        self.below: set[_Memory] = set()  # what is made of it
        self.price: float | None = None  # how long it takes to make again what hangs on it, while that is known
        self.kept = False  # it is let go only if nobody needs it any more
        self.output = False  # it is never let go
        self.given = False  # by an effect, which happens once
        self.present = self.evicted = False


class _Simulation:
    """A run without computing: what is held, what was let go, and what is needed when."""

    def __init__(self, graph: Graph, weights: Weights, limit: float, patience: float) -> None:
        self._nodes = graph.nodes
        self._weights = weights
        self._limit = limit
        self._patience = patience
        self._maker: dict[Value, int] = {v: i for i, node in enumerate(graph.nodes) for v in node.outputs}
        self._users: dict[Value, list[int]] = {v: [] for v in self._maker}
        for i, node in enumerate(graph.nodes):
            for v in dict.fromkeys(node.inputs):
                if v in self._users:
                    self._users[v].append(i)
        self._seconds = [weights.seconds(node) for node in graph.nodes]
        self._clock = [0.0]  # when each node runs if nothing is let go
        for seconds in self._seconds:
            self._clock.append(self._clock[-1] + seconds)
        self._memory = self._laid_out(graph)
        self._at = 0  # the node that runs next
        self._held = 0
        self._present: dict[_Memory, None] = {}
        self._there: dict[Value, Value] = {}  # the values that are held: as what they were made last
        self._useless: set[Value] = set()
        self._again = 0.0
        self._result: list[Node] = []

    def _laid_out(self, graph: Graph) -> dict[Value, _Memory]:
        """The memory of each value that a node makes."""
        roots: dict[Value, _Memory] = {}
        climbs = self._climbs(graph)
        found: dict[Value, _Memory] = {}
        outputs = set(graph.all_outputs)
        for i, node in enumerate(graph.nodes):
            around = [found[v] for v in node.inputs if v in found]
            for v in node.outputs:
                root = self._weights.root.get(v, v)
                if root not in roots:
                    size = self._weights.bytes(root) if root in self._maker else 0
                    roots[root] = _Memory(size, self._seconds[i])
                    roots[root].kept = not climbs[i]
                memory = found[v] = roots[root]
                memory.members.append(v)
                memory.output |= v in outputs
                memory.given |= node.effect
                memory.kept |= memory.output or node.effect or memory.bytes < _SMALL * self._limit
                memory.above.update(around)
                for other in around:
                    other.below.add(memory)
        for memory in roots.values():
            memory.above.discard(memory)
            memory.below.discard(memory)
        return found

    def _climbs(self, graph: Graph) -> list[bool]:
        """Of each node: whether what is held grows after it to a top beyond the limit.

        What is made on the way down from there, gradients above all, takes nearly everything to make again: it is kept.
        A way down leads to half of the top, a way up to twice what was held.
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
        """Goes through all nodes."""
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
        """Runs the nodes again that make these inputs of a node."""
        chain: set[int] = set()
        todo = list(missing)
        while todo:
            i = self._maker[todo.pop()]
            if i not in chain:
                chain.add(i)
                todo += self._missing(self._nodes[i])
        order = sorted(chain)
        last: dict[_Memory, int] = {}  # which of them is the last that uses a memory
        for k, i in enumerate(order):
            last.update(dict.fromkeys(self._memories((*self._nodes[i].inputs, *self._nodes[i].outputs)), k))
        last.update(dict.fromkeys(self._memories(node.inputs), len(order)))
        wanted = set(node.inputs).union(*(self._nodes[i].inputs for i in order))
        for k, i in enumerate(order):
            again = self._nodes[i]
            outputs = [v for v in again.outputs if v not in self._there]
            if hasattr(again.op, "for_some"):  # it can leave out what nobody needs
                used = [v for v in outputs if v in wanted or self._need(self._memory[v]) is not None]
                outputs = used or outputs[:1]
            self._run(i, outputs, {memory for memory, end in last.items() if end > k}, again=True)
            self._again += self._seconds[i]

    def _run(self, i: int, outputs: Sequence[Value], later: Collection[_Memory], again: bool) -> None:
        """Runs a node for some of its outputs, while it is known that these memories are needed soon."""
        node = self._nodes[i]
        new = [memory for memory in dict.fromkeys(self._memories(outputs)) if not memory.present]
        given = self._memories(node.inputs)
        if not again:
            self._at = i + 1
        over = self._overwritten(i, later)
        if over is not None:
            self._held -= over.bytes  # its memory is the result's
        self._make_room(sum(memory.bytes for memory in new), {*given, *new, *later})
        for memory in new:
            self._come(memory)
        self._write(node, outputs, again)
        if over is not None:
            self._held += over.bytes
            self._let_go(over)
        for memory in {*given, *new}:
            if memory.present and memory not in later and not memory.output and self._need(memory) is None:
                self._let_go(memory)

    def _write(self, node: Node, outputs: Sequence[Value], again: bool) -> None:
        """Adds a node to the result: what it makes again has a name of its own."""
        given = tuple([self._there[v] if v in self._maker else v for v in node.inputs])
        made = dict(zip(node.outputs, node.outputs, strict=True))
        if again:
            if hasattr(node.op, "for_some") and len(outputs) < len(node.outputs):
                node = node._replace(op=node.op.for_some([v in outputs for v in node.outputs]), outputs=tuple(outputs))
            made = {v: Value(v.shape, v.dtype) for v in node.outputs}
        self._result.append(node._replace(inputs=given, outputs=tuple(made.values())))
        self._there.update((v, made[v]) for v in outputs)

    def _overwritten(self, i: int, later: Collection[_Memory]) -> _Memory | None:
        """The memory that the result of a node is written to, if that is one that only it still needs."""
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
            if memory.present and memory.bytes and self._need(memory, beside=i) is None:
                return memory
        return None

    def _come(self, memory: _Memory) -> None:
        memory.present = True
        self._present[memory] = None
        self._held += memory.bytes
        if memory.evicted:
            memory.evicted = False
            self._reprice(memory)
        memory.price = None

    def _let_go(self, memory: _Memory) -> None:
        memory.present = False
        self._present.pop(memory)
        self._held -= memory.bytes
        for v in memory.members:
            self._there.pop(v, None)
        if self._need(memory) is not None:
            memory.evicted = True
            self._reprice(memory)

    def _reprice(self, memory: _Memory) -> None:
        """Forgets the prices of what is held around what was let go together with a memory."""
        seen = {memory}
        todo = [memory]
        while todo:
            one = todo.pop()
            for other in (*one.above, *one.below):
                other.price = None
                if other.evicted and other not in seen:
                    seen.add(other)
                    todo.append(other)

    def _price(self, memory: _Memory) -> float:
        """How long it takes to make a memory again, and what was let go before that is made of it."""
        if memory.price is None:
            seconds = 0.0
            for side in ("above", "below"):
                seen = {memory}
                todo = [memory]
                while todo:
                    for other in getattr(todo.pop(), side):
                        if other not in seen and not other.present and (other.evicted or side == "above"):
                            seen.add(other)
                            todo.append(other)
                            seconds += other.seconds
            memory.price = seconds + memory.seconds
        return memory.price

    def _make_room(self, size: int, pinned: Collection[_Memory]) -> None:
        """Lets go of what is best let go until there are so many bytes, or nothing is left."""
        while self._held + size > self._limit:
            best, least = None, float("inf")
            for memory in list(self._present):
                if memory in pinned or memory.output:
                    continue
                due = self._need(memory)
                if due is None:
                    self._let_go(memory)
                    continue
                if not memory.kept:
                    score = self._score(memory, due)
                    if score < least:
                        best, least = memory, score
            if self._held + size <= self._limit:
                return
            if best is None:
                return  # what is left is needed now
            self._let_go(best)

    def _score(self, memory: _Memory, due: float) -> float:
        """What it costs to let it go, for each byte and the time it is not needed."""
        return self._price(memory) / (memory.bytes * max(due, 1e-9) ** self._patience)

    def _need(self, memory: _Memory, beside: int = -1) -> float | None:
        """In how many seconds a memory is needed, None if it never is again, not counting the node `beside`.

        What no node will use any more may be needed to make what was made of it again.
        """
        soonest = len(self._nodes)
        for v in memory.members:
            users = self._users[v]
            k = bisect_left(users, self._at)
            if k < len(users) and users[k] < soonest:
                soonest = users[k]
        if soonest < len(self._nodes):
            return self._clock[soonest] - self._clock[self._at]
        return self._need_of_others(memory.members, beside)

    def _need_of_others(self, values: Sequence[Value], beside: int) -> float | None:
        """The same for values that only serve to make others."""
        soonest: int | None = None
        missing = False
        seen = set(values) - self._useless
        todo = list(seen)
        while todo:
            for i in self._users[todo.pop()]:
                if i == beside:
                    continue
                for w in self._nodes[i].outputs:
                    if w in seen or w in self._useless or self._memory[w].kept:
                        continue
                    users = self._users[w]
                    k = bisect_left(users, self._at)
                    if k < len(users):
                        soonest = users[k] if soonest is None else min(soonest, users[k])
                        missing |= w not in self._there
                    else:
                        seen.add(w)
                        todo.append(w)
        if soonest is None:
            if beside < 0:
                self._useless |= seen
            return None
        if not missing:
            return _UNLIKELY * self._clock[-1]
        return self._clock[soonest] - self._clock[self._at]
