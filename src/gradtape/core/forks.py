"""What a forked child does about the threads and the open files of its parent, which are not its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO
from weakref import WeakMethod

_methods: set[WeakMethod[Any]] = set()


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


def _call_methods() -> None:
    for reference in list(_methods):
        method = reference()
        if method is not None:
            method()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_call_methods)
