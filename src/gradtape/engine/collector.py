"""Python's cyclic garbage collector, while tapes record.

A tape's records are many small objects, none of them garbage. Looking through all of them again and again would double
the price of a long tape, so collections are made rarer while one records, those of older objects most of all.
"""

from __future__ import annotations

import gc
import threading
from typing import Any

_lock = threading.Lock()
_recording = 0
_before: tuple[int, int, int] = (0, 0, 0)  # the thresholds outside of tapes, and
_relaxed: tuple[int, int, int] = (0, 0, 0)  # while one records
_delayed: tuple[int, int, int] | None = None  # after a long tape until it is gone, or after a graph was made
_collections = 0  # of young objects, that were counted when a tape began to record
_LATER = 10
_RARER = 100


def recording_starts() -> None:
    """One more tape records."""
    global _recording, _before, _relaxed, _collections
    with _lock:
        _recording += 1
        if _recording == 1:
            found = gc.get_threshold()
            if found not in (_before, _delayed):
                _before = young, middle, old = found
                _relaxed = (young * _LATER, middle * _RARER, old * _RARER)
            gc.set_threshold(*_relaxed)
            _collections = gc.get_count()[1]


def recording_stops(rarely: bool = False) -> None:
    """One tape less records; after the last, the collector is as it was, unless somebody else has set it meanwhile.

    A long tape is not followed by a collection at once, which would look through all of it just before it is let go;
    nor what happens `rarely`, as making a graph: that collection may be one of all that has gathered since the program
    began. It comes after as many further objects as it usually takes.
    """
    global _recording, _delayed
    with _lock:
        _recording -= 1
        if _recording == 0 and gc.get_threshold() == _relaxed:
            after = _before
            young, collections, _ = gc.get_count()
            is_long = collections - _collections > _before[1]
            if _before[0] and (is_long or rarely):
                after = _delayed = (young + _before[0], _before[1] + is_long * collections, _before[2])
            gc.set_threshold(*after)


def records_gone(gc: Any = gc) -> None:  # the module's name may be gone when the program ends
    """The records of a tape have been let go: there is no reason to wait any longer."""
    if gc.get_threshold() == _delayed:
        gc.set_threshold(*_before)
