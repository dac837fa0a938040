"""`PrefetchIterator`: elements made ahead in a thread of their own, which ends when its consumer is dropped.

The two sides share nothing but two queues of C, whose operations are atomic: a KeyboardInterrupt may come between any
two lines of the consumer, and neither leaves the thread waiting nor the consumer without what it waits for. (Of a
`threading.Condition`, an interrupt inside of `wait` may leave the lock taken, and then nobody can end the thread.)
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from .resumable import END, Failure

_NEXT = object()  # what the consumer asks for; anything else is its end


class _Channel:
    """What producer and consumer share."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self.source = [elements]  # until a producer has taken it: a call that is interrupted may start a second one
        self.requests: SimpleQueue[Any] = SimpleQueue()
        self.ready: SimpleQueue[Any] = SimpleQueue()
        self.ended = False
        self.consumer: Any = None


def _produce(channel: _Channel) -> None:
    """Makes an element for each request, until there are none or the consumer has gone."""
    try:
        elements = channel.source.pop()
    except IndexError:
        return
    try:
        while channel.requests.get() is _NEXT:
            try:
                element = next(elements, END)
            except Exception as error:  # which the consumer sees at its place; elements may follow, as in TensorFlow
                element = Failure(error)
            if element is END:
                break
            channel.ready.put(element)
            del element
    except BaseException as error:  # whatever it is, the consumer is to see it
        channel.ready.put(Failure(error))
    finally:
        close = getattr(elements, "close", None)
        if close is not None:
            close()  # here, where the generators have run, and not when the consumer happens to let go of them
        channel.ended = True
        channel.ready.put(END)


class PrefetchIterator(Iterator[Any]):
    """The same elements, of which up to `size` are made before they are asked for. An error is raised at its place."""

    def __init__(self, elements: Iterator[Any], size: int) -> None:
        self._channel = _Channel(elements)
        self._started = False
        # No `__del__`, which an interrupt could cut short: the reference puts itself, no request, in the queue.
        self._channel.consumer = weakref.ref(self, self._channel.requests.put)
        for _ in range(size):
            self._channel.requests.put(_NEXT)

    def __next__(self) -> Any:
        channel = self._channel
        if not self._started:
            threading.Thread(target=_produce, args=(channel,), name="gradtape-prefetch", daemon=True).start()
            self._started = True
        if channel.ended and channel.ready.empty():
            raise StopIteration
        channel.requests.put(_NEXT)  # before taking: an interrupt in between makes one element more, and not one less
        found = channel.ready.get()
        if found is END:
            raise StopIteration
        if type(found) is Failure:
            raise found.error
        return found
