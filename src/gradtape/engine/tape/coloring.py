"""Rows of a sparse matrix that share no column get one colour: their sum can be taken apart again.

Of a symmetric matrix every entry is there twice, so fewer colours will do: it is enough that one of the two can be read
off. Rows and columns are the vertices of a graph then, its edges the entries beside the diagonal, and the colouring is
a star colouring: neighbours differ, and so do at least three of any four vertices on a path. See Gebremedhin, Manne and
Pothen, "What color is your Jacobian?", SIAM Review 47, 2005.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np


def coloring(pattern: Any) -> Any:
    """A colour for each row, by greedy choice: first the rows that meet most others."""
    rows_in = np.bincount(pattern.indices, minlength=pattern.shape[1])
    meets = np.diff(np.append(0, np.cumsum(rows_in[pattern.indices]))[pattern.indptr])
    # Lists and integers, not arrays: a row has few entries, and single numbers of a list are faster.
    columns, ends = pattern.indices.tolist(), pattern.indptr.tolist()
    used = [0] * pattern.shape[1]  # for each column the colours of its rows, a bit for each
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


def symmetric_coloring(pattern: Any) -> Any:
    """A colour for each row of a symmetric matrix: a star colouring, greedy, first of the rows with most entries."""
    neighbours = _slices(pattern.indices.tolist(), pattern.indptr.tolist())
    neighbours = [[other for other in own if other != row] for row, own in enumerate(neighbours)]
    colors = [-1] * len(neighbours)
    # For each vertex the neighbours it has by colour, and the colours that a neighbour of it must not get, lest a path
    # of two colours have four vertices.
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


def count(colors: Any) -> int:
    """How many colours there are."""
    return int(colors.max(initial=-1)) + 1


def taken_apart(pattern: Any, colors: Any, sums: Any) -> Any:
    """The matrix of that pattern, from the sums of all its rows of one colour."""
    from scipy import sparse

    rows, columns = pattern.nonzero()
    values = sums[colors[rows], columns].astype(known_to_scipy(sums.dtype))
    return sparse.csr_array((values, (rows, columns)), shape=pattern.shape)


def symmetric_taken_apart(pattern: Any, colors: Any, sums: Any) -> Any:
    """The symmetric matrix of that pattern, from the sums of all its rows of one colour of `symmetric_coloring`."""
    from scipy import sparse

    rows, columns = pattern.nonzero()
    number = count(colors)
    # An entry can be read off in its column if it is the only one there whose row has that colour. Else its twin can.
    met, times = np.unique(columns * number + colors[rows], return_counts=True)
    first, second = np.minimum(rows, columns), np.maximum(rows, columns)
    alone = times[np.searchsorted(met, second * number + colors[first])] == 1
    values = np.where(alone, sums[colors[first], second], sums[colors[second], first])
    values = values.astype(known_to_scipy(sums.dtype))
    return sparse.csr_array((values, (rows, columns)), shape=pattern.shape)


def known_to_scipy(dtype: Any) -> Any:
    """The dtype of a sparse matrix for numbers of `dtype`: SciPy has no half precision."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float32)
