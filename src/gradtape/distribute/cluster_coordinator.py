"""`tf.distribute.coordinator`: functions that run asynchronously, here on a worker thread of this process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ..core import dtypes, errors, nest
from ..core.locks import call_in_child
from ..core.pickling import Unpicklable
from ..core.tensor import Tensor
from ..data.dataset import Dataset
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import thread
from ..graph.function.concrete_function import ConcreteFunction
from ..graph.function.function import Function
from .input import DistributedDataset

NAMESPACES = ("distribute.experimental.coordinator", "distribute.coordinator")
__all__ = ["ClusterCoordinator", "PerWorkerValues", "RemoteValue", "experimental_get_current_worker_index"]

_CANCELLED = "The corresponding function is cancelled. Please reschedule the function."


class RemoteValue(Unpicklable):
    """The result of a function that `ClusterCoordinator.schedule` was given, once it has run.

    >>> coordinator = tf.distribute.coordinator.ClusterCoordinator(tf.distribute.get_strategy())
    >>> result = coordinator.schedule(tf.function(lambda: tf.constant(2.0) * 3.0))
    >>> isinstance(result, tf.distribute.coordinator.RemoteValue), float(result.fetch())
    (True, 6.0)
    """

    __module__ = "gradtape.distribute.experimental.coordinator"

    _instead = "the call runs in this process. Pickle the result of fetch()"

    def fetch(self) -> Any:
        """Waits for the result and returns it as NumPy arrays."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get(self) -> Any:
        """Waits for the result and returns it."""
        raise NotImplementedError("Must be implemented in subclasses.")


class _Result(RemoteValue):
    """The result of a call on the worker."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function: Callable[[], Any] | None = function
        self._value: Any = None
        self._error: BaseException | None = None
        self._done = threading.Event()

    def run(self) -> BaseException | None:
        """Calls the function; returns its error, if there is one."""
        function, self._function = self._function, None
        try:
            assert function is not None
            self._value = function()
        except BaseException as error:  # of any kind: the caller of `join` gets it
            self._error = error
        self._done.set()
        return self._error

    def restart(self) -> None:
        """Forgets threads that wait or, being those of a forked child's parent, may be just about to end the call."""
        self._done = threading.Event()

    def cancel(self) -> None:
        """Ends the call before it has begun."""
        self._function, self._error = None, errors.CancelledError(_CANCELLED)
        self._done.set()

    def get(self) -> Any:
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def fetch(self) -> Any:
        return nest.map_structure(lambda x: x.numpy() if isinstance(x, Tensor) else x, self.get())


class PerWorkerValues(Unpicklable):
    """A value for each worker; a function that is scheduled gets the one of its worker.

    >>> coordinator = tf.distribute.coordinator.ClusterCoordinator(tf.distribute.get_strategy())
    >>> values = iter(coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(3)))
    >>> isinstance(values, tf.distribute.coordinator.PerWorkerValue)
    True
    """

    __module__ = "gradtape.distribute.experimental.coordinator"

    _instead = "its values are those of this process's worker. Pickle the results of fetch()"

    def __init__(self, values: Any) -> None:
        for value in values:
            if not isinstance(value, RemoteValue):
                raise AssertionError("`PerWorkerValues` should only take `RemoteValue`s.")
        self._values = tuple(values)

    def __iter__(self) -> PerWorkerValues:
        return self  # of iterators: a loop over the dataset may call `iter` again

    def __next__(self) -> Any:
        raise NotImplementedError(
            "Iterating over an `AsyncDistributedIterator` is not supported right now. Pass it to a function by "
            "ClusterCoordinator.schedule"
        )


class _PerWorkerDataset:
    """A dataset of each worker."""

    def __init__(self, dataset_fn: Any, coordinator: ClusterCoordinator) -> None:
        self._dataset_fn, self._coordinator = dataset_fn, coordinator
        self._built: Any = None

    def _dataset(self) -> Any:
        """Returns the worker's dataset, from the function that was given, or the dataset itself."""
        given = self._dataset_fn
        return given if isinstance(given, Dataset | DistributedDataset) else given()

    def build(self) -> PerWorkerValues:
        """Makes the datasets, and returns them."""
        return PerWorkerValues([self._coordinator._create(self._dataset)])

    def __iter__(self) -> PerWorkerValues:
        if thread.trace is not None:
            raise RuntimeError("__iter__() is not supported inside of tf.function or in graph mode.")
        return PerWorkerValues([self._coordinator._create(lambda: iter(self._dataset()))])

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        if self._built is None:
            self._built = self._dataset()
        return self._built.element_spec


