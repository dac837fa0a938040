"""Calling the user's functions: eagerly, on the tensors of an element, with random numbers of their own.

A function draws from streams that begin again with every iterator, as a traced function's do in TensorFlow: with a
global seed every pass has the same random numbers, whatever other threads draw meanwhile. Within an iterator, a
function that is begun again (by `repeat`, or by the next call of the function that makes its dataset) goes on in its
streams.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.scopes import holding
from ..core.tensor import Tensor
from ..engine.run import dispatch
from ..engine.run.randomness import State, Streams, current_streams, drawing_from, state
from .structure import as_leaf, as_result, own_copy


class FunctionStreams(Streams):
    """The streams of a function's random ops: an op is known by its number in a call, and goes on in the next call."""

    def begin_call(self) -> None:
        """Counts the ops, and the functions given to datasets, from the first one again."""
        self._ops = self._without_seed = self._functions = 0

    def next_function(self) -> int:
        """The number of a function that is given to a dataset in this call."""
        self._functions += 1
        return self._functions - 1

    def next_op_seed(self) -> int:
        """The seed of an op that is given none: its number among those of the function."""
        self._without_seed += 1
        return self._without_seed - 1

    def take(self, kind: Any, op_seed: int | None, blocks: int) -> State:
        """The next state of the op whose turn it is."""
        with self.lock:
            seeds = self.seeds_of_op(op_seed)
            if seeds is None:
                return np.frombuffer(secrets.token_bytes(24), np.uint64)
            stream = self._ops, *seeds
            self._ops += 1
            position = self.positions.get(stream, 0)
            self.positions[stream] = position + blocks
            return state((seeds[1] << 64) + position, seeds[0])


class _Scope:
    """A position in the graph of one iterator's datasets: the datasets begun there find their functions' streams by it.

    TensorFlow rewrites the graph of an iterator, which copies a dataset for each path that leads to it: in
    `zip(d, d)`, both have the same random numbers. It does not rewrite the datasets that functions make or capture:
    there, the uses of one dataset draw from the same streams.

    Args:
      streams: the streams of all functions of the iterator.
      path: the numbers of the inputs from the iterator down to the position; None for datasets of functions.
    """

    def __init__(self, streams: dict[Any, FunctionStreams], path: tuple[int, ...] | None) -> None:
        self.streams = streams
        self.path = path

    def input(self, number: int) -> _Scope:
        """The position of an input of the dataset here."""
        return self if self.path is None else _Scope(self.streams, (*self.path, number))


class _ThreadScope(threading.local):
    """The position for which this thread is beginning passes; None outside of all iterators."""

    scope: _Scope | None = None


_thread = _ThreadScope()


def begun(make: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """`make()`, a pass for an iterator of its own."""
    with holding(_thread, scope=_Scope({}, ())):
        return make()


def outside_of_iterators() -> AbstractContextManager[None]:
    """A context for passes that belong to no iterator, such as those for samples: no iterator's streams move on."""
    return holding(_thread, scope=None)


def input_pass(make: Callable[[], Iterator[Any]], number: int = 0) -> Callable[[], Iterator[Any]]:
    """`make`, bound to an input of the dataset that is being begun now: its passes may be begun at any time."""
    scope = _thread.scope and _thread.scope.input(number)

    def begin() -> Iterator[Any]:
        with holding(_thread, scope=scope):
            return make()

    return begin


def begin_made() -> Callable[[Any], Iterator[Any]]:
    """A function that begins a pass through a dataset which a function of the dataset that is begun now has made."""
    scope = _thread.scope and _Scope(_thread.scope.streams, None)

    def begin(dataset: Any) -> Iterator[Any]:
        with holding(_thread, scope=scope):
            return dataset._elements()  # type: ignore[no-any-return]

    return begin


class Call:
    """A user's function with the seed of the time when it was given; `begin` is the function for one pass.

    Args:
      function: the user's function.
      seed: the global seed.
      name: tells the functions of one dataset apart.
    """

    def __init__(self, function: Callable[..., Any], seed: int | None, name: str = "") -> None:
        if not callable(function):
            raise TypeError(f"a function was expected, got {function!r}")
        self._function = function
        self._seed = seed
        self._name = name
        # A function that makes a dataset makes a new `Call` each time, for what is one function in TensorFlow.
        maker = current_streams()
        self._identity: Any = (maker, maker.next_function()) if isinstance(maker, FunctionStreams) else self

    def begin(self) -> Callable[[Any], Any]:
        """The function of an element, whose parts are its arguments if it is a plain tuple."""
        call = self.begin_with_arguments()
        return lambda element: call(*element) if type(element) is tuple else call(element)

    def begin_with_arguments(self) -> Callable[..., Any]:
        """The function as it is."""
        scope, function, streams = _thread.scope, self._function, FunctionStreams(self._seed)
        if scope is not None:
            key = self._identity if scope.path is None else (scope.path, self._name)
            streams = scope.streams.setdefault(key, streams)

        def call(*args: Any) -> Any:
            streams.begin_call()
            witness = dispatch.event_log
            if witness is None:
                return as_result(drawing_from(streams, function, args))
            with holding(witness.feeding, depth=witness.feeding.depth + 1):  # for explanations
                return as_result(drawing_from(streams, function, args))

        return call


def truth(predicate: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """`predicate` with a bool as its result; `ValueError` if that is no boolean scalar."""

    def is_true(element: Any) -> bool:
        found = as_leaf(predicate(own_copy(element)))
        if not isinstance(found, Tensor) or found.dtype is not dtypes.bool or found.dims:
            raise ValueError(
                f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but it returned {found!r}"
            )
        return bool(found.array)

    return is_true


def dataset_of(result: Any, what: str) -> Any:
    """`result`, which must be a dataset."""
    if not hasattr(result, "_elements"):
        raise TypeError(f"Invalid `{what}`. `{what}` must return a `Dataset` object. Got {result!r}")
    return result
