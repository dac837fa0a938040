"""Locks and files in forked children, which lack the other threads of the parent and share its files.

A fork-safe lock is free in the child although another thread of the parent held it. What such a lock guards must be
valid at every moment, since the other thread does not complete its update either; or the child repairs it by a method
that `call_in_child` knows. Build locks also guard work that takes long and that one thread should do for all: traces
and compilations.

The environment variable `GRADTAPE_LOCK_DELAYS` turns on a test mode: threads sleep up to that many seconds before and
after they take or release a lock, and so meet in orders that are rare otherwise. Without it, locks are Python's own.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, Any, BinaryIO
from weakref import WeakMethod, WeakSet

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """`functools.cached_property` as of Python 3.12: without a lock, which a fork would leave locked."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute, self.name = compute, compute.__name__
            functools.update_wrapper(self, compute)

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = vars(instance)[self.name] = self.compute(instance)
            return value


_MAX_DELAY_S = float(os.environ.get("GRADTAPE_LOCK_DELAYS", 0))
_locks: WeakSet[Any] = WeakSet()
_methods: set[WeakMethod[Any]] = set()


def _delay() -> None:
    """Sleeps for a random time, usually none, in the test mode."""
    if _MAX_DELAY_S:
        chance = int.from_bytes(os.urandom(2)) / 65536  # not from a generator that the program may have seeded
        if chance < 0.2:
            time.sleep(5 * chance * _MAX_DELAY_S)


class _SlowLock:
    """A lock of the test mode."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def acquire(self, *args: Any, **kwargs: Any) -> bool:
        """Acquires the lock, between two delays."""
        _delay()
        acquired = self._lock.acquire(*args, **kwargs)
        _delay()
        return acquired

    def release(self) -> None:
        """Releases the lock, after a delay and before another."""
        _delay()
        self._lock.release()
        _delay()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


def call_in_child(method: Callable[[], None]) -> None:
    """Calls the method of an object in each forked child, as long as the object exists.

    At that time, the fork-safe locks that other threads of the parent held are still locked.
    """
    _methods.add(WeakMethod(method, _methods.discard))


def leave_to_parent(file: BinaryIO) -> None:
    """Disconnects a file in a forked child: what its buffer holds is written by the parent, and only there."""
    with suppress(OSError, ValueError):  # it is closed
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, file.fileno(), inheritable=False)
        os.close(null)


def _fork_safe(lock: Any) -> Any:
    _locks.add(lock)
    return _perhaps_slow(lock)


def _perhaps_slow(lock: Any) -> Any:
    """Returns the lock itself, or in the test mode one that acquires and releases it slowly."""
    return _SlowLock(lock) if _MAX_DELAY_S else lock


def fork_safe_lock() -> Any:
    """Returns a new lock."""
    return _fork_safe(threading.Lock())


def fork_safe_rlock() -> Any:
    """Returns a new reentrant lock; the child holds it if the thread that forked did."""
    return _fork_safe(threading.RLock())


def is_held_elsewhere(lock: Any) -> bool:
    """Returns whether another thread holds a reentrant lock."""
    is_free = lock.acquire(blocking=False)
    if is_free:
        lock.release()
    return not is_free


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


class BuildLock:
    """A reentrant lock around what several threads would otherwise build at once, such as a trace or a program.

    It never deadlocks with other locks of its kind. A thread that would wait for itself, by way of threads that wait
    for it, enters without the lock: building twice is correct, only slower. Each copy of a lock is a lock of its own.
    """

    def __init__(self) -> None:
        self._owner: int | None = None
        self._depth = 0  # how often the owner has entered
        self._guests: list[int] = []  # threads that entered without the lock
        _build_locks.add(self)

    def __reduce__(self) -> Any:
        return BuildLock, ()

    def __enter__(self) -> None:
        _delay()
        me = threading.get_ident()
        with _builds.changed:
            if self._waits_for(me):
                self._guests.append(me)
                return
            _builds.waiting[me] = self
            try:
                while self._owner not in (None, me):
                    _builds.changed.wait()
            finally:
                del _builds.waiting[me]
            self._owner = me
            self._depth += 1
        _delay()

    @contextmanager
    def unless_busy(self) -> Iterator[bool]:
        """Enters unless another thread is inside, for which it does not wait; yields whether it has entered."""
        _delay()
        me = threading.get_ident()
        with _builds.changed:
            enters = self._owner in (None, me)
            if enters:
                self._owner = me
                self._depth += 1
        try:
            yield enters
        finally:
            if enters:
                self.__exit__()

    def _waits_for(self, me: int) -> bool:
        """Whether the owner, another thread, waits for a lock of this thread, directly or by way of other threads."""
        lock: BuildLock | None = self
        owner = None
        while lock is not None and lock._owner is not None and lock._owner != owner:
            owner = lock._owner
            lock = _builds.waiting.get(owner)
            if owner == me:
                return self._owner != me
        return False

    def __exit__(self, *_: object) -> None:
        _delay()
        me = threading.get_ident()
        with _builds.changed:
            if me in self._guests:
                self._guests.remove(me)
                return
            self._depth -= 1
            if not self._depth:
                self._owner = None
                _builds.changed.notify_all()


class SharedAttempt:
    """A context in which one thread at a time builds something; threads that wait share the outcome.

    If the attempt fails for which a thread has waited, the thread gets a copy of the error instead of its own attempt.
    """

    def __init__(self) -> None:
        self._lock = BuildLock()
        self._failures = 0
        self._error: BaseException | None = None

    def __reduce__(self) -> Any:
        return SharedAttempt, ()

    def __enter__(self) -> bool:
        failures = self._failures
        self._lock.__enter__()
        if self._failures != failures and self._error is not None:
            error = copy(self._error)
            self._lock.__exit__()
            raise error
        return True

    def unless_busy(self) -> AbstractContextManager[bool]:
        """Enters unless another thread is inside, for which it does not wait; yields whether it has entered."""
        return self._lock.unless_busy()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):  # an interrupt is for one thread
            self._failures += 1
            with suppress(Exception):  # not every class of users can be copied
                self._error = copy(error)
        self._lock.__exit__()


class _Builds:
    """What the build locks of the process share."""

    changed: threading.Condition
    waiting: dict[int, BuildLock]  # the lock for which a thread waits

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets all waiting threads."""
        self.changed, self.waiting = threading.Condition(threading.RLock()), {}


_build_locks: WeakSet[BuildLock] = WeakSet()
_builds = _Builds()


def _repair_child() -> None:
    for reference in list(_methods):
        method = reference()
        if method is not None:
            method()
    for lock in _locks:
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):
            lock._at_fork_reinit()  # as the locks of `threading` and `logging`
    me = threading.get_ident()  # the same as in the parent
    _builds.reset()
    for build in _build_locks:
        build._guests = [guest for guest in build._guests if guest == me]
        if build._owner != me:
            build._owner, build._depth = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_repair_child)