class _Worker:
    """A thread that runs calls in the order in which they are scheduled. An error cancels the calls that wait."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._waiting: deque[_Result | None] = deque()
        self._running: _Result | None = None
        self._start()
        call_in_child(self._start_in_child)

    def _start(self) -> None:
        self._changed = threading.Condition()
        self._error: BaseException | None = None
        self._has_thread = False

    def _start_in_child(self) -> None:
        """Called in a forked child: cancels the calls that the parent's thread runs."""
        for call in (self._running, *self._waiting):
            if call is not None:
                call.restart()
                call.cancel()
        self._running = None
        self._waiting.clear()
        self._start()

    def _run(self) -> None:
        _here.index = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                call = self._waiting.popleft()
                self._running = call
            if call is None:
                return
            with self._strategy.scope():
                error = call.run()
            with self._changed:
                self._running = None
                if error is not None:
                    self._error = self._error or error
                    self._cancel()
                del call  # its value belongs to the caller
                self._changed.notify_all()

    def _cancel(self) -> None:
        for call in self._waiting:
            if call is not None:
                call.cancel()
        self._waiting.clear()

    def submit(self, call: _Result) -> _Result:
        """Appends a call."""
        with self._changed:
            self._waiting.append(call)
            self._changed.notify_all()
            if not self._has_thread:
                threading.Thread(target=self._run, name="worker 0", daemon=True).start()
                self._has_thread = True
        return call

    def stop(self) -> None:
        """Ends the thread after the calls that were scheduled."""
        with self._changed:
            self._waiting.append(None)
            self._changed.notify_all()

    def is_idle(self) -> bool:
        """Returns whether there is nothing to run."""
        return not self._waiting and self._running is None

    def join(self) -> None:
        """Waits until there is nothing to run, and raises an error of a call."""
        with self._changed:
            self._changed.wait_for(self.is_idle)
        self.check()

    def check(self) -> None:
        """Raises an error of a call, once no call is running, and forgets it."""
        with self._changed:
            if self._error is not None:
                self._changed.wait_for(self.is_idle)
                error, self._error = self._error, None
                raise error


class _Here(threading.local):
    """The number of the worker that this thread is, or None."""

    index: int | None = None


_here = _Here()


class ClusterCoordinator(Unpicklable):
    """Schedules functions to run asynchronously. gradtape runs them on a thread of this process, in order.

    >>> coordinator = tf.distribute.coordinator.ClusterCoordinator(tf.distribute.get_strategy())
    >>> v = tf.Variable(0.0)
    >>> step = tf.function(lambda: v.assign_add(1.0).read_value())
    >>> results = [coordinator.schedule(step) for _ in range(3)]
    >>> coordinator.join()
    >>> [float(x) for x in coordinator.fetch(results)], coordinator.done()
    ([1.0, 2.0, 3.0], True)

    Args:
      strategy: the strategy in whose scope the functions run. In TensorFlow it is a `ParameterServerStrategy`.
    """

    __module__ = "gradtape.distribute.experimental.coordinator"

    _instead = "its threads belong to this process. Create one in each process"

    _strategy: Any

    def __new__(cls, strategy: Any) -> ClusterCoordinator:
        found = vars(strategy).get("_cluster_coordinator")
        if found is None:
            found = strategy._cluster_coordinator = super().__new__(cls)
        return found  # type: ignore[no-any-return]

    def __init__(self, strategy: Any) -> None:
        if "_worker" not in vars(self):
            self._strategy, self._worker = strategy, _Worker(strategy)

    def __del__(self) -> None:
        if "_worker" in vars(self):
            self._worker.stop()

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    def _submit(self, function: Callable[[], Any]) -> _Result:
        return self._worker.submit(_Result(function))

    def _create(self, function: Callable[[], Any]) -> _Result:
        """Makes an object of the worker at once."""
        call, before = _Result(function), _here.index
        _here.index = 0
        try:
            with self._strategy.scope():
                call.run()
        finally:
            _here.index = before
        return call

    def schedule(self, fn: Any, args: Any = None, kwargs: Any = None) -> RemoteValue:
        """Makes the worker call a `tf.function` later, and returns its result as a `RemoteValue`.

        Raises the error of a function that was scheduled before.
        """
        if not isinstance(fn, Function | ConcreteFunction):
            raise TypeError(
                "`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a `tf.function` or "
                f"a concrete function. Got {fn!r}"
            )
        args, kwargs = args or (), kwargs or {}
        for value in nest.flatten((args, kwargs)):
            if isinstance(value, RemoteValue):
                raise ValueError(
                    "`tf.distribute.experimental.coordinator.RemoteValue` used as an input to scheduled function is "
                    "not supported currently."
                )
        self._worker.check()
        own = lambda x: x._values[0].get() if isinstance(x, PerWorkerValues) else x  # noqa: E731
        return self._submit(lambda: fn(*nest.map_structure(own, args), **nest.map_structure(own, kwargs)))

    def join(self) -> None:
        """Waits until all functions have run; raises the error of one of them."""
        self._worker.join()

    def done(self) -> bool:
        """Returns whether all functions have run; raises the error of one of them."""
        self._worker.check()
        return self._worker.is_idle()

    def create_per_worker_dataset(self, dataset_fn: Any) -> Any:
        """Returns an object whose iterator, as an argument of a scheduled function, is that of the worker's dataset.

        Args:
          dataset_fn: a dataset, or a function that returns one.
        """
        return _PerWorkerDataset(dataset_fn, self)

    def fetch(self, val: Any) -> Any:
        """Waits for the `RemoteValue`s of a nested structure, and returns it with their values."""
        return nest.map_structure(lambda x: x.fetch() if isinstance(x, RemoteValue) else x, val)


def experimental_get_current_worker_index() -> Tensor:
    """Returns the number of the worker, in a function that it runs.

    >>> coordinator = tf.distribute.coordinator.ClusterCoordinator(tf.distribute.get_strategy())
    >>> index = tf.function(lambda: tf.distribute.coordinator.experimental_get_current_worker_index())
    >>> int(coordinator.schedule(index).fetch())
    0
    """
    if _here.index is None:
        raise RuntimeError(
            "Cannot retrieve the worker index. `get_worker_idx_and_num_workers` should be called from within a "
            "tf.function being executed on a worker. This method should only be called from either a dataset_fn that "
            "is passed into `ClusterCoordinator.create_per_worker_dataset`, or a tf.function that is passed into "
            "`ClusterCoordinator.schedule`."
        )
    return to_tensor(_here.index, dtype=dtypes.int64)
