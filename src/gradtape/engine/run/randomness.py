"""Random state: every draw is a pure function of a Philox state, and this module allocates the states.

A state is three unsigned 64-bit numbers: the low and the high half of the counter, and the key. A draw without an
explicit seed takes its state from `next_seed`, the only place where the states of a computation can be recorded, and
replayed to repeat it with the same random numbers:

    with recording_seeds() as seeds:
        y = f(x)
    with replaying_seeds(seeds):
        y_again = f(x)  # the same random numbers; no generator advances
"""

from __future__ import annotations

import hashlib
import os
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet, ref

import numpy as np

from ...core.locks import fork_safe_lock
from ...core.scopes import carried, holding
from . import dispatch

if TYPE_CHECKING:
    from .trace_protocol import TraceStreams

State = np.ndarray[Any, Any]

# A draw of n numbers advances its stream by this many Philox blocks per number, so that rejection sampling never
# overlaps the next draw.
BLOCKS_PER_NUMBER = 256

_MAXINT32 = 2**31 - 1
_DEFAULT_SEED = 87654321
_LOW = 2**64 - 1


def state(counter: int, key: int) -> State:
    """Returns the state with this 128-bit counter and 64-bit key."""
    return np.array([counter & _LOW, counter >> 64 & _LOW, key & _LOW], np.uint64)


class SeedPair(NamedTuple):
    """Both seeds of an op, in place of an op seed: no global seed changes them."""

    first: int
    second: int


OpSeed = int | SeedPair | None


def as_op_seed(seed: Any) -> OpSeed:
    """Returns a seed that was passed to a random op; raises an error unless it is a number."""
    return seed if seed is None or type(seed) is SeedPair else int(seed)


class Streams:
    """A set of streams, one for each kind of draw and seed, like the state of TensorFlow's cached kernels."""

    def __init__(self, seed: int | None = None) -> None:
        self.default_seed = _DEFAULT_SEED  # in place of a global seed, for ops with a seed
        self.lock = fork_safe_lock()
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Discards all streams and sets the global seed."""
        with self.lock:
            self.epoch = object()
            self.seed = seed
            self.op_seeds = random.Random(seed)
            self.positions: dict[Any, int] = {}

    def moment(self) -> tuple[Any, ...]:
        """Returns a snapshot of the streams for `go_back`."""
        with self.lock:
            return self.epoch, self.op_seeds.getstate(), dict(self.positions)

    def go_back(self, moment: tuple[Any, ...]) -> None:
        """Restores a snapshot, unless a seed was set since."""
        epoch, op_seeds, positions = moment
        with self.lock:
            if self.epoch is epoch:
                self.op_seeds.setstate(op_seeds)
                self.positions = positions

    def take(self, kind: Any, op_seed: OpSeed, blocks: int) -> State:
        """Returns the state of the next draw of this kind and advances its stream by `blocks`."""
        with self.lock:
            seeds = self.seeds_of_op(op_seed)
            if seeds is None:
                return np.frombuffer(os.urandom(24), np.uint64)
            first, second = seeds
            position = 0
            if op_seed is not None:
                stream = kind, first, second
                position = self.positions.get(stream, 0)
                self.positions[stream] = position + blocks
            return state((second << 64) + position, first)

    def seeds_of_op(self, op_seed: OpSeed) -> tuple[int, int] | None:
        """Returns the seed pair (global, op) of a new op; None if neither is set, which means entropy from the OS."""
        if op_seed is None:
            if self.seed is None:
                return None
            op_seed = self.next_op_seed()
        return _pair(self.seed, op_seed)

    def next_op_seed(self) -> int:
        """Returns the seed of an op without an explicit one."""
        return self.op_seeds.randint(0, _MAXINT32)


def _pair(seed: int | None, op_seed: int | SeedPair) -> tuple[int, int]:
    """Returns the key and the high half of the counter for a global seed and an op seed."""
    if isinstance(op_seed, SeedPair):
        return op_seed
    first = _streams.default_seed if seed is None else seed % _MAXINT32
    second = op_seed % _MAXINT32
    return (first, _MAXINT32) if first == second == 0 else (first, second)


class GraphStreams(Streams):
    """The streams of a graph: with a seed, each op has one of its own, and ops without a seed are numbered."""

    count = 0

    def take(self, kind: Any, op_seed: OpSeed, blocks: int) -> State:
        """Returns the first state of the stream of a new op; without a seed of the graph, the process's next state."""
        if self.seed is None:
            return _streams.take(kind, op_seed, blocks)
        with self.lock:
            first, second = _pair(self.seed, self.next_op_seed() if op_seed is None else op_seed)
        return state(second << 64, first)

    def next_op_seed(self) -> int:
        """Returns the number of an op without a seed."""
        self.count += 1
        return self.count - 1


