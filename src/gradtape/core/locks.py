"""Locks that a forked child finds free although another thread of the parent, which the child lacks, held them.

What such a lock guards must be valid at every moment, since the other thread does not complete its update either.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


def fork_safe_lock() -> threading.Lock:
    """Returns a new lock."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def fork_safe_rlock() -> Any:
    """Returns a new reentrant lock; the child holds it if the thread that forked did."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


class CopyableLock:
    """A reentrant, fork-safe lock of an object that may be copied: each copy gets a lock of its own."""

    def __init__(self) -> None:
        self._lock = fork_safe_rlock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> Any:
        return CopyableLock, ()


def _release_in_child() -> None:
    for lock in _locks:
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):
            lock._at_fork_reinit()  # as the locks of `threading` and `logging`


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)
