"""`prefetched`: elements made ahead in a thread of their own, which ends when nobody waits for them any more."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

NOTHING = object()


class _Buffer:
    """What the thread has made and the consumer not yet taken."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.ready: deque[Any] = deque()
        self.changed = threading.Condition()
        self.dropped = False  # by the consumer
        self.ended = False  # by the producer, with or without an error
        self.error: BaseException | None = None

    def put(self, element: Any) -> bool:
        """Whether the element is wanted; waits until there is room for it."""
        with self.changed:
            while len(self.ready) >= self.size and not self.dropped:
                self.changed.wait()
            self.ready.append(element)
            self.changed.notify()
            return not self.dropped

    def end(self, error: BaseException | None) -> None:
        with self.changed:
            self.ended, self.error = True, error
            self.changed.notify()

    def take(self) -> Any:
        """The next element; `NOTHING` when there are no more."""
        with self.changed:
            while not self.ready and not self.ended:
                self.changed.wait()
            if self.ready:
                self.changed.notify()
                return self.ready.popleft()
            if self.error is not None:
                raise self.error
            return NOTHING

    def drop(self) -> None:
        with self.changed:
            self.dropped = True
            self.ready.clear()
            self.changed.notify()


def _fill(elements: Iterator[Any], buffer: _Buffer) -> None:
    error: BaseException | None = None
    try:
        for element in elements:
            if not buffer.put(element):
                break
            del element
    except BaseException as raised:  # whatever it is, the consumer is to see it
        error = raised
    finally:
        close = getattr(elements, "close", None)
        if close is not None:
            close()  # here, where the generators have run, and not when the consumer happens to let go of them
        buffer.end(error)


def prefetched(elements: Iterator[Any], size: int) -> Iterator[Any]:
    """The same elements, of which up to `size` are made before they are asked for. An error is raised at its place."""
    buffer = _Buffer(size)
    threading.Thread(target=_fill, args=(elements, buffer), name="gradtape-prefetch", daemon=True).start()
    del elements  # the thread alone closes it
    try:
        while (element := buffer.take()) is not NOTHING:
            yield element
    finally:
        buffer.drop()
