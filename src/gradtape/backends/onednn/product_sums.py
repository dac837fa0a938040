"""`c + scale · a b` by oneDNN, in one pass over the result: a layer with its bias, a step of gradient descent."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Refused, Role, address, library, steps
from .products import SMALLEST, laid_out


def can_add(rows: int, inner: int, columns: int) -> bool:
    """Whether products of this size are computed here."""
    return rows * inner * columns >= SMALLEST and library() is not None


def product_sum(a: Any, b: Any, c: Any, scale: float) -> Any:
    """`c + scale * (a @ b)` of float32 matrices, where `c` may be a row; None where NumPy is to compute it."""
    if c.ndim == 1:
        c = c.reshape(1, -1)
    a, b, c = (x if 4 in x.strides and min(x.strides) > 0 else np.ascontiguousarray(x) for x in (a, b, c))
    prepared = _prepared(a.shape, a.strides, b.shape, b.strides, c.shape, c.strides, scale)
    if prepared is None:
        return None
    y = np.empty((a.shape[0], b.shape[1]), FLOAT32)
    prepared.run(a, b, c, y)
    return y


def add_product(total: Any, a: Any, b: Any, scale: float) -> None:
    """`total += scale * (a @ b)`, of float32 matrices; `total` is contiguous."""
    dnnl = library()
    assert dnnl is not None
    a, turned_a, step_a = laid_out(a)
    b, turned_b, step_b = laid_out(b)
    (rows, columns), inner = total.shape, a.shape[1]
    with dnnl.lock:
        dnnl.sgemm(
            turned_a, turned_b, rows, columns, inner, scale, address(a), step_a, address(b), step_b, 1.0,
            address(total), columns,
        )  # fmt: skip


@lru_cache(maxsize=256)
def _prepared(
    a_shape: Any, a_strides: Any, b_shape: Any, b_strides: Any, c_shape: Any, c_strides: Any, scale: float
) -> Computation | None:
    dnnl = library()
    assert dnnl is not None
    shape = (a_shape[0], b_shape[1])
    try:
        with dnnl.temporary() as objects:
            given = ((a_shape, a_strides), (b_shape, b_strides), (c_shape, c_strides))
            first, second, added = (objects.layout(size, [step // 4 for step in apart]) for size, apart in given)
            result = objects.layout(shape, steps(shape))
            description = objects.scaled_and_added(
                "dnnl_matmul_primitive_desc_create", dnnl.engine, first, second, None, result, scale=scale, layout=added
            )
            layouts = {Role.SRC: first, Role.WEIGHTS: second, Role.ADDED: added, Role.DST: result}
            return Computation(objects, description, layouts)
    except Refused:
        return None
