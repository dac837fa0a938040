"""Parallel execution on the CPU: splits elementwise formulas, convolutions and related work among the cores.

NumPy releases the GIL inside its loops, so threads run in parallel. Each core gets one contiguous part. A formula of
several steps processes its part in blocks (loop tiling), so that intermediate values stay in the cache and in memory
that malloc reuses; for a single step, blocks cost more in GIL handovers than they save. Matrix products inside a part
are single-threaded, because OpenBLAS's threads spin while they wait and would occupy a core.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .. import blas
from ..torch.library import IS_ENABLED, REJECTIONS, can_import, on_arrays, to_tensor, torch
from ..tuning import LARGE, PRODUCTS, REPEATED_ROW, ROW_BLOCK, TORCH_ARITHMETIC, TORCH_PRODUCTS
from .floating_point import REPORTS, run_silently
from .memory import empty
from .programs import BlockProgram
from .threads import CORES, spread

_LONGEST_ROW = 1 << 16  # elements


class SinglePass:
    """A ufunc as `f(*arrays, out)`, with operands that are scalars or indices into `arrays`; runs without blocks."""

    __slots__ = ("operands", "ufunc")

    def __init__(self, ufunc: np.ufunc, operands: Sequence[Any]) -> None:
        self.ufunc, self.operands = ufunc, tuple(operands)

    def __call__(self, *arrays: Any) -> None:
        self.ufunc(*[arrays[x] if type(x) is int else x for x in self.operands], out=arrays[-1])


def into(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Converts `kernel(*arrays)` to `f(*arrays, out)`, which writes its result to `out`."""
    if isinstance(kernel, np.ufunc):
        return SinglePass(kernel, range(kernel.nin))
    return lambda *arrays: np.copyto(arrays[-1], kernel(*arrays[:-1]))


class Frame(NamedTuple):
    """How a shape lays out its elements: in rows of `width`, 0 if the layout does not matter.

    `columns` says that some argument has one number per row: then the width is exact, else it may be a multiple.
    """

    width: int = 0
    columns: bool = False

    def joined(self, other: Frame) -> Frame | None:
        """Returns the frame that fits both, or None."""
        if not other.width or self == other:
            return self
        if not self.width:
            return other
        narrow, wide = sorted((self, other))
        if wide.width % narrow.width or narrow.columns:
            return None
        return wide


_FLAT = Frame()


def frame_of(value: Any, shape: tuple[int, ...]) -> Frame | None:
    """Returns the frame that an argument requires when broadcast to `shape`, or None if none is possible."""
    given = (1,) * (len(shape) - len(value.shape)) + value.shape
    if given == shape or math.prod(given) == 1:
        return _FLAT
    wide = [i for i, n in enumerate(given) if n != 1]
    first, end = wide[0], wide[-1] + 1
    if given[first:] == shape[first:]:
        width = math.prod(shape[first:])
        return Frame(width) if width <= _LONGEST_ROW else None
    width = math.prod(shape[end:])
    if given[:end] == shape[:end] and width <= _LONGEST_ROW:
        return Frame(width, columns=True)
    return None


def run(f: Callable[..., Any] | BlockProgram, arrays: Sequence[Any], dtype: Any) -> Any:
    """Returns an array that `f(*parts of arrays, part of it)` fills on all cores; None if layouts or sizes forbid."""
    first, last = arrays[0], arrays[-1]
    shape, size = (first.shape, first.size) if first.size >= last.size else (last.shape, last.size)
    has_steps = type(f) is SinglePass or type(f) is BlockProgram
    if size < LARGE and (not size or not has_steps):
        return None
    frame, given = _FLAT, []
    for a in arrays:
        if a.shape == shape:
            if type(a) is np.ndarray and a.flags.c_contiguous:
                given.append(a)
                continue
            if not has_steps or all(a.strides):
                return None
            # A broadcast array, as the cotangents of sums are: without its repetitions.
            a = a[tuple([slice(None) if step else slice(1) for step in a.strides])]
        if a.shape:
            is_number = a.size == 1
            found = frame_of(a, shape) if (is_number or size >= LARGE) and len(a.shape) <= len(shape) else None
            joined = None if found is None else frame.joined(found)
            if joined is None:
                return None
            frame = joined
        given.append(a)
    out = empty(shape, dtype)
    if size < LARGE and type(f) is SinglePass:
        f(*given, out)
    else:
        in_blocks(f, given, [out], frame, CORES if size >= LARGE else 1)
    return out


