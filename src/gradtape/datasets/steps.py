"""Iterators that go on after an error.

A generator ends when an error passes through it: its consumer would take the elements after the error for the end of
the dataset. These stay where they are, as TensorFlow's iterators do, so that `Dataset.ignore_errors` and a program that
catches the error get what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

END = object()


class Failure:
    """An error in the place of an element, to be raised when that element is asked for."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Steps(Iterator[Any]):
    """What `step` returns each time, until it raises `StopIteration`."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self._step = step

    def __next__(self) -> Any:
        return self._step()


class Lazy(Iterator[Any]):
    """The elements of `make()`, which is called when the first of them is asked for."""

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self._make = make
        self._elements: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._elements is None:
            self._elements = self._make()
        return next(self._elements)


class Sliced(Iterator[Any]):
    """`itertools.islice`: elements number `start`, `start + stride`, ..., below `stop`."""

    def __init__(self, elements: Iterator[Any], start: int, stop: int | None = None, stride: int = 1) -> None:
        self._elements, self._start, self._stop, self._stride = elements, start, stop, stride
        self._number = 0

    def __next__(self) -> Any:
        while self._stop is None or self._number < self._stop:
            element, number = next(self._elements), self._number
            self._number += 1
            if number >= self._start and not (number - self._start) % self._stride:
                return element
        raise StopIteration


class Chained(Iterator[Any]):
    """`itertools.chain.from_iterable`: the elements of one iterator after the other."""

    def __init__(self, iterators: Iterator[Iterator[Any]]) -> None:
        self._iterators = iterators
        self._current: Iterator[Any] = iter(())

    def __next__(self) -> Any:
        while (element := next(self._current, END)) is END:
            self._current = iter(next(self._iterators))
        return element
