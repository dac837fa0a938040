"""A thread pool with low latency: `together` runs functions concurrently, one on each core.

A worker waits on a queue of its own until it is handed a task. That takes half the time of a future of
`concurrent.futures`, which matters: an elementwise operation on a million elements takes only ten times as long as the
handoff. A caller that finds no free worker, for example inside a task, runs the work itself, so nothing ever waits for
a worker.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache, partial
from queue import SimpleQueue
from typing import Any

import numpy as np

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_most = [CORES]  # threads that work at a time for one caller, the caller included
_Tasks = SimpleQueue[Any]  # of pairs: a function, and the queue of its result and its error


def _serve(tasks: _Tasks, free: list[_Tasks]) -> None:
    """The loop of a worker, which runs one task at a time and then returns to the list `free`."""
    np.seterr(all="ignore")  # suppresses floating-point warnings, as in the calling thread
    while True:
        work, done = tasks.get()
        try:
            outcome: tuple[Any, BaseException | None] = work(), None
        except BaseException as error:
            outcome = None, error
        free.append(tasks)
        done.put(outcome)
        del work, done, outcome  # releases the task's arrays before the next wait


@cache
def _helpers() -> list[_Tasks]:
    """The queues of the free workers; `pop` and `append` are atomic."""
    free: list[_Tasks] = []
    for _ in range(CORES - 1):
        tasks: _Tasks = SimpleQueue()
        threading.Thread(target=_serve, args=(tasks, free), name="gradtape", daemon=True).start()
        free.append(tasks)
    return free


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not survive a fork: the child starts its own


def set_limit(count: int) -> None:
    """Limits the threads that `together` uses at a time, the caller's included; 0: one on each core."""
    _most[0] = min(count or CORES, CORES)


def together(works: list[Callable[[], Any]]) -> list[Any]:
    """Runs the functions and returns their results: the first in this thread, the others on free cores."""
    first, *others = works
    free = _helpers()
    handed: list[_Tasks] = []
    for work in others[: _most[0] - 1]:
        try:
            tasks = free.pop()
        except IndexError:
            break
        handed.append(SimpleQueue())
        tasks.put((work, handed[-1]))
    try:
        results = [first(), *(work() for work in others[len(handed) :])]
    finally:
        outcomes = [done.get() for done in handed]  # their outputs must not be used or freed before they finish
    for _, error in outcomes:
        if error is not None:
            raise error
    return [results[0], *(result for result, _ in outcomes), *results[1:]]


def spread(work: Callable[[slice], Any], count: int, parts: int) -> list[Any]:
    """Calls `work` on that many contiguous slices of `range(count)`, each on its own core; returns the results."""
    share = -(-count // parts)
    return together([partial(work, slice(i, min(i + share, count))) for i in range(0, count, share)])
