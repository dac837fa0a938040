"""`tf.experimental.numpy`: statistics, sorting and products."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ....core import errors
from ....core.tensor import Tensor
from ....core.type_hints import AxisLike, DTypeLike, TensorLike
from ....engine.run.namespace import ops
from ...namespace import resolve
from .arrays import broadcast_to, move_axes, ravel
from .elementwise import replace_nan
from .promotion import PromotionPolicy, cast, own, promoted, tensor, with_policy
from .reductions import accumulate, contract, contract_last, mean
from .reductions import max as max_
from .reductions import min as min_
from .reductions import prod as prod_
from .reductions import sum as sum_

NAMESPACES = ("experimental.numpy",)
__all__ = [
    "amax", "amin", "argsort", "array_equal", "average", "count_nonzero", "cross", "cumprod", "diff", "inner", "kron",
    "nanmean", "nanprod", "nansum", "polyval", "ptp", "sort", "vdot",
]  # fmt: skip


def amax(a: TensorLike, axis: AxisLike | None = None, out: None = None, keepdims: bool | None = None) -> Tensor:
    """Alias of `max`.

    >>> int(tf.experimental.numpy.amax([1, 3]))
    3
    """
    if out is not None:
        raise ValueError("Setting out is not supported.")
    return max_(a, axis, keepdims)


def amin(a: TensorLike, axis: AxisLike | None = None, out: None = None, keepdims: bool | None = None) -> Tensor:
    """Alias of `min`.

    >>> int(tf.experimental.numpy.amin([1, 3]))
    1
    """
    if out is not None:
        raise ValueError("Setting out is not supported.")
    return min_(a, axis, keepdims)


@with_policy
def ptp(p: PromotionPolicy, a: TensorLike, axis: AxisLike | None = None, keepdims: bool | None = None) -> Tensor:
    """Returns the peak-to-peak range: maximum minus minimum.

    >>> int(tf.experimental.numpy.ptp([1, 3]))
    2
    """
    x, keep = p.tensor(a), bool(keepdims)
    return p.max(x, axis, keep) - p.min(x, axis, keep)  # type: ignore[no-any-return]


def nansum(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """Returns the sum of entries that are not NaN.

    >>> float(tf.experimental.numpy.nansum([1.0, float("nan")]))
    1.0
    """
    return sum_(replace_nan(tensor(a), 0), axis, dtype, keepdims)


def nanprod(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """Returns the product of entries that are not NaN.

    >>> float(tf.experimental.numpy.nanprod([2.0, float("nan")]))
    2.0
    """
    return prod_(replace_nan(tensor(a), 1), axis, dtype, keepdims)


def nanmean(
    a: TensorLike, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool | None = None
) -> Tensor:
    """Returns the mean of entries that are not NaN.

    >>> float(tf.experimental.numpy.nanmean([1.0, float("nan")]))
    1.0
    """
    x = tensor(a)
    if x.dtype.is_bool or x.dtype.is_integer:
        return mean(x, axis, dtype, keepdims=keepdims)
    kind = dtype or x.dtype
    return nansum(x, axis, kind, bool(keepdims)) / sum_(~ops.is_nan(x), axis, kind, keepdims)


def average(a: TensorLike, axis: int | None = None, weights: TensorLike | None = None, returned: bool = False) -> Any:
    """Returns the weighted mean; with `returned`, also the sum of the weights.

    >>> float(tf.experimental.numpy.average([1.0, 4.0], weights=[2.0, 1.0]))
    2.0
    """
    if axis is not None and not isinstance(axis, int):
        raise ValueError(f"Argument `axis` must be an integer. Received axis={axis} (of type {type(axis)})")
    if weights is not None:
        dims, given = tensor(a).dims, tensor(weights).dims
        if given != dims and not (axis is not None and len(given) == 1 < len(dims)):
            raise errors.InvalidArgumentError(
                f"weights have the shape of the array, {list(dims)}, or are one for each entry of an axis, got shape "
                f"{list(given)} with axis {axis}"
            )
    return weighted_average(a, axis, weights, returned)


@with_policy
def weighted_average(
    p: PromotionPolicy,
    a: TensorLike,
    axis: AxisLike | None = None,
    weights: TensorLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """Returns the mean along axes, with weights that are broadcast or belong to one axis."""
    x, w = (p.floating(a), None) if weights is None else p.promote_floats(a, weights)
    axes = p.axes(x, axis)
    if w is None:
        found = ops.mean(x, axis=axes, keepdims=keepdims)
        total = tensor(math.prod(x.dims[i] for i in axes), x.dtype)
    else:
        if len(w.dims) == 1 < len(x.dims) and axis is not None:
            w = ops.reshape(w, shape=tuple(-1 if i in axes else 1 for i in range(len(x.dims))))
        w = ops.broadcast_to(w, shape=x.dims)
        total = ops.sum(w, axis=axes, keepdims=keepdims)
        found = ops.sum(x * w, axis=axes, keepdims=keepdims) / total
    return (found, ops.broadcast_to(total, shape=found.dims)) if returned else found


def count_nonzero(a: TensorLike, axis: AxisLike | None = None) -> Tensor:
    """Counts the nonzero entries.

    >>> int(tf.experimental.numpy.count_nonzero([1, 0, 2]))
    2
    """
    return own("count_nonzero")(tensor(a), axis)


@with_policy
def cumprod(p: PromotionPolicy, a: TensorLike, axis: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Returns the cumulative product along an axis, or of the flattened array.

    >>> tf.experimental.numpy.cumprod([2, 3]).numpy().tolist()
    [2, 6]
    """
    return accumulate("cumprod", p, a, axis, dtype)


