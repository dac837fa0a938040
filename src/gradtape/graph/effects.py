"""What a graph does beside computing: guards, random draws, prints, calls of Python. These nodes stay, in order.

A function is traced by running it, and then often run once more, for its derivative or inside another trace. What it
does must still be done once: `recording` notes what each effect gave, `replaying` gives it again without doing it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import dtypes


class Changed(Exception):
    """A value that a graph was made for is different in this run."""


class _Performance(threading.local):
    """What this thread does about effects."""

    replay: Iterator[Any] | None = None  # what the next effects give, instead of being performed
    record: list[Any] | None = None
    imagined: bool = False  # only shapes matter: an effect is not performed where that can be avoided


_performance = _Performance()


@contextmanager
def recording() -> Iterator[list[Any]]:
    """Collects what the effects inside the block give."""
    before, done = _performance.record, []
    _performance.record = done
    try:
        yield done
    finally:
        _performance.record = before
        if before is not None:
            before.extend(done)


@contextmanager
def replaying(done: list[Any]) -> Iterator[None]:
    """The effects inside the block give what they gave before, as far as that goes, and are not performed again."""
    before = _performance.replay
    _performance.replay = iter(done)
    try:
        yield
    finally:
        _performance.replay = before


@contextmanager
def imagining() -> Iterator[None]:
    """A block that is only run to see what it would do."""
    before = _performance.imagined
    _performance.imagined = True
    try:
        yield
    finally:
        _performance.imagined = before


def performance() -> dict[str, Any]:
    """What this thread does about effects, for `performed_as`."""
    return dict(vars(_performance))


@contextmanager
def performed_as(those: dict[str, Any]) -> Iterator[None]:
    """Inside the block this thread does about effects what another one did."""
    before = performance()
    vars(_performance).update(those)
    try:
        yield
    finally:
        vars(_performance).clear()
        vars(_performance).update(before)


class Check:
    """An op that only looks, and raises if what it sees is not what the graph was made for."""

    family = "effect"
    effect = True
    kinds = dtypes.ANY
    moves_data = True
    random = False
    fragile = False
    pull: Any = None
    push = None
    batch = None
    takes_none = False

    def __init__(self, name: str, kernel: Callable[..., Any]) -> None:
        self.name = self.title = name
        self.numpy = kernel

    def kernel(self, xp: Any, *arrays: Any, **attrs: Any) -> Any:
        """The same on arrays of any module."""
        return self.numpy(*arrays, **attrs)

    def __repr__(self) -> str:
        return f"<effect {self.name}>"


class Effect(Check):
    """An op that is run for what it does. No second run of it stands for the first.

    `imagined(*arrays, **attrs)`, if given, is what it gives where nothing is to be done.
    """

    def __init__(self, name: str, perform: Callable[..., Any], imagined: Callable[..., Any] | None = None) -> None:
        def kernel(*arrays: Any, **attrs: Any) -> Any:
            if _performance.imagined and imagined is not None:
                return imagined(*arrays, **attrs)
            if _performance.replay is not None:
                for result in _performance.replay:
                    return result
                _performance.replay = None
            result = perform(*arrays, **attrs)
            if _performance.record is not None:
                _performance.record.append(result)
            return result

        super().__init__(name, kernel)


def _check(x: Any, *, value: Any) -> tuple[()]:
    if x is not value and not same(x, value):
        raise Changed
    return ()


def same(x: Any, value: Any) -> bool:
    """Whether two arrays of one dtype are the same; NaN is the same as NaN."""
    return x.shape == value.shape and (
        bool(np.all(x == value)) or (x.dtype.kind in "fc" and np.array_equal(x, value, equal_nan=True))
    )


def _check_shape(x: Any, *, shape: tuple[int, ...]) -> tuple[()]:
    if x.shape != shape:
        raise Changed
    return ()


def _write(*arrays: Any, write: Callable[..., None]) -> tuple[()]:
    write(*arrays)
    return ()


guard = Check("guard", _check)
shape_guard = Check("shape_guard", _check_shape)
draw = Effect("draw", lambda *, take: np.asarray(take()), lambda *, take: np.zeros(3, np.uint64))
output = Effect("print", _write, lambda *arrays, write: ())