def in_blocks(
    f: Callable[..., Any] | BlockProgram, arrays: Sequence[Any], outputs: Sequence[Any], frame: Frame, cores: int
) -> None:
    """Calls `f` on blocks of the arrays and outputs, each core on its own part; a single step on the whole part."""
    shape, size, width = outputs[0].shape, outputs[0].size, frame.width or 1
    if frame.width and not frame.columns:
        # NumPy's inner loop runs along the row, so a short row is tiled as far as the array's size allows.
        width *= math.gcd(size // width, max(1, REPEATED_ROW // width))
    row = (width,) if frame.width else ()
    laid, cut = [], []
    for a in (*arrays, *outputs):
        is_column = a.size != size and a.size != 1 and frame.columns and frame_of(a, shape) == frame
        cut.append(a.size == size or is_column)
        if cut[-1]:
            laid.append(np.ascontiguousarray(a).reshape(-1, *((1,) if is_column else row)))
        else:
            laid.append(a.reshape(()) if a.size == 1 else np.tile(a.reshape(-1), width // a.size))
    count = size // width
    if isinstance(f, BlockProgram):
        step = f.block_length(count, width, cut, cores)
    else:
        step = count if isinstance(f, SinglePass | np.ufunc) else max(1, ROW_BLOCK // width)

    def work(here: slice) -> None:
        ends = [(i, min(i + step, here.stop)) for i in range(here.start, here.stop, step)]
        parts = ([a[i:j] if flag else a for a, flag in zip(laid, cut, strict=True)] for i, j in ends)
        if isinstance(f, BlockProgram):
            f.run(parts, (step, *row))
        else:
            for part in parts:
                f(*part)

    spread(work, count, min(cores, count))


def combined(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Computes `ufunc(a, b)`, a sum or a difference, on all cores where that pays."""
    if type(a) is np.ndarray and a.size >= _MANY and a.dtype == b.dtype:
        if IS_ENABLED and a.shape == b.shape:
            y = empty(a.shape, a.dtype)
            return y if _by_torch(ufunc, a, b, y) else run_silently(ufunc, a, b, out=y)
        y = run_silently(run, ufunc, (a, b), a.dtype)
        if y is not None:
            return y
    try:
        return ufunc(a, b)
    except REPORTS:
        return run_silently(ufunc, a, b)


def add(a: Any, b: Any) -> Any:
    """Computes `a + b` on all cores where that pays."""
    if type(a) is np.ndarray:
        return combined(np.add, a, b)
    try:
        return a + b
    except REPORTS:
        return run_silently(operator.add, a, b)


def accumulate(total: Any, term: Any, ufunc: np.ufunc = np.add) -> None:
    """Computes `total += term`, or `-=`, in place, on all cores where that pays; the arrays share no memory."""
    if total.size >= _MANY and total.shape == term.shape and total.dtype == term.dtype:
        if _by_torch(ufunc, total, term, total):
            return
        if total.size >= LARGE and total.flags.c_contiguous and term.flags.c_contiguous:
            return run_silently(in_blocks, ufunc, (total, term), [total], _FLAT, CORES)  # type: ignore[no-any-return]
    try:
        ufunc(total, term, out=total)
    except REPORTS:
        pass  # the sum is complete


_MANY = TORCH_ARITHMETIC if IS_ENABLED else LARGE


def _by_torch(ufunc: np.ufunc, a: Any, b: Any, out: Any) -> bool:
    """Writes a sum or a difference of floats to `out`, if PyTorch has threads: they do not wait for Python's lock."""
    if not IS_ENABLED or a.dtype.char not in "fd" or not can_import():
        return False
    if torch().get_num_threads() == 1:
        return False
    convert = to_tensor()
    try:
        if out is a:
            x = convert(a)
            (x.add_ if ufunc is np.add else x.sub_)(convert(b))
        else:
            (torch().add if ufunc is np.add else torch().sub)(convert(a), convert(b), out=convert(out))
    except REJECTIONS:
        return False
    return True


def share_out(work: Callable[[slice], Any], count: int, size: int, convolution: bool = False) -> list[Any]:
    """Calls `work` on slices of `range(count)`, one per core if `size` elements are many, with one BLAS thread each."""
    parts = max(1, min(CORES, count, 4 * size // LARGE))
    if not count or not blas.controllable() or (parts == 1 and (size < LARGE >> 4 or not convolution)):
        return [work(slice(0, count))]
    with blas.one_thread_each:
        return spread(work, count, parts)


def by_rows(work: Callable[[slice], Any], count: int, width: int, size: int = ROW_BLOCK) -> list[Any]:
    """Calls `work` on slices of `count` rows of `width` elements, on all cores, and returns the results in order.

    A slice has about `size` elements, so that the intermediate results of several steps stay in the cache.
    """
    step = max(1, size // max(width, 1))

    def part(rows: slice) -> list[Any]:
        return [work(slice(i, min(i + step, rows.stop))) for i in range(rows.start, rows.stop, step)]

    return [y for ys in share_out(part, count, 2 * count * width) for y in ys]


def product(a: Any, b: Any) -> Any:
    """Computes `a @ b`; for two matrices by `dot`, which has less call overhead and copies unusual layouts."""
    if a.ndim == b.ndim == 2:
        return dot(a, b)
    return _outer(a[..., 0], b[..., 0, :]) if a.shape[-1] == 1 else _stacked_products(a, b)


def _stacked_products(a: Any, b: Any) -> Any:
    """Computes the products of two stacks of matrices, a part of the stack on each core."""
    multiplications = max(a.size * b.shape[-1], b.size * a.shape[-2])
    y = _torch_product(a, b) if IS_ENABLED and multiplications >= TORCH_PRODUCTS else None
    if y is not None:
        return y
    size = multiplications // PRODUCTS
    if size < LARGE or a.shape[:-2] != b.shape[:-2] or a.dtype != b.dtype:
        return np.matmul(a, b)
    y = empty((*a.shape[:-1], b.shape[-1]), a.dtype)
    share_out(lambda part: np.matmul(a[part], b[part], out=y[part]), len(a), size)
    return y


def _dot(a: Any, b: Any) -> Any:
    """Computes the product of two matrices."""
    y = _torch_product(a, b) if a.size * b.shape[1] >= TORCH_PRODUCTS else None
    return np.dot(a, b) if y is None else y


dot: Callable[[Any, Any], Any] = _dot if IS_ENABLED else np.dot


def _torch_product(a: Any, b: Any) -> Any:
    """Computes a large product by the threads of PyTorch; None if it has one, or does not support the arrays."""
    if a.dtype.char not in "fd" or not can_import():
        return None
    t = torch()
    # Without MKL, PyTorch slices stacks and multiplies one matrix at a time, unlike NumPy.
    if t.get_num_threads() == 1 or a.ndim < b.ndim or (b.ndim > 2 and not t.backends.mkl.is_available()):
        return None
    if a.ndim == 2:
        return _torch_products()[0](a, b)
    # Repeated rows or columns are copied, else PyTorch multiplies one matrix at a time, too.
    a, b = (np.ascontiguousarray(x) if 0 in x.strides[-2:] else x for x in (a, b))
    return _torch_products()[1](a, b)


@cache
def _torch_products() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Returns PyTorch's products of two matrices and of stacks of matrices."""
    return on_arrays(torch().mm, 2), on_arrays(torch().matmul, 2)


def _outer(a: Any, b: Any) -> Any:
    """Computes outer products elementwise, two to five times as fast as by BLAS."""
    size = a.size * b.shape[-1]
    if size < LARGE or a.ndim != 2 or b.ndim != 2 or len(a) != len(b) or a.dtype != b.dtype:
        return np.einsum("...i,...j->...ij", a, b)
    y = empty((*a.shape, b.shape[1]), a.dtype)
    share_out(lambda part: np.einsum("ni,nj->nij", a[part], b[part], out=y[part]), len(a), size)
    return y


def fill(xp: Any, kernel: Callable[..., Any], y: Any, *arrays: Any) -> Any:
    """Calls `kernel(y, *arrays)`, which fills and returns `y`; for NumPy, splits the examples among the cores."""
    size = 0 if xp is not np else max([y.size, *[a.size for a in arrays]])
    if 4 * size < 2 * LARGE:  # `share_out` would not split it
        return kernel(y, *arrays)
    share_out(lambda part: kernel(y[part], *[a[part] for a in arrays]), len(y), size)
    return y
