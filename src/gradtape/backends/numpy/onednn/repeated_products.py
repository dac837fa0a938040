"""Products of float32 matrices with the transpose of one that comes again and again, as in a recurrent layer.

oneDNN's kernels read the second factor in blocks, and to bring a transposed matrix into them takes half the time of a
product with a few dozen rows. A matrix that has come a few times is kept in blocks as long as it lives unchanged.
"""

from __future__ import annotations

import os
import threading
import weakref
from functools import lru_cache
from typing import Any

import numpy as np

from .library import FLOAT32, Computation, Refused, Role, empty, library
from .products import MANY_ROWS, SMALLEST

_TIMES = 3  # for which a matrix must have come: to bring it into blocks takes longer than one product saves
_LARGEST = 1 << 20  # numbers of a matrix; reading a larger one takes most of the time, in whatever order it is
_MOST_KEPT = 1 << 24  # numbers of all matrices that are kept in blocks


class _Factor:
    """A matrix that may come again; by the rows of the first factor, how often it has come, and its products."""

    __slots__ = ("known", "products", "times")

    def __init__(self, array: Any, rows: int) -> None:
        place = id(array)
        self.known = weakref.ref(array, lambda _: _factors.pop(place, None))
        self.times = {rows: 1}
        self.products: dict[int, _InBlocks] = {}


_factors: dict[int, _Factor] = {}  # by the `id` of the array
_making = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_factors.clear)  # a forked process does without oneDNN


def changed(array: Any) -> None:
    """Has to be told before an array that was given to `product_with_transpose` is written to."""
    factor = _factors.get(id(array))
    if factor is not None:
        factor.times.clear()
        factor.products.clear()


def product_with_transpose(a: Any, b: Any) -> Any:
    """The matrix product `a @ b.T`, or None where `product` is to compute it; `b` may not change without `changed`."""
    rows = a.shape[0]
    if rows < MANY_ROWS or rows * b.size < SMALLEST or b.size > _LARGEST:
        return None
    factor = _factors.get(id(b))
    if factor is None or factor.known() is not b:
        if b.dtype == FLOAT32 and b.flags.c_contiguous and library() is not None:
            _factors[id(b)] = _Factor(b, rows)
        return None
    product = factor.products.get(rows)
    if product is None:
        times = factor.times[rows] = factor.times.get(rows, 0) + 1
        product = _in_blocks(factor, rows, b) if times >= _TIMES else None
    if product is None or a.dtype != FLOAT32 or not a.flags.c_contiguous:
        return None
    return product.of(a)


def _in_blocks(factor: _Factor, rows: int, b: Any) -> _InBlocks | None:
    """The products with a matrix that has come a few times."""
    if library() is None:
        return None
    with _making:
        if rows in factor.products:  # another thread has just made them
            return factor.products[rows]
        prepared = _prepared(rows, *b.shape)
        if prepared is None:
            return None
        kept = sum(x.size for other in [*_factors.values()] for x in other.products.values())
        if kept + b.size > _MOST_KEPT:
            _factors.clear()
        product = factor.products[rows] = _InBlocks(b, *prepared)
        return product


@lru_cache(maxsize=256)
def _prepared(rows: int, columns: int, inner: int) -> tuple[Computation, Computation, int] | None:
    """What brings the second factor into blocks, what multiplies by it, and the bytes of the blocks."""
    dnnl = library()
    assert dnnl is not None
    try:
        with dnnl.temporary() as objects:
            first, result = objects.layout((rows, inner), (inner, 1)), objects.layout((rows, columns), (columns, 1))
            given, best = objects.layout((inner, columns), (1, inner)), objects.layout((inner, columns), None)
            description = objects.description(
                "dnnl_matmul_primitive_desc_create", dnnl.engine, first, best, None, result
            )
            blocks = objects.liked(description, Role.WEIGHTS)
            reorder = Computation(objects, objects.reordering(given, blocks), {Role.SRC: given, Role.DST: blocks})
            multiply = Computation(objects, description, {Role.SRC: first, Role.WEIGHTS: blocks, Role.DST: result})
            return reorder, multiply, dnnl.calls.dnnl_memory_desc_get_size(blocks)
    except Refused:
        return None


class _InBlocks:
    """Products with the transpose of one matrix, which is in blocks."""

    __slots__ = ("_blocks", "_columns", "_multiply", "size")

    def __init__(self, b: Any, reorder: Computation, multiply: Computation, size: int) -> None:
        self.size = b.size
        self._columns = b.shape[0]
        self._multiply = multiply
        self._blocks = empty((-(-size // 4),))
        reorder.run(b, self._blocks)

    def of(self, a: Any) -> Any:
        """The product with `a` as the first factor."""
        y = np.empty((a.shape[0], self._columns), FLOAT32)
        self._multiply.run(a, self._blocks, y)
        return y
