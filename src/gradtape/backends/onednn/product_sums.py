"""`c + scale · a b` of float32 arrays whose shapes are known beforehand, by oneDNN in one pass over the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Refused, Role, library, plain

Shape = tuple[int, ...]


def fixed_sum(
    a_shape: Shape, b_shape: Shape, c_shape: Shape, turned: bool, scale: float
) -> Callable[[Any, Any, Any], Any] | None:
    """A function that gives `c + scale · a b`, or None where that is NumPy's work.

    `a` may have further axes in front, `c` may be a row; `turned` says that `b` comes as its transpose.
    """
    dnnl = library()
    prepared = None if dnnl is None else _prepared(a_shape, b_shape, c_shape, turned, scale)
    if prepared is None:
        return None
    shapes, shape = (a_shape, b_shape, c_shape), (*a_shape[:-1], b_shape[0 if turned else 1])

    def run(a: Any, b: Any, c: Any) -> Any:
        if library() is not dnnl or (a.shape, b.shape, c.shape) != shapes:
            return c + scale * np.matmul(a, b.T if turned else b)
        y = np.empty(shape, FLOAT32)
        prepared.run(plain(a), plain(b), plain(c), y)
        return y

    return run


def _prepared(a_shape: Shape, b_shape: Shape, c_shape: Shape, turned: bool, scale: float) -> Computation | None:
    dnnl = library()
    assert dnnl is not None
    rows, added_rows = math.prod(a_shape[:-1]), math.prod(c_shape[:-1])
    inner, columns = b_shape[::-1] if turned else b_shape
    try:
        with dnnl.temporary() as objects:
            first = objects.layout((rows, inner), (inner, 1))
            second = objects.layout((inner, columns), (1, inner) if turned else (columns, 1))
            added, result = (objects.layout((count, columns), (columns, 1)) for count in (added_rows, rows))
            description = objects.scaled_and_added(
                "dnnl_matmul_primitive_desc_create", dnnl.engine, first, second, None, result, scale=scale, layout=added
            )
            layouts = {Role.SRC: first, Role.WEIGHTS: second, Role.ADDED: added, Role.DST: result}
            return Computation(objects, description, layouts)
    except Refused:
        return None
