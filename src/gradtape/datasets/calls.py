"""Calling the user's functions: eagerly, on the tensors of an element, with random numbers of their own.

A function draws from streams that begin again with every iterator, as a traced function's do in TensorFlow: with a
global seed every pass has the same random numbers, whatever other threads draw meanwhile.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.scopes import holding
from ..core.tensor import Tensor
from ..engine.run import dispatch
from ..engine.run.randomness import State, Streams, drawing_from, state
from .structure import as_leaf, as_result, own_copy


class FunctionStreams(Streams):
    """The streams of a function's random ops: an op is known by its number in a call, and goes on in the next call."""

    def begin_call(self) -> None:
        """Counts the ops from the first one again."""
        self._ops = self._without_seed = 0

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


class _Here(threading.local):
    """The functions' streams of the iterator that this thread is making passes for; None outside of all."""

    streams: dict[Call, FunctionStreams] | None = None


_here = _Here()


def begun(make: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """`make()`, a pass for an iterator of its own."""
    with holding(_here, streams={}):
        return make()


def of_one_iterator(make: Callable[[], Iterator[Any]]) -> Callable[[], Iterator[Any]]:
    """`make`, whose passes are all for the iterator that is being made now, whenever they are begun."""
    streams = _here.streams

    def begin() -> Iterator[Any]:
        with holding(_here, streams=streams):
            return make()

    return begin


class Call:
    """A user's function with the seed of the time when it was given; `begin` is the function for one pass."""

    def __init__(self, function: Callable[..., Any], seed: int | None) -> None:
        if not callable(function):
            raise TypeError(f"a function was expected, got {function!r}")
        self._function = function
        self._seed = seed

    def begin(self) -> Callable[[Any], Any]:
        """The function of an element, whose parts are its arguments if it is a plain tuple."""
        call = self.begin_with_arguments()
        return lambda element: call(*element) if type(element) is tuple else call(element)

    def begin_with_arguments(self) -> Callable[..., Any]:
        """The function as it is."""
        known, function = _here.streams, self._function
        streams = FunctionStreams(self._seed) if known is None else known.setdefault(self, FunctionStreams(self._seed))

        def call(*args: Any) -> Any:
            streams.begin_call()
            witness = dispatch.witness
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
