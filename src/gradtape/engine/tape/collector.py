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

_recording: set[object] = set()  # the keys of the tapes that record
_usual: Thresholds = (0, 0, 0)  # the thresholds outside of tapes
_raised: Thresholds | None = None  # the thresholds while collections are rarer
_delayed: Thresholds | None = None  # the thresholds after a long tape, until its records are released
_first = True  # whether no tape has recorded yet
_LATER = 10
_RARER = 100


def recording_starts(key: object, at_once: bool = False) -> None:
    """Called when the tape with this key starts recording; `at_once` raises the thresholds before any collection."""
    global _first
    if _first:
        _first = False
        keep_freed_memory()
    if _delayed is not None:
        records_gone()
    _recording.add(key)
    if _raised is None:
        if at_once:
            _raise()
        elif _collection_begins not in gc.callbacks:
            gc.callbacks.append(_collection_begins)


def recording_stops(key: object) -> None:
    """Called when the tape with this key stops; after the last one, restores thresholds that no other code has changed.

    A collection right after a long tape would scan all of it just before it is released. So it is delayed by as many
    new objects as usually trigger one.
    """
    global _raised, _delayed
    _recording.discard(key)  # may already be done, if an interrupt made `_end` run twice
    if _recording or _raised is None:
        return
    if gc.get_threshold() == _raised:
        after = _usual
        young, collections, _ = gc.get_count()
        if _usual[0] and collections > _usual[1]:
            after = _delayed = (young + _usual[0], _usual[1] + collections, _usual[2])
        gc.set_threshold(*after)
    _raised = None


def records_gone() -> None:
    """Ends the delay, because a tape's records were released or the next tape starts."""
    global _delayed
    if _delayed is not None:
        if gc.get_threshold() == _delayed:
            gc.set_threshold(*_usual)
        _delayed = None


def _raise() -> None:
    global _usual, _raised
    found = gc.get_threshold()
    if found != _delayed:
        _usual = found
    young, middle, old = _usual
    _raised = (young * _LATER, middle * _RARER, old * _RARER)
    gc.set_threshold(*_raised)


def _collection_begins(phase: str, found: dict[str, Any]) -> None:
    """The collector's callback, which removes itself on its first call, before the call at the collection's end.

    An interrupt that arrived during the collection would be raised there, and the collector swallows exceptions.
    """
    gc.callbacks.remove(_collection_begins)
    if _recording and _raised is None:
        _raise()
