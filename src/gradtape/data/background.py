"""`PrefetchIterator`: produces elements ahead of time in a thread that ends when its consumer is garbage-collected.

Producer and consumer share only two C-implemented queues with atomic operations. A KeyboardInterrupt between any two
lines of the consumer therefore neither leaves the thread blocked nor loses an element. (An interrupt inside
`threading.Condition.wait` can leave the lock acquired, and then the thread can never end.)
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from ..core.locks import call_in_child
from .resumable import END, Failure

IN_CHILD = (
    "this process, which was forked from it, has no threads of its parent. Create the iterator in this process; "
    "`dataset.shard` gives each process elements of its own"
)
_NEXT = object()  # a request of the consumer; any other item tells the producer to stop


class _Channel:
    """The state shared by producer and consumer."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self.source = [elements]  # removed by the first producer: an interrupted `__next__` may start a second one
        self.requests: SimpleQueue[Any] = SimpleQueue()
        self.ready: SimpleQueue[Any] = SimpleQueue()
        self.ended = False
        self.closed = False
        self.consumer: Any = None


def _produce(channel: _Channel) -> None:
    """Produces one element per request, until the elements end or the consumer is gone."""
    try:
        elements = channel.source.pop()
    except IndexError:
        return
    try:
        while channel.requests.get() is _NEXT and not channel.closed:
            try:
                element = next(elements, END)
            except Exception as error:  # raised by the consumer in its position; elements may follow, as in TensorFlow
                element = Failure(error)
            if element is END:
                break
            channel.ready.put(element)
            del element
    except BaseException as error:  # the consumer must see every kind of error
        channel.ready.put(Failure(error))
    finally:
        close = getattr(elements, "close", None)
        if close is not None:
            close()  # in the thread that ran the generators, not in the one that drops the last reference
        channel.ended = True
        channel.ready.put(END)


class PrefetchIterator(Iterator[Any]):
    """Iterates over the same elements, producing up to `size` of them ahead. Errors are raised in their position."""

    def __init__(self, elements: Iterator[Any], size: int) -> None:
        self._channel: _Channel | None = _Channel(elements)
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        call_in_child(self._leave_to_parent)
        # Not `__del__`, which an interrupt could cut short: when the consumer dies, its weak reference puts itself into
        # the queue, which is not a request.
        self._channel.consumer = weakref.ref(self, self._channel.requests.put)
        for _ in range(size):
            self._channel.requests.put(_NEXT)

    def _leave_to_parent(self) -> None:
        """Called in a forked child, which lacks the thread; another one would repeat the elements in every child."""
        if self._thread is not None:
            self._channel = None

    def __next__(self) -> Any:
        channel = self._channel
        if channel is None:
            raise RuntimeError(
                f"A thread of process {self._process} computes the elements of this iterator ahead (prefetch), and "
                f"{IN_CHILD}"
            )
        if self._thread is None:
            thread = threading.Thread(target=_produce, args=(channel,), name="gradtape-prefetch", daemon=True)
            thread.start()
            self._thread = thread
        if channel.ended and channel.ready.empty():
            raise StopIteration
        channel.requests.put(_NEXT)  # before `get`: an interrupt in between costs one element too many, not one too few
        found = channel.ready.get()
        if found is END:
            raise StopIteration
        if type(found) is Failure:
            raise found.error
        return found

    def close(self) -> None:
        """Drops the elements that are ready, and waits for the thread to finish the one that it computes."""
        if self._channel is None:
            return
        self._channel.closed = True
        self._channel.requests.put(None)
        if self._thread is not None:
            self._thread.join()
