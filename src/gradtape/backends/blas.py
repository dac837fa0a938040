"""Controls the number of BLAS threads, so that BLAS does not compete with gradtape's threads for the cores.

Work that alternates copies and products runs fastest with one thread per part and single-threaded products. Moreover,
the wheels of NumPy and SciPy each bring an OpenBLAS, whose threads spin while they wait for the next call: SciPy calls
between NumPy products compete with them for the cores unless they are single-threaded (a step of a Gaussian process on
two cores then takes a half to a quarter of the time). Once PyTorch computes large arrays, NumPy's products are
single-threaded for the same reason, and large ones are PyTorch's; only decompositions of large matrices use all
threads. Otherwise the threads of OpenBLAS and OpenMP spin against each other: the step of a small classifier took 100
ms instead of 2 on 16 cores. This works for these OpenBLAS libraries only; with any other, the work is not split, and
BLAS calls use as many threads as they choose.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import os
import threading
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any

import numpy as np

from .tuning import FEW, LARGE_MATRIX

_NO_CONTROL: tuple[Callable[[], int], Callable[[int], None]] = (lambda: 1, lambda count: None)


@cache
def _threads(package: str) -> tuple[Callable[[], int], Callable[[int], None]]:
    """Returns functions that get and set the thread count of the package's OpenBLAS."""
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
    return _NO_CONTROL


def controllable() -> bool:
    """Whether `one_thread_each` has an effect."""
    return _threads("numpy") is not _NO_CONTROL


class _ThreadCount:
    """A reentrant context in which a package's BLAS uses `count` threads, process-wide."""

    def __init__(self, package: str, count: int = 1) -> None:
        self._package = package
        self._count = count
        self._lock = threading.Lock()
        self._inside = 0  # the number of active blocks
        self._usual = 1  # the thread count to restore
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._lock._at_fork_reinit)  # type: ignore[attr-defined]

    def __enter__(self) -> None:
        read, write = _threads(self._package)
        with self._lock:
            if not self._inside:
                self._usual = read()
                write(self._count)
            self._inside += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _, write = _threads(self._package)
        with self._lock:
            self._inside -= 1
            if not self._inside:
                write(self._usual)

    def keep(self) -> int:
        """Makes this the thread count outside of blocks, too; returns the one before."""
        return self.set_usual(self._count)

    def set_count(self, count: int) -> None:
        """Sets the thread count inside of blocks that begin from now on."""
        self._count = count

    def set_usual(self, count: int) -> int:
        """Sets the thread count outside of blocks; returns the one before."""
        with self:
            before, self._usual = self._usual, count
        return before


one_thread_each = _ThreadCount("numpy")  # for matrix products
one_thread_of_scipy = _ThreadCount("scipy")


@cache
def keep_one_thread() -> _ThreadCount:
    """Makes NumPy's products single-threaded from now on; returns a context in which they use all threads again."""
    return _ThreadCount("numpy", one_thread_each.keep())


@cache
def _counts_at_start() -> dict[str, int]:
    return {package: _threads(package)[0]() for package in ("numpy", "scipy")}


def set_threads(count: int) -> None:
    """Sets the number of threads of NumPy's and SciPy's BLAS; 0 restores what they had before the first call."""
    at_start = _counts_at_start()
    one_thread_of_scipy.set_usual(count or at_start["scipy"])
    if keep_one_thread.cache_info().currsize:
        keep_one_thread().set_count(count or at_start["numpy"])
    else:
        one_thread_each.set_usual(count or at_start["numpy"])


_DOUBLE = np.dtype(np.float64)
_LOOPS = {"solve": "solve", "inv": "inv", "cholesky": "cholesky_lo"}


def _loop(name: str) -> Callable[..., Any] | None:
    """Returns the private loop that a function of `numpy.linalg` calls; None if NumPy removes it.

    The function takes three to five times as long for small matrices.
    """
    try:
        from numpy.linalg import _umath_linalg

        return getattr(_umath_linalg, _LOOPS[name])
    except (ImportError, AttributeError, KeyError):
        return None


def _by_loop(loop: Callable[..., Any], *arrays: Any) -> Any:
    """Runs the loop on matrices of one dtype, in double precision; None if they do not fit or a result is not finite.

    The loop returns NaN for matrices that `numpy.linalg` refuses.
    """
    dtype = arrays[0].dtype
    for x in arrays:
        if x.ndim < 2 or x.dtype is not dtype:
            return None
    try:
        y = loop(*[x.astype(_DOUBLE, copy=False) for x in arrays])
    except (ValueError, FloatingPointError, RuntimeWarning):  # the last two if the user made them errors
        return None
    # An empty solution says nothing about the matrix.
    return y.astype(dtype, copy=False) if y.size and math.isfinite(np.vdot(y, y)) else None


class _Decompositions:
    """The functions of `numpy.linalg`, which use all threads for large matrices even after `keep_one_thread`."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function, loop = getattr(np.linalg, name), _loop(name)

        def call(x: Any, *rest: Any, **options: Any) -> Any:
            if loop is not None and 0 < x.size < FEW and x.dtype.char in "fd":
                y = _by_loop(loop, x, *rest)
                if y is not None:
                    return y
            if x.shape[-1] < LARGE_MATRIX or not keep_one_thread.cache_info().currsize:
                return function(x, *rest, **options)
            with keep_one_thread():
                return function(x, *rest, **options)

        setattr(self, name, call)
        return call


_decompositions = _Decompositions()


def linalg(xp: Any) -> Any:
    """Returns the functions for decompositions of an array library."""
    return _decompositions if xp is np else xp.linalg
