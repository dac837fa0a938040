"""Matrix decompositions, linear systems and norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend import config
from keras.src.backend.common.backend_utils import canonicalize_axes
from keras.src.backend.common.dtypes import result_type

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from .core import cast
from .core import dense_tensor as convert_to_tensor


def cholesky(a, upper=False):
    try:
        factor = tf.linalg.cholesky(convert_to_tensor(a))
        factor = tf.debugging.check_numerics(factor, "Cholesky")
    except tf.errors.InvalidArgumentError as failed:
        raise ValueError(
            "Cholesky decomposition failed. The input might not be a valid positive definite matrix."
        ) from failed
    return tf.linalg.adjoint(factor) if upper else factor


def cholesky_inverse(a, upper=False):
    a = convert_to_tensor(a)
    inverse = tf.linalg.triangular_solve(a, tf.eye(a.dims[-1], batch_shape=a.dims[:-2], dtype=a.dtype), lower=not upper)
    return tf.matmul(inverse, inverse, transpose_a=not upper, transpose_b=upper)


def det(a):
    return tf.linalg.det(convert_to_tensor(a))


def eig(a):
    return tf.linalg.eig(convert_to_tensor(a))


def eigh(a):
    return tf.linalg.eigh(convert_to_tensor(a))


def inv(a):
    return tf.linalg.inv(convert_to_tensor(a))


def matrix_power(a, n):
    """Returns the product of `n` factors, by repeated squaring; those of negative powers are inverses."""
    a = convert_to_tensor(a)
    result = None
    factor, n = (inv(a), -n) if n < 0 else (a, n)
    while n:
        if n % 2:
            result = factor if result is None else tf.matmul(result, factor)
        n //= 2
        if n:
            factor = tf.matmul(factor, factor)
    return tf.eye(a.dims[-1], batch_shape=a.dims[:-2], dtype=a.dtype) if result is None else result


def lu_factor(a):
    """Returns both factors in one matrix, and the pivots as row exchanges, as in LAPACK."""
    a = convert_to_tensor(a)
    rows, columns = a.dims[-2:]
    count = min(rows, columns)
    if rows == columns:
        factors, order = tf.linalg.lu(a)
    else:
        factors, order = _rectangular_lu(a)
    return factors, _exchanges(order, count)


def _rectangular_lu(a: Tensor) -> tuple[Tensor, Tensor]:
    """Factors a wide or tall matrix through a square one: its left part, or itself padded with zeros and ones."""
    rows, columns = a.dims[-2:]
    lead = [(0, 0)] * (len(a.dims) - 2)
    if rows < columns:
        factors, order = tf.linalg.lu(a[..., :rows])
        lower = tf.linalg.band_part(factors, -1, 0) - tf.linalg.diag(tf.linalg.diag_part(factors))
        lower = lower + tf.eye(rows, dtype=a.dtype)
        rest = tf.gather(a[..., rows:], order, axis=-2, batch_dims=len(lead))
        return ops.concat(factors, tf.linalg.triangular_solve(lower, rest), axis=len(lead) + 1), order
    # The padding columns are not pivoted before the original ones are done, so these are factored unchanged.
    wide = tf.pad(a, [*lead, (0, 0), (0, rows - columns)])
    shift = np.eye(rows)
    shift[:columns] = 0
    factors, order = tf.linalg.lu(wide + convert_to_tensor(shift, dtype=a.dtype))
    return factors[..., :columns], order


def _exchanges(order: Tensor, count: int) -> Tensor:
    """Returns the exchanges, one for each of the first `count` rows, whose product is the permutation `order`."""
    present = ops.broadcast_to(tf.range(order.dims[-1], dtype=order.dtype), shape=order.dims)
    places = tf.range(order.dims[-1], dtype=order.dtype)
    found = []
    for i in range(count):
        wanted, here = order[..., i, None], present[..., i, None]
        at = tf.argmax(ops.cast(ops.equal(present, wanted), dtype=tf.int32), axis=-1, output_type=order.dtype)
        found.append(at)
        moved = ops.where(ops.equal(places, at[..., None]), here, present)
        present = ops.where(ops.equal(places, i), wanted, moved)
    return ops.stack(*found, axis=len(order.dims) - 1)


def norm(x, ord=None, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    if not x.dtype.is_floating and not x.dtype.is_complex:
        name = x.dtype.name
        x = cast(x, config.floatx() if name == "int64" else result_type(name, float))
    rank = len(x.dims)
    axes = tuple(range(rank)) if axis is None else canonicalize_axes(axis, rank)
    if axis is None and ord is None:
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"Invalid axis values. Received: axis={axis}")


def _euclidean(x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    squares = ops.square(ops.abs(x)) if not x.dtype.is_complex else ops.square(tf.abs(x))
    return ops.sqrt(ops.sum(squares, axis=axes, keepdims=keepdims))


def _vector_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if isinstance(ord, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
    if ord is None or ord == 2:
        return _euclidean(x, axes, keepdims)
    size = tf.abs(x)
    if ord == math.inf:
        return ops.max(size, axis=axes, keepdims=keepdims)
    if ord == -math.inf:
        return ops.min(size, axis=axes, keepdims=keepdims)
    if ord == 0:
        return ops.sum(ops.cast(ops.not_equal(x, 0), dtype=size.dtype), axis=axes, keepdims=keepdims)
    if ord == 1:
        return ops.sum(size, axis=axes, keepdims=keepdims)
    return ops.sum(size**ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if ord is None or ord == "fro":
        return _euclidean(x, axes, keepdims)
    pick = {1: ops.max, -1: ops.min, math.inf: ops.max, -math.inf: ops.min, 2: ops.max, -2: ops.min, "nuc": ops.sum}
    if ord not in pick:
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")
    if ord in (2, -2, "nuc"):
        others = tuple(i for i in range(len(x.dims)) if i not in axes)
        values = tf.linalg.svd(ops.transpose(x, perm=(*others, *axes)), compute_uv=False)
        y = pick[ord](values, axis=(len(others),), keepdims=False)
        return ops.reshape(y, shape=_with_ones(x, axes)) if keepdims else y
    summed, picked = axes if abs(ord) == 1 else axes[::-1]
    sums = ops.sum(tf.abs(x), axis=(summed,), keepdims=True)
    y = pick[ord](sums, axis=(picked,), keepdims=True)
    if keepdims:
        return y
    return ops.reshape(y, shape=tuple(n for i, n in enumerate(y.dims) if i not in axes))


def _with_ones(x: Tensor, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(x.dims))


def qr(x, mode="reduced"):
    if mode not in ("reduced", "complete"):
        raise ValueError(
            "`mode` argument value not supported. Expected one of {'reduced', 'complete'}. "
            f"Received: mode={mode}"
        )
    q, r = tf.linalg.qr(convert_to_tensor(x), full_matrices=mode == "complete")
    return q, r


def solve(a, b):
    return _with_columns(tf.linalg.solve, a, b)


def solve_triangular(a, b, lower=False):
    return _with_columns(lambda a, b: tf.linalg.triangular_solve(a, b, lower=lower), a, b)


def _with_columns(solver: Any, a: Any, b: Any) -> Tensor:
    """Calls `solver(a, b)`, where `b` may be a vector instead of a matrix."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if len(b.dims) == len(a.dims) - 1:
        return solver(a, b[..., None])[..., 0]
    return solver(a, b)


