"""Products of float32 matrices whose shapes are known beforehand, as in a graph: what a call needs is prepared once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_char, c_float, c_int64, c_void_p
from typing import Any

import numpy as np

from .library import FAILED, FLOAT32, address, library
from .products import MANY_ROWS, SMALLEST, product


def can_multiply(rows: int, inner: int, columns: int) -> bool:
    """Whether oneDNN computes products of this size."""
    return rows * inner * columns >= SMALLEST and library() is not None


class FixedProduct:
    """`y = kept · y + scale · a b` for contiguous matrices; `turned` says which of `a` and `b` come as transposes."""

    def __init__(
        self, shape: tuple[int, ...], inner: int, turned: tuple[bool, bool], scale: float = 1.0, kept: float = 0.0
    ) -> None:
        self._library = dnnl = library()
        assert dnnl is not None
        rows, columns = shape
        factors = ((rows, inner), (inner, columns))
        self._shapes = (shape, *(pair[::-1] if flag else pair for pair, flag in zip(factors, turned, strict=True)))
        self._a, self._b, self._y = c_void_p(), c_void_p(), c_void_p()
        # Without declared types, ctypes converts nothing: the arguments are C's already.
        self._sgemm = ctypes.CDLL(dnnl.path).dnnl_sgemm
        self._arguments = (
            *(c_char(b"T" if flag else b"N") for flag in turned), *map(c_int64, (rows, columns, inner)),
            c_float(scale), self._a, c_int64(rows if turned[0] else inner), self._b,
            c_int64(inner if turned[1] else columns), c_float(kept), self._y, c_int64(columns),
        )  # fmt: skip

    def into(self, y: Any, a: Any, b: Any) -> bool:
        """Writes the contiguous array `y`, unless a factor is laid out in another way; returns whether it did."""
        dnnl = library()
        if dnnl is None or dnnl is not self._library or (y.shape, a.shape, b.shape) != self._shapes:
            return False
        if not (a.flags.c_contiguous and b.flags.c_contiguous):
            return False
        with dnnl.lock:
            self._a.value, self._b.value, self._y.value = address(a), address(b), address(y)
            failed = self._sgemm(*self._arguments)
        if failed:
            raise RuntimeError(FAILED)
        return True


def fixed_product(
    a_shape: tuple[int, ...], b_shape: tuple[int, ...], turned: tuple[bool, bool]
) -> Callable[[Any, Any], Any] | None:
    """A function that gives `a b`, where either may come as its transpose; None where that is NumPy's work."""
    rows, inner = a_shape[::-1] if turned[0] else a_shape
    columns = b_shape[0 if turned[1] else 1]
    if not can_multiply(rows, inner, columns) or (turned[1] and rows >= MANY_ROWS and columns > 1):
        return None
    shape = (rows, columns)
    write = FixedProduct(shape, inner, turned).into

    def run(a: Any, b: Any) -> Any:
        y = np.empty(shape, FLOAT32)
        if write(y, a, b):
            return y
        a, b = (x.T if flag else x for x, flag in zip((a, b), turned, strict=True))
        y = product(a, b)
        return np.matmul(a, b) if y is None else y

    return run
