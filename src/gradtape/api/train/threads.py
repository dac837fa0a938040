"""`tf.train`: coordinated threads, and cluster specifications."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from ...core import errors
from ...core.locks import fork_safe_lock
from ...core.pickling import Unpicklable

NAMESPACES = ("train",)
__all__ = ["ClusterSpec", "Coordinator"]


class Coordinator(Unpicklable):
    """Coordinates threads that stop together: one requests a stop or raises, and `join` reports it.

    >>> coordinator = tf.train.Coordinator()
    >>> coordinator.request_stop()
    >>> coordinator.should_stop()
    True
    """

    __module__ = "gradtape.train"

    _instead = "it coordinates threads of this process. Create one in each process"

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        self._clean = tuple(clean_stop_exception_types or (errors.OutOfRangeError,))
        self._lock, self._stop = fork_safe_lock(), threading.Event()
        self._raised: BaseException | None = None
        self._joined, self._threads = False, set[threading.Thread]()

    @property
    def joined(self) -> bool:
        """Whether the threads have been joined."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Requests all threads to stop; `join` raises a given exception."""
        with self._lock:
            error = ex[1] if isinstance(ex, tuple) else ex
            if self._joined:
                if isinstance(error, BaseException):
                    raise error
                return
            if not self._stop.is_set():
                if error is not None and not isinstance(error, self._clean):
                    self._raised = error
                self._stop.set()

    def clear_stop(self) -> None:
        """Clears the stop request."""
        with self._lock:
            self._joined, self._raised = False, None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Returns whether a stop was requested."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits for a stop request; returns whether there was one."""
        return self._stop.wait(timeout)

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Context manager: exceptions request a stop."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def register_thread(self, thread: threading.Thread) -> None:
        """Registers a thread to be joined."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self, threads: Any = None, stop_grace_period_secs: float = 120, ignore_live_threads: bool = False
    ) -> None:
        """Waits until all threads have ended, and raises the exception given to `request_stop`."""
        waiting = [*self._threads, *(t for t in threads or () if t not in self._threads)]
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(0.05):
            pass
        until = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, until - time.monotonic()))
        alive = [t.name for t in waiting if t.is_alive()]
        self._joined = True
        self._threads.clear()
        if self._raised is not None:
            raise self._raised
        if alive and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(alive)}")

    def raise_requested_exception(self) -> None:
        """Raises the exception given to `request_stop`, if any."""
        if self._raised is not None:
            raise self._raised


class ClusterSpec:
    """The addresses of the tasks of a cluster, by job.

    >>> tf.train.ClusterSpec({"worker": ["a:1", "b:2"]}).task_address("worker", 1)
    'b:2'
    """

    __module__ = "gradtape.train"

    def __init__(self, cluster: Any) -> None:
        jobs = cluster.as_dict() if isinstance(cluster, ClusterSpec) else cluster
        if not isinstance(jobs, dict):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                f"`ClusterSpec`, got {cluster!r}"
            )
        self._jobs = {name: _tasks(name, tasks) for name, tasks in jobs.items()}

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()})"

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """Returns the number of tasks of a job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Returns the indices of a job's tasks."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Returns the address of a task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Returns the addresses of a job's tasks, with None for missing indices."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def as_dict(self) -> dict[str, Any]:
        """Returns the addresses by job: lists, or dicts if indices are missing."""
        return {
            name: list(tasks.values()) if sorted(tasks) == list(range(len(tasks))) else dict(tasks)
            for name, tasks in self._jobs.items()
        }


def _tasks(name: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, list | tuple):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, dict) or not all(isinstance(address, str) for address in tasks.values()):
        raise TypeError(f"The tasks of job {name!r} are addresses, in a list or by their numbers, got {tasks!r}")
    return tasks
