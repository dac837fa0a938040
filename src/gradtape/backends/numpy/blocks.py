"""Large work shared out among the cores: elementwise formulas, and the parts of convolutions and what goes with them.

NumPy lets the interpreter lock go inside its loops, so threads really run at once. Each core gets one contiguous part.
A formula of several steps goes over its part block by block, so that what is between two steps stays in the cache, in
memory that malloc has at hand; for a single step, blocks cost more in handing the lock over than they save. Products
inside a part use one thread each, for OpenBLAS's own threads wait busily and would take a core away.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..tuning import BLOCK, LARGE, REPEATED_ROW
from . import blas
from .threads import CORES, together

_UFUNCS: dict[Any, np.ufunc] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.divide,
    operator.neg: np.negative, operator.abs: np.absolute,
}  # fmt: skip


def into(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`f(*arrays, out)` that writes what `kernel(*arrays)` gives."""
    ufunc = kernel if isinstance(kernel, np.ufunc) else _UFUNCS.get(kernel)
    if ufunc is np.maximum or ufunc is np.minimum:  # NumPy warns of a third argument without its name
        return lambda a, b, out: ufunc(a, b, out=out)
    return ufunc if ufunc is not None else lambda *arrays: np.copyto(arrays[-1], kernel(*arrays[:-1]))


def run(f: Callable[..., Any], arrays: Sequence[Any], dtype: Any) -> Any:
    """A new array, filled by `f(*parts of arrays, part of it)` on all cores.

    None where the arrays do not line up, or are too small for that.
    """
    large = [a for a in arrays if a.shape]  # the others are numbers
    shape = large[0].shape
    if len(arrays) == 2 and len(shape) > 1 and _is_row(arrays[1].shape, shape):
        return _with_row(f, arrays[0], arrays[1].reshape(-1), dtype) if arrays[0].size >= LARGE else None
    for a in large:
        if type(a) is not np.ndarray or a.shape != shape or not a.flags.c_contiguous:
            return None
    if large[0].size < LARGE:
        return None
    out = np.empty(shape, dtype)
    _in_parts(f, (*arrays, out))
    return out


def _is_row(shape: tuple[int, ...], of: tuple[int, ...]) -> bool:
    """Whether an array is one row, `(channels,)` or `(1, 1, 1, channels)`, beside an array of shape `of`."""
    return shape[-1:] == of[-1:] and len(shape) <= len(of) and math.prod(shape) == of[-1] and shape != of


def _in_parts(f: Callable[..., Any], arrays: Sequence[Any]) -> None:
    """`f(*parts of arrays)` for each core; the arrays are contiguous and of one shape, or numbers."""
    flat = [a.reshape(-1) if a.shape else a for a in arrays]
    size = flat[-1].size
    share = -(-size // CORES)

    def part(start: int) -> None:
        end = min(start + share, size)
        step = share if isinstance(f, np.ufunc) else BLOCK
        for i in range(start, end, step):
            f(*[a[i : min(i + step, end)] if a.shape else a for a in flat])

    together([partial(part, i) for i in range(0, size, share)])


def _with_row(f: Callable[..., Any], a: Any, row: Any, dtype: Any) -> Any:
    """`run` for an array and a row that is broadcast over it, such as a bias."""
    if not a.flags.c_contiguous or not row.size:
        return None
    # NumPy's loop is along the row: a short one is repeated as often as the array allows.
    repeats = math.gcd(a.size // row.size, max(1, REPEATED_ROW // row.size))
    row = np.tile(row, repeats)
    rows = a.reshape(-1, row.size)
    out = np.empty(a.shape, dtype)
    y = out.reshape(rows.shape)
    share_out(lambda part: f(rows[part], row, y[part]), rows.shape[0], a.size)
    return out


def combined(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """`ufunc(a, b)`, an operation of arithmetic, on all cores where that pays."""
    if type(a) is np.ndarray and a.size >= LARGE and a.dtype == b.dtype:
        y = run(ufunc, (a, b), a.dtype)
        if y is not None:
            return y
    return ufunc(a, b)


def add(a: Any, b: Any) -> Any:
    """`a + b`, on all cores where that pays."""
    return combined(np.add, a, b) if type(a) is np.ndarray else a + b


def accumulate(total: Any, term: Any, ufunc: np.ufunc = np.add) -> None:
    """`total += term`, or with another operation of arithmetic, on all cores where that pays."""
    contiguous = total.flags.c_contiguous and term.flags.c_contiguous
    if contiguous and total.size >= LARGE and total.shape == term.shape:
        _in_parts(ufunc, (total, term, total))
    else:
        ufunc(total, term, out=total)


def share_out(work: Callable[[slice], Any], count: int, size: int, convolution: bool = False) -> list[Any]:
    """What `work` gives for the parts of `range(count)`, one for each core if the work, on `size` elements, is large.

    Matrix products inside `work` use no further threads.
    """
    parts = max(1, min(CORES, count, 4 * size // LARGE))
    if not count or not blas.controllable() or (parts == 1 and (size < LARGE >> 4 or not convolution)):
        return [work(slice(0, count))]
    with blas.one_thread_each:
        return spread(work, count, parts)


def spread(work: Callable[[slice], Any], count: int, parts: int) -> list[Any]:
    """What `work` gives for so many contiguous parts of `range(count)`, each on a core of its own."""
    share = -(-count // parts)
    return together([partial(work, slice(i, min(i + share, count))) for i in range(0, count, share)])


def product(a: Any, b: Any) -> Any:
    """The matrix product `a @ b`: of two matrices by `dot`, which takes less time to call and copies odd layouts."""
    if a.ndim == b.ndim == 2:
        return np.dot(a, b)
    return _outer(a[..., 0], b[..., 0, :]) if a.shape[-1] == 1 else np.matmul(a, b)


def _outer(a: Any, b: Any) -> Any:
    """The product of each column with a row: of numbers, so two to five times as fast as by BLAS."""
    size = a.size * b.shape[-1]
    if size < LARGE or a.ndim != 2 or b.ndim != 2 or len(a) != len(b) or a.dtype != b.dtype:
        return np.einsum("...i,...j->...ij", a, b)
    y = np.empty((*a.shape, b.shape[1]), a.dtype)
    share_out(lambda part: np.einsum("ni,nj->nij", a[part], b[part], out=y[part]), len(a), size)
    return y


def fill(
    xp: Any, kernel: Callable[..., Any], y: Any, *arrays: Any, size: int, convolution: bool = False
) -> Any:
    """`kernel(y, *arrays)`, which writes into `y` and returns it: for NumPy, examples shared out among the cores."""
    if xp is not np:
        return kernel(y, *arrays)
    share_out(lambda part: kernel(y[part], *[a[part] for a in arrays]), y.shape[0], size, convolution)
    return y