_streams = Streams()  # shared by the process
_streams_of_functions: WeakSet[Stream] = WeakSet()
_key_variables: dict[int, tuple[ref[Any], int]] = {}  # by `id`: variables that hold a key, and its index


class Stream:
    """The random stream of one op in a traced function, which continues from run to run.

    Its seeds are fixed when the op is traced. Setting a global seed restarts the stream.
    """

    def __init__(self, first: int, second: int) -> None:
        self.seeds = first, second
        self._epoch = _streams.epoch
        self._position = 0
        _streams_of_functions.add(self)

    def take(self, blocks: int) -> State:
        """Returns the next state and advances the stream by `blocks`."""
        with _streams.lock:
            position = self.position
            self.position = position + blocks
        first, second = self.seeds
        return state((second << 64) + position, first)

    @property
    def position(self) -> int:
        """The current position in the stream."""
        return self._position if self._epoch is _streams.epoch else 0

    @position.setter
    def position(self, position: int) -> None:
        self._epoch = _streams.epoch
        self._position = position

    def fresh(self) -> Stream:
        """Returns a new stream for the same op in another graph."""
        return Stream(*self.seeds)


class Draw:
    """The draw of a random op in a graph: advances the op's stream by what this graph's shape needs.

    Graphs of the same function for other shapes share the stream.
    """

    def __init__(self, stream: Stream, blocks: int) -> None:
        self.stream, self.blocks = stream, blocks

    def __call__(self) -> State:
        return self.stream.take(self.blocks)

    def passed(self, drawn: State) -> None:
        """Advances the stream past a state that was drawn elsewhere for this op."""
        self.stream.position = max(self.stream.position, int(drawn[0]) + self.blocks)


def set_global_seed(seed: int | None) -> None:
    """Sets the global seed, which restarts all streams."""
    _streams.reset(seed)


def register_key(variable: Any, index: int) -> None:
    """Notes that the element `index` of a vector is the key of a stream, for `reseed`."""
    at = id(variable)
    _key_variables[at] = ref(variable, lambda _: _key_variables.pop(at, None)), index


def reseed(number: int) -> None:
    """Replaces the keys of all streams by functions of the keys and a number."""
    for stream in list(_streams_of_functions):
        first, second = stream.seeds
        stream.seeds = _mixed(first, number), second
    _streams.default_seed = _mixed(_streams.default_seed, number)
    set_global_seed(None if _streams.seed is None else _mixed(_streams.seed, number))
    with dispatch.traced_by(None), dispatch.recorded_by(()):
        for reference, index in list(_key_variables.values()):
            variable = reference()
            if variable is not None:
                values = variable.numpy().copy()
                values[index] = _mixed(int(values[index]), number) & np.iinfo(values.dtype).max
                variable.assign(values)


