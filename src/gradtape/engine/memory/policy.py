"""The eviction policy: a store of blocks that evicts the cheapest ones when it exceeds a limit.

The choice must take less time than the recomputations that it saves. So blocks that are small for the limit are evicted
only when no others are left, many blocks are evicted some at a time, and costs are cached for a few choices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

from .costs import PRICE_HOLDS, CostModel, MemoryBlock

SMALL_SHARE = 1 / 1000  # of the limit: a smaller block is evicted only when no larger one is left
_MANY_BLOCKS = 64  # with more blocks, one choice evicts a share of the limit at a time
_SLACK_SHARE = 1 / 16  # of the limit
_MIN_STALENESS = 1e-7  # seconds

_MAX_SAMPLES = 1024  # of a timeline; even

AnyBlock = TypeVar("AnyBlock", bound=MemoryBlock)
Sample = TypeVar("Sample")


class Timeline(list[Sample]):
    """Samples over time. Where there are many, neighbors become one, by `combine`, so that the length is bounded."""

    def __init__(self, combine: Callable[[Sample, Sample], Sample]) -> None:
        super().__init__()
        self._combine = combine
        self._count, self._stride = 0, 1

    def add(self, sample: Sample) -> None:
        """Adds the next sample."""
        if self._count % self._stride:
            self[-1] = self._combine(self[-1], sample)
        else:
            self.append(sample)
        self._count += 1
        if len(self) == _MAX_SAMPLES and self._count % self._stride == 0:
            self[:] = map(self._combine, self[::2], self[1::2])
            self._stride *= 2


def _larger_of_each(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return max(a[0], b[0]), max(a[1], b[1])


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
    # `held` and `wanted` after the ops of the recording; `held` when sweeps have read residuals
    recording: Timeline[tuple[int, int]] = field(default_factory=lambda: Timeline(_larger_of_each), repr=False)
    sweeping: Timeline[int] = field(default_factory=lambda: Timeline(max), repr=False)


class BlockStore(ABC, Generic[AnyBlock]):
    """Blocks that are held within a limit of bytes."""

    def __init__(self, costs: CostModel, patience: float = 0.5) -> None:
        self.account = Account()
        self.costs = costs
        # The exponent of staleness. On chains, the square root retains the values that minimize the total cost: with 5
        # of 50 values, 2.3 times the ops.
        self._patience = patience
        self._choices = 0  # how often blocks to evict were chosen

    @abstractmethod
    def staleness(self, block: AnyBlock) -> float:
        """The expected seconds until a block is used."""

    @abstractmethod
    def evict(self, block: AnyBlock) -> None:
        """Releases the memory of a block."""

    def add_bytes(self, size: int) -> None:
        """Counts bytes that are held from now on."""
        account = self.account
        account.held += size
        account.peak = max(account.peak, account.held)

    def evict_cheapest(
        self, blocks: Iterable[AnyBlock], in_use: Collection[AnyBlock], goal: float, limit: float
    ) -> None:
        """Evicts the cheapest blocks that are not in use until at most `goal` bytes are held.

        The `limit` is that of the store, by which a block is small.
        """
        large: list[AnyBlock] = []
        small: list[AnyBlock] = []
        least = SMALL_SHARE * limit
        for block in blocks:
            if block.bytes and block not in in_use:
                (small if block.bytes < least else large).append(block)
        for group in (large, small):
            if group and self.account.held > goal:
                self._evict_from(group, goal - _SLACK_SHARE * limit if len(group) > _MANY_BLOCKS else goal)

    def _evict_from(self, blocks: Sequence[AnyBlock], goal: float) -> None:
        """Evicts in the order of a heap of possibly outdated scores; the first block is scored again before it goes.

        An eviction makes other blocks more expensive, never cheaper.
        """
        self._choices += 1
        ranked = [(self._score(block, PRICE_HOLDS), i) for i, block in enumerate(blocks)]
        heapify(ranked)
        while ranked and self.account.held > goal:
            _, i = heappop(ranked)
            score = self._score(blocks[i])
            if ranked and score > ranked[0][0]:
                heappush(ranked, (score, i))
            else:
                self.evict(blocks[i])

    def _score(self, block: AnyBlock, price_holds: int = 0) -> float:
        """The cost of evicting a block, relative to its size and staleness; it was cached `price_holds` choices ago."""
        if self._choices - block.priced >= price_holds:
            block.price = self.costs.restore_seconds(block)
            block.priced = self._choices
        staleness = max(self.staleness(block), _MIN_STALENESS)
        return block.price / (block.bytes * staleness**self._patience)