def svd(x, full_matrices=True, compute_uv=True):
    x = convert_to_tensor(x)
    if not compute_uv:
        return tf.linalg.svd(x, compute_uv=False)
    s, u, v = tf.linalg.svd(x, full_matrices=full_matrices)
    return u, s, tf.linalg.adjoint(v)


def lstsq(a, b, rcond=None):
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if len(a.dims) != 2:
        raise TypeError(f"{len(a.dims)}-dimensional array given. Array must be two-dimensional")
    if len(b.dims) not in (1, 2):
        raise TypeError(f"{len(b.dims)}-dimensional array given. Array must be one or two-dimensional")
    if a.dims[0] != b.dims[0]:
        raise ValueError("Leading dimensions of input arrays must match")
    if rcond is None or rcond < 0:
        rcond = float(np.finfo(a.dtype.numpy).eps) * (1 if rcond is not None else max(a.dims))
    return _with_columns(lambda a, b: ops.matmul(tf.linalg.pinv(a, rcond=rcond), b), a, b)


def matrix_rank(x, tol=None):
    return cast(tf.linalg.matrix_rank(_matrices(x), tol=tol), "int32")


def pinv(x, rcond=None):
    return tf.linalg.pinv(_matrices(x), rcond=rcond)


def _matrices(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    if len(x.dims) < 2:
        raise ValueError(f"Expected input to have rank >= 2. Received input with shape {x.dims}.")
    return x


def jvp(fun, primals, tangents, has_aux=False):
    """Returns `fun(*primals)` and its directional derivative along the tangents."""
    primals = tree.map_structure(convert_to_tensor, primals)
    flat = tree.flatten(primals)
    directions = [cast(convert_to_tensor(t), x.dtype) for t, x in zip(tree.flatten(tangents), flat, strict=True)]
    with tf.autodiff.ForwardAccumulator(flat, directions) as accumulator:
        found = fun(*primals)
        outputs, *aux = found if has_aux else (found,)
        derivatives = tree.map_structure(
            lambda y: accumulator.jvp(y, tf.UnconnectedGradients.ZERO), outputs
        )
    return outputs, derivatives, *aux
