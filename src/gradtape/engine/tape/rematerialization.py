"""Values that are let go when memory is short, and computed again when they are asked for.

This is dynamic tensor rematerialisation (Kirisame et al., 2021). A `Store` knows every value that a tape was told of
and the op that made it. It holds those that rules will need, as long as they fit into its limit. Beyond that it lets go
of the memory that is cheapest to do without: h = cost / (bytes * sqrt(staleness)), where the cost is that of the op and
of all that it needs which is gone already. Staleness is how far back on the tape a value is, for a sweep comes to it so
much later. Of chains, its square root leaves the values that cost least in the end: with 5 of 50, 2.3 times the ops.

Memory is counted by the array that owns it, once, however many views of it there are: see `MemoryBlock`. Blocks that
are small for the limit are let go only when no others are left, and many of them at a time, so that a choice among them
takes less time than computing them.

Whatever is computed again is computed by the same kernel from the same inputs, so it is the same to the bit. Values are
numbers here and refer to one another by them: a store has no circles, and goes when its tape goes.
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

_FAR = 64  # blocks at most that are asked what it costs to make them, for one
_SOON = 1e-7  # seconds: nothing is less stale
SMALL_SHARE = 1 / 1000  # of the limit: a smaller block is let go only when no larger one is left
ROOM_SHARE = 1 / 4  # of the budget: as much is left for what can be let go, whatever the rest takes
_MANY_BLOCKS = 64  # from which on one choice lets go of a share of the limit at a time
_SLACK_SHARE = 1 / 16  # of the limit
_PRICE_HOLDS = 16  # choices, for which what a block costs is looked up, unless it comes first


class MemoryBlock:
    """One piece of memory: a value and the views of it, which are held and let go together."""

    __slots__ = (
        "bytes", "cost", "file", "fixed", "held", "made_at", "members", "memory", "needed", "number", "price", "priced",
        "sources",
    )  # fmt: skip

    def __init__(self, size: int, cost: float, fixed: bool) -> None:
        self.bytes = size
        self.cost = cost
        self.number = -1
        self.fixed = fixed  # whether it cannot be computed again
        self.held = False
        self.needed = 0  # how often rules that have not run yet keep one of its values
        self.members: list[int] = []
        self.made_at = 0.0  # on the store's clock
        self.sources: tuple[int, ...] = ()  # the blocks that its values were computed from, except fixed ones
        self.price = 0.0  # the seconds it took to have it again when that was last asked
        self.priced = -_PRICE_HOLDS  # which choice that was for
        self.file: Any = None  # where it is, if it was written to disk
        self.memory: Any = None  # a weak reference to the array that owns the memory; None for a NumPy scalar


class StoredValue:
    """A tensor that an op has made, or was given: held, or to be found or made again."""

    __slots__ = ("block", "maker", "module", "needed", "seen", "tensor", "tracers")

    def __init__(self, x: Tensor, block: MemoryBlock, maker: Producer | None) -> None:
        self.seen = ref(x)  # whoever else may hold it
        self.tensor: Tensor | None = None  # while it is held here
        self.tracers: Any = None  # those that it has if it is made again
        self.block = block
        self.maker = maker
        self.module = None if type(x) is Tensor else getattr(x, "module", None)  # the library of the device it is on
        self.needed = 0

    def at_hand(self) -> Tensor | None:
        """The tensor, if anybody holds it."""
        return self.seen() if self.tensor is None else self.tensor

    def release(self) -> None:
        """Lets go of the tensor; tapes around this one know it by its marks."""
        if self.tensor is not None:
            self.tracers = self.tensor.tracers
            self.tensor = None


class Producer:
    """How values came about: an op on other values."""

    __slots__ = ("at", "attrs", "inputs", "op", "outputs")

    def __init__(self, at: int, op: Any, inputs: tuple[int, ...], attrs: dict[str, Any]) -> None:
        self.at = at  # in order of execution
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.outputs: tuple[int, ...] = ()

    def run(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """The outputs again, computed as at first: an elementwise op has a way of its own for large arrays."""
        if self.op.family == "elementwise" and not self.attrs:
            result = self.op.call(*inputs)
        else:
            result = dispatch.run(self.op, inputs, self.attrs)
        return result if type(result) is tuple else (result,)


@dataclass
class Account:
    """What a store has done to keep within its limit: numbers of blocks, bytes and seconds."""

    wanted: int = 0  # bytes that a tape without a budget would keep
    held: int = 0  # bytes that are kept now
    peak: int = 0  # and at most
    evictions: int = 0
    recomputations: int = 0  # ops that were run again
    seconds: float = 0.0  # that they took
    written: int = 0  # bytes written to disk


class Store:
    """The values of one tape, of which those that rules need are held within a limit of bytes.

    No budget stands for less than `least_limit` bytes. Below that the Python objects that note how values came about
    take more than the values: letting go of them would take time, and memory too.
    """

    least_limit = 2_000_000

    def __init__(self, budget: int | float, spill: SpillFolder | None = None) -> None:
        self.budget = budget
        self.account = Account()
        self.values: list[StoredValue] = []
        self._blocks: list[MemoryBlock] = []
        self._held: dict[int, MemoryBlock] = {}  # by number: those that may be let go
        self._by_memory: dict[int, MemoryBlock] = {}  # by the `id` of the array that owns the memory, while it exists
        self.fixed_bytes = 0  # of the blocks that are held and cannot be let go
        self._choices = 0  # how often it was chosen what to let go
        self._spill = spill
        self._clock = 0.0  # seconds that all ops have taken
        self._now = 0.0  # where on it the recording is, or the sweep

    @property
    def limit(self) -> float:
        """The bytes to keep within: a fraction is one of all that rules have needed so far.

        A share of the budget is left for what can be let go, whatever the rest takes: without room to keep something of
        a long chain, all of it would be computed again for each of its values.
        """
        limit = self._budgeted_bytes()
        return max(limit, self.fixed_bytes + ROOM_SHARE * limit)

    @property
    def is_within_reach(self) -> bool:
        """Whether what cannot be let go leaves the share of the budget that the rest needs."""
        limit = self._budgeted_bytes()
        return self.fixed_bytes + ROOM_SHARE * limit <= limit

    def _budgeted_bytes(self) -> float:
        budget = self.budget
        return max(budget if type(budget) is int else budget * self.account.wanted, self.least_limit)

    @property
    def certain_bytes(self) -> int:
        """The bytes that may be kept whatever is recorded."""
        return max(self.budget, self.least_limit) if type(self.budget) is int else self.least_limit

    def bytes_of(self, numbers: Iterable[int]) -> int:
        """The bytes of the memory that these values lie in."""
        return sum([block.bytes for block in {self.values[i].block for i in numbers}])

    # What the tape tells.

    def add(self, x: Tensor, maker: Producer | None, sources: Iterable[int], cost: float) -> int:
        """A value that was made, or given; its number. It belongs to the block of the memory that it lies in."""
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
        """Notes the array that owns a block's memory now. NumPy's scalars have no views."""
        if type(memory) is np.ndarray or not isinstance(memory, np.generic):
            block.memory = ref(memory)
            self._by_memory[id(memory)] = block

    def _fix(self, block: MemoryBlock) -> None:
        """A block cannot be let go any more: a value lies in it that no op of the tape has made."""
        block.fixed = True
        if self._spill is None:
            self._held.pop(block.number, None)
            if block.held:
                self.fixed_bytes += block.bytes

    def need(self, number: int, x: Tensor) -> None:
        """A rule will need a value, which is `x`."""
        value = self.values[number]
        block = value.block
        if not block.needed:
            self.account.wanted += block.bytes
        value.needed += 1
        block.needed += 1
        if value.tensor is None:
            self._hold(value, x)

    def stays(self, number: int, x: Tensor) -> bool:
        """Whether a value, which is `x`, is never let go; another tensor of it may be held, with other marks."""
        value = self.values[number]
        return value.block.fixed and (self._spill is None or value.tensor is not x or not value.block.bytes)

    def pin(self, number: int, x: Tensor, counted: bool = True) -> None:
        """A value that cannot be made again is held for good, as others are made of it."""
        value = self.values[number]
        if not value.block.held and not counted:
            value.block.bytes = 0
        self._hold(value, x)

    def counts(self, number: int, size: int) -> None:
        """What was alive without this tape, a variable's value, is alive only for it from now on."""
        block = self.values[number].block
        block.bytes += size
        if block.number not in self._held:
            self.fixed_bytes += size
        self._more(size)

    def done(self, number: int) -> None:
        """A rule needs a value no longer."""
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
        """Gives a value a block of its own: it was made again, while others of its block are still where they were."""
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

    # Letting go.

    def keep_within(self, in_use: Collection[int], reserved: int = 0) -> None:
        """Lets go of blocks until the limit less `reserved` bytes is kept, except those whose numbers are `in_use`."""
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
        """Lets go of those of the blocks that are cheapest to do without, as many as have to go.

        Where there are many, some more go, so that not every op has to choose. What has gone makes others dearer: their
        order is that of when they were looked at, until one comes first, which is looked at again.
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
        """What it costs to do without a block, for its size and the time it was not used.

        The cost may be the one that was found up to `price_holds` choices ago.
        """
        if self._choices - block.priced >= price_holds:
            block.price = self._cost(block)
            block.priced = self._choices
        distance = self._now - block.made_at
        if distance < _SOON:  # what was passed waits for another sweep
            distance = max(self._clock, _SOON) if distance < 0 else _SOON
        return block.price / (block.bytes * sqrt(distance))

    def _cost(self, block: MemoryBlock) -> float:
        """The seconds it takes to have a block again, with those gone that it is made of."""
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
            del self._held[block.number]  # it cannot be written: it stays
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

    # Having it again.

    def fetch(self, numbers: Sequence[int]) -> dict[int, Tensor]:
        """The values of these numbers, made again where they are gone; the limit is kept meanwhile."""
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
        """A value is at hand: if a rule needs it, it is held from now on."""
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
        """Keeps the limit while values are there that only other values are made of, beside those of the last op."""
        blocks = {self.values[i].block for i in found}
        own = {self.values[i].block for i in (*maker.inputs, *maker.outputs)}
        waiting = sum([block.bytes for block in blocks if not block.held and block not in own])
        self.keep_within({block.number for block in blocks}, waiting)

    def _input(self, i: int, found: dict[int, Tensor]) -> Tensor:
        """A value that is at hand, or on disk."""
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
        """What has to run to have these values, in order."""
        makers: dict[int, Producer] = {}
        waiting = [i for i in numbers if i not in found]
        seen = set(waiting)
        while waiting:
            i = waiting.pop()
            value = self.values[i]
            if self._on_disk(value.block, i):
                continue
            maker = value.maker
            assert maker is not None  # others are held for good
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
