"""Storage of queues: elements, and threads that wait for space or for elements, each kind in FIFO order.

An element is a list of arrays. Of several threads that enqueue, or dequeue, one is active at a time and transfers
elements as they become available, so a request may exceed the queue's capacity.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core import errors
from ...core.locks import call_in_child, fork_safe_condition, fork_safe_lock

Element = list[Any]


class Store:
    """A FIFO queue."""

    kind = "FIFOQueue"

    def __init__(self, capacity: int, name: str) -> None:
        self._room = capacity if capacity >= 0 else None
        self.name = name
        self._elements: Any = deque()
        self._changed = fork_safe_condition()
        self._putting, self._taking = fork_safe_lock(), fork_safe_lock()
        self._waiting = 0  # enqueue requests that have started but not ended
        self._closed = self._cancelled = False
        call_in_child(self._forget_requests)

    def _forget_requests(self) -> None:
        self._waiting = 0  # those of the parent's threads

    def __len__(self) -> int:
        return len(self._elements)

    @property
    def closed(self) -> bool:
        """Whether the queue is closed for new elements."""
        return self._closed

    def put(self, elements: Sequence[Element]) -> None:
        """Adds the elements, waiting for space; raises `CancelledError` if the queue is closed."""
        with self._changed:
            if self._closed:
                raise errors.CancelledError(f"{self.kind} '{self.name}' is closed: nothing more can be put into it")
            self._waiting += 1
        try:
            with self._putting:
                for element in elements:
                    self._put(element)
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()

    def _put(self, element: Element) -> None:
        with self._changed:
            while self._room is not None and len(self._elements) >= self._room and not self._cancelled:
                self._changed.wait()
            if self._cancelled:
                raise errors.CancelledError(f"Enqueue operation was cancelled: {self.kind} '{self.name}' was closed")
            self._add(element)
            self._changed.notify_all()

    def take(self, count: int, fewer: bool = False) -> list[Element]:
        """Removes `count` elements, waiting for them; with `fewer`, the remaining ones if the queue is closed.

        Raises `OutOfRangeError`, and keeps the elements, if there will never be that many.
        """
        with self._taking:
            found: list[Element] = []
            with self._changed:
                while len(found) < count:
                    if self._closed and not self._waiting and len(self._elements) < count - len(found):
                        if fewer and (found or self._elements):
                            count = len(found) + len(self._elements)
                            continue
                        self._give_back(found)
                        raise errors.OutOfRangeError(
                            f"{self.kind} '{self.name}' is closed and has insufficient elements (requested {count}, "
                            f"current size {len(self._elements)})"
                        )
                    if self._may_be_taken() > 0:
                        found.append(self._remove())
                        self._changed.notify_all()
                    else:
                        self._changed.wait()
            return found

    def close(self, cancel_pending: bool) -> None:
        """Closes the queue for new elements; `cancel_pending` also cancels waiting requests."""
        with self._changed:
            self._closed = True
            self._cancelled = self._cancelled or cancel_pending
            self._changed.notify_all()

    def _may_be_taken(self) -> int:
        return len(self._elements)

    def _add(self, element: Element) -> None:
        self._elements.append(element)

    def _remove(self) -> Element:
        return self._elements.popleft()

    def _give_back(self, elements: list[Element]) -> None:
        self._elements.extendleft(reversed(elements))


class PaddingStore(Store):
    """A FIFO queue whose batches are padded by the frontend."""

    kind = "PaddingFIFOQueue"


class PriorityStore(Store):
    """A priority queue: the smallest first component is removed first, in FIFO order at a tie."""

    kind = "PriorityQueue"

    def __init__(self, capacity: int, name: str) -> None:
        super().__init__(capacity, name)
        self._elements = []
        self._count: Iterator[int] = itertools.count()

    def _add(self, element: Element) -> None:
        heapq.heappush(self._elements, (int(element[0]), next(self._count), element))

    def _remove(self) -> Element:
        return heapq.heappop(self._elements)[2]

    def _give_back(self, elements: list[Element]) -> None:
        for element in elements:
            self._add(element)


class ShufflingStore(Store):
    """A random queue with TensorFlow's order for the same seeds. While it is open, `keep` elements remain.

    Args:
      chance: returns 32-bit words of a random stream.
    """

    kind = "RandomShuffleQueue"

    def __init__(self, capacity: int, name: str, keep: int, chance: Callable[[], int]) -> None:
        super().__init__(capacity, name)
        self._keep = keep
        self._chance = chance

    def _may_be_taken(self) -> int:
        return len(self._elements) - (0 if self._closed else self._keep)

    def _remove(self) -> Element:
        at, last = self._chance() % len(self._elements), self._elements.pop()
        if at == len(self._elements):
            return last
        found, self._elements[at] = self._elements[at], last
        return found

    def _give_back(self, elements: list[Element]) -> None:
        self._elements.extend(elements)
