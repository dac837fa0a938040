"""Python's cyclic garbage collector, while tapes record.

A tape's records are many small objects, none of them garbage. Looking through all of them again and again would double
the price of a long tape, so collections are made rarer while one records, those of older objects most of all.
"""

from __future__ import annotations

import gc
import threading

_lock = threading.Lock()
_recording = 0
_before: tuple[int, int, int] = (0, 0, 0)  # the thresholds outside of tapes, and
_relaxed: tuple[int, int, int] = (0, 0, 0)  # while one records
_LATER = 10
_RARER = 100


def recording_starts() -> None:
    """One more tape records."""
    global _recording, _before, _relaxed
    with _lock:
        _recording += 1
        if _recording == 1:
            found = gc.get_threshold()
            if found != _before:
                _before = young, middle, old = found
                _relaxed = (young * _LATER, middle * _RARER, old * _RARER)
            gc.set_threshold(*_relaxed)


def recording_stops(rarely: bool = False) -> None:
    """One tape less records; after the last, the collector is as it was, unless somebody else has set it meanwhile.

    What happens `rarely`, as making a graph, need not pay for what else has gathered: only the youngest are looked at.
    """
    global _recording
    if rarely and _recording == 1 and gc.isenabled() and gc.get_count()[0] > _before[0]:
        gc.collect(0)
    with _lock:
        _recording -= 1
        if _recording == 0 and gc.get_threshold() == _relaxed:
            gc.set_threshold(*_before)
