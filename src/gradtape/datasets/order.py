"""The order of elements: shuffled, repeated, from several datasets in turn or by chance."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core import errors

Make = Callable[[], Iterator[Any]]


class Shuffles:
    """The seeds of the passes through one shuffled dataset: one for all passes, or a new one each time.

    Passes follow from the pair of seeds alone, by Python's Mersenne Twister: the order is not TensorFlow's, but the
    same seeds give the same orders, also in another process.
    """

    def __init__(self, seeds: tuple[int, int] | None, again_each_time: bool) -> None:
        self._next = random.Random(None if seeds is None else seeds[0] << 32 | seeds[1])
        self._again_each_time = again_each_time
        self._only = self._next.getrandbits(64)

    def begin(self) -> random.Random:
        """The generator for the next pass."""
        return random.Random(self._next.getrandbits(64) if self._again_each_time else self._only)


def shuffled(elements: Iterator[Any], size: int | None, chance: random.Random) -> Iterator[Any]:
    """Each time a random one of a buffer of `size` elements, or of all of them, whose place the next one takes."""
    buffer = list(itertools.islice(elements, size))
    number, count = chance.random, len(buffer)
    for element in elements:
        at = int(number() * count)
        chosen, buffer[at] = buffer[at], element
        yield chosen
    chance.shuffle(buffer)
    yield from buffer


def repeated(make: Make, count: int | None) -> Iterator[Any]:
    """`count` passes, one after the other; without a count, passes until one is empty."""
    for _ in itertools.count() if count is None else range(count):
        empty = True
        for element in make():
            empty = False
            yield element
        if empty:
            return


def interleaved(inputs: Iterator[Iterator[Any]], cycle_length: int, block_length: int) -> Iterator[Any]:
    """`block_length` elements of each of `cycle_length` inputs in turn; the next input takes a finished one's place."""
    slots: list[Iterator[Any] | None] = [None] * cycle_length
    exhausted = False
    while not exhausted or any(slot is not None for slot in slots):
        for i in range(cycle_length):
            if slots[i] is None and not exhausted:
                slots[i] = next(inputs, None)
                exhausted = slots[i] is None
            slot = slots[i]
            if slot is not None:
                block = 0
                for element in itertools.islice(slot, block_length):
                    block += 1
                    yield element
                if block < block_length:
                    slots[i] = None


def chosen(inputs: Sequence[Iterator[Any]], choices: Iterator[int], stop_on_empty: bool) -> Iterator[Any]:
    """An element of the input that is chosen, each time; one that has ended is passed over, or ends it all."""
    open_inputs: list[Iterator[Any] | None] = list(inputs)
    nothing = object()
    for choice in choices:
        if not 0 <= choice < len(open_inputs):
            raise errors.InvalidArgumentError(
                f"Selector index out of range: {choice} is not one of the {len(open_inputs)} datasets, counted from 0"
            )
        current = open_inputs[choice]
        if current is None:
            continue
        element = next(current, nothing)
        if element is not nothing:
            yield element
        elif stop_on_empty:
            return
        else:
            open_inputs[choice] = None
            if not any(slot is not None for slot in open_inputs):
                return


def drawn(weights: Sequence[float], chance: random.Random) -> Iterator[int]:
    """Indices by chance, each with its weight."""
    numbers = range(len(weights))
    while True:
        yield from chance.choices(numbers, weights, k=64)
