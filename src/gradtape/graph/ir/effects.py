"""What a graph does beside computing: guards, random draws, prints, calls of Python. These nodes stay, in order.

A function is traced by running it, and then often run once more, for its derivative or inside another trace. What it
does must still be done once: `recording` notes what each effect gave, `replaying` gives it again without doing it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.scopes import carried, holding
from ...core.tensor import Tensor
from ...engine.registry.op import Unregistered, named_parameters
from ...engine.run import dispatch
from ...engine.run.randomness import Draw


class Changed(Exception):
    """A value that a graph was made for is different in this run."""

    is_signal = True  # the tracer raises it to itself


class _Performance(threading.local):
    """What this thread does about effects."""

    frames: tuple[Any, ...] = ()  # lists that collect what effects give, iterators that give it again; innermost last
    imagined: bool = False  # only shapes matter: an effect is not performed where that can be avoided


ATTEMPTS = 4  # at a run whose variables other threads change meanwhile
_performance = carried(_Performance())
_NOTHING_LEFT = object()
_AS_BEFORE = nullcontext()


class _Inside:
    """A context with one more frame, which is its value."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __enter__(self) -> Any:
        self._before = _performance.frames
        _performance.frames = (*self._before, self._frame)
        return self._frame

    def __exit__(self, *_: object) -> None:
        _performance.frames = self._before


def recording() -> Any:
    """A context whose value is a list that collects what the effects inside the block give."""
    return _Inside([])


def replaying(done: list[Any]) -> Any:
    """The effects inside the block give what they gave before, as far as that goes, and are not performed again."""
    return _Inside(iter(tuple(done))) if done else _AS_BEFORE


def once(perform: Callable[[], Any]) -> Any:
    """What an effect gives: from the innermost replay that still has something to give, or by performing it."""
    frames = _performance.frames
    recordings = []
    for frame in reversed(frames):
        if type(frame) is list:
            recordings.append(frame)
            continue
        result = next(frame, _NOTHING_LEFT)
        if result is not _NOTHING_LEFT:
            break
    else:
        _performance.frames = ()  # what is done inside it is a part of this effect
        try:
            result = perform()
        finally:
            _performance.frames = frames
    for recording in recordings:
        recording.append(result)
    return result


def performance() -> dict[str, Any]:
    """What this thread does about effects, for `performed_as`."""
    return dict(vars(_performance))


def performed_as(those: dict[str, Any]) -> Any:
    """A context in which this thread does about effects what another one did."""
    return holding(_performance, **those)


def given(result: Any) -> Any:
    """A context in which the one effect gives `result`; nobody is told."""
    return holding(_performance, frames=(iter((result,)),))


def is_imagined() -> bool:
    """Whether this thread is in a block of `imagining`."""
    return _performance.imagined


def imagining() -> Any:
    """A context for what is only run to see what it would do."""
    return holding(_performance, imagined=True)


class Check(Unregistered):
    """An op that only looks, and raises if what it sees is not what the graph was made for."""

    family = "effect"
    effect = True

    def __init__(self, name: str, kernel: Callable[..., Any]) -> None:
        self.name = self.title = name
        self.numpy = kernel

    def outcome(self, inputs: Any, attrs: Any) -> Any:
        """Whoever only looks gives nothing."""
        return (), True


class ObserverOp(Check):
    """An op that shows its inputs to somebody, and is no part of the computation: see `watched`."""


class Effect(Check):
    """An op that is run for what it does. No second run of it stands for the first.

    `imagined(*arrays, **attrs)`, if given, is what it gives where nothing is to be done; `passed(result, **attrs)`
    is called where what it gave before is given again.
    """

    def __init__(
        self, name: str, perform: Callable[..., Any], imagined: Callable[..., Any] | None = None,
        passed: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        def kernel(*arrays: Any, **attrs: Any) -> Any:
            if _performance.imagined and imagined is not None:
                return imagined(*arrays, **attrs)
            if not _performance.frames:
                return performed(*arrays, **attrs)
            new = []

            def perform_now() -> Any:
                new.append(True)
                return performed(*arrays, **attrs)

            result = once(perform_now)
            if not new and passed is not None:
                passed(result, **attrs)
            return result

        def performed(*arrays: Any, **attrs: Any) -> Any:
            if dispatch.thread.trace is None:
                return perform(*arrays, **attrs)
            with dispatch.traced_by(None):  # what it does is done now, and is no part of a graph
                return perform(*arrays, **attrs)

        super().__init__(name, kernel)
        self.attributes = named_parameters(perform)
        self._imagined = imagined

    def outcome(self, inputs: Any, attrs: Any) -> Any:
        """That of what is imagined, for which the values of the inputs do not matter."""
        if self._imagined is None:
            return None
        result = self._imagined(*inputs, **attrs)
        several = type(result) is tuple
        return [(y.shape, dtypes.of_numpy(y.dtype)) for y in (result if several else (result,))], several


def _check(x: Any, *, value: Any) -> tuple[()]:
    if x is not value and not _performance.imagined and not same(x, value):
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


def _refuse(*arrays: Any, operand_shapes: Any = ()) -> tuple[()]:
    raise Changed


guard = Check("guard", _check)
shape_guard = Check("shape_guard", _check_shape)
# Stands in a branch that could not be traced: taking it means to trace again. `operand_shapes` are those that an op in
# the branch refused.
never = Check("never", _refuse)


def note_decision(x: Tensor) -> None:
    """Tells the tapes that trace which number a branch or another round of a loop depended on, run op by op."""
    if dispatch.thread.trace is None:
        for recorder in dispatch.thread.recorders:
            if recorder.traces:
                recorder.note_check(guard, (x,), {"value": np.asarray(x.array)})


def _passed(drawn: Any, *, take: Callable[[], Any]) -> None:
    if isinstance(take, Draw):
        take.passed(drawn)


draw = Effect("draw", lambda *, take: np.asarray(take()), lambda *, take: np.zeros(3, np.uint64), _passed)
output = Effect("print", _write, lambda *arrays, write: ())
clock = Effect("timestamp", lambda: np.float64(time.time()), lambda: np.float64(0.0))


def _verify(*arrays: Any, test: Callable[..., None]) -> tuple[()]:
    if not _performance.imagined:
        test(*arrays)
    return ()


assertion = Check("assert", _verify)  # `test(*arrays)` raises where what is asserted does not hold
