"""Tunes the process while tapes record: raises the garbage collector's thresholds and keeps freed memory for reuse.

A tape's records are many small objects, none of them garbage, and scanning them repeatedly would double the cost of a
long tape. So after the first collection during a recording, collections become rarer, those of older generations most
of all. Training steps allocate and free large arrays all the time: from the first recording on, malloc keeps freed
memory.
"""

from __future__ import annotations

import gc
from typing import Any

from ...backends.numpy.memory import keep_freed_memory

Thresholds = tuple[int, int, int]

_LATER = 10
_RARER = 100


class _Collector:
    """The thresholds of Python's collector, and the tapes for which they are raised."""

    def __init__(self) -> None:
        self._recording: set[object] = set()  # the keys of the tapes that record
        self._usual: Thresholds = (0, 0, 0)  # the thresholds outside of tapes
        self._raised: Thresholds | None = None  # the thresholds while collections are rarer
        self._delayed: Thresholds | None = None  # the thresholds after a long tape, until its records are released
        self._first = True  # whether no tape has recorded yet
        self._waits = False  # whether nothing is left to do until the collector calls `_collection_begins`

    def recording_starts(self, key: object, at_once: bool = False) -> None:
        """Called when the tape with this key starts; `at_once` raises the thresholds before any collection."""
        self._recording.add(key)
        if self._waits and not at_once:
            return
        if self._first:
            self._first = False
            keep_freed_memory()
        if self._delayed is not None:
            self.records_gone()
        if self._raised is None:
            if at_once:
                self._raise()
            elif self._collection_begins not in gc.callbacks:
                gc.callbacks.append(self._collection_begins)
                self._waits = True

    def recording_stops(self, key: object) -> None:
        """Called when the tape with this key stops; after the last one, restores thresholds unless others changed them.

        A collection right after a long tape would scan all of it just before it is released. So it is delayed by as
        many new objects as usually trigger one.
        """
        self._recording.discard(key)  # may already be done, if an interrupt made `_end` run twice
        if self._recording or self._raised is None:
            return
        if gc.get_threshold() == self._raised:
            after = self._usual
            young, collections, _ = gc.get_count()
            if after[0] and collections > after[1]:
                after = self._delayed = (young + after[0], after[1] + collections, after[2])
            gc.set_threshold(*after)
        self._raised = None

    def records_gone(self) -> None:
        """Ends the delay, because a tape's records were released or the next tape starts."""
        if self._delayed is not None:
            if gc.get_threshold() == self._delayed:
                gc.set_threshold(*self._usual)
            self._delayed = None

    def _raise(self) -> None:
        self._waits = False
        found = gc.get_threshold()
        if found != self._delayed:
            self._usual = found
        young, middle, old = self._usual
        self._raised = (young * _LATER, middle * _RARER, old * _RARER)
        gc.set_threshold(*self._raised)

    def _collection_begins(self, phase: str, found: dict[str, Any]) -> None:
        """The collector's callback, which removes itself on its first call, before the call at the collection's end.

        An interrupt that arrived during the collection would be raised there, and the collector swallows exceptions.
        """
        self._waits = False
        gc.callbacks.remove(self._collection_begins)
        if self._recording and self._raised is None:
            self._raise()


_collector = _Collector()
recording_starts, recording_stops = _collector.recording_starts, _collector.recording_stops
records_gone = _collector.records_gone
