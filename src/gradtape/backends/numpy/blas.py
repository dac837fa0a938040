"""Controls the number of BLAS threads, so that BLAS does not compete with gradtape's threads for the cores.

Work that alternates copies and products runs fastest with one thread per part and single-threaded products. Moreover,
the wheels of NumPy and SciPy each bring an OpenBLAS, whose threads spin while they wait for the next call: SciPy calls
between NumPy products compete with them for the cores unless they are single-threaded (a step of a Gaussian process on
two cores then takes a half to a quarter of the time). This works for these OpenBLAS libraries only; with any other, the
work is not split, and BLAS calls use as many threads as they choose.
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
    """Returns functions that get and set the thread count of the package's OpenBLAS, or None if it has none."""
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
    """A reentrant context in which a package's BLAS is single-threaded, process-wide."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._lock = threading.Lock()
        self._inside = 0  # the number of active blocks
        self._usual = 1  # the thread count to restore

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


one_thread_each = _OneThread("numpy")  # for matrix products
one_thread_of_scipy = _OneThread("scipy")
