"""The order of elements: shuffling, repetition, interleaving and random choice between datasets."""

from __future__ import annotations

import secrets
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.tensor import wrap
from ..engine.run.namespace import ops
from ..engine.run.progress import Progress, reporting
from ..engine.run.randomness import state
from ..ops.random.philox import words
from .resumable import END

Make = Callable[[], Iterator[Any]]

_LARGE_BUFFER = 1000  # elements from which filling a buffer may take seconds


class SeedGenerator:
    """Creates the random stream of each pass over a dataset, as TensorFlow does: 32-bit words of Philox.

    A pair of seeds defines a stream. Either all passes use that stream, or it yields a new pair of seeds for each pass.
    """

    def __init__(self, seeds: tuple[int, int] | None, again_each_time: bool) -> None:
        self._again_each_time = again_each_time
        self._seeds = (secrets.randbits(64), secrets.randbits(64)) if seeds is None else seeds
        self._next_pair = count().__next__ if again_each_time else None  # atomic
        self._permutation: list[int] = []

    def begin(self) -> Iterator[int]:
        """Returns the stream of the next pass."""
        if self._next_pair is None:
            return words_of(*self._seeds)
        block, second = divmod(self._next_pair(), 2)  # of four words
        pair = islice(words_of(*self._seeds, block), 2 * second, 2 * second + 2)
        return words_of(*pair)

    def __reduce__(self) -> tuple[Any, ...]:
        return SeedGenerator, (self._seeds, self._again_each_time)  # passes over a copy start with the first stream

    def permutation(self, count: int) -> list[int]:
        """Returns the order of all elements for random access. As in TensorFlow, a fixed order uses only one seed."""
        if len(self._permutation) != count:
            first, second = self._seeds
            chance = words_of(first, first if self._next_pair is None else second)
            self._permutation = [int(i) for i in ShuffleIterator(iter(range(count)), None, chance)]
        return self._permutation


def words_of(seed: int, seed2: int, first: int = 0) -> Iterator[int]:
    """Yields the 32-bit words of the Philox stream with these seeds, infinitely, from the block `first` of four."""
    start, blocks = state(seed2 << 64, seed), 8
    while True:
        yield from words(np, start, np.arange(first, first + blocks, dtype=np.uint64)).ravel().tolist()
        first, blocks = first + blocks, min(2 * blocks, 1024)


class ShuffleIterator(Iterator[Any]):
    """Draws each element at random from a buffer of `size` elements, or of all, and refills the buffer.

    The buffer's first element moves into the position of the drawn one: the order matches TensorFlow's because of this.
    """

    def __init__(self, elements: Iterator[Any], size: int | None, chance: Iterator[int]) -> None:
        self._elements, self._size, self._chance = elements, sys.maxsize if size is None else size, chance
        self._buffer: deque[Any] = deque()
        self._ended = False

    def __next__(self) -> Any:
        buffer = self._buffer
        if not buffer and not self._ended and self._size >= _LARGE_BUFFER:
            with reporting("filling a shuffle buffer", None if self._size == sys.maxsize else self._size) as progress:
                self._fill(progress)
        else:
            self._fill(None)
        if not buffer:
            raise StopIteration
        at = next(self._chance) % len(buffer)
        leaving, buffer[at] = buffer[at], buffer[0]
        buffer.popleft()
        return leaving

    def _fill(self, progress: Progress | None) -> None:
        buffer = self._buffer
        while len(buffer) < self._size and not self._ended:
            element = next(self._elements, END)
            if element is END:
                self._ended = True
            else:
                buffer.append(element)
                if progress is not None:
                    progress.done = len(buffer)


class RepeatIterator(Iterator[Any]):
    """Concatenates `count` passes; infinitely many if `count` is None.

    As in TensorFlow, infinite repetition stops at an empty pass or, if shuffled (TensorFlow fuses `shuffle` and
    `repeat`), when the first pass is empty. The first pass starts immediately, and unless shuffled an additional unused
    one starts after the last: starting a pass consumes seeds of a shuffle.
    """

    def __init__(self, make: Make, count: int | None, is_shuffled: bool = False) -> None:
        self._make, self._count, self._is_shuffled = make, count, is_shuffled
        self._current = make() if count != 0 else iter(())
        self._passes = 1
        self._empty = True

    def __next__(self) -> Any:
        while self._count is None or self._passes <= self._count:
            element = next(self._current, END)
            if element is not END:
                self._empty = False
                return element
            if self._empty and self._count is None:
                break
            self._passes += 1
            if self._count is None or self._passes <= self._count or (self._count > 1 and not self._is_shuffled):
                self._current = self._make()
            self._empty = self._empty if self._is_shuffled else True
        raise StopIteration


class InterleaveIterator(Iterator[Any]):
    """Takes `block_length` elements from each of `cycle_length` inputs in turn; new inputs replace finished ones."""

    def __init__(self, inputs: Iterator[Iterator[Any]], cycle_length: int, block_length: int) -> None:
        self._inputs, self._block_length = inputs, block_length
        self._slots: list[Iterator[Any] | None] = [None] * cycle_length
        self._has_inputs = True
        self._at = self._block = 0  # the current slot, and how many elements it has returned in this turn

    def __next__(self) -> Any:
        while True:
            slot = self._slots[self._at]
            if slot is None and self._has_inputs:
                slot = self._slots[self._at] = next(self._inputs, None)
                self._has_inputs = slot is not None
            if slot is None and all(other is None for other in self._slots):
                raise StopIteration
            element = END if slot is None else next(slot, END)
            if element is END:
                self._slots[self._at] = None
                self._turn()
                continue
            self._block += 1
            if self._block == self._block_length:
                self._turn()
            return element

    def _turn(self) -> None:
        self._at, self._block = (self._at + 1) % len(self._slots), 0


class DirectedInterleaveIterator(Iterator[Any]):
    """Takes each element from the chosen input; an exhausted input is skipped, or ends the iteration."""

    def __init__(self, inputs: Sequence[Iterator[Any]], choices: Iterator[int], stop_on_empty: bool) -> None:
        self._inputs: list[Iterator[Any] | None] = list(inputs)
        self._choices, self._stop_on_empty = choices, stop_on_empty

    def __next__(self) -> Any:
        while True:
            choice = next(self._choices)
            if not 0 <= choice < len(self._inputs):
                raise errors.InvalidArgumentError(
                    f"Selector index out of range: {choice} is not one of the {len(self._inputs)} datasets, counted "
                    "from 0"
                )
            current = self._inputs[choice]
            element = END if current is None else next(current, END)
            if element is not END:
                return element
            self._inputs[choice] = None
            if self._stop_on_empty or all(slot is None for slot in self._inputs):
                self._choices = iter(())


def sample_indices(weights: Iterator[Any], chance: Iterator[int]) -> Iterator[int]:
    """Samples indices from weights, one vector per sample: the draws of `stateless_categorical`."""

    def draw(logits: Any) -> int:
        seed = np.array([next(chance), next(chance)], np.int64)
        drawing = ops.random_scramble(wrap(seed, dtypes.int64))
        return int(ops.random_categorical(drawing, logits, count=1, dtype=dtypes.int64).array[0, 0])

    return map(draw, weights)
