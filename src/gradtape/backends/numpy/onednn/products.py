"""Matrix products by oneDNN."""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_char, c_float, c_int64
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import empty

from .halved_products import halved, note_written
from .library import FAILED, FLOAT32, HEADER, Computation, Refused, Role, library, place, steps

# Multiplications from which OpenBLAS uses several threads for a product. All these are done by oneDNN, for the threads
# of both wait busily: used in turns, each would take the cores from the other.
SMALLEST = 1 << 18
SMALLEST_VECTOR = 9216  # the same, where one of the two is a vector
MANY_ROWS = 32  # from which a product with a transposed matrix is faster by the primitive for batches
_MOST_KNOWN = 1024
_ONE, _ZERO = c_float(1.0), c_float(0.0)
_known: dict[Any, Callable[[Any, Any], Any]] = {}  # by the layouts of two matrices, what multiplies them: see `_learn`
SMALLEST_BATCH = 1 << 20  # multiplications of all products of a batch together, each of which is small


def product(a: Any, b: Any) -> Any:
    """The matrix product `a @ b` of two float32 arrays, or None where NumPy is to compute it."""
    if a.dtype != FLOAT32 or b.dtype != FLOAT32:
        return None
    rows, inner, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    work = rows * inner * columns
    matrices = a.ndim == b.ndim == 2
    layouts = a.shape, a.strides, b.shape, b.strides
    if work < SMALLEST and (work < SMALLEST_VECTOR or (rows > 1 and columns > 1)):
        if matrices:
            _learn(layouts, np.dot)  # of two matrices, in less time than `np.matmul`
        if a.ndim == 2 or work * math.prod(a.shape[:-2]) < SMALLEST_BATCH:
            return None
    if not matrices:
        return _batch_of_products(a, b)
    multiply = _known.get(layouts)
    if multiply is None or multiply is np.dot:
        by_primitive = rows >= MANY_ROWS and columns > 1 and b.strides[0] == 4 and library() is not None
        multiply = (_primitive_product(*layouts) if by_primitive else None) or _matrix_product(*layouts)
        if a.flags.c_contiguous and b.flags.c_contiguous:
            multiply = halved(multiply, rows, inner, columns, _prepared) or multiply
        _learn(layouts, multiply)
    return multiply(a, b)


def _learn(layouts: Any, multiply: Callable[[Any, Any], Any]) -> None:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[layouts] = multiply


def known_product(a: Any, b: Any) -> Any:
    """The product of matrices laid out as some that `product` was asked for before; None for others."""
    if a.dtype is FLOAT32 and b.dtype is FLOAT32:
        multiply = _known.get((a.shape, a.strides, b.shape, b.strides))
        if multiply is not None:
            return multiply(a, b)
    return None


def add_product(total: Any, a: Any, b: Any, scale: float) -> bool:
    """Whether `scale · a @ b` could be added to `total`, three float32 matrices, the last one C-contiguous."""
    if not (total.dtype == a.dtype == b.dtype == FLOAT32):  # an array from a pickle has a dtype object of its own
        return False
    if total.shape != (a.shape[0], b.shape[1]):  # another thread may have given a variable a value of another shape
        return False
    if _matrix_product(a.shape, a.strides, b.shape, b.strides)(a, b, total, c_float(scale)) is None:
        return False
    note_written(total)
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


@lru_cache(maxsize=_MOST_KNOWN)
def _matrix_product(a_shape: Any, a_strides: Any, b_shape: Any, b_strides: Any) -> Callable[..., Any]:
    """The function that multiplies two matrices laid out like that, or adds the product, scaled, to a third."""
    (rows, inner), columns = a_shape, b_shape[1]
    order_a, order_b = _order(a_shape, a_strides), _order(b_shape, b_strides)
    copies_a, copies_b = order_a is None, order_b is None
    turned_a, step_a = order_a or (b"N", inner)
    turned_b, step_b = order_b or (b"N", columns)
    shape = rows, columns
    # ctypes makes objects like these from Python's numbers for every call, which takes as long as the rest of it.
    turns = c_char(turned_a), c_char(turned_b)
    sizes = c_int64(rows), c_int64(columns), c_int64(inner)
    step_a, step_b, step = c_int64(step_a), c_int64(step_b), c_int64(columns)

    def multiply(a: Any, b: Any, total: Any = None, scale: c_float = _ONE) -> Any:
        dnnl = library()
        if dnnl is None:
            return None
        if copies_a:
            a = np.ascontiguousarray(a)
        if copies_b:
            b = np.ascontiguousarray(b)
        kept = _ONE
        if total is None:
            total, kept = empty(shape, FLOAT32), _ZERO
        with dnnl.lock:
            failed = dnnl.sgemm(
                *turns, *sizes, scale, place(id(a) + HEADER), step_a, place(id(b) + HEADER), step_b, kept,
                place(id(total) + HEADER), step,
            )  # fmt: skip
        if failed:
            raise RuntimeError(FAILED)
        return total

    return multiply


def _order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[bytes, int] | None:
    """How `dnnl_sgemm` takes a matrix: whether its memory holds the transpose, and the numbers from row to row."""
    (rows, columns), (down, along) = shape, strides
    if along == 4 and down >= 4 * columns and not down % 4:
        return b"N", down // 4
    if down == 4 and along >= 4 * rows and not along % 4:
        return b"T", along // 4
    return None


def _primitive_product(a_shape: Any, a_strides: Any, b_shape: Any, b_strides: Any) -> Callable[..., Any] | None:
    """The function that multiplies two matrices laid out like that by a primitive of their own, or None."""
    if _order(a_shape, a_strides) is None or _order(b_shape, b_strides) is None:
        return None
    prepared = _prepared(a_shape, a_strides, b_shape, b_strides)
    if prepared is None:
        return None
    shape = a_shape[0], b_shape[1]

    def multiply(a: Any, b: Any) -> Any:
        if library() is None:
            return None
        y = np.empty(shape, FLOAT32)
        prepared.run(a, b, y)
        return y

    return multiply


def _batch_of_products(a: Any, b: Any) -> Any:
    if library() is None:
        return None
    depth = max(a.ndim, b.ndim)
    if depth > 12:
        return None
    if a.ndim != b.ndim:
        a, b = (x if x.ndim == depth else x.reshape((1,) * (depth - x.ndim) + x.shape) for x in (a, b))
    a, b = (x if _is_usable(x.strides) else np.ascontiguousarray(x) for x in (a, b))
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


def _is_usable(strides: tuple[int, ...]) -> bool:
    """Whether oneDNN takes matrices laid out like that: along one axis their numbers follow one another."""
    return 4 in strides[-2:] and min(strides) > 0 and not any(step % 4 for step in strides)


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