def _mixed(key: int, number: int) -> int:
    """Returns 63 bits that depend on a key and a number."""
    digest = hashlib.blake2b(f"{key} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def global_seed() -> int | None:
    """Returns the global seed, or None."""
    return _streams.seed


def seeds_of_op(op_seed: OpSeed) -> tuple[int, int] | None:
    """Returns the seed pair (global, op) of a new op; None if neither is set, which means entropy from the OS."""
    trace = dispatch.thread.trace
    if trace is not None:
        seed = _seed_of(trace.random)
        if seed is None and op_seed is None:
            return None
        return _pair(seed, trace.random.next_op_seed() if op_seed is None else op_seed)
    streams = _thread.streams or _streams
    with streams.lock:
        return streams.seeds_of_op(op_seed)


def _one(take: Callable[[], State]) -> Any:
    """Draws one state; in a trace, adds a draw per run of the graph, unless the state is read from a variable."""
    trace = dispatch.thread.trace
    if trace is None or (hasattr(take, "variable") and not trace.is_scratch):
        return take()
    return trace.draw(take)


class _Frames(threading.local):
    """The recordings and replays that this thread is inside of, innermost last."""

    frames: tuple[Any, ...] = ()
    streams: Streams | None = None  # replaces the process's streams: see `drawing_from`
    function: TraceStreams | None = None  # the streams of the function that runs eagerly, if any
    draw: Callable[[Callable[[], State]], Any] = staticmethod(_one)  # draws one state, or one for each batch member


_thread = carried(_Frames())


def set_graph_seed(seed: int | None) -> bool:
    """Sets the seed of the graph or function that draws in this thread; returns False if there is none."""
    owner: Any = function_streams() or _thread.streams
    if owner is not None:
        owner.seed = seed
    return owner is not None


def _seed_of(random: TraceStreams) -> int | None:
    """Returns the seed of a function: one set inside of it, or the global seed."""
    return _streams.seed if random.seed is None else random.seed


def current_streams() -> Streams | None:
    """Returns the streams that replace the process's in this thread, or None: see `drawing_from`."""
    return _thread.streams


def next_seed(take: Callable[[], State]) -> Any:
    """Returns the state of one draw: the result of `take` or, in a replay, the recorded one.

    In a vectorized computation it is a batched tensor with a state for each member.
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


def next_global_seed(kind: Any, op_seed: OpSeed, blocks: int) -> Any:
    """`next_seed` from the process's streams (see `set_global_seed`); in a trace with a seed, from the op's stream."""
    trace, own = dispatch.thread.trace, _thread.streams
    if own is not None and trace is None:
        return next_seed(lambda: own.take(kind, op_seed, blocks))
    random = function_streams()

    def take() -> State:
        return _streams.take(kind, op_seed, blocks)

    if random is None:
        return next_seed(take)
    draw: Callable[[], State] = take
    if (seed := _seed_of(random)) is not None or op_seed is not None:
        draw = random.stream(*_pair(seed, random.next_op_seed() if op_seed is None else op_seed), blocks)
    return next_seed(draw if trace is not None else lambda: random.draw(draw))


def function_streams() -> TraceStreams | None:
    """Returns the streams of the function that is traced or runs eagerly in this thread, or None."""
    trace = dispatch.thread.trace
    return _thread.function if trace is None else trace.random


def drawing_for_function(streams: TraceStreams) -> AbstractContextManager[None]:
    """A context in which a function runs eagerly with its own streams."""
    return holding(_thread, function=streams)


@contextmanager
def recording_seeds() -> Iterator[list[State]]:
    """A context that collects the states drawn inside it, in this thread, in a list."""
    seeds: list[State] = []
    with holding(_thread, frames=(*_thread.frames, seeds)):
        yield seeds


def replaying_seeds(seeds: list[State]) -> AbstractContextManager[None]:
    """A context in which draws get the states of `seeds` again, in order, and no stream advances."""
    return holding(_thread, frames=(*_thread.frames, iter(tuple(seeds))))


def drawing_in_graph(streams: Streams) -> AbstractContextManager[None]:
    """A context in which draws without an explicit state come from the streams of a graph."""
    return holding(_thread, streams=streams)


def drawing_from(streams: Streams | None, f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Calls `f(*args)` with draws without an explicit state taken from `streams`; None means the process's streams."""
    with holding(_thread, streams=streams):
        return f(*args)


def drawing_for_good(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Calls `f(*args)` with the process's streams even inside `drawing_from`; rolls them back if it raises."""
    if _thread.streams is None:
        return f(*args)
    before = _streams.moment()
    try:
        return drawing_from(None, f, args)
    except BaseException:
        _streams.go_back(before)
        raise


def drawing_for_each(together: Callable[[Callable[[], Any], Any], Any]) -> AbstractContextManager[None]:
    """A context in which `together(draw one, take)` makes each draw: a state for each member of a batch."""
    before = _thread.draw
    return holding(_thread, draw=lambda take: together(lambda: before(take), take))
