"""Iterators that go on after an error.

A generator ends when an error passes through it: its consumer would take the elements after the error for the end of
the dataset. These stay where they are, as TensorFlow's iterators do, so that `Dataset.ignore_errors` and a program that
catches the error get what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

END = object()


class Failure:
    """An error in the place of an element, to be raised when that element is asked for."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class CallableIterator(Iterator[Any]):
    """What `step` returns each time, until it raises `StopIteration`."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self._step = step

    def __next__(self) -> Any:
        return self._step()


class LazyIterator(Iterator[Any]):
    """The elements of `make()`, which is called when the first of them is asked for."""

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self._make = make
        self._elements: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._elements is None:
            self._elements = self._make()
        return next(self._elements)


class SkipIterator(Iterator[Any]):
    """The elements after the first `count`. As in TensorFlow, an error among these makes it count from one again."""

    def __init__(self, elements: Iterator[Any], count: int) -> None:
        self._elements, self._count = elements, count

    def __next__(self) -> Any:
        for _ in range(self._count):
            next(self._elements)
        self._count = 0
        return next(self._elements)


class SliceIterator(Iterator[Any]):
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


class ChainIterator(Iterator[Any]):
    """`itertools.chain.from_iterable`: the elements of one iterator after the other."""

    def __init__(self, iterators: Iterator[Iterator[Any]]) -> None:
        self._iterators = iterators
        self._current: Iterator[Any] = iter(())

    def __next__(self) -> Any:
        while (element := next(self._current, END)) is END:
            self._current = iter(next(self._iterators))
        return element


class ZipIterator(Iterator[Any]):
    """`zip`: tuples of one element of each input. An error in one of them advances all, so that they stay in step."""

    def __init__(self, inputs: Sequence[Iterator[Any]]) -> None:
        self._inputs = inputs
        self._ended = False

    def __next__(self) -> tuple[Any, ...]:
        if self._ended:
            raise StopIteration
        found, error = [], None
        for elements in self._inputs:
            try:
                element = next(elements, END)
            except Exception as raised:
                error = error or raised
                continue
            self._ended |= element is END
            if self._ended and error is None:
                raise StopIteration
            found.append(element)
        if error is not None:
            raise error
        return tuple(found)


class FailureIterator(Iterator[Any]):
    """The same elements, with a `Failure` in the place of an error: a generator may take elements from it."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements

    def __next__(self) -> Any:
        try:
            return next(self._elements)
        except StopIteration:
            raise
        except Exception as error:
            return Failure(error)


def raise_failures(elements: Iterator[Any]) -> Iterator[Any]:
    """The elements, with an error raised in the place of a `Failure`."""
    return map(_element_or_error, elements)


def _element_or_error(element: Any) -> Any:
    if type(element) is Failure:
        raise element.error
    return element
