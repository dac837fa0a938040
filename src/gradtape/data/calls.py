"""Calls of user functions: eager, on the tensors of an element, with separate random streams.

The random streams of a function restart with every iterator, as those of a traced function do in TensorFlow: with a
global seed, every pass draws the same numbers, whatever other threads draw. Within an iterator, a function that is
started again (by `repeat`, or by the next call of the function that creates its dataset) continues its streams.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..core import dtypes, errors, modes
from ..core.scopes import holding
from ..core.tensor import Tensor
from ..engine.run import dispatch
from ..engine.run.randomness import OpSeed, State, Streams, current_streams, drawing_from, state
from .elements.structure import as_leaf, as_result, copy_for_reader


class FunctionStreams(Streams):
    """The random streams of a function. An op is identified by its index in a call; the next call continues it."""

    def begin_call(self) -> None:
        """Resets the indices of ops and of functions passed to datasets."""
        self._ops = self._without_seed = self._functions = 0

    def next_function(self) -> int:
        """Returns the index of a function that is passed to a dataset in this call."""
        self._functions += 1
        return self._functions - 1

    def next_op_seed(self) -> int:
        """Returns the seed of an op without one: its index among such ops of the function."""
        self._without_seed += 1
        return self._without_seed - 1

    def take(self, kind: Any, op_seed: OpSeed, blocks: int) -> State:
        """Returns the next state of the current op."""
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
    """A position in an iterator's dataset graph, the key by which datasets started there find their functions' streams.

    TensorFlow rewrites the graph of an iterator, which copies a dataset for each path that leads to it: in `zip(d, d)`,
    both copies draw the same numbers. It does not rewrite datasets that functions create or capture: there, all uses of
    a dataset share their streams.

    Args:
      streams: the streams of all functions of the iterator.
      path: the input indices from the iterator down to this position; None for datasets of functions.
    """

    def __init__(self, streams: dict[Any, FunctionStreams], path: tuple[int, ...] | None) -> None:
        self.streams = streams
        self.path = path

    def input(self, number: int) -> _Scope:
        """Returns the position of an input of the dataset here."""
        return self if self.path is None else _Scope(self.streams, (*self.path, number))


class _ThreadScope(threading.local):
    """The position for which this thread starts passes; None outside of iterators."""

    scope: _Scope | None = None


_thread = _ThreadScope()


def start_pass(make: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Calls `make()` to start a pass for a new iterator."""
    with holding(_thread, scope=_Scope({}, ())):
        return make()


def without_streams() -> AbstractContextManager[None]:
    """Context manager for passes without an iterator, such as those over samples: no streams advance."""
    return holding(_thread, scope=None)


def input_pass(make: Callable[[], Iterator[Any]], number: int = 0) -> Callable[[], Iterator[Any]]:
    """Binds `make` to an input of the dataset that is being started, so that its passes can start later."""
    scope = _thread.scope and _thread.scope.input(number)

    def begin() -> Iterator[Any]:
        with holding(_thread, scope=scope):
            return make()

    return begin


def begin_made() -> Callable[[Any], Iterator[Any]]:
    """Returns a function that starts passes over datasets created by functions of the dataset being started."""
    scope = _thread.scope and _Scope(_thread.scope.streams, None)

    def begin(dataset: Any) -> Iterator[Any]:
        with holding(_thread, scope=scope):
            return dataset._elements()  # type: ignore[no-any-return]

    return begin


class AssignmentUndo(dispatch.Recorder):
    """Recorder of the values that variables have before functions assign them, which `undo` restores."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[Any, Any]] = {}

    def tracer_of(self, variable: Any, rest: Any) -> Any:
        """Records nothing: reads have no effects."""
        return rest

    def assigned(self, variable: Any, value: Tensor) -> None:
        """Records the current value."""
        if id(variable) not in self._before:
            self._before[id(variable)] = variable, np.array(variable._storage.host())

    def undo(self) -> None:
        """Restores the recorded values."""
        for variable, array in self._before.values():
            variable._storage.take(array)


class Call:
    """A user function and the global seed at its definition; `begin` returns the function for one pass.

    Args:
      function: the user's function.
      seed: the global seed.
      name: distinguishes the functions of one dataset.
      transformation: TensorFlow's name of the dataset, for the messages of errors in the function; none by default.
    """

    def __init__(
        self, function: Callable[..., Any], seed: int | None, name: str = "", transformation: str = ""
    ) -> None:
        if not callable(function):
            raise TypeError(f"a function was expected, got {function!r}")
        self._function = function
        self._seed = seed
        self._name = name
        self._transformation = transformation
        # A dataset-creating function builds a new `Call` at each call, where TensorFlow has one function.
        maker = current_streams()
        self._identity: Any = (maker, maker.next_function()) if isinstance(maker, FunctionStreams) else self

    def begin(self) -> Callable[[Any], Any]:
        """Returns a function of one element; a plain tuple is unpacked into arguments."""
        call = self.begin_with_arguments()
        return lambda element: call(*element) if type(element) is tuple else call(element)

    def begin_with_arguments(self) -> Callable[..., Any]:
        """Returns the function with its own signature."""
        scope, function, streams = _thread.scope, self._function, FunctionStreams(self._seed)
        if scope is not None:
            key = self._identity if scope.path is None else (scope.path, self._name)
            streams = scope.streams.setdefault(key, streams)

        def call(*args: Any) -> Any:
            streams.begin_call()
            try:
                if not modes.active:
                    return as_result(drawing_from(streams, function, args))
                with holding(dispatch.thread, in_dataset=True):  # for `explain`
                    return as_result(drawing_from(streams, function, args))
            except errors.OpError as error:
                self._name_transformation(error)
                raise

        return call

    def _name_transformation(self, error: errors.OpError) -> None:
        """Says in an error's message which dataset called the function, unless an inner one has."""
        began = "Error in user-defined function passed to "
        if self._transformation and not error.message.startswith(began):
            error.message = f"{began}{self._transformation} transformation: {error.message}"
            error.args = (error.message,)


def truth(predicate: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """Wraps `predicate` to return a bool; raises `ValueError` if its result is not a boolean scalar."""

    def is_true(element: Any) -> bool:
        found = as_leaf(predicate(copy_for_reader(element)))
        if not isinstance(found, Tensor) or found.dtype is not dtypes.bool or found.dims:
            raise ValueError(
                f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but it returned {found!r}"
            )
        return bool(found.array)

    return is_true


def dataset_of(result: Any, what: str) -> Any:
    """Returns `result`; raises TypeError if it is not a dataset."""
    if not hasattr(result, "_elements"):
        raise TypeError(f"Invalid `{what}`. `{what}` must return a `Dataset` object. Got {result!r}")
    return result
