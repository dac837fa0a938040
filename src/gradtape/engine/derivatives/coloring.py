"""Compresses sparse matrices by graph coloring: rows of one color share no column, so their sum can be decompressed.

In a symmetric matrix every off-diagonal entry appears twice, and it is enough to recover one of the two, so fewer
colors are needed. Rows and columns are then the vertices of a graph, whose edges are the off-diagonal entries, and the
coloring is a star coloring: neighbors differ, and every path of four vertices has at least three colors. See
Gebremedhin, Manne and Pothen, "What color is your Jacobian?", SIAM Review 47, 2005.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Colors = np.ndarray[Any, np.dtype[np.int64]]  # of each row
Matrix = np.ndarray[Any, np.dtype[Any]]


def coloring(pattern: csr_array) -> Colors:
    """Assigns a color to each row, greedily, starting with the rows that overlap most others."""
    rows_in = np.bincount(pattern.indices, minlength=pattern.shape[1])
    meets = np.diff(np.append(0, np.cumsum(rows_in[pattern.indices]))[pattern.indptr])
    # Lists and Python integers, not arrays: rows have few entries, and access to single numbers is faster.
    columns, ends = pattern.indices.tolist(), pattern.indptr.tolist()
    used = [0] * pattern.shape[1]  # for each column, a bit mask of the colors of its rows
    colors = [0] * pattern.shape[0]
    for row in np.argsort(-meets, kind="stable").tolist():
        own = columns[ends[row] : ends[row + 1]]
        taken = 0
        for column in own:
            taken |= used[column]
        free = ~taken & (taken + 1)  # the lowest bit that is not set
        for column in own:
            used[column] |= free
        colors[row] = free.bit_length() - 1
    return np.array(colors, np.int64)


def symmetric_coloring(pattern: csr_array) -> Colors:
    """Assigns a color to each row of a symmetric matrix: a greedy star coloring, starting with the longest rows."""
    neighbours = _slices(pattern.indices.tolist(), pattern.indptr.tolist())
    neighbours = [[other for other in own if other != row] for row, own in enumerate(neighbours)]
    colors = [-1] * len(neighbours)
    # For each vertex, its colored neighbors by color, and the colors that would close a two-colored path of four
    # vertices if a neighbor of the vertex got them.
    by_color: list[dict[int, list[int]]] = [{} for _ in neighbours]
    would_close: list[set[int]] = [set() for _ in neighbours]
    for vertex in sorted(range(len(neighbours)), key=lambda v: len(neighbours[v]), reverse=True):
        taken: set[int] = set()
        for other in neighbours[vertex]:
            if colors[other] < 0:
                taken.update(by_color[other])
            else:
                taken.add(colors[other])
                taken.update(would_close[other])
        color = 0
        while color in taken:
            color += 1
        colors[vertex] = color
        for middle in neighbours[vertex]:
            alike = by_color[middle].setdefault(color, [])
            alike.append(vertex)
            if len(alike) > 1 and colors[middle] >= 0:
                for end in alike if len(alike) == 2 else (vertex,):
                    would_close[end].add(colors[middle])
    return np.array(colors, np.int64)


def _slices(values: list[int], ends: list[int]) -> list[list[int]]:
    return [values[start:stop] for start, stop in pairwise(ends)]


def count(colors: Colors) -> int:
    """The number of colors."""
    return int(colors.max(initial=-1)) + 1


def decompress(pattern: csr_array, colors: Colors, sums: Matrix) -> csr_array:
    """Decompresses a matrix with this pattern from the sums of its rows by color."""
    from scipy import sparse

    rows, columns = pattern.nonzero()
    values = sums[colors[rows], columns].astype(known_to_scipy(sums.dtype))
    return sparse.csr_array((values, (rows, columns)), shape=pattern.shape)


def decompress_symmetric(pattern: csr_array, colors: Colors, sums: Matrix) -> csr_array:
    """Decompresses a symmetric matrix with this pattern from the sums of its rows by color of `symmetric_coloring`."""
    from scipy import sparse

    rows, columns = pattern.nonzero()
    number = count(colors)
    # An entry can be read off in its column if no other row there has its row's color. Otherwise its mirror entry can.
    met, times = np.unique(columns * number + colors[rows], return_counts=True)
    first, second = np.minimum(rows, columns), np.maximum(rows, columns)
    alone = times[np.searchsorted(met, second * number + colors[first])] == 1
    values = np.where(alone, sums[colors[first], second], sums[colors[second], first])
    values = values.astype(known_to_scipy(sums.dtype))
    return sparse.csr_array((values, (rows, columns)), shape=pattern.shape)


def known_to_scipy(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a sparse matrix of numbers of `dtype`: SciPy does not support half precision."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float32)
