"""The threads that help the calling one: `together` runs pieces of work at once, one on each core.

A helper sleeps on a lock until it is given a piece. That takes half the time of a future of `concurrent.futures`, which
counts: an elementwise operation on a million numbers takes as long as ten times handing it over. Whoever finds no
helper free, as inside a piece of work, does the work itself, so that nobody ever waits for a turn.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Piece:
    """A piece of work under way: `done` is locked until its result or its error is there."""

    __slots__ = ("done", "error", "result", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()


class _Helper:
    """A thread that does one piece of work at a time, and then joins those that are `free` again."""

    def __init__(self, free: list[_Helper]) -> None:
        self._free = free
        self._piece: _Piece | None = None
        self._called = threading.Lock()
        self._called.acquire()
        threading.Thread(target=self._serve, name="gradtape", daemon=True).start()

    def start(self, piece: _Piece) -> None:
        self._piece = piece
        self._called.release()

    def _serve(self) -> None:
        np.seterr(all="ignore")  # overflow and division by zero are no news, as in the thread that waits
        while True:
            self._called.acquire()
            piece, self._piece = self._piece, None
            assert piece is not None
            try:
                piece.result = piece.work()
            except BaseException as error:
                piece.error = error
            self._free.append(self)
            piece.done.release()
            del piece  # and with it the arrays, before the next call


@cache
def _helpers() -> list[_Helper]:
    """Those that are free; popping and appending are atomic."""
    free: list[_Helper] = []
    free.extend([_Helper(free) for _ in range(CORES - 1)])
    return free


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not survive a fork: the child starts its own


def together(works: list[Callable[[], Any]]) -> list[Any]:
    """What each of the functions returns; the first runs here, the others on other cores where those are free."""
    first, *others = works
    free = _helpers()
    pieces = []
    for work in others:
        piece = _Piece(work)
        try:
            free.pop().start(piece)
        except IndexError:
            break
        pieces.append(piece)
    try:
        results = [first(), *(work() for work in others[len(pieces) :])]
    finally:
        for piece in pieces:  # what they write to must not be used, nor given back, before they are done
            piece.done.acquire()
    for piece in pieces:
        if piece.error is not None:
            raise piece.error
    return [results[0], *(piece.result for piece in pieces), *results[1:]]
