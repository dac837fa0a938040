"""Sums of products by oneDNN: `abcd,aecd->acbe` is a batch of matrix products on arrays as they lie in memory.

Nothing is transposed before or after. Axes that lie one after the other wherever they occur are one axis. `contract`
computes one on all threads of OpenMP. `contraction` gives one in parts, for threads of somebody else, on arrays of
which the addresses are known: a part is computed by the thread that calls it, alone, for OpenMP's would compete with
the caller's others.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Library, Refused, Role, library, steps

Shape = tuple[int, ...]
Steps = dict[str, int]  # from one number to the next along each axis of an array, but those of length 1
Part = Callable[[int, int, int], None]  # reads two arrays and writes the result, given the addresses of all three

_SMALLEST_PART = 1 << 22  # multiplications; another thread takes longer to wake up than fewer take
_HANDED_OVER = 1 << 21  # what the first thread has done when the others begin
_ALIGNED = 16  # rows and columns that oneDNN's kernels compute at once


@cache
def contraction(equation: str, a: Shape, b: Shape, threads: int) -> list[Part] | None:
    """The parts, for contiguous float32 arrays of these shapes; None if oneDNN has no way that is fast."""
    dnnl = library()
    if dnnl is None or dnnl.set_threads is None:
        return None
    sizes, y = _sizes(equation, a, b)
    work = math.prod(sizes.values())
    axes = _axes(equation, sizes, (steps(a), steps(b), steps(y)))
    return None if axes is None else _divided(dnnl, axes, max(1, min(threads, work // _SMALLEST_PART)), work)


def contract(equation: str, a: Any, b: Any, scale: float = 1.0, y: Any = None) -> Any:
    """`scale` times the contraction of two float32 arrays, written to `y` if given; None where NumPy is to compute it.

    The arrays may be laid out in any way.
    """
    if library() is None or a.dtype != FLOAT32 or b.dtype != FLOAT32:
        return None
    if y is None:
        y = np.empty(_sizes(equation, a.shape, b.shape)[1], FLOAT32)
    prepared = _prepared(equation, a.shape, b.shape, a.strides, b.strides, y.strides, scale)
    if prepared is None:
        return None
    computation, turned = prepared
    computation.run(*((b, a) if turned else (a, b)), y)
    return y


@lru_cache(maxsize=256)
def _prepared(
    equation: str, a: Shape, b: Shape, a_strides: Shape, b_strides: Shape, y_strides: Shape, scale: float
) -> tuple[Computation, bool] | None:
    """The computation, and whether it takes the second array first."""
    dnnl = library()
    assert dnnl is not None
    strides = (a_strides, b_strides, y_strides)
    if any(step <= 0 or step % 4 for given in strides for step in given):
        return None
    sizes, _ = _sizes(equation, a, b)
    axes = _axes(equation, sizes, tuple(tuple(step // 4 for step in given) for given in strides))
    try:
        return None if axes is None else (_computation(dnnl, axes, axes.sizes, scale), axes.turned)
    except Refused:
        return None


def _sizes(equation: str, a: Shape, b: Shape) -> tuple[dict[str, int], Shape]:
    """How long each axis is, and the shape of the result."""
    first, second, output = equation.replace("->", ",").split(",")
    sizes = dict(zip(first + second, a + b, strict=True))
    return sizes, tuple(sizes[c] for c in output)


def _axes(equation: str, sizes: dict[str, int], strides: Sequence[Sequence[int]]) -> _Axes | None:
    """The axes of a contraction of arrays that are laid out with these strides, if it is one for oneDNN."""
    if not math.prod(sizes.values()):
        return None
    arrays = [
        {c: step for c, step in zip(letters, given, strict=True) if sizes[c] != 1}
        for letters, given in zip(equation.replace("->", ",").split(","), strides, strict=True)
    ]
    while _merge_two(arrays, sizes):
        pass
    in_a, in_b, in_y = arrays
    return _Axes.of(in_a, in_b, in_y, sizes)


def _merge_two(arrays: list[Steps], sizes: dict[str, int]) -> bool:
    """Makes one axis of two that lie one after the other in every array that has them, if there are such."""
    for outer, inner in [(c, d) for letters in arrays for c in letters for d in letters if c != d]:
        holders = [letters for letters in arrays if outer in letters or inner in letters]
        if all(x.get(outer) == x.get(inner, 0) * sizes[inner] for x in holders):
            sizes[inner] *= sizes[outer]
            for letters in holders:
                del letters[outer]
            return True
    return False


class _Axes:
    """What the axes of a contraction are to the matrix products it consists of."""

    def __init__(self, a: Steps, b: Steps, y: Steps, sizes: dict[str, int], row: str, inner: str, column: str) -> None:
        self.a, self.b, self.y, self.sizes = a, b, y, sizes
        self.row, self.inner, self.column = row, inner, column
        self.batch = sorted((c for c in y if c not in (row, column)), key=lambda c: -y[c])
        self.turned = False  # whether it is the second array that has the rows

    @classmethod
    def of(cls, a: Steps, b: Steps, y: Steps, sizes: dict[str, int]) -> _Axes | None:
        """The axes, if each matrix has one along which its numbers follow one another."""
        rows, columns = [c for c in a if c not in b], [c for c in b if c not in a]
        summed = {c for c in (*a, *b) if c not in y}
        if len(summed) != 1 or not summed <= a.keys() & b.keys() or not rows or not columns:
            return None
        # Rows that are no one axis are further products, with the same second factor.
        row, column = (max(letters, key=lambda c: (y[c] == 1, sizes[c])) for letters in (rows, columns))
        if y[row] == 1:
            axes = cls.of(b, a, y, sizes)
            if axes is not None:
                axes.turned = not axes.turned
            return axes
        (inner,) = summed
        if 1 not in (a[row], a[inner]) or 1 not in (b[inner], b[column]) or y[column] != 1:
            return None
        return cls(a, b, y, sizes, row, inner, column)


def _divided(dnnl: Library, axes: _Axes, count: int, work: int) -> list[Part] | None:
    """`count` parts of a contraction, along its longest axis, the last of them the largest."""
    sizes, longest = axes.sizes, axes.row if axes.sizes[axes.row] >= axes.sizes[axes.column] else axes.column
    along = axes.batch[0] if axes.batch and sizes[axes.batch[0]] >= 4 * count else longest
    size, unit = sizes[along], 1 if along in axes.batch else _ALIGNED
    each = (work - _HANDED_OVER) / work * size / count
    edges = sorted({0, size, *(min(size, round(each * i / unit) * unit) for i in range(count))})
    kind = _Batch if axes.batch else _Single
    try:
        return [
            _placed(kind(dnnl, axes, {**sizes, along: end - start}), axes, along, start, dnnl)
            for start, end in pairwise(edges)
        ]
    except Refused:
        return None


def _placed(run: Any, axes: _Axes, along: str, start: int, dnnl: Library) -> Part:
    """The part that begins at `start` of an axis."""
    at_a, at_b, at_y = (4 * start * x.get(along, 0) for x in (axes.a, axes.b, axes.y))
    turned, threads, set_threads = axes.turned, dnnl.threads, dnnl.set_threads

    def part(a: int, b: int, y: int) -> None:
        if turned:
            a, b = b, a
        before = threads()
        try:
            set_threads(1)
            run(a + at_a, b + at_b, y + at_y)
        finally:
            set_threads(before)

    return part


class _Single:
    """One product of matrices."""

    def __init__(self, dnnl: Library, axes: _Axes, sizes: dict[str, int]) -> None:
        a, b, row, inner, column = axes.a, axes.b, axes.row, axes.inner, axes.column
        self._sgemm = dnnl.sgemm
        self._turned_a, self._step_a = (b"N", a[row]) if a[inner] == 1 else (b"T", a[inner])
        self._turned_b, self._step_b = (b"N", b[inner]) if b[column] == 1 else (b"T", b[column])
        self._sizes, self._step_y = (sizes[row], sizes[column], sizes[inner]), axes.y[row]

    def __call__(self, a: int, b: int, y: int) -> None:
        self._sgemm(
            self._turned_a, self._turned_b, *self._sizes, 1.0, a, self._step_a, b, self._step_b, 0.0, y, self._step_y
        )


class _Batch:
    """A product for each member of a batch; where an array lacks an axis of it, its matrices are used again.

    Each thread has a computation of its own.
    """

    def __init__(self, dnnl: Library, axes: _Axes, sizes: dict[str, int]) -> None:
        self._dnnl, self._axes, self._sizes = dnnl, axes, sizes
        self._here = threading.local()
        self._here.own = self._prepared()

    def _prepared(self) -> tuple[Computation, Any]:
        dnnl = self._dnnl
        before = dnnl.threads()
        try:
            dnnl.set_threads(1)
            return _computation(dnnl, self._axes, self._sizes), dnnl.new_stream()
        finally:
            dnnl.set_threads(before)

    def __call__(self, a: int, b: int, y: int) -> None:
        own = getattr(self._here, "own", None)
        if own is None:
            own = self._here.own = self._prepared()
        computation, stream = own
        computation.run_at([a, b, y], stream)


def _computation(dnnl: Library, axes: _Axes, sizes: dict[str, int], scale: float = 1.0) -> Computation:
    with dnnl.temporary() as objects:
        layouts = {
            role: objects.layout([sizes[c] if c in x else 1 for c in letters], [x.get(c, 1) for c in letters])
            for role, x, letters in (
                (Role.SRC, axes.a, [*axes.batch, axes.row, axes.inner]),
                (Role.WEIGHTS, axes.b, [*axes.batch, axes.inner, axes.column]),
                (Role.DST, axes.y, [*axes.batch, axes.row, axes.column]),
            )
        }
        description = objects.scaled_and_added(
            "dnnl_matmul_primitive_desc_create", dnnl.engine, layouts[Role.SRC], layouts[Role.WEIGHTS], None,
            layouts[Role.DST], scale=scale,
        )  # fmt: skip
        return Computation(objects, description, layouts)
