"""`tf.CriticalSection` and `tf.nondifferentiable_batch_function`: calls from several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...core import errors, nest
from ...core.locks import call_in_child, fork_safe_rlock
from ...core.tensor import Tensor
from ...engine.run import dispatch
from ..namespace import resolve

NAMESPACES = ("",)
__all__ = ["CriticalSection", "nondifferentiable_batch_function"]


_shared: dict[str, Any] = {}  # locks


class CriticalSection:
    """A lock for functions of tensors: one thread at a time executes a function of the section.

    A call of a `tf.function` is atomic with its assignments, so a section needs no lock inside of one.

    >>> section, total = tf.CriticalSection(), tf.Variable(0.0)
    >>> float(section.execute(lambda: total.assign_add(2.0)))
    2.0
    """

    def __init__(
        self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None,
        import_scope: Any = None,
    ) -> None:  # fmt: skip
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported.")
        self._name = name or "CriticalSection"
        self._lock = fork_safe_rlock() if shared_name is None else _shared.setdefault(shared_name, fork_safe_rlock())

    def __copy__(self) -> CriticalSection:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        shared_name = next((name for name, lock in _shared.items() if lock is self._lock), None)
        return CriticalSection, (self._name, shared_name)

    @property
    def name(self) -> str:
        """The name that was given."""
        return self._name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """Calls `fn` while no other thread executes a function of this section, and returns copies of its results."""
        if self._lock._is_owned():
            raise ValueError(
                f"Attempting to lock a CriticalSection (signature={self._name}) in which we are already running. This "
                "is illegal and may cause deadlocks."
            )
        with self._lock:
            return nest.map_structure(_copy, fn())


CriticalSection.__module__ = "gradtape"


def _copy(value: Any) -> Any:
    return value if value is None else resolve("identity")(value)


@dataclass
class _Task:
    """The rows that one call adds to a batch, and their results."""

    rows: list[Tensor]
    count: int
    done: threading.Event = field(default_factory=threading.Event)
    results: Any = None
    error: BaseException | None = None


class _Batcher:
    """Concatenates the rows of concurrent calls; the thread that opened a batch computes it."""

    def __init__(
        self, threads: int, max_rows: int, timeout_micros: int, sizes: list[int] | None, max_batches: int, split: bool
    ) -> None:
        self._max_rows, self._timeout, self._sizes, self._split = max_rows, timeout_micros / 1e6, sizes, split
        self._thread_count, self._max_batches = threads, max_batches
        self._start()
        call_in_child(self._start)

    def _start(self) -> None:
        """Starts without batches: those of a parent's threads never end in a forked child."""
        self._waiting: list[_Task] = []
        self._changed = threading.Condition()
        self._threads = threading.Semaphore(self._thread_count)
        self._open = 0

    def call(self, function: Callable[..., Any], rows: list[Tensor]) -> Any:
        """Computes `function` of the rows, together with those of other threads."""
        count = rows[0].dims[0] if rows[0].dims else 0
        if any(not row.dims or row.dims[0] != count for row in rows):
            raise errors.InvalidArgumentError(
                "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size"
            )
        if count > self._max_rows:
            if not self._split:
                raise errors.InvalidArgumentError(
                    f"Cannot enqueue a task of {count} rows: max_batch_size is {self._max_rows}"
                )
            starts = range(0, count, self._max_rows)
            parts = [self._run(function, [row[i : i + self._max_rows] for row in rows]) for i in starts]
            return nest.map_structure(lambda *part: resolve("concat")(list(part), 0), *parts)
        return self._run(function, rows)

    def _run(self, function: Callable[..., Any], rows: list[Tensor]) -> Any:
        task = _Task(rows, rows[0].dims[0])
        if self._leads(task):
            batch = self._closed_batch(task)
            self._compute(function, batch)
        task.done.wait()
        if task.error is not None:
            raise task.error
        return task.results

    def _leads(self, task: _Task) -> bool:
        """Adds a task to the open batch; returns whether it is the first one of a new batch."""
        with self._changed:
            if self._waiting and sum(other.count for other in self._waiting) + task.count <= self._max_rows:
                self._waiting.append(task)
                self._changed.notify_all()
                return False
            if self._open >= self._max_batches:
                raise errors.UnavailableError("The batch scheduling queue to which this task was submitted is full")
            self._open += 1
            self._waiting = [task]
            self._changed.notify_all()  # the leader of the batch before stops waiting for more rows
            return True

    def _closed_batch(self, task: _Task) -> list[_Task]:
        with self._changed:
            batch = self._waiting
            self._changed.wait_for(
                lambda: self._waiting is not batch or sum(other.count for other in batch) >= self._max_rows,
                self._timeout,
            )
            if self._waiting is batch:
                self._waiting = []
            return batch

    def _compute(self, function: Callable[..., Any], batch: list[_Task]) -> None:
        try:
            with self._threads:
                results = function(*self._joined(batch))
            start = 0
            for task in batch:
                stop = start + task.count
                task.results = nest.map_structure(
                    lambda value, start=start, stop=stop: resolve("stop_gradient")(value[start:stop]), results
                )
                start = stop
        except BaseException as error:
            for task in batch:
                task.error = error
        finally:
            with self._changed:
                self._open -= 1
            for task in batch:
                task.done.set()

    def _joined(self, batch: list[_Task]) -> list[Tensor]:
        """Returns the rows of all tasks, and copies of the first one up to an allowed size."""
        count = sum(task.count for task in batch)
        size = next((size for size in self._sizes or [] if size >= count), count)
        concat, repeat = resolve("concat"), resolve("repeat")
        joined = []
        for column in zip(*(task.rows for task in batch), strict=True):
            padding = [repeat(column[0][:1], size - count, axis=0)] if size > count else []
            joined.append(concat([*column, *padding], 0))
        return joined


