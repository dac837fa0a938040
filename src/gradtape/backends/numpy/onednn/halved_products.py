"""Products of a few rows with large weights that a step of gradient descent has written to, on two cores.

Such a step gives each core one half of the rows of the weights. A product of oneDNN's reads them by halves of their
columns, so that half of what a core needs lies in the cache of the other one. Here each core multiplies by the rows
that it has written, and the two results are added: a step of an MLP takes about 2% less time.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, library

_CORES = 2
_ROWS = range(16, 129)  # of the first factor: of more, the products are what takes the time, and of fewer, Python
_LARGE = 1 << 17  # numbers of weights that are worth it

_written: dict[int, weakref.ref[Any]] = {}  # by the `id` of the array
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_written.clear)  # a forked process does without oneDNN


def note_written(weights: Any) -> None:
    """Says that a product was added to the memory of `weights`, as is done again and again while they are trained."""
    place = id(weights)
    if weights.size >= _LARGE and place not in _written:
        _written[place] = weakref.ref(weights, lambda _: _written.pop(place, None))


def halved(
    whole: Callable[..., Any], rows: int, inner: int, columns: int, prepare: Callable[..., Computation | None]
) -> Callable[[Any, Any], Any] | None:
    """What multiplies contiguous matrices of these sizes, by halves if the second was written to, else as `whole`.

    None where that never pays. `prepare` makes the computation of a batch of products of certain layouts.
    """
    dnnl = library()
    if dnnl is None or dnnl.threads is None or dnnl.threads() != _CORES:
        return None
    if rows not in _ROWS or inner % 2 or inner * columns < _LARGE:
        return None
    half = inner // 2
    prepared = prepare(
        (2, rows, half), (4 * half, 4 * inner, 4), (2, half, columns), (4 * half * columns, 4 * columns, 4)
    )
    if prepared is None:
        return None
    both = 2, rows, columns

    def multiply(a: Any, b: Any) -> Any:
        known = _written.get(id(b))
        if known is None or known() is not b or library() is None:
            return whole(a, b)
        y = np.empty(both, FLOAT32)
        prepared.run(a, b, y)
        return np.add(y[0], y[1])

    return multiply
