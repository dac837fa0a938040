"""Runs replicas sequentially, as coroutines: the reference semantics of `Strategy.run`, for every executor.

Each replica is a thread, and only one of them runs at a time: it yields when it waits for the others (`merge_call`) or
has finished. The execution order is therefore deterministic, and replicas can share a trace, a tape or a random stream.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ..core import nest
from ..core.composites import CompositeTensor
from ..core.scopes import adopt, held
from ..core.tensor import Tensor
from ..engine.run.dispatch import thread, traced_by
from ..engine.run.distribution_context import cross_replica_context, in_replica
from ..engine.run.randomness import drawing_for_each
from .reductions import workers_of
from .replicas import ReplicaContext, vary_by_replica
from .values import DistributedValues, PerReplica, regroup, select_replica


class _Stopped(BaseException):
    """Unwinds a replica's thread because another replica has failed."""


class _Replica(ReplicaContext):
    """A replica that runs in its own thread."""

    def __init__(self, strategy: Any, number: int, ready: Callable[[], None]) -> None:
        super().__init__(strategy, number)
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.asked: Any = None  # the merge function and arguments of a pending `merge_call`
        self.lifted = False  # whether the pending `merge_call` is outside of the trace, in an `init_scope`
        self.stopped = False
        self._ready = ready
        self._go = threading.Semaphore(0)
        self._trace = thread.trace

    def start(self, run: Callable[[], Any], locals_: Any) -> None:
        """Starts the thread, which blocks until `go_on`."""

        def main() -> None:
            self._go.acquire()
            try:
                if not self.stopped:
                    adopt(locals_)
                    with in_replica(self):
                        self.result = run()
            except _Stopped:
                pass
            except BaseException as error:
                self.error = error
            finally:
                self.done = True
                self._ready()

        self.thread = threading.Thread(target=main, name=f"gradtape replica {self._id}", daemon=True)
        self.thread.start()

    def go_on(self) -> None:
        """Resumes the replica until it waits again."""
        self._go.release()

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        self.lifted = thread.trace is None  # in an init_scope: a variable is being created
        if thread.trace is not self._trace and not self.lifted:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function. This can often happen if the "
                "function `fn` passed to `strategy.run()` contains a nested `@tf.function`, and the nested "
                "`@tf.function` contains a synchronization point, such as aggregating gradients (e.g, "
                "optimizer.apply_gradients), or if the function `fn` uses a control flow statement which contains a "
                "synchronization point in the body. Such behaviors are not yet supported where replicas run one after "
                "the other. Instead, please avoid nested `tf.function`s or control flow statements that may "
                "potentially cross a synchronization boundary, for example, wrap the `fn` passed to `strategy.run` or "
                "the entire `strategy.run` inside a `tf.function` or move the control flow out of `fn`."
            )
        self.asked = (merge_fn, tuple(args), dict(kwargs or {}))
        self._ready()
        self._go.acquire()
        if self.stopped:
            raise _Stopped
        return self.result


def run(strategy: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Runs `fn` as each replica of `strategy`, with its component of the arguments, and regroups the results."""
    handed_over = threading.Semaphore(0)
    workers = workers_of(strategy)
    first = 0 if workers is None else workers.first
    local = range(len(strategy.extended.worker_devices))
    replicas = [_Replica(strategy, first + i, handed_over.release) for i in local]
    states: list[Any] = []  # random states of this run, shared by the replicas
    locals_ = held()

    def call_of(i: int) -> Callable[[], Any]:
        given, named = select_replica(i, args), select_replica(i, dict(kwargs or {}))

        def call() -> Any:
            with drawing_for_each(vary_by_replica(first + i, states)):
                return fn(*given, **named)

        return call

    for i, replica in enumerate(replicas):
        replica.start(call_of(i), locals_)
    with _end_on_exit(replicas):
        while not replicas[0].done:
            for replica in replicas:
                replica.go_on()
                handed_over.acquire()
                if replica.error is not None:
                    raise replica.error
            if all([replica.done for replica in replicas]):
                break
            _merge(strategy, replicas)
    return _regroup(strategy, [replica.result for replica in replicas])


def _regroup(strategy: Any, values: list[Any]) -> Any:
    """Regroups the values of this process's replicas; wraps a single replica's tensors if other workers have more."""
    found = regroup(values)
    if len(values) > 1 or workers_of(strategy) is None:
        return found

    def one(leaf: Any) -> Any:
        is_value = isinstance(leaf, Tensor | CompositeTensor) and not isinstance(leaf, DistributedValues)
        return PerReplica([leaf]) if is_value else leaf

    return nest.map_structure(one, found)


def _merge(strategy: Any, replicas: list[_Replica]) -> None:
    """Calls the merge function of the first replica with the arguments of all of them."""
    if any([replica.done for replica in replicas]):
        raise RuntimeError(
            "Some replicas made a different number of replica_context().merge_call() calls: all replicas must reduce, "
            "gather and update the same things in the same order"
        )
    merge_fn = replicas[0].asked[0]
    args = _regroup(strategy, [replica.asked[1] for replica in replicas])
    kwargs = _regroup(strategy, [replica.asked[2] for replica in replicas])
    with cross_replica_context(strategy), traced_by(None) if replicas[0].lifted else nullcontext():
        result = merge_fn(strategy, *args, **kwargs)
    for i, replica in enumerate(replicas):
        replica.result = select_replica(i, result)


@contextmanager
def _end_on_exit(replicas: list[_Replica]) -> Iterator[None]:
    """Context manager: stops and joins all replica threads, however the block ends."""
    try:
        yield
    finally:
        for replica in replicas:
            if not replica.done:
                replica.stopped = True
                replica.go_on()
        for replica in replicas:
            replica.thread.join()
