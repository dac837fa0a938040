"""Side effects of a graph: guards, random draws, prints, calls of Python. Passes keep these nodes, in program order.

A function is traced by running it, and often runs once more, for its derivative or inside another trace. Each effect
must still happen exactly once: `recording` collects the result of each effect, `replaying` returns those results again
without performing the effects.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from operator import length_hint
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.scopes import carried, holding
from ...core.tensor import Tensor
from ...engine.registry.op import Unregistered, named_parameters
from ...engine.run import dispatch
from ...engine.run.randomness import Draw


class Changed(Exception):
    """A guard failed: a value that the graph was specialized on differs in this run."""

    is_signal = True  # control flow between the executor and the tracer, not an error that the user sees


class _Performance(threading.local):
    """The effect handling mode of this thread."""

    frames: tuple[Any, ...] = ()  # recordings (lists of results) and replays (iterators over results); innermost last
    imagined: bool = False  # abstract run: only shapes matter, and effects that can be skipped are


class EffectRecording(list[Any]):
    """The results of effects, in order; `draws` are the indices of random draws."""

    def __init__(self) -> None:
        super().__init__()
        self.draws: set[int] = set()

    def add(self, result: object, is_draw: bool) -> None:
        """Append a result."""
        if is_draw:
            self.draws.add(len(self))
        self.append(result)

    def truncate(self, count: int) -> None:
        """Forget all but the first results."""
        del self[count:]
        self.draws = {i for i in self.draws if i < count}


class _PartialReplay:
    """A replay of random draws only, or of all other effects."""

    def __init__(self, recording: EffectRecording, draws: bool) -> None:
        self._results = iter([result for i, result in enumerate(recording) if (i in recording.draws) is draws])
        self.draws = draws

    def __next__(self) -> Any:
        return next(self._results)

    def __length_hint__(self) -> int:
        return length_hint(self._results)


EffectFrame = EffectRecording | Iterator[Any] | _PartialReplay  # a recording, or a replay
ATTEMPTS = 4  # of a run whose variables other threads modify concurrently
_performance = carried(_Performance())
_NOTHING_LEFT = object()
_AS_BEFORE = nullcontext()


class _Inside:
    """Context manager that pushes a frame and returns it."""

    def __init__(self, frame: EffectFrame) -> None:
        self._frame = frame

    def __enter__(self) -> Any:
        self._before = _performance.frames
        _performance.frames = (*self._before, self._frame)
        return self._frame

    def __exit__(self, *_: object) -> None:
        _performance.frames = self._before


def recording() -> Any:
    """Returns a context manager that yields an `EffectRecording` of the effects in the block."""
    return _Inside(EffectRecording())


def replaying(done: list[Any]) -> Any:
    """Returns a context manager in which effects return their recorded results, until those run out, unperformed."""
    return _Inside(iter(tuple(done))) if done else _AS_BEFORE


def replaying_draws(done: EffectRecording) -> Any:
    """Returns a context manager in which random draws are replayed, and other effects performed."""
    return _Inside(_PartialReplay(done, True)) if done.draws else _AS_BEFORE


def replaying_all_but_draws(done: EffectRecording) -> Any:
    """Returns a context manager in which random numbers are drawn anew, and other effects replayed."""
    return _Inside(_PartialReplay(done, False)) if done else _AS_BEFORE


def once(perform: Callable[[], Any], is_draw: bool = False) -> Any:
    """Returns an effect's result from the innermost replay that is not exhausted; otherwise perform it."""
    frames = _performance.frames
    recordings = []
    for frame in reversed(frames):
        if isinstance(frame, EffectRecording):
            recordings.append(frame)
            continue
        if type(frame) is _PartialReplay and frame.draws is not is_draw:
            continue
        result = next(frame, _NOTHING_LEFT)
        if result is not _NOTHING_LEFT:
            break
    else:
        _performance.frames = ()  # effects nested in this one are part of it, and are neither recorded nor replayed
        try:
            result = perform()
        finally:
            _performance.frames = frames
    for recording in recordings:
        recording.add(result, is_draw)
    return result


def performance() -> dict[str, Any]:
    """Returns this thread's effect handling mode, for `performed_as`."""
    return dict(vars(_performance))


def is_performed() -> bool:
    """Returns whether effects are performed, and neither recorded, replayed nor imagined."""
    return not (_performance.frames or _performance.imagined)