def nondifferentiable_batch_function(
    num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, allowed_batch_sizes: Any = None,
    max_enqueued_batches: int = 10, autograph: bool = True, enable_large_batch_splitting: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Decorates a function of tensors so that concurrent calls are computed as one batch.

    The function computes each row of its arguments separately. A call waits up to `batch_timeout_micros` for rows of
    other threads; inside of a `tf.function`, it is a part of that function and waits for none.

    Args:
      allowed_batch_sizes: increasing sizes to which a batch is padded, the last one `max_batch_size`.

    >>> @tf.nondifferentiable_batch_function(1, 4, 1000)
    ... def double(x):
    ...     return x * 2.0
    >>> double(tf.constant([1.0, 3.0])).numpy()
    array([2., 6.], dtype=float32)
    """
    sizes = None if allowed_batch_sizes is None else [int(size) for size in allowed_batch_sizes]
    if sizes and (sizes != sorted(set(sizes)) or sizes[-1] != max_batch_size):
        raise errors.InvalidArgumentError(
            "allowed_batch_sizes entries must be monotonically increasing, and the final entry must equal "
            f"max_batch_size. Got {sizes} and {max_batch_size}"
        )

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        computation = resolve("function")(fn, autograph=autograph)
        batcher = _Batcher(
            num_batch_threads, max_batch_size, batch_timeout_micros, sizes, max_enqueued_batches,
            enable_large_batch_splitting,
        )  # fmt: skip

        def decorated(*args: Any) -> Any:
            for value in args:
                if not isinstance(value, Tensor):
                    raise ValueError(
                        "All arguments to functions decorated with `batch_function`  are supposed to be Tensors; "
                        f"found {value!r}."
                    )
            if dispatch.thread.trace is not None:
                return nest.map_structure(resolve("stop_gradient"), computation(*args))
            return batcher.call(computation, list(args))

        return decorated

    return decorator
