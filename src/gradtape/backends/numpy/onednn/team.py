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
_kept = 0  # threads whose Python state is kept: see `_prepare_thread`
_here = threading.local()


class _Job:
    """Pieces of work, and what has become of them."""

    __slots__ = ("errors", "results", "waiting")

    def __init__(self, works: list[Callable[[], Any]]) -> None:
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


def _help(job: _Job) -> None:
    """What each other thread of the team does."""
    if not hasattr(_here, "known"):
        _prepare_thread()
    job.work()


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
_part = _Part(_help)


def together(works: list[Callable[[], Any]]) -> list[Any] | None:
    """What each of the functions returns, run by a team; None while there is no team, as oneDNN is not in use."""
    team = library.team
    if team is None:
        return None
    job = _Job(works)
    outside = team.level()
    # This thread does its part here, not as one that OpenMP calls: ctypes would print an interrupt, and forget it.
    try:
        team.start(_part, job, 0)
        job.work()
    except BaseException:  # an interrupt, mostly; a debugger may even have left before the team has started
        if team.level() > outside:
            team.end()
        raise
    team.end()
    if job.errors:
        raise job.errors[0]
    return job.results