def performed_as(those: dict[str, Any]) -> Any:
    """Returns a context manager that applies an effect handling mode returned by `performance`."""
    return holding(_performance, **those)


@contextmanager
def undoing_draws(takes: Sequence[Callable[[], Any]]) -> Iterator[None]:
    """Undo the draws of a block that ends with `Changed`.

    An XLA program gets all draws of a run before its guards are checked. The graph that runs instead may draw less.
    """
    positions = [(take.stream, take.stream.position) for take in takes if isinstance(take, Draw)]
    recordings = [(frame, len(frame)) for frame in _performance.frames if isinstance(frame, EffectRecording)]
    try:
        yield
    except Changed:
        if takes and len(positions) == len(takes):  # otherwise effects are performed, and recorded, in program order
            for stream, position in positions:
                stream.position = position
            for done, count in recordings:
                done.truncate(count)
        raise


def given(result: object) -> Any:
    """Returns a context manager in which the next effect returns `result`, without being recorded."""
    return holding(_performance, frames=(iter((result,)),))


def is_imagined() -> bool:
    """Whether this thread is inside an `imagining` block."""
    return _performance.imagined


def imagining() -> Any:
    """Returns a context manager for abstract runs, which only need shapes: effects are skipped where possible."""
    return holding(_performance, imagined=True)


class Check(Unregistered):
    """An op that only inspects its inputs, and raises if they are not what the graph was specialized on."""

    family = "effect"
    effect = True

    def __init__(self, name: str, kernel: Callable[..., Any]) -> None:
        self.name = self.title = name
        self.numpy = kernel

    def outcome(self, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Returns no outputs, as a tuple."""
        return (), True


class ObserverOp(Check):
    """An op that passes its inputs to an observer and takes no part in the computation: see `observers`."""


class Effect(Check):
    """An op that runs for its side effect. Passes neither merge nor repeat it.

    `imagined(*arrays, **attrs)`, if given, returns a placeholder result in abstract runs; `passed(result, **attrs)` is
    called when a recorded result is replayed.
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

            result = once(perform_now, self is draw)
            if not new and passed is not None:
                passed(result, **attrs)
            return result

        def performed(*arrays: Any, **attrs: Any) -> Any:
            if dispatch.thread.trace is None:
                return perform(*arrays, **attrs)
            with dispatch.traced_by(None):  # the effect happens now, so its ops are not traced
                return perform(*arrays, **attrs)

        super().__init__(name, kernel)
        self.attributes = named_parameters(perform)
        self._imagined = imagined

    def outcome(self, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Returns the shapes and dtypes of the `imagined` result, which must not depend on the values of the inputs."""
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
    """Whether two arrays of one dtype are equal, counting NaN as equal to NaN."""
    if x.shape != value.shape:
        return False
    equal = x == value
    return bool(np.all(equal)) or bool(np.all(equal | ((x != x) & (value != value))))


def check_shape(shape: tuple[int, ...], expected: tuple[int | None, ...]) -> None:
    """Raises `Changed` unless a shape has the expected sizes; None is a dynamic size (see `dynamic_sizes`)."""
    if shape != expected:
        known = [(size, n) for size, n in zip(shape, expected, strict=False) if n is not None]
        if len(shape) != len(expected) or any([size != n for size, n in known]):
            raise Changed


def _check_shape(x: Any, *, shape: tuple[int | None, ...]) -> tuple[()]:
    check_shape(x.shape, shape)
    return ()


def _write(*arrays: Any, write: Callable[..., None]) -> tuple[()]:
    write(*arrays)
    return ()


def _refuse(*arrays: Any, operand_shapes: object = ()) -> tuple[()]:
    raise Changed


guard = Check("guard", _check)
shape_guard = Check("shape_guard", _check_shape)
# Placeholder in a branch that could not be traced: taking the branch triggers a retrace. `operand_shapes` are the
# shapes that an op in the branch rejected.
never = Check("never", _refuse)


def record_decision(x: Tensor) -> None:
    """Record, on tapes that trace, a guard on a value that decided a branch or loop condition in eager execution."""
    if dispatch.thread.trace is None:
        for recorder in dispatch.thread.recorders:
            if recorder.traces:
                recorder.record_check(guard, (x,), {"value": np.asarray(x.array)})


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


assertion = Check("assert", _verify)  # `test(*arrays)` raises if the assertion does not hold