@with_policy
def nancumsum(p: PromotionPolicy, a: TensorLike, axis: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Same as `cumsum`, with 0 for NaN."""
    return accumulate("cumsum", p, replace_nan(p.tensor(a), 0), axis, dtype)


@with_policy
def nancumprod(p: PromotionPolicy, a: TensorLike, axis: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Same as `cumprod`, with 1 for NaN."""
    return accumulate("cumprod", p, replace_nan(p.tensor(a), 1), axis, dtype)


@with_policy
def diff(p: PromotionPolicy, a: TensorLike, n: int = 1, axis: int = -1) -> Tensor:
    """Returns the differences of neighbors along an axis, `n` times.

    >>> tf.experimental.numpy.diff([1, 4, 9]).numpy().tolist()
    [3, 5]
    """
    if n < 0:
        raise ValueError(f"n is the number of times to take differences, 0 or more, got {n}")
    x = p.tensor(a)
    before = (slice(None),) * p.axes(x, axis)[0]
    for _ in range(n):
        later, sooner = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = ops.not_equal(later, sooner) if x.dtype.is_bool else later - sooner
    return x


def _sortable(kind: str, kinds: tuple[str, ...], order: Any) -> None:
    if kind not in kinds:
        raise ValueError(f"Invalid value for argument `kind`: there is {' and '.join(kinds)}. Received: kind={kind}")
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


def sort(a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None) -> Tensor:
    """Sorts the entries along an axis, or of the flattened array.

    >>> tf.experimental.numpy.sort([3, 1, 2]).numpy().tolist()
    [1, 2, 3]
    """
    _sortable(kind, ("quicksort",), order)
    return resolve("sort")(ravel(a), 0) if axis is None else resolve("sort")(tensor(a), axis)


def argsort(a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None) -> Tensor:
    """Returns the indices that sort the entries along an axis, or of the flattened array.

    >>> tf.experimental.numpy.argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    _sortable(kind, ("quicksort", "stable"), order)
    x = tensor(a)
    if x.dtype.is_complex:
        raise TypeError(f"argsort does not support complex64/complex128 dtypes. Received dtype: {x.dtype}")
    if not x.dims:
        return tensor([0])
    places = resolve("argsort")(*((ravel(x), 0) if axis is None else (x, axis)), stable=kind == "stable")
    return cast(places, np.int64)


def array_equal(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Returns whether two arrays have the same shape and entries.

    >>> bool(tf.experimental.numpy.array_equal([1, 2], [1.0, 2.0]))
    True
    """
    x, y = promoted(a1, a2)
    return own("reduce_all")(own("equal")(x, y)) if x.dims == y.dims else resolve("constant")(False)


@with_policy
def inner(p: PromotionPolicy, a: TensorLike, b: TensorLike) -> Tensor:
    """Sums the products over the last axes.

    >>> int(tf.experimental.numpy.inner([1, 2], [3, 4]))
    11
    """
    x, y = p.promote(a, b)
    return contract_last(x, y, len(y.dims) - 1)


@with_policy
def vdot(p: PromotionPolicy, a: TensorLike, b: TensorLike) -> Tensor:
    """Sums the products of all entries, with those of `a` conjugated.

    >>> int(tf.experimental.numpy.vdot([[1, 2]], [[3], [4]]))
    11
    """
    x, y = (ravel(z) for z in p.join(a, b))
    return contract(ops.conj(x) if x.dtype.is_complex else x, y, [0], [0])


@with_policy
def kron(p: PromotionPolicy, a: TensorLike, b: TensorLike) -> Tensor:
    """The Kronecker product: each entry of `a` times the whole of `b`.

    >>> tf.experimental.numpy.kron([1, 10], [1, 2]).numpy().tolist()
    [1, 2, 10, 20]
    """
    x, y = p.promote(a, b)
    rank = max(len(x.dims), len(y.dims))
    first, second = ((1,) * (rank - len(z.dims)) + z.dims for z in (x, y))
    x = ops.reshape(x, shape=tuple(size for dim in first for size in (dim, 1)))
    y = ops.reshape(y, shape=tuple(size for dim in second for size in (1, dim)))
    return ops.reshape(ops.mul(x, y), shape=tuple(map(operator.mul, first, second)))


def polyval(p: TensorLike, x: TensorLike) -> Tensor:
    """Evaluates the polynomial with the coefficients `p`, highest power first.

    >>> int(tf.experimental.numpy.polyval([1, 2, 3], 10))
    123
    """
    coefficients, at = promoted(p, x)
    parts = resolve("unstack")(ravel(coefficients) if not coefficients.dims else coefficients)
    value = own("polyval")(parts, at)
    return broadcast_to(value, at.dims) if len(parts) == 1 else value


@with_policy
def cross(
    p: PromotionPolicy,
    a: TensorLike,
    b: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Tensor:
    """The cross product of vectors with 3 entries; for 2 entries, its third component.

    >>> tf.experimental.numpy.cross([1, 0, 0], [0, 1, 0]).numpy().tolist()
    [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = p.promote(a, b)
    x, y = (move_axes(z, p.axes(z, place), (len(z.dims) - 1,)) for z, place in ((x, axisa), (y, axisb)))
    if not {x.dims[-1], y.dims[-1]} <= {2, 3}:
        raise ValueError(f"vectors of a cross product have 2 or 3 entries, got shapes {x.dims} and {y.dims}")
    x0, x1, y0, y1 = x[..., 0], x[..., 1], y[..., 0], y[..., 1]
    last = x0 * y1 - x1 * y0
    if x.dims[-1] == y.dims[-1] == 2:
        return last
    x2, y2 = (z[..., 2] if z.dims[-1] == 3 else ops.zeros_like(z[..., 0]) for z in (x, y))
    product = ops.stack(x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, last, axis=len(last.dims))
    return move_axes(product, (len(last.dims),), p.axes(product, axisc))


@with_policy
def trapezoid(
    p: PromotionPolicy, y: TensorLike, x: TensorLike | None = None, dx: TensorLike = 1.0, axis: int = -1
) -> Tensor:
    """Integrates along an axis by the trapezoidal rule, for Keras and NumPy's function on tensors."""
    heights = p.floating(y)
    heights = move_axes(heights, p.axes(heights, axis), (len(heights.dims) - 1,))
    widths = p.tensor(dx if x is None else x, heights.dtype)
    if x is not None:
        if len(widths.dims) > 1:
            widths = move_axes(widths, p.axes(widths, axis), (len(widths.dims) - 1,))
        widths = widths[..., 1:] - widths[..., :-1]
    areas = (heights[..., 1:] + heights[..., :-1]) * widths
    return ops.sum(areas, axis=(len(areas.dims) - 1,), keepdims=False) / 2
