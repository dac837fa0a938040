"""Sums of products: matrix multiplication and einsum. Every rule is a contraction again."""

from __future__ import annotations

from typing import Any

from ..engine.families import bilinear, unbroadcast
from ..engine.op import sample


def _matmul(xp, a, b, *, transpose_a=False, transpose_b=False):
    a = a.swapaxes(-1, -2) if transpose_a else a
    b = b.swapaxes(-1, -2) if transpose_b else b
    return xp.matmul(a, b)


def _da(m, g, b, a_shape, transpose_a, transpose_b):
    if transpose_a:
        return unbroadcast(m, m.matmul(b, g, transpose_a=bool(transpose_b), transpose_b=True), a_shape)
    return unbroadcast(m, m.matmul(g, b, transpose_b=not transpose_b), a_shape)


def _db(m, g, a, b_shape, transpose_a, transpose_b):
    if transpose_b:
        return unbroadcast(m, m.matmul(g, a, transpose_a=True, transpose_b=bool(transpose_a)), b_shape)
    return unbroadcast(m, m.matmul(a, g, transpose_a=not transpose_a), b_shape)


def _batch(m: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
    a, b = inputs
    if flags[0] and not flags[1] and len(b.dims) == 2 and not attrs.get("transpose_a"):
        # One large product instead of one for each member.
        rows = m.reshape(a, shape=(-1 if a.dims[-1] and size else 0, a.dims[-1]))
        y = m.matmul(rows, b, **attrs)
        return m.reshape(y, shape=(*a.dims[:-1], y.dims[-1]))
    rank = max(len(x.dims) - flag for x, flag in zip(inputs, flags, strict=True))
    aligned = []
    for x, flag in zip(inputs, flags, strict=True):
        missing = rank + 1 - len(x.dims)
        if flag and missing:
            x = m.reshape(x, shape=(x.dims[0], *(1,) * missing, *x.dims[1:]))
        aligned.append(x)
    return m.matmul(*aligned, **attrs)


matmul = bilinear(
    "matmul", _matmul, da=_da, db=_db, batch=_batch,
    samples=[
        sample((3, 4), (4, 5)),
        sample((2, 4, 3), (4, 5), transpose_a=True),
        sample((2, 1, 3, 4), (5, 5, 4), transpose_b=True),
        sample((4, 3), (5, 4), transpose_a=True, transpose_b=True),
        sample((0, 4), (4, 2)),
    ],
)  # fmt: skip
