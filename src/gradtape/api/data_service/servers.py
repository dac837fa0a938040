"""Dispatchers and workers of the service."""

from __future__ import annotations

import itertools
import socket
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...core import errors
from ...core.locks import fork_safe_condition
from ...core.pickling import Unpicklable

NAMESPACES = ("data.experimental.service",)
__all__ = ["DispatchServer", "DispatcherConfig", "WorkerConfig", "WorkerServer"]

_PROTOCOL = "grpc"
_dispatchers: weakref.WeakValueDictionary[str, DispatchServer] = weakref.WeakValueDictionary()


class DispatcherConfig(NamedTuple):
    """Settings of a dispatcher. Within a process only the port and the folder are used.

    >>> import gradtape as tf
    >>> tf.data.experimental.service.DispatcherConfig(port=5050).port
    5050
    """

    port: int = 0
    protocol: str | None = None
    work_dir: str | None = None
    fault_tolerant_mode: bool = False
    worker_addresses: Sequence[str] | None = None
    job_gc_check_interval_ms: int | None = None
    job_gc_timeout_ms: int | None = None
    worker_timeout_ms: int | None = None
    worker_max_concurrent_snapshots: int = 0


class WorkerConfig(NamedTuple):
    """Settings of a worker. Within a process only the addresses are used.

    >>> import gradtape as tf
    >>> tf.data.experimental.service.WorkerConfig("localhost:5050").dispatcher_address
    'localhost:5050'
    """

    dispatcher_address: str
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = None
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None


class DispatchServer(Unpicklable):
    """Knows the workers, the registered datasets and the jobs that readers share.

    >>> import gradtape as tf
    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> data = tf.data.Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target))
    >>> [int(x) for x in data]
    [0, 1, 2]

    Args:
      config: a `DispatcherConfig`.
      start: whether to start at once.
    """

    _instead = "pickle its configuration, and create a server in each process"

    def __init__(self, config: DispatcherConfig | None = None, start: bool = True) -> None:
        config = config or DispatcherConfig()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in the "
                "`config` object passed to `DispatcherServer`."
            )
        self._config, self._protocol = config, config.protocol or _PROTOCOL
        self._port = config.port
        self._changed = fork_safe_condition()
        self._workers: list[WorkerServer] = []
        self._datasets: dict[str, Any] = {}
        self._jobs: dict[Any, Any] = {}
        self._numbers = itertools.count(1000)  # of registered datasets, as TensorFlow has it
        self._done = threading.Event()
        self._is_started = False
        if start:
            self.start()

    def start(self) -> None:
        """Starts the dispatcher; it has its address from now on."""
        if not self._port:
            with socket.socket() as free:
                free.bind(("localhost", 0))
                self._port = free.getsockname()[1]
        if _dispatchers.get(self._address, self) is not self:
            raise errors.UnavailableError(f"There is a dispatcher at {self._address} already")
        _dispatchers[self._address] = self
        self._is_started = True

    def join(self) -> None:
        """Waits until the dispatcher is stopped."""
        self._done.wait()

    def stop(self) -> None:
        """Stops the dispatcher."""
        self._done.set()
        if _dispatchers.get(self._address) is self:
            del _dispatchers[self._address]

    @property
    def target(self) -> str:
        """The address, for `distribute` and with the protocol."""
        if not self._is_started:
            raise RuntimeError("Server is not started")
        return f"{self._protocol}://{self._address}"

    @property
    def _address(self) -> str:
        return f"localhost:{self._port}"

    def _num_workers(self) -> int:
        return len(self._workers)

    def _await_workers(self) -> list[WorkerServer]:
        """Returns the workers; waits for the first."""
        with self._changed:
            self._changed.wait_for(lambda: self._workers or self._done.is_set())
            if not self._workers:
                raise errors.CancelledError(f"The dispatcher at {self._address} was stopped")
            return list(self._workers)

    def _register(self, dataset: Any, number: str | None) -> str:
        with self._changed:
            key = str(next(self._numbers)) if number is None else number
            known = self._datasets.setdefault(key, dataset)
            if known is not dataset and known.element_spec != dataset.element_spec:
                raise errors.InvalidArgumentError(
                    f"Dataset with ID {key} is registered with other elements: {known.element_spec}, and not "
                    f"{dataset.element_spec}"
                )
            return key

    def _job(self, key: Any, make: Callable[[], Any]) -> Any:
        """Returns the job of that key, which readers share."""
        with self._changed:
            if key not in self._jobs:
                self._jobs[key] = make()
            return self._jobs[key]


def dispatcher_at(address: str) -> DispatchServer:
    """Returns the dispatcher at an address; raises UnavailableError if it is not in this process."""
    found = _dispatchers.get(address.replace("127.0.0.1", "localhost"))
    if found is None:
        raise errors.UnavailableError(
            f"There is no dispatcher at {address} in this process. gradtape's tf.data service works within a process: "
            "create the DispatchServer and a WorkerServer in this one, or read a share of the data in each process, by "
            "tf.data.Dataset.shard"
        )
    return found


class WorkerServer(Unpicklable):
    """Computes elements of datasets for a dispatcher of this process.

    >>> import gradtape as tf
    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> worker.stop()

    Args:
      config: a `WorkerConfig` with the address of the dispatcher.
      start: whether to start at once.
    """

    _instead = "pickle its configuration, and create a server in each process"

    def __init__(self, config: WorkerConfig, start: bool = True) -> None:
        if config.dispatcher_address is None:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        self._config, self._done = config, threading.Event()
        if start:
            self.start()

    def start(self) -> None:
        """Registers the worker with its dispatcher."""
        self._dispatcher = dispatcher_at(self._config.dispatcher_address)
        with self._dispatcher._changed:
            if self not in self._dispatcher._workers:
                self._dispatcher._workers.append(self)
            self._dispatcher._changed.notify_all()

    def join(self) -> None:
        """Waits until the worker is stopped."""
        self._done.wait()

    def stop(self) -> None:
        """Takes the worker from its dispatcher. Jobs that have begun go on."""
        self._done.set()
        with self._dispatcher._changed:
            if self in self._dispatcher._workers:
                self._dispatcher._workers.remove(self)
