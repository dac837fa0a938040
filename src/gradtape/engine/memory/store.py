"""The values of a tape with a memory budget: evicted when memory is short, and recomputed on demand.

A `Store` knows every value that a tape has seen and the op that produced it. It holds the values that rules will need
while they fit into its limit, and evicts the cheapest beyond that: see `policy`. Staleness is the distance back on the
tape, because the sweep reaches older values later.

Memory is counted once, by the array that owns it, however many views share it: see `StoredBlock`. Values refer to one
another by number, and blocks only to older ones: a store has no reference cycles, and is freed with its tape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from time import perf_counter
from typing import Any
from weakref import ref

import numpy as np

from ...core.locks import fork_safe_rlock
from ...core.tensor import Tensor
from ..run import dispatch
from .costs import CostModel, MemoryBlock
from .policy import BlockStore
from .rematerialization import Producer, rerun_order
from .spilling import SpillFolder, memory_of

ROOM_SHARE = 1 / 4  # of the budget: always available to evictable values, whatever the others take


class StoredBlock(MemoryBlock):
    """The block of some values of a tape."""

    __slots__ = ("made_at", "members", "memory", "needed")

    def __init__(self, size: int, seconds: float, sources: Iterable[MemoryBlock], fixed: bool) -> None:
        super().__init__(size, seconds, sources, fixed)
        self.needed = 0  # how many saved references pending rules have to its values
        self.members: list[int] = []
        self.made_at = 0.0  # on the store's clock
        self.memory: Any = None  # a weak reference to the array that owns the memory; None for a NumPy scalar


class StoredValue:
    """A tensor that an op has produced or read: held, or to be found or recomputed."""

    __slots__ = ("block", "module", "needed", "producer", "seen", "tensor", "tracers")

    def __init__(self, x: Tensor, block: StoredBlock, producer: Producer | None) -> None:
        self.seen = ref(x)  # the tensor, if other code holds it
        self.tensor: Tensor | None = None  # while the store holds it
        self.tracers: Any = None  # the tracers to restore when it is recomputed
        self.block, self.producer = block, producer
        self.module = None if type(x) is Tensor else getattr(x, "module", None)  # the array library of its device
        self.needed = 0

    def available(self) -> Tensor | None:
        """The tensor, if the store or other code holds it."""
        return self.seen() if self.tensor is None else self.tensor

    def release(self) -> None:
        """Drops the tensor but keeps its tracers, by which outer tapes know it."""
        if self.tensor is not None:
            self.tracers = self.tensor.tracers
            self.tensor = None


class Store(BlockStore[StoredBlock]):
    """The values of one tape, of which those that rules need are held within a limit of bytes.

    No budget means less than `least_limit` bytes. Below that, the Python objects that describe the producers take more
    memory than the values, so that evictions would cost both time and memory.
    """

    least_limit = 2_000_000

    def __init__(self, budget: int | float, spill: SpillFolder | None = None) -> None:
        super().__init__(CostModel(spill))
        self.budget = budget
        self.values: list[StoredValue] = []
        self._producers: list[Producer] = []  # in order of execution
        self._held: dict[StoredBlock, None] = {}  # the evictable ones
        self._by_memory: dict[int, StoredBlock] = {}  # by the `id` of the array that owns the memory, while it exists
        self.fixed_bytes = 0  # of the held blocks that cannot be evicted
        self._spill = spill
        self._lock = fork_safe_rlock()  # threads may sweep a persistent tape at the same time
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
        return self.limit <= self._budgeted_bytes()

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

    def add_producer(self, producer: Producer) -> None:
        """Adds an op that has just run."""
        producer.at = len(self._producers)
        self._producers.append(producer)

    def add(self, x: Tensor, producer: Producer | None, sources: Iterable[int], cost: float) -> int:
        """Adds a value that was produced or given, to the block of its memory; returns its number."""
        values = self.values
        memory = memory_of(x.buffer)
        block = self._by_memory.get(id(memory))
        if block is None or block.memory() is not memory:
            origin = {b: None for b in [values[i].block for i in sources] if not b.fixed}
            block = StoredBlock(int(memory.nbytes), cost, origin, producer is None)
            self._clock += cost
            self._now = block.made_at = self._clock
            self._set_memory(block, memory)
        else:
            block.seconds += cost
            if producer is None and not block.fixed:
                self._fix(block)
        number = len(values)
        block.members.append(number)
        values.append(StoredValue(x, block, producer))
        return number

    def _set_memory(self, block: StoredBlock, memory: Any) -> None:
        """Registers the array that now owns a block's memory. NumPy scalars have no views."""
        if type(memory) is np.ndarray or not isinstance(memory, np.generic):
            block.memory = ref(memory)
            self._by_memory[id(memory)] = block

    def _fix(self, block: StoredBlock) -> None:
        """Makes a block unevictable: it holds a value that no op of the tape has produced."""
        block.fixed = True
        if self._spill is None:
            self._held.pop(block, None)
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

    def is_permanent(self, number: int, x: Tensor) -> bool:
        """Whether a value, which is `x`, is never evicted; the store may hold another tensor of it."""
        value = self.values[number]
        return value.block.fixed and (self._spill is None or value.tensor is not x or not value.block.bytes)

    def pin(self, number: int, x: Tensor, counted: bool = True) -> None:
        """Holds a value that cannot be recomputed permanently, because other values are computed from it."""
        value = self.values[number]
        if not value.block.held and not counted:
            value.block.bytes = 0
        self._hold(value, x)

    def count_bytes(self, number: int, size: int) -> None:
        """Counts a variable's old value, which only this tape keeps alive from now on."""
        block = self.values[number].block
        block.bytes += size
        if block not in self._held:
            self.fixed_bytes += size
        self.add_bytes(size)

    def done(self, number: int) -> None:
        """Registers that a rule no longer needs a value."""
        value = self.values[number]
        block = value.block
        value.needed -= 1
        block.needed -= 1
        if not block.fixed:
            if not block.needed:
                self._release(block)
                if block.file is not None:
                    block.file.discard()
                    block.file = None
            elif not value.needed:
                value.release()

    def _hold(self, value: StoredValue, x: Tensor) -> None:
        block = value.block
        memory = memory_of(x.buffer)
        elsewhere = block.memory is not None and block.memory() is not memory
        if block.held and elsewhere and not block.fixed:
            block = self._split_off(value, block, memory)
        value.tensor = x
        if block.held:
            return
        if elsewhere:
            self._set_memory(block, memory)
        block.held = True
        if not block.fixed or self._spill is not None:
            self._held[block] = None
        else:
            self.fixed_bytes += block.bytes
        self.add_bytes(block.bytes)

    def _split_off(self, value: StoredValue, block: StoredBlock, memory: Any) -> StoredBlock:
        """Splits a recomputed value off its block, because the others are still in the original memory."""
        own = StoredBlock(int(memory.nbytes), block.seconds, block.sources, False)
        own.made_at, own.needed = block.made_at, value.needed
        own.members = [i for i in block.members if self.values[i] is value]
        block.members = [i for i in block.members if self.values[i] is not value]
        block.needed -= value.needed
        value.block = own
        self._set_memory(own, memory)
        return own

    # Eviction.

    def keep_within(self, in_use: Collection[StoredBlock] = (), reserved: int = 0) -> None:
        """Evicts blocks until `held` is within the limit less `reserved` bytes, except the blocks `in_use`."""
        limit = self.limit
        if self.account.held > limit - reserved:
            self.evict_cheapest(self._held, in_use, limit - reserved, limit)

    def staleness(self, block: StoredBlock) -> float:
        """The distance back on the tape. What the sweep has passed is not needed until another sweep."""
        distance = self._now - block.made_at
        return self._clock if distance < 0 else distance

    def evict(self, block: StoredBlock) -> None:
        """Releases the values of a block, or writes them to disk if that is cheaper than recomputing them."""
        self.account.evictions += 1
        if self._spill is not None and (block.file is not None or self.costs.is_spilled_sooner(block)):
            members = {i: x for i in block.members if (x := self.values[i].available()) is not None}
            if block.file is not None:
                block.file.locate(members)  # some may have joined the block since it was written
            else:
                block.file = self._spill.write(members)
                self.account.written += block.bytes if block.file is not None else 0
        if block.fixed and (block.file is None or any(self._is_irreplaceable(i) for i in block.members)):
            del self._held[block]  # it cannot be written, so it stays
            self.fixed_bytes += block.bytes
        else:
            self._release(block)

    def _is_irreplaceable(self, i: int) -> bool:
        """Whether a value is held that can be neither recomputed nor read from disk."""
        value = self.values[i]
        return value.tensor is not None and value.producer is None and not self._is_on_disk(i)

    def _release(self, block: StoredBlock) -> None:
        if block.held:
            for i in block.members:
                self.values[i].release()
            block.held = False
            self._held.pop(block, None)
            self.account.held -= block.bytes

    # Recomputation.

    def fetch(self, numbers: Sequence[int]) -> dict[int, Tensor]:
        """Returns the values of these numbers, recomputing evicted ones; the limit is enforced meanwhile."""
        with self._lock:
            return self._fetch(numbers)

    def _fetch(self, numbers: Sequence[int]) -> dict[int, Tensor]:
        found: dict[int, Tensor] = {}
        values = self.values
        self._now = max([values[i].block.made_at for i in numbers], default=self._now)
        more = missing = False
        for i in numbers:
            value = values[i]
            x = value.tensor
            if x is None:
                more = True
                x = value.seen()
                if x is None:
                    missing = True
                    continue
                self._hold_if_needed(value, x)
            found[i] = x
        if missing:
            with dispatch.traced_by(None):
                self._recompute(numbers, found)
        if more:
            self.keep_within({values[i].block for i in numbers})
        self.account.sweeping.add(self.account.held)
        return found

    def _hold_if_needed(self, value: StoredValue, x: Tensor) -> None:
        if value.needed:
            self._hold(value, x)

    def _recompute(self, numbers: Sequence[int], found: dict[int, Tensor]) -> None:
        """Adds the missing values to `found`. Intermediate values are dropped after their last use."""

        def missing(inputs: Sequence[int]) -> list[int]:
            """Those of the values that only their producers can restore; the others are found at hand or on disk."""
            result = []
            for i in inputs:
                if i not in found:
                    x = self.values[i].available()
                    if x is not None:
                        found[i] = x
                    elif not self._is_on_disk(i):
                        result.append(i)
            return result

        producers = [
            self._producers[at]
            for at in rerun_order(missing(numbers), self._producer_at, lambda at: missing(self._producers[at].inputs))
        ]
        uses = Counter([*numbers, *[i for producer in producers for i in producer.inputs]])
        for producer in producers:
            self._rerun(producer, found, uses)
        for i in numbers:
            self._restored(i, found)

    def _producer_at(self, number: int) -> int:
        producer = self.values[number].producer
        assert producer is not None  # values without a producer are held permanently
        return producer.at

    def _rerun(self, producer: Producer, found: dict[int, Tensor], uses: Counter[int]) -> None:
        """Reruns a producer for the values that `uses` counts, and enforces the limit beside them."""
        inputs = [self._restored(i, found) for i in producer.inputs]
        began = perf_counter()
        outputs = producer.run(inputs)
        self.account.seconds += perf_counter() - began
        self.account.recomputations += 1
        for i, y in zip(producer.outputs, outputs, strict=True):
            value = self.values[i]
            if value.tensor is None:
                if not value.block.held:
                    self._set_memory(value.block, memory_of(y.buffer))
                self._restore(value, y)
                if uses[i]:
                    found[i] = y
        for i in producer.inputs:
            uses[i] -= 1
            if not uses[i]:
                found.pop(i, None)
        del inputs, outputs
        blocks = {self.values[i].block for i in found}
        own = {self.values[i].block for i in (*producer.inputs, *producer.outputs)}
        self.keep_within(blocks, sum([block.bytes for block in blocks if not block.held and block not in own]))

    def _restore(self, value: StoredValue, x: Tensor) -> None:
        x.tracer = value.tracers
        value.seen = ref(x)
        self._hold_if_needed(value, x)

    def _restored(self, i: int, found: dict[int, Tensor]) -> Tensor:
        """Returns a value that is available or on disk, and adds it to `found`."""
        x = found.get(i)
        if x is None:
            value = self.values[i]
            x = value.available()
            if x is None:
                assert self._spill is not None and value.block.file is not None
                x = self._spill.read(value.block.file, i)
                self._restore(value, x)
            found[i] = x
        return x

    def _is_on_disk(self, i: int) -> bool:
        file = self.values[i].block.file
        return file is not None and i in file.places
