"""Iterators that continue after an error.

A generator is finished once an error propagates through it, so its consumer would take the error for the end of the
dataset. These iterators keep their position, as TensorFlow's do: `Dataset.ignore_errors`, and programs that catch the
error, get the elements that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

END = object()


class Failure:
    """An error in place of an element, raised when the consumer reaches it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class CallableIterator(Iterator[Any]):
    """Returns the results of `step` until it raises `StopIteration`."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self._step = step

    def __next__(self) -> Any:
        return self._step()


class LazyIterator(Iterator[Any]):
    """Iterates over `make()`, which is called when the first element is requested."""

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self._make = make
        self._elements: Iterator[Any] | None = None

    def __next__(self) -> Any:
        if self._elements is None:
            self._elements = self._make()
        return next(self._elements)


class SkipIterator(Iterator[Any]):
    """Skips the first `count` elements. As in TensorFlow, an error among these restarts the count."""

    def __init__(self, elements: Iterator[Any], count: int) -> None:
        self._elements, self._count = elements, count

    def __next__(self) -> Any:
        for _ in range(self._count):
            next(self._elements)
        self._count = 0
        return next(self._elements)


class SliceIterator(Iterator[Any]):
    """Like `itertools.islice`: elements `start`, `start + stride`, ..., below `stop`."""

    def __init__(self, elements: Iterator[Any], start: int, stop: int | None = None, stride: int = 1) -> None:
        self._elements, self._start, self._stop, self._stride = elements, start, stop, stride
        self._number = 0

    def __next__(self) -> Any:
        while self._stop is None or self._number < self._stop:
            element, number = next(self._elements), self._number
            self._number += 1
            if number >= self._start and not (number - self._start) % self._stride:
                return element
        self._elements = iter(())  # what the input holds is released at the end
        raise StopIteration


class ChainIterator(Iterator[Any]):
    """Like `itertools.chain.from_iterable`: concatenates iterators."""

    def __init__(self, iterators: Iterator[Iterator[Any]]) -> None:
        self._iterators = iterators
        self._current: Iterator[Any] = iter(())

    def __next__(self) -> Any:
        while (element := next(self._current, END)) is END:
            self._current = iter(next(self._iterators))
        return element


class ZipIterator(Iterator[Any]):
    """Like `zip`, except that an error in one input advances all of them, which keeps them aligned."""

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
    """Replaces errors by `Failure` elements, so that a generator can consume them without ending."""

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
    """Raises the error of each `Failure` element: the inverse of `FailureIterator`."""
    return map(_element_or_error, elements)


def _element_or_error(element: Any) -> Any:
    if type(element) is Failure:
        raise element.error
    return element
