"""Pieces of Python work on the threads that oneDNN computes with.

OpenMP's threads wait busily for their next computation. Other threads that do a piece of work in between would have to
share the cores with them; so it is they who do it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library

_MOST_KEPT = 256
_kept = 0  # threads whose Python state is kept: see `_take_part`
_here = threading.local()


class _Job:
    """Pieces of work, and what has become of them."""

    __slots__ = ("caller", "errors", "results", "waiting")

    def __init__(self, works: list[Callable[[], Any]]) -> None:
        self.caller = threading.get_ident()
        self.waiting = list(enumerate(works))[::-1]
        self.results: list[Any] = [None] * len(works)
        self.errors: list[BaseException] = []

    def work(self) -> None:
        """Does pieces until none is left."""
        while self.waiting:
            try:
                number, piece = self.waiting.pop()
            except IndexError:
                return  # another thread has taken the last one
            try:
                self.results[number] = piece()
            except BaseException as error:
                self.errors.append(error)


def _take_part(job: _Job) -> None:
    """What each thread of the team does."""
    try:
        if threading.get_ident() != job.caller and not hasattr(_here, "known"):
            _prepare_thread()
        job.work()
    except BaseException as error:  # an interrupt between two pieces, which ctypes would print and forget
        job.errors.append(error)


def _prepare_thread() -> None:
    global _kept
    np.seterr(all="ignore")  # overflow and division by zero are no news, as in the thread that waits
    if _kept < _MOST_KEPT:
        # The state that Python makes for a foreign thread is given up when its call ends, and takes longer to make than
        # a small piece of work. One who enters once more than he leaves keeps his; few, for threads may come and go.
        _kept += 1
        _here.known = True
        ctypes.pythonapi.PyGILState_Ensure()


_Part = ctypes.CFUNCTYPE(None, ctypes.py_object)
_part = _Part(_take_part)


def together(works: list[Callable[[], Any]]) -> list[Any] | None:
    """What each of the functions returns, run by a team; None while there is no team, as oneDNN is not in use."""
    run = library.in_parallel
    if run is None:
        return None
    job = _Job(works)
    run(_part, job, 0, 0)
    if job.errors:
        raise job.errors[0]
    return job.results
