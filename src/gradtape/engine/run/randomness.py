"""Where random numbers come from: every draw is a pure function of a Philox state, and this file hands the states out.

A state is three unsigned 64-bit numbers: the low and the high half of the counter, and the key. A draw that is given no
seed takes its state from `next_seed`, the one place to record the states of a computation and to replay it with the
same random numbers:

    with recording_seeds() as seeds:
        y = f(x)
    with replaying_seeds(seeds):
        y_again = f(x)  # the same random numbers; no generator moves on
"""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ...core.scopes import carried, holding
from . import dispatch

State = np.ndarray[Any, Any]

# A draw of n numbers moves a stream on by this many blocks for each, so that rejected candidates never overlap.
BLOCKS_PER_NUMBER = 256

_MAXINT32 = 2**31 - 1
_DEFAULT_SEED = 87654321
_LOW = 2**64 - 1


def state(counter: int, key: int) -> State:
    """The state with this 128-bit counter and 64-bit key."""
    return np.array([counter & _LOW, counter >> 64 & _LOW, key & _LOW], np.uint64)


class Streams:
    """Streams, one for each kind of draw and seed, as TensorFlow's cached kernels keep them."""

    def __init__(self, seed: int | None = None) -> None:
        self.lock = threading.Lock()
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Forgets all streams; `seed` is the global seed from now on."""
        with self.lock:
            self.epoch = object()
            self.seed = seed
            self.op_seeds = random.Random(seed)
            self.positions: dict[Any, int] = {}

    def moment(self) -> tuple[Any, ...]:
        """Where the streams stand, for `go_back`."""
        with self.lock:
            return self.epoch, self.op_seeds.getstate(), dict(self.positions)

    def go_back(self, moment: tuple[Any, ...]) -> None:
        """Takes back what was drawn since, unless a seed was set meanwhile."""
        epoch, op_seeds, positions = moment
        with self.lock:
            if self.epoch is epoch:
                self.op_seeds.setstate(op_seeds)
                self.positions = positions

    def take(self, kind: Any, op_seed: int | None, blocks: int) -> State:
        """The state of the next draw of this kind, whose stream moves on by `blocks`."""
        with self.lock:
            seeds = self.seeds_of_op(op_seed)
            if seeds is None:
                return np.frombuffer(secrets.token_bytes(24), np.uint64)
            first, second = seeds
            position = 0
            if op_seed is not None:
                stream = kind, first, second
                position = self.positions.get(stream, 0)
                self.positions[stream] = position + blocks
            return state((second << 64) + position, first)

    def seeds_of_op(self, op_seed: int | None) -> tuple[int, int] | None:
        """The global seed and that of an op made now; None where neither is set, and chance decides."""
        if op_seed is None:
            if self.seed is None:
                return None
            op_seed = self.next_op_seed()
        return _pair(self.seed, op_seed)

    def next_op_seed(self) -> int:
        """The seed of an op that is given none."""
        return self.op_seeds.randint(0, _MAXINT32)


def _pair(seed: int | None, op_seed: int) -> tuple[int, int]:
    """The key and the upper half of the counter, from the global seed and that of an op."""
    first = _DEFAULT_SEED if seed is None else seed % _MAXINT32
    second = op_seed % _MAXINT32
    return (first, _MAXINT32) if first == second == 0 else (first, second)


_streams = Streams()  # the process's


class Stream:
    """The states of one random op in a function: the op has a stream of its own, and goes on in it in every run.

    Its seeds are those of the time when it was traced. Setting a global seed starts the stream again.
    """

    def __init__(self, first: int, second: int) -> None:
        self.seeds = first, second
        self._epoch = _streams.epoch
        self._position = 0

    def take(self, blocks: int) -> State:
        """The next state; the stream moves on by `blocks`."""
        with _streams.lock:
            position = self.position
            self.position = position + blocks
        first, second = self.seeds
        return state((second << 64) + position, first)

    @property
    def position(self) -> int:
        """Where the stream stands."""
        return self._position if self._epoch is _streams.epoch else 0

    @position.setter
    def position(self, position: int) -> None:
        self._epoch = _streams.epoch
        self._position = position

    def fresh(self) -> Stream:
        """The stream of the same op in another graph."""
        return Stream(*self.seeds)


class Draw:
    """What a random op of a graph takes of its stream in a run: so much as the numbers of this graph's shape need.

    Graphs of one function for other shapes draw from the same stream.
    """

    def __init__(self, stream: Stream, blocks: int) -> None:
        self.stream = stream
        self.blocks = blocks

    def __call__(self) -> State:
        return self.stream.take(self.blocks)

    def passed(self, drawn: State) -> None:
        """A state was drawn elsewhere for this op: the stream goes on behind it."""
        self.stream.position = max(self.stream.position, int(drawn[0]) + self.blocks)


def set_global_seed(seed: int | None) -> None:
    """Makes all draws from here on a function of `seed`."""
    _streams.reset(seed)


def global_seed() -> int | None:
    """The seed that was set last, or None."""
    return _streams.seed


def seeds_of_op(op_seed: int | None) -> tuple[int, int] | None:
    """The global seed and that of an op made now; None where neither is set, and chance decides."""
    streams = _thread.streams or _streams
    with streams.lock:
        return streams.seeds_of_op(op_seed)


def _one(take: Callable[[], State]) -> Any:
    """One draw; in a function that is being traced, one in every run, unless a variable is read and assigned for it."""
    trace = dispatch.thread.trace
    return take() if trace is None or hasattr(take, "variable") else trace.draw(take)


class _Frames(threading.local):
    """The recordings and replays this thread is inside of, the innermost last."""

    frames: tuple[Any, ...] = ()
    streams: Streams | None = None  # where draws come from instead of the process's streams: see `drawing_from`
    draw: Callable[[Callable[[], State]], Any] = staticmethod(_one)  # one draw, or one for each member


_thread = carried(_Frames())


def current_streams() -> Streams | None:
    """The streams that this thread draws from instead of the process's: see `drawing_from`."""
    return _thread.streams


