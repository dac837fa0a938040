"""Sharing the cores with BLAS, whose calls would otherwise use all of them, each library's with threads of its own.

Work that alternates copies and products runs best with one thread for each part of it and products that use no threads
of their own. And NumPy's and SciPy's wheels bring an OpenBLAS each, whose threads wait busily for the next call: calls
of SciPy's between NumPy's products fight with them for the cores, unless they use one thread (a step of a Gaussian
process on two cores takes a half to a quarter of the time). This needs a hold on these libraries; with any other, the
work is not shared out, and calls use what threads they like.
"""

from __future__ import annotations

import ctypes
import importlib
import threading
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any


@cache
def _threads(package: str) -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Reads and sets how many threads the package's BLAS uses, or None if that library is not there."""
    from pathlib import Path

    file = importlib.import_module(package).__file__
    for path in Path(file or "").parent.parent.glob(f"{package}.libs/*openblas*"):
        library: Any = ctypes.CDLL(str(path))
        for before in ("scipy_openblas_", "openblas_"):
            for after in ("64_", ""):
                read = getattr(library, f"{before}get_num_threads{after}", None)
                write = getattr(library, f"{before}set_num_threads{after}", None)
                if read is not None and write is not None:
                    return read, write
    return None


def controllable() -> bool:
    """Whether `one_thread_each` has an effect."""
    return _threads("numpy") is not None


class _OneThread:
    """A context in which the BLAS of a package uses the thread it is called from, and no other."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._lock = threading.Lock()
        self._inside = 0  # how many blocks are active
        self._usual = 1  # the threads of a call outside of them

    def __enter__(self) -> None:
        threads = _threads(self._package)
        with self._lock:
            if not self._inside and threads is not None:
                read, write = threads
                self._usual = read()
                write(1)
            self._inside += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        threads = _threads(self._package)
        with self._lock:
            self._inside -= 1
            if not self._inside and threads is not None:
                threads[1](self._usual)


one_thread_each = _OneThread("numpy")  # of matrix products
one_thread_of_scipy = _OneThread("scipy")
