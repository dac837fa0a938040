"""Sharing the cores with NumPy's matrix products, which would otherwise use all of them for each product.

Work that alternates copies and products runs best with one thread for each part of it and products that use no threads
of their own. This needs a hold on the OpenBLAS that NumPy's wheels bring along; with any other library the work is not
shared out.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

_lock = threading.Lock()
_inside = 0  # how many blocks of `one_thread_each` are active
_usual = 1  # the threads of a product outside of them


@cache
def _threads() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Reads and sets how many threads a product uses, or None if that library is not there."""
    from pathlib import Path

    for path in Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*"):
        library: Any = ctypes.CDLL(str(path))
        for before, after in (("scipy_openblas_", "64_"), ("openblas_", "64_"), ("openblas_", "")):
            read = getattr(library, f"{before}get_num_threads{after}", None)
            write = getattr(library, f"{before}set_num_threads{after}", None)
            if read is not None and write is not None:
                return read, write
    return None


def controllable() -> bool:
    """Whether `one_thread_each` has an effect."""
    return _threads() is not None


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Inside, each matrix product uses the thread it is called from, and no other."""
    global _inside, _usual
    threads = _threads()
    if threads is None:
        yield
        return
    read, write = threads
    with _lock:
        if not _inside:
            _usual = read()
            write(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                write(_usual)
