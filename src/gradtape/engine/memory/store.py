"""Values that are evicted when memory is short and recomputed on demand.

This is dynamic tensor rematerialization (Kirisame et al., 2021). A `Store` knows every value that a tape has seen and
the op that produced it. It holds the values that rules will need while they fit into its limit. Beyond that it evicts
the memory with the lowest h = cost / (bytes * sqrt(staleness)), where the cost is that of the op and of all its evicted
ancestors. Staleness is the distance back on the tape, because the sweep reaches older values later. On chains, the
square root retains the values that minimize the total cost: with 5 of 50 values, 2.3 times the ops.

Memory is counted once, by the array that owns it, however many views share it: see `MemoryBlock`. Blocks that are small
for the limit are evicted only when no others are left, and many at a time, so that choosing among them takes less time
than computing them.

A recomputed value comes from the same kernel and the same inputs, so it is bitwise identical. Values refer to one
another by number: a store has no reference cycles, and is freed with its tape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import sqrt
from time import perf_counter
from typing import Any
from weakref import ref

import numpy as np

from ...core.tensor import Tensor
from ..run import dispatch
from .spilling import SpillFolder, memory_of

_FAR = 64  # the most evicted ancestors visited to estimate the cost of a block
_SOON = 1e-7  # seconds: the minimum staleness
SMALL_SHARE = 1 / 1000  # of the limit: a smaller block is evicted only when no larger one is left
ROOM_SHARE = 1 / 4  # of the budget: always available to evictable values, whatever the others take
_MANY_BLOCKS = 64  # with more blocks, one choice evicts a share of the limit at a time
_SLACK_SHARE = 1 / 16  # of the limit
_PRICE_HOLDS = 16  # choices for which the cost of a block stays cached, unless the block comes first


class MemoryBlock:
    """One allocation: a value and its views, which are held and evicted together."""

    __slots__ = (
        "bytes", "cost", "file", "fixed", "held", "made_at", "members", "memory", "needed", "number", "price", "priced",
        "sources",
    )  # fmt: skip

    def __init__(self, size: int, cost: float, fixed: bool) -> None:
        self.bytes = size
        self.cost = cost
        self.number = -1
        self.fixed = fixed  # whether it cannot be recomputed
        self.held = False
        self.needed = 0  # how many saved references pending rules have to its values
        self.members: list[int] = []
        self.made_at = 0.0  # on the store's clock
        self.sources: tuple[int, ...] = ()  # the blocks that its values were computed from, except fixed ones
        self.price = 0.0  # the cached cost in seconds to restore it
        self.priced = -_PRICE_HOLDS  # the choice at which the cost was computed
        self.file: Any = None  # its file, if it was written to disk
        self.memory: Any = None  # a weak reference to the array that owns the memory; None for a NumPy scalar


class StoredValue:
    """A tensor that an op has produced or read: held, or to be found or recomputed."""

    __slots__ = ("block", "maker", "module", "needed", "seen", "tensor", "tracers")

    def __init__(self, x: Tensor, block: MemoryBlock, maker: Producer | None) -> None:
        self.seen = ref(x)  # the tensor, if other code holds it
        self.tensor: Tensor | None = None  # while the store holds it
        self.tracers: Any = None  # the tracers to restore when it is recomputed
        self.block = block
        self.maker = maker
        self.module = None if type(x) is Tensor else getattr(x, "module", None)  # the array library of its device
        self.needed = 0

    def at_hand(self) -> Tensor | None:
        """The tensor, if the store or other code holds it."""
        return self.seen() if self.tensor is None else self.tensor

    def release(self) -> None:
        """Drops the tensor but keeps its tracers, by which outer tapes know it."""
        if self.tensor is not None:
            self.tracers = self.tensor.tracers
            self.tensor = None


class Producer:
    """How values were produced: an op on other values."""

    __slots__ = ("at", "attrs", "inputs", "op", "outputs")

    def __init__(self, at: int, op: Any, inputs: tuple[int, ...], attrs: dict[str, Any]) -> None:
        self.at = at  # in order of execution
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.outputs: tuple[int, ...] = ()

    def run(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """Recomputes the outputs by the original path: an elementwise op has its own path for large arrays."""
        if self.op.family == "elementwise" and not self.attrs:
            result = self.op.call(*inputs)
        else:
            result = dispatch.run(self.op, inputs, self.attrs)
        return result if type(result) is tuple else (result,)


@dataclass
class Account:
    """Statistics of a store: numbers of blocks, bytes and seconds."""

    wanted: int = 0  # bytes that a tape without a budget would save
    held: int = 0  # bytes that are held now
    peak: int = 0  # the maximum of `held`
    evictions: int = 0
    recomputations: int = 0  # ops that were rerun
    seconds: float = 0.0  # their total time
    written: int = 0  # bytes written to disk


class Store:
    """The values of one tape, of which those that rules need are held within a limit of bytes.

    No budget means less than `least_limit` bytes. Below that, the Python objects that describe the producers take more
    memory than the values, so that evictions would cost both time and memory.
    """

    least_limit = 2_000_000

    def __init__(self, budget: int | float, spill: SpillFolder | None = None) -> None:
        self.budget = budget
        self.account = Account()
        self.values: list[StoredValue] = []
        self._blocks: list[MemoryBlock] = []
        self._held: dict[int, MemoryBlock] = {}  # by number: the evictable ones
        self._by_memory: dict[int, MemoryBlock] = {}  # by the `id` of the array that owns the memory, while it exists
        self.fixed_bytes = 0  # of the held blocks that cannot be evicted
        self._choices = 0  # how often a choice of blocks to evict was made
        self._spill = spill
        self._clock = 0.0  # the total seconds of all ops
        self._now = 0.0  # the position of the recording, or the sweep, on that clock

    @property
    def limit(self) -> float:
        """The limit in bytes; a fractional budget applies to all bytes that rules have needed so far.

        A share of the budget is always reserved for evictable values: without room to keep part of a long chain, the
        whole chain would be recomputed for each of its values.
        """
        limit = self._budgeted_bytes()
        return max(limit, self.fixed_bytes + ROOM_SHARE * limit)

    @property
    def is_within_reach(self) -> bool:
        """Whether the values that cannot be evicted leave the reserved share of the budget."""
        limit = self._budgeted_bytes()
        return self.fixed_bytes + ROOM_SHARE * limit <= limit

    def _budgeted_bytes(self) -> float:
        budget = self.budget
        return max(budget if type(budget) is int else budget * self.account.wanted, self.least_limit)

    @property
    def certain_bytes(self) -> int:
        """The bytes that may be held whatever is recorded."""
        return max(self.budget, self.least_limit) if type(self.budget) is int else self.least_limit

    def bytes_of(self, numbers: Iterable[int]) -> int:
        """The bytes of the memory blocks of these values."""
        return sum([block.bytes for block in {self.values[i].block for i in numbers}])

    # Called by the tape.

    def add(self, x: Tensor, maker: Producer | None, sources: Iterable[int], cost: float) -> int:
        """Adds a value that was produced or given, to the block of its memory; returns its number."""
        values = self.values
        memory = memory_of(x.buffer)
        block = self._by_memory.get(id(memory))
        if block is None or block.memory() is not memory:
            block = MemoryBlock(int(memory.nbytes), cost, maker is None)
            block.number = len(self._blocks)
            block.sources = tuple({b.number for b in [values[i].block for i in sources] if not b.fixed})
            self._blocks.append(block)
            self._clock += cost
            self._now = block.made_at = self._clock
            self._lies_in(block, memory)
        else:
            block.cost += cost
            if maker is None and not block.fixed:
                self._fix(block)
        number = len(values)
        block.members.append(number)
        values.append(StoredValue(x, block, maker))
        return number

    def _lies_in(self, block: MemoryBlock, memory: Any) -> None:
        """Registers the array that now owns a block's memory. NumPy scalars have no views."""
        if type(memory) is np.ndarray or not isinstance(memory, np.generic):
            block.memory = ref(memory)
            self._by_memory[id(memory)] = block

    def _fix(self, block: MemoryBlock) -> None:
        """Makes a block unevictable: it holds a value that no op of the tape has produced."""
        block.fixed = True
        if self._spill is None:
            self._held.pop(block.number, None)
            if block.held:
                self.fixed_bytes += block.bytes

    def need(self, number: int, x: Tensor) -> None:
        """Registers that a rule will need a value, which is `x`."""
        value = self.values[number]
        block = value.block
        if not block.needed:
            self.account.wanted += block.bytes
        value.needed += 1
        block.needed += 1
        if value.tensor is None:
            self._hold(value, x)

    def stays(self, number: int, x: Tensor) -> bool:
        """Whether a value, which is `x`, is never evicted; the store may hold another tensor of it."""
        value = self.values[number]
        return value.block.fixed and (self._spill is None or value.tensor is not x or not value.block.bytes)

    def pin(self, number: int, x: Tensor, counted: bool = True) -> None:
        """Holds a value that cannot be recomputed permanently, because other values are computed from it."""
        value = self.values[number]
        if not value.block.held and not counted:
            value.block.bytes = 0
        self._hold(value, x)

    def counts(self, number: int, size: int) -> None:
        """Counts a variable's old value, which only this tape keeps alive from now on."""
        block = self.values[number].block
        block.bytes += size
        if block.number not in self._held:
            self.fixed_bytes += size
        self._more(size)

    def done(self, number: int) -> None:
        """Registers that a rule no longer needs a value."""
        value = self.values[number]
        block = value.block
        value.needed -= 1
        block.needed -= 1
        if not block.fixed:
            if not block.needed:
                self._let_go(block)
                if block.file is not None and self._spill is not None:
                    self._spill.discard(block.file)
                    block.file = None
            elif not value.needed:
                value.release()

    def _hold(self, value: StoredValue, x: Tensor) -> None:
        block = value.block
        memory = memory_of(x.buffer)
        elsewhere = block.memory is not None and block.memory() is not memory
        if block.held and elsewhere and not block.fixed:
            block = self._part(value, block, memory)
        value.tensor = x
        if block.held:
            return
        if elsewhere:
            self._lies_in(block, memory)
        block.held = True
        if not block.fixed or self._spill is not None:
            self._held[block.number] = block
        else:
            self.fixed_bytes += block.bytes
        self._more(block.bytes)

    def _part(self, value: StoredValue, block: MemoryBlock, memory: Any) -> MemoryBlock:
        """Splits a recomputed value off its block, because the others are still in the original memory."""
        own = MemoryBlock(int(memory.nbytes), block.cost, False)
        own.number = len(self._blocks)
        own.sources, own.made_at, own.needed = block.sources, block.made_at, value.needed
        self._blocks.append(own)
        own.members = [i for i in block.members if self.values[i] is value]
        block.members = [i for i in block.members if self.values[i] is not value]
        block.needed -= value.needed
        value.block = own
        self._lies_in(own, memory)
        return own

    def _more(self, size: int) -> None:
        account = self.account
        account.held += size
        account.peak = max(account.peak, account.held)

    # Eviction.

    def keep_within(self, in_use: Collection[int], reserved: int = 0) -> None:
        """Evicts blocks until `held` is within the limit less `reserved` bytes, except the blocks `in_use`."""
        if self.account.held <= self.limit - reserved:
            return
        large: list[MemoryBlock] = []
        small: list[MemoryBlock] = []
        least = SMALL_SHARE * self.limit
        for block in self._held.values():
            if block.bytes and block.number not in in_use:
                (small if block.bytes < least else large).append(block)
        self._evict_cheapest(large, reserved)
        self._evict_cheapest(small, reserved)

    def _evict_cheapest(self, blocks: list[MemoryBlock], reserved: int) -> None:
        """Evicts the cheapest blocks until the goal is reached.

        If there are many blocks, it evicts somewhat more, so that not every op has to choose. An eviction makes other
        blocks more expensive: the heap is ordered by possibly outdated costs, and the first block is re-evaluated
        before it is evicted.
        """
        account = self.account
        goal = self.limit - reserved
        if not blocks or account.held <= goal:
            return
        self._choices += 1
        if len(blocks) > _MANY_BLOCKS:
            goal -= _SLACK_SHARE * self.limit
        ranked = [(self._dearness(block, _PRICE_HOLDS), block.number) for block in blocks]
        heapify(ranked)
        while ranked and account.held > goal:
            _, number = heappop(ranked)
            block = self._blocks[number]
            dearness = self._dearness(block)
            if ranked and dearness > ranked[0][0]:
                heappush(ranked, (dearness, number))
            else:
                self._evict(block)

    def _dearness(self, block: MemoryBlock, price_holds: int = 0) -> float:
        """The cost of evicting a block, relative to its size and staleness.

        The cost may be a cached one, computed up to `price_holds` choices ago.
        """
        if self._choices - block.priced >= price_holds:
            block.price = self._cost(block)
            block.priced = self._choices
        distance = self._now - block.made_at
        if distance < _SOON:  # what the sweep has passed is not needed until another sweep
            distance = max(self._clock, _SOON) if distance < 0 else _SOON
        return block.price / (block.bytes * sqrt(distance))

    def _cost(self, block: MemoryBlock) -> float:
        """The seconds to restore a block, including its evicted ancestors."""
        if block.fixed or block.file is not None:
            assert self._spill is not None
            return self._spill.seconds(block.bytes, written=block.file is not None)
        cost = self._seconds_to_make(block)
        return cost if self._spill is None else min(cost, self._spill.seconds(block.bytes))

    def _seconds_to_make(self, block: MemoryBlock) -> float:
        cost = block.cost
        blocks = self._blocks
        waiting = list(block.sources)
        seen = set(waiting)
        while waiting and len(seen) < _FAR:
            source = blocks[waiting.pop()]
            if source.held:
                continue
            if source.file is not None:
                assert self._spill is not None
                cost += self._spill.seconds(source.bytes, written=True)
                continue
            cost += source.cost
            for number in source.sources:
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
        return cost

    def _evict(self, block: MemoryBlock) -> None:
        self.account.evictions += 1
        if self._spill is not None and block.file is None:
            if block.fixed or self._seconds_to_make(block) >= self._spill.seconds(block.bytes):
                block.file = self._spill.write(
                    {i: x for i in block.members if (x := self.values[i].at_hand()) is not None}
                )
                self.account.written += block.bytes if block.file is not None else 0
        if block.fixed and block.file is None:
            del self._held[block.number]  # it cannot be written, so it stays
            self.fixed_bytes += block.bytes
            return
        self._let_go(block)

    def _let_go(self, block: MemoryBlock) -> None:
        if not block.held:
            return
        for i in block.members:
            self.values[i].release()
        block.held = False
        self._held.pop(block.number, None)
        self.account.held -= block.bytes

    # Recomputation.

    def fetch(self, numbers: Sequence[int]) -> dict[int, Tensor]:
        """Returns the values of these numbers, recomputing evicted ones; the limit is enforced meanwhile."""
        found: dict[int, Tensor] = {}
        missing = more = False
        values = self.values
        self._now = max([values[i].block.made_at for i in numbers], default=self._now)
        for i in numbers:
            value = values[i]
            x = value.tensor
            if x is None:
                more = True
                x = value.seen()
                if x is None:
                    missing = True
                    continue
                self._again(value, x)
            found[i] = x
        if missing:
            with dispatch.traced_by(None):
                self._make(numbers, found)
        if more:
            self.keep_within({values[i].block.number for i in numbers})
        return found

    def _again(self, value: StoredValue, x: Tensor) -> None:
        """Holds an available value again, if a rule needs it."""
        if value.needed:
            self._hold(value, x)

    def _make(self, numbers: Sequence[int], found: dict[int, Tensor]) -> None:
        values = self.values
        makers = self._makers(numbers, found)
        uses = Counter([i for maker in makers for i in maker.inputs])
        uses.update(numbers)
        for maker in makers:
            inputs = [self._input(i, found) for i in maker.inputs]
            began = perf_counter()
            outputs = maker.run(inputs)
            self.account.seconds += perf_counter() - began
            self.account.recomputations += 1
            for i, y in zip(maker.outputs, outputs, strict=True):
                value = values[i]
                if value.tensor is not None:
                    continue
                y.tracer = value.tracers
                value.seen = ref(y)
                if not value.block.held:
                    self._lies_in(value.block, memory_of(y.buffer))
                if uses[i]:
                    found[i] = y
                self._again(value, y)
            for i in maker.inputs:
                uses[i] -= 1
                if not uses[i]:
                    found.pop(i, None)
            del inputs, outputs
            self._keep_beside(found, maker)
        for i in numbers:
            self._input(i, found)

    def _keep_beside(self, found: dict[int, Tensor], maker: Producer) -> None:
        """Enforces the limit while intermediate values of a recomputation are alive, beside those of the last op."""
        blocks = {self.values[i].block for i in found}
        own = {self.values[i].block for i in (*maker.inputs, *maker.outputs)}
        waiting = sum([block.bytes for block in blocks if not block.held and block not in own])
        self.keep_within({block.number for block in blocks}, waiting)

    def _input(self, i: int, found: dict[int, Tensor]) -> Tensor:
        """Returns a value that is available or on disk."""
        x = found.get(i)
        if x is None:
            value = self.values[i]
            x = value.at_hand()
            if x is None:
                assert self._spill is not None
                x = self._spill.read(value.block.file, i)
                x.tracer = value.tracers
                value.seen = ref(x)
                self._again(value, x)
            found[i] = x
        return x

    @staticmethod
    def _on_disk(block: MemoryBlock, i: int) -> bool:
        return block.file is not None and i in block.file.places

    def _makers(self, numbers: Sequence[int], found: dict[int, Tensor]) -> list[Producer]:
        """The producers that must run to obtain these values, in order."""
        makers: dict[int, Producer] = {}
        waiting = [i for i in numbers if i not in found]
        seen = set(waiting)
        while waiting:
            i = waiting.pop()
            value = self.values[i]
            if self._on_disk(value.block, i):
                continue
            maker = value.maker
            assert maker is not None  # values without a producer are held permanently
            if maker.at in makers:
                continue
            makers[maker.at] = maker
            for i in maker.inputs:
                if i not in seen:
                    seen.add(i)
                    x = self.values[i].at_hand()
                    if x is None:
                        waiting.append(i)
                    else:
                        found[i] = x
        return [makers[at] for at in sorted(makers)]
