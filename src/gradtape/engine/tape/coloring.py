"""Rows of a sparse matrix that share no column get one colour: their sum can be taken apart again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np


def coloring(pattern: Any) -> Any:
    """A colour for each row, by greedy choice: first the rows that meet most others."""
    columns = pattern.tocsc()
    # Lists, not arrays: a row has few entries, and single numbers of a list are faster.
    rows_of = _slices(columns.indices.tolist(), columns.indptr.tolist())
    places = _slices(pattern.indices.tolist(), pattern.indptr.tolist())
    meets = [sum([len(rows_of[j]) for j in own]) for own in places]
    colors = [-1] * len(places)
    for row in sorted(range(len(places)), key=meets.__getitem__, reverse=True):
        taken = {colors[other] for j in places[row] for other in rows_of[j]}
        color = 0
        while color in taken:
            color += 1
        colors[row] = color
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


def known_to_scipy(dtype: Any) -> Any:
    """The dtype of a sparse matrix for numbers of `dtype`: SciPy has no half precision."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float32)
