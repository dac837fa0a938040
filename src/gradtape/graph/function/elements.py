"""Calls with dataset iterators as arguments: the elements that the function takes become arguments of its graph.

A class of iterators declares this by `supplies_elements = True`. The first trace finds how many elements the function
takes; a call then takes as many from the iterator and runs the graph on them. A function that takes elements inside of
a loop or a branch, or all of them, runs eagerly.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...core import errors, nest
from ...core.scopes import carried
from ...engine.run.dispatch import thread
from ..trace.traced import Untraceable

if TYPE_CHECKING:
    from .function import Function

_MOST_ELEMENTS = 64  # that a call may take as a graph
_END = object()


class TakesElements(Exception):
    """An argument of a function is an iterator that supplies elements."""

    is_signal = True


class _MoreElements(BaseException):
    """The traced function takes one more element of an iterator."""

    def __init__(self, source: int) -> None:
        super().__init__()
        self.source = source


class _Active(threading.local):
    sources: Sequence[_Source] = ()  # of the innermost call, which eager code takes further elements from


_active = carried(_Active())


class _Source:
    """An iterator, and the elements that were taken from it for a call."""

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator
        self.taken: deque[Any] = deque()

    def fill(self, count: int) -> bool:
        """Takes elements until there are `count`; returns whether the iterator has as many."""
        while len(self.taken) < count:
            element = next(self.iterator, _END)
            if element is _END:
                return False
            self.taken.append(element)
        return True

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.taken.popleft() if self.taken else next(self.iterator)


class TakenElements:
    """Stands for an iterator inside a function: it returns the elements that the call has taken."""

    def __init__(self, number: int, elements: Sequence[Any], element_spec: Any) -> None:
        self._number, self._elements, self.element_spec = number, deque(elements), element_spec
        self._trace = thread.trace
        self._source = _active.sources[number] if self._trace is None else None

    def __iter__(self) -> TakenElements:
        if thread.trace is not None:
            raise Untraceable("it iterates over the elements of a dataset")
        return self

    def __next__(self) -> Any:
        if thread.trace is not self._trace:
            raise Untraceable("it takes elements of a dataset in a loop or a branch")
        if self._elements:
            return self._elements.popleft()
        if self._source is not None:
            return next(self._source.iterator)
        raise _MoreElements(self._number)

    def next(self) -> Any:
        """Returns the next element."""
        return self.__next__()

    def get_next(self) -> Any:
        """Returns the next element; raises `OutOfRangeError` at the end."""
        try:
            return self.__next__()
        except StopIteration:
            raise errors.OutOfRangeError("End of sequence") from None

    def get_next_as_optional(self) -> Any:
        """Returns the next element, if any, of an eager run."""
        if self._source is None:
            raise Untraceable("whether a dataset has more elements is known at every call only")
        return self._source.iterator.get_next_as_optional()


class FunctionOfElements:
    """A function with iterators among its arguments, as a function of elements."""

    def __init__(self, function: Function, new: Callable[[Callable[..., Any]], Function]) -> None:
        converted, instance = function._converted, function._instance

        def run(elements: Any, args: Any, kwargs: Any) -> Any:
            specs = self._specs
            given = [TakenElements(i, taken, specs[i]) for i, taken in enumerate(elements)]
            args, kwargs = _replaced((args, kwargs), given)
            return converted(*(() if instance is None else (instance(),)), *args, **kwargs)

        functools.update_wrapper(run, function._function)
        del run.__wrapped__  # type: ignore[attr-defined]  # the parameters are those of `run`
        self.function = new(run)
        self.function._calls = function._calls  # traces of all functions of elements would count as one's
        self._counts: dict[int, int] = {}  # by the number of an iterator: how many elements a call takes
        self._specs: list[Any] = []

    def __call__(self, args: Any, kwargs: Any) -> Any:
        iterators = [x for x in nest.flatten((args, kwargs)) if supplies_elements(x)]
        sources = [_Source(iterator) for iterator in iterators]
        self._specs = [iterator.element_spec for iterator in iterators]
        given = nest.map_structure(lambda x: _HOLE if supplies_elements(x) else x, (args, kwargs))
        outer, _active.sources = _active.sources, sources
        try:
            while True:
                full = [source.fill(self._counts.get(i, 0)) for i, source in enumerate(sources)]
                if not all(full):
                    return self._at_end(sources, given)
                try:
                    return self.function([list(source.taken) for source in sources], *given)
                except _MoreElements as needed:
                    del self.function._calls.traces[-1:]
                    count = self._counts[needed.source] = self._counts.get(needed.source, 0) + 1
                    if count > _MOST_ELEMENTS:
                        raise Untraceable("it takes very many elements of a dataset") from None
        finally:
            _active.sources = outer

    def _at_end(self, sources: Sequence[_Source], given: Any) -> Any:
        """Runs the last call, which has fewer elements than the others, eagerly."""
        if not any(source.taken for source in sources):
            raise errors.OutOfRangeError("End of sequence")
        try:
            return self.function.python_function([list(source.taken) for source in sources], *given)
        except StopIteration as end:
            raise errors.OutOfRangeError("End of sequence") from end


class _Hole:
    """Marks the place of an iterator among the arguments."""


_HOLE = _Hole()


def supplies_elements(value: object) -> bool:
    """Whether a value is an iterator whose elements become arguments."""
    return getattr(type(value), "supplies_elements", False)


def _replaced(structure: Any, given: Sequence[TakenElements]) -> Any:
    rest = iter(given)
    return nest.map_structure(lambda x: next(rest) if x is _HOLE else x, structure)
