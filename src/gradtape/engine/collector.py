"""Python's cyclic garbage collector, while tapes record.

A tape's records are many small objects, none of them garbage. Looking through all of them again and again would double
the price of a long tape, so full collections are made rarer while one records; those of young objects go on as always.
"""

from __future__ import annotations

import gc
import threading

_lock = threading.Lock()
_recording = 0
_before: tuple[int, int, int] = (0, 0, 0)
_RARER = 100


def recording_starts() -> None:
    """One more tape records."""
    global _recording, _before
    with _lock:
        _recording += 1
        if _recording == 1:
            _before = gc.get_threshold()
            gc.set_threshold(_before[0], _before[1], _before[2] * _RARER)


def recording_stops() -> None:
    """One tape less records; after the last, the collector is as it was, unless somebody else has set it meanwhile."""
    global _recording
    with _lock:
        _recording -= 1
        if _recording == 0 and gc.get_threshold() == (_before[0], _before[1], _before[2] * _RARER):
            gc.set_threshold(*_before)
