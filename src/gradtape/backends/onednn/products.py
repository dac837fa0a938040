"""Matrix products by oneDNN."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .library import FLOAT32, HEADER, Computation, Refused, Role, address, library, place, steps

# Multiplications from which OpenBLAS uses several threads for a product. All these are done by oneDNN, for the threads
# of both wait busily: used in turns, each would take the cores from the other.
SMALLEST = 1 << 18
SMALLEST_VECTOR = 9216  # the same, where one of the two is a vector
MANY_ROWS = 32  # from which a product with a transposed matrix is faster by the primitive for batches
_MOST_KNOWN = 1024
_known: dict[Any, Callable[[Any, Any], Any]] = {}  # by the layouts of two matrices, what multiplies them
SMALLEST_BATCH = 1 << 20  # multiplications of all products of a batch together, each of which is small


def product(a: Any, b: Any) -> Any:
    """The matrix product `a @ b` of two float32 arrays, or None where NumPy is to compute it."""
    if a.dtype != FLOAT32 or b.dtype != FLOAT32:
        return None
    rows, inner, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    work = rows * inner * columns
    if work < SMALLEST and (work < SMALLEST_VECTOR or (rows > 1 and columns > 1)):
        if a.ndim == 2 or work * math.prod(a.shape[:-2]) < SMALLEST_BATCH:
            return None
    if a.ndim != 2 or b.ndim != 2:
        return _batch_of_products(a, b)
    layouts = a.shape, a.strides, b.shape, b.strides
    multiply = _known.get(layouts)
    if multiply is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        in_batch = rows >= MANY_ROWS and columns > 1 and b.strides[0] == 4
        multiply = _known[layouts] = _batch_of_products if in_batch else _matrix_product(a, b)
    return multiply(a, b)


def known_product(a: Any, b: Any) -> Any:
    """`product` of matrices laid out as some that it has multiplied before; None for others."""
    if a.dtype is FLOAT32 and b.dtype is FLOAT32:
        multiply = _known.get((a.shape, a.strides, b.shape, b.strides))
        if multiply is not None:
            return multiply(a, b)
    return None


def add_product(total: Any, a: Any, b: Any, scale: float) -> bool:
    """Whether `scale · a @ b` could be added to `total`, three float32 matrices, the last one C-contiguous."""
    dnnl = library()
    if dnnl is None or not (total.dtype == a.dtype == b.dtype == FLOAT32):
        return False
    (rows, inner), columns = a.shape, b.shape[1]
    a, turned_a, step_a = _laid_out(a)
    b, turned_b, step_b = _laid_out(b)
    with dnnl.lock:
        dnnl.sgemm(
            turned_a, turned_b, rows, columns, inner, scale, address(a), step_a, address(b), step_b, 1.0,
            address(total), columns,
        )  # fmt: skip
    return True


def is_finite(y: Any) -> bool:
    """Whether the sum of all numbers of an array is neither infinite nor NaN: if one of them is, it is."""
    return bool(np.isfinite(np.add.reduce(sums(y))))


def sums(y: Any) -> Any:
    """The sum of the rows of a float32 array of any shape."""
    rows = y.reshape(-1, y.shape[-1])
    total = sum_rows(rows)
    return rows.sum(0) if total is None else total


def sum_rows(x: Any) -> Any:
    """The sum of the rows of a float32 matrix, or None where NumPy is to compute it."""
    y = product(np.ones((1, x.shape[0]), FLOAT32), x) if x.dtype == FLOAT32 else None
    return None if y is None else y[0]


def _matrix_product(a: Any, b: Any) -> Callable[[Any, Any], Any]:
    """The function that multiplies two matrices laid out as these are."""
    (rows, inner), columns = a.shape, b.shape[1]
    copied_a, turned_a, step_a = _laid_out(a)
    copied_b, turned_b, step_b = _laid_out(b)
    copies = copied_a is not a or copied_b is not b
    shape = rows, columns

    def multiply(a: Any, b: Any) -> Any:
        dnnl = library()
        if dnnl is None:
            return None
        if copies:
            a, b = _laid_out(a)[0], _laid_out(b)[0]
        y = np.empty(shape, FLOAT32)
        with dnnl.lock:
            dnnl.sgemm(
                turned_a, turned_b, rows, columns, inner, 1.0, place(id(a) + HEADER), step_a, place(id(b) + HEADER),
                step_b, 0.0, place(id(y) + HEADER), columns,
            )  # fmt: skip
        return y

    return multiply


def _laid_out(x: Any) -> tuple[Any, bytes, int]:
    """The matrix as `dnnl_sgemm` takes it: whether its memory holds the transpose, and the numbers from row to row."""
    (rows, columns), (down, along) = x.shape, x.strides
    if along == 4 and down >= 4 * columns and not down % 4:
        return x, b"N", down // 4
    if down == 4 and along >= 4 * rows and not along % 4:
        return x, b"T", along // 4
    return np.ascontiguousarray(x), b"N", columns


def _batch_of_products(a: Any, b: Any) -> Any:
    if library() is None:
        return None
    depth = max(a.ndim, b.ndim)
    if depth > 12:
        return None
    if a.ndim != b.ndim:
        a, b = (x if x.ndim == depth else x.reshape((1,) * (depth - x.ndim) + x.shape) for x in (a, b))
    if 4 not in a.strides[-2:] or min(a.strides) <= 0:
        a = np.ascontiguousarray(a)
    if 4 not in b.strides[-2:] or min(b.strides) <= 0:
        b = np.ascontiguousarray(b)
    prepared = _prepared(a.shape, a.strides, b.shape, b.strides)
    if prepared is None:
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        prepared = _prepared(a.shape, a.strides, b.shape, b.strides)
        if prepared is None:
            return None
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) if depth > 2 else ()
    y = np.empty((*batch, a.shape[-2], b.shape[-1]), FLOAT32)
    prepared.run(a, b, y)
    return y


@lru_cache(maxsize=256)
def _prepared(a_shape: Any, a_strides: Any, b_shape: Any, b_strides: Any) -> Computation | None:
    dnnl = library()
    assert dnnl is not None
    shape = (*np.broadcast_shapes(a_shape[:-2], b_shape[:-2]), a_shape[-2], b_shape[-1])
    try:
        with dnnl.temporary() as objects:
            first = objects.layout(a_shape, [step // 4 for step in a_strides])
            second = objects.layout(b_shape, [step // 4 for step in b_strides])
            result = objects.layout(shape, steps(shape))
            description = objects.description(
                "dnnl_matmul_primitive_desc_create", dnnl.engine, first, second, None, result
            )
            return Computation(objects, description, {Role.SRC: first, Role.WEIGHTS: second, Role.DST: result})
    except Refused:
        return None
