"""`scale · a b + c + ...` of float32 arrays whose shapes are known beforehand, by oneDNN in one pass."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Refused, Role, library, plain

Shape = tuple[int, ...]

_ADDED = (Role.ADDED, Role.ADDED_TOO)
MOST_ADDED = len(_ADDED)
_MANY_ROWS = 256  # from which it pays to bring the second factor into the order that oneDNN likes best


def fixed_sum(
    a_shape: Shape, b_shape: Shape, added: tuple[Shape, ...], turned: bool, scale: float
) -> Callable[..., Any] | None:
    """A function of `a`, `b` and up to two arrays to add; None where that is NumPy's work.

    `a` may have further axes in front, what is added may be a row; `turned` says that `b` comes as its transpose.
    """
    dnnl = library()
    prepared = None if dnnl is None else _prepared(a_shape, b_shape, added, turned, scale)
    if prepared is None:
        return None
    shapes, shape = (a_shape, b_shape, *added), (*a_shape[:-1], b_shape[0 if turned else 1])

    def run(*arrays: Any) -> Any:
        if library() is not dnnl or tuple([x.shape for x in arrays]) != shapes:
            a, b, *others = arrays
            return sum(others, scale * np.matmul(a, b.T if turned else b))
        y = np.empty(shape, FLOAT32)
        prepared.run(*map(plain, arrays), y)
        return y

    return run


def _prepared(
    a_shape: Shape, b_shape: Shape, added: tuple[Shape, ...], turned: bool, scale: float
) -> Computation | None:
    dnnl = library()
    assert dnnl is not None
    rows = math.prod(a_shape[:-1])
    inner, columns = b_shape[::-1] if turned else b_shape
    try:
        with dnnl.temporary() as objects:
            first = objects.layout((rows, inner), (inner, 1))
            second = objects.layout((inner, columns), (1, inner) if turned else (columns, 1))
            liked = objects.layout((inner, columns), None) if rows >= _MANY_ROWS and not turned else second
            result = objects.layout((rows, columns), (columns, 1))
            others = [objects.layout((math.prod(shape[:-1]), columns), (columns, 1)) for shape in added]
            description = objects.scaled_and_added(
                "dnnl_matmul_primitive_desc_create", dnnl.engine, first, liked, None, result, scale=scale,
                layouts=others,
            )  # fmt: skip
            layouts = {Role.SRC: first, Role.WEIGHTS: second, **dict(zip(_ADDED, others, strict=False))}
            return Computation(objects, description, {**layouts, Role.DST: result})
    except Refused:
        return None