def next_seed(take: Callable[[], State]) -> Any:
    """The state of one draw: what `take` gives, or, in a replay, what it gave when it was recorded.

    In a vectorised computation it is a tensor that stands for a state of each member.
    """
    recordings = []
    for frame in reversed(_thread.frames):
        if isinstance(frame, list):
            recordings.append(frame)
            continue
        try:
            seed = next(frame)
        except StopIteration:
            raise RuntimeError(
                "a function that is recomputed drew more random numbers than it did the first time. Make its random "
                "draws the same in every call, or do not recompute it"
            ) from None
        break
    else:
        seed = _thread.draw(take)
    for recording in recordings:
        recording.append(seed)
    return seed


def next_global_seed(kind: Any, op_seed: int | None, blocks: int) -> Any:
    """`next_seed` from the process's streams: see `set_global_seed`. An op of a function has a stream of its own."""
    trace, seed, own = dispatch.thread.trace, _streams.seed, _thread.streams
    if own is not None and trace is None:
        return next_seed(lambda: own.take(kind, op_seed, blocks))
    if trace is not None and (seed is not None or op_seed is not None):
        return next_seed(trace.stream(*_pair(seed, trace.next_op_seed() if op_seed is None else op_seed), blocks))
    return next_seed(lambda: _streams.take(kind, op_seed, blocks))


@contextmanager
def recording_seeds() -> Iterator[list[State]]:
    """A context whose value is a list that collects the states drawn inside it, in this thread."""
    seeds: list[State] = []
    with holding(_thread, frames=(*_thread.frames, seeds)):
        yield seeds


def replaying_seeds(seeds: list[State]) -> AbstractContextManager[None]:
    """A context inside which draws get the states of `seeds` again, in order; nothing else moves on."""
    return holding(_thread, frames=(*_thread.frames, iter(tuple(seeds))))


def drawing_from(streams: Streams | None, f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """`f(*args)`, in which draws without a state of their own come from `streams`; None are the process's streams."""
    with holding(_thread, streams=streams):
        return f(*args)


def drawing_for_good(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """`f(*args)`, whose draws count even inside `drawing_from`, for they are the process's; unless it fails."""
    if _thread.streams is None:
        return f(*args)
    before = _streams.moment()
    try:
        return drawing_from(None, f, args)
    except BaseException:
        _streams.go_back(before)
        raise


def drawing_for_each(together: Callable[[Callable[[], Any], Any], Any]) -> AbstractContextManager[None]:
    """A context inside which a draw is what `together(draw one, take)` makes: a state for each member of a batch."""
    before = _thread.draw
    return holding(_thread, draw=lambda take: together(lambda: before(take), take))
