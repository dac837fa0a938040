"""Random numbers that differ in each process that is forked."""

from __future__ import annotations

import itertools
import os
import threading
from functools import cache

from ...engine.run.randomness import reseed

NAMESPACES = ("",)
__all__ = ["reseed_after_fork"]


class _Forks(threading.local):
    """The number of the fork that this thread is making."""

    number = 0


_forks = _Forks()


@cache
def reseed_after_fork() -> None:
    """Makes random numbers differ between this process and those that are forked from it later, and among these.

    A forked process otherwise repeats its parent's random numbers, as in TensorFlow. After this call, the n-th fork of
    a process changes the global seed, random functions, generators and the seeds of Keras' layers by n: they are the
    same in the n-th process of each run of the program. Orders of shuffled data sets stay the same, so that processes
    can shard them, and so do seeds of stateless functions.

    >>> tf.reseed_after_fork()
    """
    if not hasattr(os, "register_at_fork"):
        return
    count = itertools.count(1)

    def number_fork() -> None:
        _forks.number = next(count)

    def reseed_child() -> None:
        nonlocal count
        count = itertools.count(1)
        reseed(_forks.number)

    os.register_at_fork(before=number_fork, after_in_child=reseed_child)
