"""The cost model of memory budgets: what a block of memory takes, and how long it takes to restore it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .spilling import SpilledFile, SpillFolder

MAX_ANCESTORS = 64  # the most absent ancestors visited to estimate the cost of a block
PRICE_HOLDS = 16  # choices for which the cost of a block stays cached, unless the block comes first


class MemoryBlock:
    """One allocation: a value and its views, which are held and evicted together."""

    __slots__ = ("bytes", "file", "fixed", "held", "price", "priced", "seconds", "sources")

    def __init__(self, size: int, seconds: float, sources: Iterable[MemoryBlock] = (), fixed: bool = False) -> None:
        self.bytes = size
        self.seconds = seconds  # to compute it from its sources
        self.sources = tuple(sources)  # the blocks that it is computed from, except fixed ones
        self.fixed = fixed  # whether it cannot be recomputed
        self.held = False
        self.file: SpilledFile | None = None  # its file, if it was written to disk
        self.price = 0.0  # the cached cost in seconds to restore it
        self.priced = -PRICE_HOLDS  # the choice at which the cost was computed


class CostModel:
    """Estimates the seconds to restore blocks, by recomputation or from disk."""

    def __init__(self, disk: SpillFolder | None = None) -> None:
        self._disk = disk

    def restore_seconds(self, block: MemoryBlock) -> float:
        """The seconds to restore a block in the cheapest way, if it is evicted now."""
        disk = self._disk
        if disk is None:
            return self.recompute_seconds(block)
        if block.fixed or block.file is not None:
            return disk.seconds(block.bytes, written=block.file is not None)
        return min(self.recompute_seconds(block), disk.seconds(block.bytes))

    def recompute_seconds(self, block: MemoryBlock) -> float:
        """The seconds to recompute a block and its absent ancestors."""
        seconds = block.seconds
        waiting = list(block.sources)
        seen = set(waiting)
        while waiting and len(seen) < MAX_ANCESTORS:
            source = waiting.pop()
            if source.held:
                continue
            if source.file is not None and self._disk is not None:
                seconds += self._disk.seconds(source.bytes, written=True)
                continue
            seconds += source.seconds
            for other in source.sources:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seconds

    def is_spilled_sooner(self, block: MemoryBlock) -> bool:
        """Whether writing a block to disk and reading it back takes less time than recomputing it."""
        disk = self._disk
        return disk is not None and (block.fixed or self.recompute_seconds(block) >= disk.seconds(block.bytes))
