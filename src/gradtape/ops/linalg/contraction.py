"""Sums of products: matrix multiplication and pairwise contraction. Every rule is again a contraction.

`contract(a, b, equation="ij,jk->ik")` sums the products over the letters that the output lacks. No letter appears twice
in one argument, and each letter of an argument appears in the other one or in the output. So a cotangent is the same
contraction with permuted letters, and one more letter batches it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...backends.arrays import astype, numpy_kernel, permuted, put, takes_half
from ...backends.numpy.blocks import dot, product
from ...core.sizes.expression import minimum
from ...engine.registry.batching import align_ranks
from ...engine.registry.cotangents import pending_product
from ...engine.registry.examples import KEEPS, summed_by_letter
from ...engine.registry.families import bilinear, linear, unbroadcast
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import given_shape, matrix_product
from ...engine.run.namespace import raw


def _product(xp, a, b):
    """`xp.matmul`, with half precision computed in float32, because NumPy has no fast half-precision product."""
    if xp is np and a.dtype.char == "e":
        return astype(_product(xp, astype(a, "f"), astype(b, "f")), "e")
    return product(a, b) if xp is np else xp.matmul(a, b)


@takes_half
def _matmul(xp, a, b, *, transpose_a=False, transpose_b=False):
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError(
            f"In[{int(a.ndim >= 2)}] ndims must be >= 2: use tf.linalg.matvec for a matrix and a vector, tf.tensordot "
            "for two vectors"
        )
    a = a.swapaxes(-1, -2) if transpose_a else a
    b = b.swapaxes(-1, -2) if transpose_b else b
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"Matrix size-incompatible: In[0]: {list(a.shape)}, In[1]: {list(b.shape)}: the columns of the first "
            "(after transposing) must be as many as the rows of the second"
        )
    if b.ndim == 2 and a.ndim > 2 and (xp is not np or a.flags.c_contiguous):
        # One large product instead of one for each batch member.
        rows = a.reshape((math.prod(a.shape[:-1]), a.shape[-1]))
        return _product(xp, rows, b).reshape((*a.shape[:-1], b.shape[-1]))
    return _product(xp, a, b)


@numpy_kernel(_matmul)
def _numpy_matmul(a, b, *, transpose_a=False, transpose_b=False):
    if a.ndim == b.ndim == 2 and a.dtype.char in "fd":  # fast path for the common case
        a, b = a.T if transpose_a else a, b.T if transpose_b else b
        if a.shape[1] == b.shape[0]:
            return dot(a, b)
        transpose_a = transpose_b = False
    return _matmul(np, a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _rows(m, x):
    """Flattens all but the last axis into one."""
    return m.reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))


def _da(m, g, b, a_shape, transpose_a, transpose_b):
    if m is raw and len(a_shape) == b.ndim == 2 and not (transpose_a or transpose_b) and g.dtype.char in "fd":
        return dot(g, b.T)  # fast path for the common case
    if transpose_a:
        return unbroadcast(m, m.matmul(b, g, transpose_a=bool(transpose_b), transpose_b=True), a_shape)
    return unbroadcast(m, m.matmul(g, b, transpose_b=not transpose_b), a_shape)


def _db(m, g, a, b_shape, transpose_a, transpose_b):
    if len(b_shape) == 2 and not transpose_a and len(a.shape) > 2:
        a, g = _rows(m, a), _rows(m, g)
    if transpose_b:
        return unbroadcast(m, m.matmul(g, a, transpose_a=True, transpose_b=bool(transpose_a)), b_shape)
    pending = pending_product(m, a, g) if len(b_shape) == 2 and not transpose_a else None
    return unbroadcast(m, m.matmul(a, g, transpose_a=not transpose_a), b_shape) if pending is None else pending


def _is_narrow(a: Any, b: Any, attrs: Any) -> bool:
    """Whether each product `a @ b[i]` would read a large `a` for a few columns only: one large product is faster."""
    return b.dims[1 if attrs.get("transpose_b") else 2] <= 16 and math.prod(a.dims) >= 1 << 14


def _batch_matmul(m: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
    a, b = inputs
    if flags == [True, False] and len(b.dims) == 2 and not attrs.get("transpose_a"):
        y = m.matmul(_rows(m, a), b, **attrs)
        return m.reshape(y, shape=(*a.dims[:-1], y.dims[-1]))
    if flags == [False, True] and len(a.dims) == 2 and len(b.dims) == 3 and _is_narrow(a, b, attrs):
        turned = b if attrs.get("transpose_b") else m.transpose(b, perm=(0, 2, 1))
        y = m.matmul(_rows(m, turned), a, transpose_b=not attrs.get("transpose_a"))
        return m.transpose(m.reshape(y, shape=(*turned.dims[:-1], y.dims[-1])), perm=(0, 2, 1))
    return m.matmul(*align_ranks(m, inputs, flags), **attrs)


def _rows_of_matmul(inputs: Any, flags: Any, attrs: Any, count: int) -> Any:
    ranks = [len(x.dims) for x in inputs]
    if max(ranks) == 2:
        a, b = "zx" if attrs.get("transpose_a") else "xz", "yz" if attrs.get("transpose_b") else "zy"
        return summed_by_letter(f"{a},{b}->xy", flags)
    # The examples are the first of the axes along which matrices are stacked.
    stacked = [(x.dims[0], flag) for x, flag in zip(inputs, flags, strict=True) if len(x.dims) == max(ranks)]
    mine = {n for n, flag in stacked if flag}
    return KEEPS if sum(flags) == 1 and mine == {max(n for n, _ in stacked)} else None


matmul = bilinear(
    "matmul", _matmul, da=_da, db=_db, batch=_batch_matmul, rows=_rows_of_matmul, never_aliases=True,
    shape=matrix_product,
    samples=[
        sample((3, 4), (4, 5)),
        sample((2, 4, 3), (4, 5), transpose_a=True),
        sample((2, 2, 3), (3, 4)),
        sample((2, 2, 3), (4, 3), transpose_b=True),
        sample((2, 1, 3, 4), (5, 5, 4), transpose_b=True),
        sample((4, 3), (5, 4), transpose_a=True, transpose_b=True),
        sample((0, 4), (4, 2)),
        sample((0, 2, 4), (4, 2)),
        sample((128, 128), (128, 1)),
        sample((128, 128), (1, 128), transpose_a=True, transpose_b=True),
    ],
)  # fmt: skip
matmul.title = "MatMul"  # as error messages spell it


def split_equation(equation: str) -> tuple[str, str, str]:
    """The letters of the first argument, the second, and the output."""
    inputs, _, output = equation.partition("->")
    first, _, second = inputs.partition(",")
    return first, second, output


@lru_cache(maxsize=4096)
def _plan(equation: str) -> tuple[Any, ...]:
    """Lowers a contraction to a matrix product: permutations of the arguments and the output, and letter counts."""
    first, second, output = split_equation(equation)
    shared = [c for c in first if c in second]
    batch = [c for c in shared if c in output]
    summed = [c for c in shared if c not in output]
    rows, columns = [c for c in first if c not in second], [c for c in second if c not in first]
    a_order = tuple(first.index(c) for c in (*batch, *rows, *summed))
    b_order = tuple(second.index(c) for c in (*batch, *summed, *columns))
    made = [*batch, *rows, *columns]
    y_order = tuple(made.index(c) for c in output)
    orders = (None if order == tuple(range(len(order))) else order for order in (a_order, b_order, y_order))
    return *orders, len(batch), len(rows), len(summed), len(columns)


def _permuted(x, order):
    return x if order is None else permuted(x, order)


@lru_cache(maxsize=4096)
def _plan_outer(equation: str) -> tuple[Any, ...]:
    """For each factor of a product without a sum: the order of its axes in the output, and which of those it has."""
    first, second, output = split_equation(equation)

    def plan(letters: str) -> tuple[Any, ...]:
        order = tuple(letters.index(c) for c in output if c in letters)
        return None if order == tuple(range(len(order))) else order, tuple(c in letters for c in output)

    return plan(first), plan(second)


def _with_axes(x, order, mask):
    """Permutes the axes of an array, and inserts one of size 1 where the mask is false."""
    x = _permuted(x, order)
    sizes = iter(x.shape)
    return x if all(mask) else x.reshape(tuple([next(sizes) if has else 1 for has in mask]))


@takes_half
def _contract(xp, a, b, *, equation):
    a_order, b_order, y_order, batch, rows, summed, columns = _plan(equation)
    if not summed:  # in the order of the output: a permuted product would be copied when it is reshaped
        of_a, of_b = _plan_outer(equation)
        return _with_axes(a, *of_a) * _with_axes(b, *of_b)
    a, b = _permuted(a, a_order), _permuted(b, b_order)
    if rows == summed == columns == 1:
        return _permuted(_product(xp, a, b), y_order)
    row_shape, column_shape, batch_shape = a.shape[batch : batch + rows], b.shape[batch + summed :], a.shape[:batch]
    inner = math.prod(a.shape[batch + rows :])
    if rows != 1 or summed != 1:
        a = a.reshape((*batch_shape, math.prod(row_shape), inner))
    if columns != 1 or summed != 1:
        b = b.reshape((*batch_shape, inner, math.prod(column_shape)))
    y = _product(xp, a, b).reshape((*batch_shape, *row_shape, *column_shape))
    return _permuted(y, y_order)


def _contracted_shape(a, b, equation):
    first, second, output = split_equation(equation)
    sizes = dict(zip(second, b, strict=True)) | dict(zip(first, a, strict=True))
    return tuple([sizes[letter] for letter in output])


def _contract_da(m, g, b, equation):
    first, second, output = split_equation(equation)
    return m.contract(g, b, equation=f"{output},{second}->{first}")


def _contract_db(m, g, a, equation):
    first, second, output = split_equation(equation)
    return m.contract(a, g, equation=f"{first},{output}->{second}")


def _batch_contract(m: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
    first, second, output = split_equation(attrs["equation"])
    letter = next(c for c in map(chr, range(0x4E00, 0x9FFF)) if c not in attrs["equation"])
    first, second = letter * flags[0] + first, letter * flags[1] + second
    return m.contract(*inputs, equation=f"{first},{second}->{letter}{output}")


contract = bilinear(
    "contract", _contract, da=_contract_da, db=_contract_db, batch=_batch_contract, never_aliases=True,
    shape=_contracted_shape,
    rows=lambda inputs, flags, attrs, count: summed_by_letter(attrs["equation"], flags),
    samples=[
        sample((3, 4), (4, 2), equation="ij,jk->ik"),
        sample((2, 3), (4, 3), equation="ij,kj->ki"),
        sample((3, 2, 4), (2, 2, 3), equation="ibj,bki->kbj"),
        sample((2, 3), (2,), equation="ij,k->kij"),
        sample((2, 3, 2), (2, 3, 2), equation="ijk,kji->"),
        sample((2, 3), (3, 2), equation="ij,ji->ij"),
        sample((), (3,), equation=",i->i"),
        sample((0, 3), (3, 2), equation="ij,jk->ik"),
        sample((2, 0), (0, 3), equation="ij,jk->ki"),
    ],
)  # fmt: skip


def _put_diagonal(xp, x, *, axes, shape):
    i, j = axes
    rest = tuple(k for k in range(len(shape)) if k not in axes)
    along = xp.arange(x.shape[-1])
    y = put(xp.zeros((*(shape[k] for k in rest), shape[i], shape[j]), x.dtype), (..., along, along), x)
    return permuted(y, tuple(np.argsort((*rest, i, j)).tolist()))


def _shift_diagonal(attrs: dict[str, Any], size: int) -> dict[str, Any]:
    shifted: dict[str, Any] = {"axes": tuple(i + 1 for i in attrs["axes"])}
    return {**shifted, "shape": (size, *attrs["shape"])} if "shape" in attrs else shifted


take_diagonal = linear(
    "take_diagonal", lambda xp, x, *, axes: xp.diagonal(x, 0, *axes), shift=_shift_diagonal,
    shape=lambda x, axes: (*[n for i, n in enumerate(x) if i not in axes], minimum(x[axes[0]], x[axes[1]])),
    transpose=lambda m, g, x_shape, axes: m.put_diagonal(g, axes=axes, shape=x_shape),
    samples=[sample((3, 4), axes=(0, 1)), sample((2, 3, 2), axes=(2, 0)), sample((0, 2), axes=(0, 1))],
)  # fmt: skip
put_diagonal = linear(
    "put_diagonal", _put_diagonal, shift=_shift_diagonal,
    shape=given_shape,
    transpose=lambda m, g, axes: m.take_diagonal(g, axes=axes),
    samples=[sample((3,), axes=(0, 1), shape=(3, 4)), sample((3, 2), axes=(2, 0), shape=(2, 3, 2))],
)  # fmt: skip
