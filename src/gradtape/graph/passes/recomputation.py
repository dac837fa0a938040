"""Values computed again instead of kept: a graph whose run holds fewer bytes at a time, and gives the same numbers.

The nodes are gone through in order, as a run would, with a limit on what is held. Where a node would go beyond it,
something is let go that is needed only later: what is quick to make again for its size, and is not needed for long
(dynamic tensor rematerialisation, Kirisame et al., 2021; here it is known when a value is needed next). Before a node
that uses such a value, those that make it run again, on what is held then. What only served to make others is kept as
long as there is room, for one can begin again from it.

Only nodes without effects run again. A random op is such a node: the state that it draws from is an input of it.

The time of a plan grows linearly with the nodes: when a memory is needed next is remembered until that moment has
passed, and what is asked of many memories, or of what hangs on one, is asked of a bounded number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from ..ir.graph import Graph, Node, Value

_SMALL = 1 / 20_000  # what takes a smaller part of the limit is always kept
_CANDIDATES = 64  # memories at most among which the next one to let go is looked for
_FAR = 64  # memories at most that are asked what it costs to make one again
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
        "above", "at", "below", "bytes", "evicted", "given", "kept", "members", "next_need", "output", "passed",
        "present", "price", "seconds", "uses",
    )  # fmt: skip

    def __init__(self, size: int, seconds: float, at: int) -> None:
        self.at = at  # the node that makes it
        self.uses: list[int] = []  # the nodes that use one of its members, in order
        self.passed = 0  # how many of them have run
        self.next_need = -1  # the next node for which it is needed, as it was found last; see `_next_need`
        self.bytes = size
        self.seconds = seconds  # to make it again from what it is made of
        self.members: list[Value] = []
        self.above: dict[_Memory, None] = {}  # what it is made of
        self.below: dict[_Memory, None] = {}  # what is made of it, later
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
        self._seconds = [weights.seconds(node) for node in graph.nodes]
        self._clock = [0.0]  # when each node runs if nothing is let go
        for seconds in self._seconds:
            self._clock.append(self._clock[-1] + seconds)
        self._memory = self._laid_out(graph)
        self._at = 0  # the node that runs next
        self._held = 0
        self._evictable: dict[_Memory, None] = {}  # those that are held, and may be let go while they are needed
        self._unneeded: dict[_Memory, None] = {}  # those of the others that are held, and may be needed no more
        self._asked = 0  # how often one was looked for
        self._there: dict[Value, Value] = {}  # the values that are held: as what they were made last
        self._again = 0.0
        self._result: list[Node] = []

    def _laid_out(self, graph: Graph) -> dict[Value, _Memory]:
        """The memory of each value that a node makes."""
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
            # A view that is made with the help of a later memory: the edge would be a way round in circles.
            for other in [m for m in memory.below if m.at < memory.at]:
                del memory.below[other]
                memory.uses = sorted({*memory.uses, *[i for i in other.uses if i > memory.at]})
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
        done: dict[int, list[_Memory]] = {}
        for memory, k in last.items():
            done.setdefault(k, []).append(memory)
        later = set(last)
        wanted = set(node.inputs).union(*(self._nodes[i].inputs for i in order))
        for k, i in enumerate(order):
            again = self._nodes[i]
            outputs = [v for v in again.outputs if v not in self._there]
            if hasattr(again.op, "for_some"):  # it can leave out what nobody needs
                used = [v for v in outputs if v in wanted or self._is_needed(self._memory[v])]
                outputs = used or outputs[:1]
            later.difference_update(done.get(k, ()))
            self._run(i, outputs, later, again=True)
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
        """Forgets the prices of what is held around what was let go together with a memory."""
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
        """How long it takes to make a memory again, and what was let go before that is made of it."""
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
        """Lets go of what is best let go until there are so many bytes, or nothing is left."""
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
                return  # what is left is needed now
            elif none_left and all(memory in pinned or memory in later for memory in self._evictable):
                return

    def _candidates(self) -> list[_Memory]:
        """Some of the memories that may be let go, others each time; all of them if there are few."""
        found = list(self._evictable)
        if len(found) <= _CANDIDATES:
            return found
        self._asked += 1
        every = -(-len(found) // _CANDIDATES)
        return found[self._asked % every :: every]

    def _let_go_of_unneeded(self, pinned: Collection[_Memory], later: Collection[_Memory]) -> None:
        """Lets go of some of what is kept as long as it is needed, and is needed no more."""
        for memory in list(islice(self._unneeded, _CANDIDATES)):
            if memory in pinned or memory in later:
                continue
            if self._is_needed(memory):
                self._unneeded[memory] = self._unneeded.pop(memory)  # others are looked at first, next time
            else:
                self._let_go(memory)

    def _score(self, memory: _Memory, due: float) -> float:
        """What it costs to let it go, for each byte and the time it is not needed."""
        return self._price(memory) / (memory.bytes * max(due, 1e-9) ** self._patience)

    def _due(self, memory: _Memory) -> float | None:
        """In how many seconds a memory is needed, None if it never is again.

        What no node will use any more may be needed to make what was made of it again.
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
        """The next node that uses a memory itself; their number if none does."""
        uses = memory.uses
        k = memory.passed
        while k < len(uses) and uses[k] < self._at:
            k += 1
        memory.passed = k
        return uses[k] if k < len(uses) else len(self._nodes)

    def _next_need(self, memory: _Memory) -> int:
        """The next node that uses a memory, or one that may have to be made of it again; their number if none does.

        Such a node only becomes a later one as the run goes on: what was found holds until it has run.
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
        """Whether a memory is needed other than for what the node `i` makes."""
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
        """Whether something that is needed later, and would be made of a memory, is not there."""
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
