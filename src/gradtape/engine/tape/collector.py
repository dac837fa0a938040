"""What the process is asked for when tapes record: rarer collections, and to keep the memory that steps free.

A tape's records are many small objects, none of them garbage. Looking through all of them again and again would double
the price of a long tape, so when a first collection has come while one records, the next are made rarer, those of older
objects most of all. And steps make and free large arrays all the time: from the first recording on, malloc keeps them
for reuse.
"""

from __future__ import annotations

import gc
from typing import Any

from ...backends.numpy.memory import keep_freed_memory

Thresholds = tuple[int, int, int]

_recording: set[object] = set()  # the keys of the tapes that record
_usual: Thresholds = (0, 0, 0)  # the thresholds outside of tapes, and
_raised: Thresholds | None = None  # while collections are rarer
_delayed: Thresholds | None = None  # after a long tape until it is gone
_first = True  # whether nothing has recorded yet
_LATER = 10
_RARER = 100


def recording_starts(key: object, at_once: bool = False) -> None:
    """The tape with this key records; `at_once` says that not even a first collection is to come."""
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
    """The tape with this key records no more; after the last, the collector is as it was, if nobody has set it.

    A long tape is not followed by a collection at once, which would look through all of it just before it is let go. It
    comes after as many further objects as it usually takes.
    """
    global _raised, _delayed
    _recording.discard(key)  # an interrupt may have come when it was done before
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
    """The records of a tape have been let go, or the next one begins: there is no reason to wait any longer."""
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
    """What the collector calls, once: it would call it at the collection's end too.

    An interrupt that has come meanwhile would be raised there, and the collector lets no exception out.
    """
    gc.callbacks.remove(_collection_begins)
    if _recording and _raised is None:
        _raise()
