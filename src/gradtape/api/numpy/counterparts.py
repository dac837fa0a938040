"""NumPy's functions and array methods on tensors that `tf.experimental.numpy` lacks or supports less completely.

`numpy_on_tape` looks here first. Every function takes NumPy's arguments and computes with ops, so it is recorded,
traced and differentiated. A function that only moves entries runs NumPy's own on the entries' indices.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, is_tensor_like
from ..namespace import resolve
from . import promotion
from .promotion import tensor


class _Functions:
    """The functions of a namespace by attribute, resolved on first use."""

    def __init__(self, space: str) -> None:
        self._space = space

    def __getattr__(self, name: str) -> Any:
        return resolve(f"{self._space}{name}")


_np = _Functions("experimental.numpy.")
_tf, _linalg, _math, _signal = map(_Functions, ("", "linalg.", "math.", "signal."))


def _only(name: str, **given: Any) -> None:
    """Raises an error for an argument that is not supported."""
    extra = sorted(key for key, value in given.items() if value is not None and value is not False)
    if extra:
        raise TypeError(
            f"np.{name} takes no {', '.join(f'`{key}`' for key in extra)} where it computes with tensors. Leave it "
            "away, or use tensor.numpy() if no gradient is meant to go through"
        )


def _real(x: Any) -> Tensor:
    """Converts to a tensor of floats: integers become float64, as in NumPy's functions."""
    x = tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else promotion.cast(x, np.float64)


def _last(x: Tensor, axis: int) -> Tensor:
    return x if axis in (-1, len(x.dims) - 1) else _np.moveaxis(x, axis, -1)


def _moved(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Applies NumPy's own function, which moves the entries of one array, by moving the entries' indices."""
    first = next(iter(inspect.signature(function).parameters))

    def call(*args: Any, **kwargs: Any) -> Any:
        a = tensor(args[0] if args else kwargs.pop(first))
        flat = _tf.reshape(a, [-1])
        numbers = np.arange(math.prod(a.dims)).reshape(a.dims)
        found = function(numbers, *_values(args[1:]), **{k: _values([v])[0] for k, v in kwargs.items()})
        if isinstance(found, list | tuple):
            return type(found)(_tf.gather(flat, at) for at in found)
        return _tf.gather(flat, found)

    call.__name__ = name
    return call


def _values(args: Sequence[Any]) -> list[Any]:
    """Returns index arguments as arrays."""
    return [x.numpy() if is_tensor_like(x) else x for x in args]


# Reductions, with NumPy's `where`, `initial` and `ddof`.

_NEUTRAL = {"sum": 0, "prod": 1, "amax": -np.inf, "amin": np.inf, "all": True, "any": False}


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        _only(name, out=out)
        x = tensor(a, dtype)
        if where is not None and where is not True:
            neutral = _NEUTRAL[name] if initial is None or name in ("sum", "prod") else initial
            x = _np.where(where, x, promotion.cast(tensor(neutral), x.dtype))
        y = getattr(_np, name)(x, axis=axis, keepdims=bool(keepdims))
        if initial is None:
            return y
        joined = {"sum": _np.add, "prod": _np.multiply, "amax": _np.maximum, "amin": _np.minimum}[name]
        return joined(y, promotion.cast(tensor(initial), y.dtype))

    return reduce


def _extremum(name: str) -> Callable[..., Any]:
    reduce = _reduction(name)
    return lambda a, axis=None, out=None, keepdims=False, initial=None, where=None: reduce(
        a, axis, None, out, keepdims, initial, where
    )


def _truth(name: str) -> Callable[..., Any]:
    reduce = _reduction(name)
    return lambda a, axis=None, out=None, keepdims=False, where=None: reduce(a, axis, None, out, keepdims, None, where)


def _mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, where: Any = None
) -> Any:
    _only("mean", out=out)
    x = tensor(a, dtype)
    if where is None or where is True:
        return _np.mean(x, axis=axis, keepdims=bool(keepdims))
    return _np.sum(_np.where(where, x, _np.zeros_like(x)), axis, None, keepdims) / _number(x, where, axis, keepdims)


def _number(x: Tensor, where: Any, axis: Any, keepdims: Any) -> Any:
    chosen = _np.broadcast_to(tensor(where), x.dims)
    return _np.sum(promotion.cast(chosen, x.dtype), axis, None, bool(keepdims))


def _var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    _only("var", out=out)
    x = _real(tensor(a, dtype))
    where = True if where is None else where
    mean = _mean(x, axis, None, None, True, where) if mean is None else mean
    off = _np.absolute(x - mean) ** 2
    off = off if where is True else _np.where(where, off, _np.zeros_like(off))
    count = _number(off, where, axis, keepdims)
    return _np.sum(off, axis, None, bool(keepdims)) / (count - (ddof if correction is None else correction))


def _std(*args: Any, **kwargs: Any) -> Any:
    return _tf.sqrt(_var(*args, **kwargs))


def _nan_replaced(a: Any, value: float) -> Tensor:
    x = tensor(a)
    return _np.where(_np.isnan(x), promotion.cast(tensor(value), x.dtype), x) if x.dtype.is_floating else x


def _nan_extremum(name: str, value: float) -> Callable[..., Any]:
    reduce = _extremum(name)
    return lambda a, *args, **kwargs: reduce(_nan_replaced(a, value), *args, **kwargs)


def _nan_spread(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, *args, **kwargs: function(_nan_replaced(a, 0.0), *args, where=~_np.isnan(tensor(a)), **kwargs)


def _quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
    interpolation: Any = None,
) -> Any:
    _only("quantile", out=out, weights=weights, interpolation=interpolation)
    places: dict[str, Callable[[Any], Any]] = {"linear": np.positive, "lower": np.floor, "higher": np.ceil}
    if method not in places:
        raise TypeError(f"np.quantile of tensors knows the methods {', '.join(places)}, got {method!r}")
    x = _real(a)
    rank = len(x.dims)
    axes = tuple(range(rank)) if axis is None else tuple(np.atleast_1d(np.asarray(axis)) % rank)
    kept = [n for n in range(rank) if n not in axes]
    rows = _tf.reshape(_tf.transpose(x, [*kept, *axes]), [*(x.dims[n] for n in kept), -1])
    rows = _tf.sort(rows, -1)
    at = np.asarray(_values([q])[0], np.float64) * (rows.dims[-1] - 1)
    at = places[method](at)
    below = np.floor(at).astype(np.int64)
    above = np.minimum(below + 1, rows.dims[-1] - 1)
    low, high = (_np.moveaxis(_tf.gather(rows, n.ravel(), axis=-1), -1, 0) for n in (below, above))
    share = promotion.cast(tensor((at - below).reshape(-1, *[1] * len(kept))), x.dtype)
    found = low + (high - low) * share
    found = _np.where(_np.any(_np.isnan(rows), -1), promotion.cast(tensor(np.nan), x.dtype), found)
    shape = [1 if n in axes else x.dims[n] for n in range(rank)] if keepdims else [x.dims[n] for n in kept]
    return _tf.reshape(found, [*at.shape, *shape])


def _percentile(a: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    return _quantile(a, np.asarray(_values([q])[0], np.float64) / 100, *args, **kwargs)


def _median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return _quantile(a, 0.5, axis, out, keepdims=keepdims)


def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    _only("cov", fweights=fweights, aweights=aweights)
    x = _np.atleast_2d(_real(tensor(m, dtype)))
    x = x if rowvar or x.dims[0] == 1 else _np.transpose(x)
    if y is not None:
        other = _np.atleast_2d(_real(y))
        x = _np.concatenate([x, other if rowvar or other.dims[0] == 1 else _np.transpose(other)], 0)
    x = x - _np.mean(x, axis=1, keepdims=True)
    count = x.dims[1] - ((0 if bias else 1) if ddof is None else ddof)
    return _np.squeeze(_np.matmul(x, _np.conj(_np.transpose(x))) / count)


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    found = _cov(x, y, rowvar, dtype=dtype)
    if not found.dims:
        return found / found
    lengths = _np.sqrt(_np.real(_np.diagonal(found)))
    return found / promotion.cast(lengths[:, None] * lengths[None], found.dtype)


# Signals.


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = promotion.promoted(_np.atleast_1d(a), _np.atleast_1d(v))
    if v.dims[0] > a.dims[0]:
        a, v = v, a
    n, m = a.dims[0], v.dims[0]
    if not m:
        raise ValueError("v cannot be empty")
    windows = np.arange(n + m - 1)[:, None] + np.arange(m)
    padded = _tf.pad(a, [[m - 1, m - 1]])
    full = _np.sum(_tf.gather(padded, windows) * _tf.reverse(v, [0]), 1)
    if mode == "full":
        return full
    start, length = ((m - 1) // 2, n) if mode == "same" else (m - 1, n - m + 1)
    if mode not in ("same", "valid"):
        raise ValueError(f"np.convolve: mode is 'full', 'same' or 'valid', got {mode!r}")
    return full[start : start + length]


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = promotion.promoted(_np.atleast_1d(a), _np.atleast_1d(v))
    if v.dims[0] > a.dims[0]:  # NumPy swaps them and reverses the result
        return _tf.reverse(_np.conj(_correlate(v, a, mode)), [0])
    return _convolve(a, _np.conj(_tf.reverse(v, [0])), mode)


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    _only("interp", period=period)
    x, xp, fp = promotion.promoted(_real(x), _real(xp), _real(fp))
    if xp.dims[0] == 1:
        inside = _np.broadcast_to(fp[0], x.dims) + 0 * x
    else:
        flat = _tf.reshape(x, [-1])
        at = _tf.searchsorted(xp, flat, side="right") - 1
        at = _tf.reshape(_tf.clip_by_value(at, 0, xp.dims[0] - 2), x.dims)
        low, high = _tf.gather(xp, at), _tf.gather(xp, at + 1)
        start, stop = _tf.gather(fp, at), _tf.gather(fp, at + 1)
        inside = start + (stop - start) / (high - low) * (x - low)
    left = fp[0] if left is None else promotion.cast(tensor(left), x.dtype)
    right = fp[-1] if right is None else promotion.cast(tensor(right), x.dtype)
    return _np.where(x < xp[0], left, _np.where(x > xp[-1], right, inside))


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = _real(f)
    rank = len(f.dims)
    axes = tuple(range(rank)) if axis is None else tuple(int(n) % rank for n in np.atleast_1d(np.asarray(axis)))
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"np.gradient takes one spacing, or one for each of {len(axes)} axes, got {len(varargs)}")
    spacings = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    found = [_slopes(f, n, spacing, edge_order) for n, spacing in zip(axes, spacings, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(f: Tensor, axis: int, spacing: Any, edge_order: int) -> Any:
    """Returns the differences along one axis, of second order in the interior, as in NumPy."""
    y = _last(f, axis)
    size = y.dims[-1]
    if size < edge_order + 1:
        raise ValueError(
            f"Shape of array too small to calculate a numerical gradient, at least {edge_order + 1} elements are "
            "required."
        )
    spacing = promotion.cast(tensor(spacing), f.dtype)
    h = spacing[1:] - spacing[:-1] if spacing.dims else _np.broadcast_to(spacing, (size - 1,))
    a, b = h[:-1], h[1:]
    inside = (y[..., 2:] * a**2 - y[..., :-2] * b**2 + y[..., 1:-1] * (b**2 - a**2)) / (a * b * (a + b))
    if edge_order == 1:
        first, last = (y[..., 1:2] - y[..., :1]) / h[:1], (y[..., -1:] - y[..., -2:-1]) / h[-1:]
    else:
        p, q = h[:1], h[1:2]
        first = -(2 * p + q) / (p * (p + q)) * y[..., :1] + (p + q) / (p * q) * y[..., 1:2]
        first = first - p / (q * (p + q)) * y[..., 2:3]
        p, q = h[-2:-1], h[-1:]
        last = q / (p * (p + q)) * y[..., -3:-2] - (q + p) / (p * q) * y[..., -2:-1]
        last = last + (2 * q + p) / (q * (p + q)) * y[..., -1:]
    found = _np.concatenate([first, inside, last], -1)
    return found if axis in (-1, len(f.dims) - 1) else _np.moveaxis(found, -1, axis)


def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    _only("unwrap", discont=discont)
    x = _last(_real(p), axis)
    steps = x[..., 1:] - x[..., :-1]
    turns = _np.mod(steps + period / 2, period) - period / 2
    edge = _np.logical_and(_np.equal(turns, -period / 2), _np.greater(steps, 0))
    turns = _np.where(edge, _np.full_like(turns, period / 2), turns)
    jumps = _np.where(_np.less(_np.absolute(steps), period / 2), _np.zeros_like(steps), turns - steps)
    whole = _tf.concat([x[..., :1], x[..., 1:] + _tf.stop_gradient(_tf.cumsum(jumps, -1))], -1)
    return whole if axis in (-1, len(x.dims) - 1) else _np.moveaxis(whole, -1, axis)


# Fourier transforms.


def _scaled(y: Tensor, size: int, norm: Any, inverse: bool) -> Any:
    """Applies one of NumPy's norms to a result of `tf.signal`, where only the inverse is divided by the size."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"Invalid norm value {norm!r}; should be 'backward', 'ortho' or 'forward'.")
    power = {"ortho": 0.5, "forward": 1.0}.get(norm or "", 0.0)
    return y if not power else y * size**power if inverse else y / size**power


def _complex(x: Any) -> Tensor:
    x = _real(x)
    single = x.dtype.name in ("float32", "float16", "bfloat16", "complex64")
    return promotion.cast(x, np.complex64 if single else np.complex128)


def _sized(x: Tensor, size: int | None) -> Tensor:
    """Truncates or zero-pads the last axis of `x` to a size."""
    have = x.dims[-1]
    if size is None or size == have:
        return x
    return x[..., :size] if size < have else _tf.pad(x, [[0, 0]] * (len(x.dims) - 1) + [[0, size - have]])


def _fft(inverse: bool) -> Callable[..., Any]:
    def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        _only("fft", out=out)
        x = _sized(_last(_complex(a), axis), n)
        y = _scaled((_signal.ifft if inverse else _signal.fft)(x), x.dims[-1], norm, inverse)
        return y if axis in (-1, len(x.dims) - 1) else _np.moveaxis(y, -1, axis)

    return fft


def _rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _only("rfft", out=out)
    x = _sized(_last(_real(a), axis), n)
    y = _scaled(_signal.rfft(x), x.dims[-1], norm, False)
    return y if axis in (-1, len(x.dims) - 1) else _np.moveaxis(y, -1, axis)


def _irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    _only("irfft", out=out)
    x = _last(_complex(a), axis)
    n = 2 * (x.dims[-1] - 1) if n is None else n
    y = _scaled(_signal.irfft(_sized(x, n // 2 + 1), [n]), n, norm, True)
    return y if axis in (-1, len(x.dims) - 1) else _np.moveaxis(y, -1, axis)


def _over_axes(
    one: Callable[..., Any], last: Callable[..., Any], axes: Any, inverse: bool = False
) -> Callable[..., Any]:
    """Applies one-dimensional transforms over several axes; real transforms use a special one for the last axis."""
    default = axes

    def transform(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        _only("fft", out=out)
        x = tensor(a)
        if axes is None:
            axes = tuple(range(len(x.dims))) if s is None else tuple(range(-len(s), 0))
        sizes = [None] * len(axes) if s is None else list(s)
        order = list(zip([last, *[one] * (len(axes) - 1)], sizes[::-1], list(axes)[::-1], strict=True))
        for function, size, axis in order[::-1] if inverse else order:
            x = function(x, size, axis, norm)
        return x

    return transform


def _shifted(sign: int) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        x = tensor(x)
        axes = list(range(len(x.dims))) if axes is None else [int(n) for n in np.atleast_1d(np.asarray(axes))]
        halves = [x.dims[n] // 2 if sign > 0 else -(x.dims[n] // 2) for n in axes]
        return _tf.roll(x, halves, axes)

    return shift


# Linear algebra.


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = _real(x)
    if axis is None and ord is not None:
        axis = tuple(range(len(x.dims)))[-2:] if len(x.dims) > 1 else -1
    return _linalg.norm(x, "euclidean" if ord is None else ord, axis, keepdims)


def _solve(a: Any, b: Any) -> Any:
    a, b = promotion.promoted(a, b)
    return _linalg.solve(a, b[:, None])[..., 0] if len(b.dims) == 1 else _linalg.solve(a, b)


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    found = _linalg.svd(_real(a), full_matrices, compute_uv)
    return (found[1], found[0], _linalg.adjoint(found[2])) if compute_uv else found


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    raise TypeError(
        "np.linalg.lstsq gives ranks beside the solution. Use tf.linalg.lstsq(a, b), or np.linalg.pinv(a) @ b"
    )


def _matrix_power(a: Any, n: int) -> Any:
    a = tensor(a)
    if n < 0:
        return _matrix_power(_linalg.inv(a), -n)
    found = _tf.eye(a.dims[-1], batch_shape=list(a.dims[:-2]), dtype=a.dtype)
    while n:
        found = _np.matmul(found, a) if n % 2 else found
        a, n = _np.matmul(a, a), n // 2
    return found


def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    _only("linalg.multi_dot", out=out)
    first, *rest = arrays
    found = tensor(first)
    for other in rest:
        found = _np.dot(found, other)
    return found


def _condition(x: Any, p: Any = None) -> Any:
    x = _real(x)
    if p in (None, 2, -2):
        values = _linalg.svd(x, compute_uv=False)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    return _norm(x, p, (-2, -1)) * _norm(_linalg.inv(x), p, (-2, -1))


def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return _np.sum(_np.multiply(_np.conj(x1), x2), axis)


# Shapes and entries.


def _pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    if mode in ("edge", "wrap"):
        _only("pad", **kwargs)
        return _moved("pad", np.pad)(array, pad_width, mode)
    return _np.pad(array, pad_width, mode, **kwargs)


def _column_stack(tup: Any) -> Any:
    columns = [x[:, None] if len(x.dims) == 1 else x for x in map(_np.atleast_1d, tup)]
    return _np.concatenate(columns, 1)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = _np.moveaxis(y, axis, -1)
    if x is not None:
        x = tensor(x)
        x = _np.moveaxis(x, axis, -1) if len(x.dims) > 1 else x
        dx = _np.diff(x)
    return _np.sum((y[..., 1:] + y[..., :-1]) * dx / 2, -1)


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    arr, values = promotion.promoted(arr, values)
    numbers = np.arange(math.prod(arr.dims)).reshape(arr.dims)
    added = math.prod(arr.dims) + np.arange(math.prod(values.dims)).reshape(values.dims)
    found = np.insert(numbers, _values([obj])[0], added, axis)
    return _tf.gather(_tf.concat([_tf.reshape(arr, [-1]), _tf.reshape(values, [-1])], 0), found)


def _block(arrays: Any) -> Any:
    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    leaves = list(_leaves(arrays))
    rank = max(depth(arrays), *(len(x.dims) for x in leaves))

    def put(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = tensor(x)
            return _tf.reshape(x, [*[1] * (rank - len(x.dims)), *x.dims])
        return _np.concatenate([put(part, level - 1) for part in x], -level)

    return put(arrays, depth(arrays))


def _leaves(x: Any) -> Any:
    if isinstance(x, list):
        for part in x:
            yield from _leaves(part)
    else:
        yield tensor(x)


def _apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    x = _last(tensor(arr), axis)
    rows = _tf.reshape(x, [-1, x.dims[-1]])
    found = _tf.stack([tensor(func1d(rows[i], *args, **kwargs)) for i in range(rows.dims[0])])
    whole = _tf.reshape(found, [*x.dims[:-1], *found.dims[1:]])
    added = len(found.dims) - 1
    rank = len(whole.dims)
    order = list(range(rank - added))
    place = int(axis) % len(x.dims)
    order[place:place] = list(range(rank - added, rank))
    return _tf.transpose(whole, order)


def _piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    x = tensor(x)
    conditions = [_np.broadcast_to(tensor(c), x.dims) for c in (condlist if isinstance(condlist, list) else [condlist])]
    if len(funclist) == len(conditions) + 1:
        others = ~_tf.reduce_any(_tf.stack(conditions), 0)
        conditions.append(others)
    y = _tf.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):  # called, as in NumPy, on the entries to which it applies
            at = _tf.where(condition)
            part = promotion.cast(tensor(function(_tf.gather_nd(x, at), *args, **kwargs)), x.dtype)
            y = _tf.tensor_scatter_nd_update(y, at, _np.broadcast_to(part, (at.dims[0],)))
        else:
            y = _np.where(condition, promotion.cast(tensor(function), x.dtype), y)
    return y


def _nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    x = _real(x)
    most = float(np.finfo(x.dtype.as_numpy_dtype).max)

    def like(value: Any) -> Tensor:
        return promotion.cast(tensor(value), x.dtype)

    y = _np.where(_np.isnan(x), like(nan), x)
    y = _np.where(_np.isposinf(x), like(most if posinf is None else posinf), y)
    return _np.where(_np.isneginf(x), like(-most if neginf is None else neginf), y)


def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    at = np.asarray(_values([x])[0])
    count = max(int(at.max(initial=-1)) + 1, minlength)
    if weights is None:
        return np.bincount(at, minlength=minlength)
    return _math.unsorted_segment_sum(_real(weights), at, count)


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    x = _tf.reshape(tensor(ary), [-1])
    ends = [None if e is None else promotion.cast(_tf.reshape(tensor(e), [-1]), x.dtype) for e in (to_begin, to_end)]
    return _tf.concat([part for part in (ends[0], x[1:] - x[:-1], ends[1]) if part is not None], 0)


def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    _only("round", out=out)
    return _np.around(a, decimals)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    _only("clip", out=out)
    low, high = a_min if min is None else min, a_max if max is None else max
    y = tensor(a)
    y = y if low is None else _np.maximum(y, low)
    return y if high is None else _np.minimum(y, high)


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, **options: Any) -> Any:
    return promotion.cast(tensor(x), dtype)


def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return _tf.identity(tensor(a))


def _like(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def make(a: Any, *args: Any, **kwargs: Any) -> Any:
        x = tensor(a)
        blank = np.broadcast_to(np.zeros((), x.dtype.as_numpy_dtype), x.dims)
        return function(blank, *args, **kwargs)

    return make


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return _moved("repeat", np.repeat)(a, repeats, axis)


def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    x = _real(a)
    if weights is None:
        found, total = _np.mean(x, axis=axis, keepdims=keepdims), None
    else:
        w = promotion.cast(tensor(weights), x.dtype)
        if w.dims != x.dims and axis is not None:
            shape = [1] * len(x.dims)
            shape[axis] = w.dims[0]
            w = _tf.reshape(w, shape)
        w = _np.broadcast_to(w, x.dims)
        total = _np.sum(w, axis, None, keepdims)
        found = _np.sum(x * w, axis, None, keepdims) / total
    if not returned:
        return found
    count = math.prod(x.dims) / max(1, math.prod(found.dims))
    return found, _np.full_like(found, count) if total is None else total


# Elementwise functions that are not single ops.


def _copysign(x1: Any, x2: Any) -> Any:
    size = _np.absolute(_real(x1))
    return _np.where(_np.signbit(x2), -size, size)


def _without_nan(extremum: str) -> Callable[..., Any]:
    def call(x1: Any, x2: Any) -> Any:
        x1, x2 = promotion.promoted(x1, x2)
        y = getattr(_np, extremum)(x1, x2)
        return _np.where(_np.isnan(x1), x2, _np.where(_np.isnan(x2), x1, y))

    return call


def _modf(x: Any) -> Any:
    whole = _np.fix(_real(x))
    return x - whole, whole


def _ldexp(x1: Any, x2: Any) -> Any:
    x = _real(x1)
    return x * _np.power(promotion.cast(tensor(2.0), x.dtype), promotion.cast(tensor(x2), x.dtype))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _reduction("sum"), "prod": _reduction("prod"), "max": _extremum("amax"), "amax": _extremum("amax"),
    "min": _extremum("amin"), "amin": _extremum("amin"), "all": _truth("all"), "any": _truth("any"), "mean": _mean,
    "var": _var, "std": _std, "nanmax": _nan_extremum("amax", -np.inf), "nanmin": _nan_extremum("amin", np.inf),
    "nanvar": _nan_spread(_var), "nanstd": _nan_spread(_std),
    "nancumsum": lambda a, axis=None, dtype=None, out=None: _np.cumsum(_nan_replaced(a, 0.0), axis, dtype),
    "nancumprod": lambda a, axis=None, dtype=None, out=None: _np.cumprod(_nan_replaced(a, 1.0), axis, dtype),
    "average": _average, "median": _median, "quantile": _quantile, "percentile": _percentile, "cov": _cov,
    "corrcoef": _corrcoef, "convolve": _convolve, "correlate": _correlate, "interp": _interp, "gradient": _gradient,
    "unwrap": _unwrap, "fft.fft": _fft(False), "fft.ifft": _fft(True), "fft.rfft": _rfft, "fft.irfft": _irfft,
    "fft.fft2": _over_axes(_fft(False), _fft(False), (-2, -1)), "fft.fftn": _over_axes(_fft(False), _fft(False), None),
    "fft.ifft2": _over_axes(_fft(True), _fft(True), (-2, -1)), "fft.ifftn": _over_axes(_fft(True), _fft(True), None),
    "fft.rfft2": _over_axes(_fft(False), _rfft, (-2, -1)), "fft.rfftn": _over_axes(_fft(False), _rfft, None),
    "fft.irfft2": _over_axes(_fft(True), _irfft, (-2, -1), True),
    "fft.irfftn": _over_axes(_fft(True), _irfft, None, True),
    "fft.fftshift": _shifted(1), "fft.ifftshift": _shifted(-1), "linalg.norm": _norm, "linalg.solve": _solve,
    "linalg.svd": _svd, "linalg.svdvals": lambda x, /: _svd(x, compute_uv=False), "linalg.lstsq": _lstsq,
    "linalg.matrix_power": _matrix_power, "linalg.multi_dot": _multi_dot, "linalg.cond": _condition,
    "linalg.vecdot": _vecdot, "linalg.matrix_transpose": lambda x, /: _np.swapaxes(x, -1, -2),
    "linalg.trace": lambda x, /, *, offset=0, dtype=None: _np.trace(x, offset, -2, -1),
    "linalg.diagonal": lambda x, /, *, offset=0: _np.diagonal(x, offset, -2, -1),
    "linalg.outer": lambda x1, x2, /: _np.outer(x1, x2), "linalg.matmul": lambda x1, x2, /: _np.matmul(x1, x2),
    "linalg.cross": lambda x1, x2, /, *, axis=-1: _np.cross(x1, x2, axis=axis),
    "linalg.vector_norm": (
        lambda x, /, *, axis=None, keepdims=False, ord=2: _linalg.norm(_real(x), ord, axis, keepdims)
    ),
    "linalg.matrix_norm": lambda x, /, *, keepdims=False, ord="fro": _norm(x, ord, (-2, -1), keepdims),
    "matrix_transpose": lambda x, /: _np.swapaxes(x, -1, -2),
    "permute_dims": lambda a, axes=None: _np.transpose(a, axes),
    "pad": _pad, "column_stack": _column_stack, "trapezoid": _trapezoid, "insert": _insert, "block": _block,
    "apply_along_axis": _apply_along_axis, "piecewise": _piecewise, "nan_to_num": _nan_to_num, "bincount": _bincount,
    "ediff1d": _ediff1d, "round": _round, "around": _round, "clip": _clip, "astype": _astype, "copy": _copy,
    "ravel": lambda a, order="C": _raveled(a, order), "repeat": _repeat, "i0": lambda x: _math.bessel_i0(_real(x)),
    "rollaxis": _moved("rollaxis", np.rollaxis), "delete": _moved("delete", np.delete),
    "array_split": _moved("array_split", np.array_split), "resize": _moved("resize", np.resize),
    "rot90": _moved("rot90", np.rot90), "roll": _moved("roll", np.roll), "take": _moved("take", np.take),
    "tile": _moved("tile", np.tile), "unstack": _moved("unstack", np.unstack),
    "extract": lambda condition, arr: _moved("extract", lambda a: np.extract(_values([condition])[0], a))(arr),
    "empty_like": _like("empty_like"), "ones_like": _like("ones_like"), "zeros_like": _like("zeros_like"),
}  # fmt: skip

# Ufuncs by NumPy's name.
UFUNCS: dict[str, Callable[..., Any]] = {
    "copysign": _copysign, "fmax": _without_nan("maximum"), "fmin": _without_nan("minimum"), "modf": _modf,
    "ldexp": _ldexp, "vecdot": _vecdot, "clip": _clip,
    "matvec": lambda x1, x2: _np.matmul(x1, tensor(x2)[..., None])[..., 0],
    "vecmat": lambda x1, x2: _np.matmul(_np.conj(tensor(x1))[..., None, :], x2)[..., 0, :],
}  # fmt: skip

# Functions whose result has no derivative: counts, indices and text.
WITHOUT_DERIVATIVE = frozenset({
    "argpartition", "argwhere", "array2string", "array_equiv", "array_repr", "array_str", "can_cast", "common_type",
    "digitize", "flatnonzero", "isfortran", "isin", "lexsort", "linalg.matrix_rank", "may_share_memory",
    "min_scalar_type", "nanargmax", "nanargmin", "save", "savetxt", "savez", "savez_compressed", "searchsorted",
    "shares_memory", "unravel_index", "iscomplexobj", "isrealobj", "broadcast_shapes", "frexp", "spacing",
})  # fmt: skip

# Functions that write into their first argument.
IN_PLACE = frozenset({"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"})


def _method(name: str) -> Callable[..., Any]:
    """Returns an array's method as the function of that name."""
    return lambda self, *args, **kwargs: getattr(np, name)(self, *args, **kwargs)


def _changing(name: str, instead: str) -> Callable[..., Any]:
    """Returns a method that raises, because it would modify a tensor."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"tensor.{name}() would change a tensor, which cannot be changed. Use {instead}")

    return refuse


def _reshaped(self: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    one = len(shape) == 1 and not isinstance(shape[0], int | np.integer)
    return _np.reshape(self, shape[0] if one else shape, order)


def _transposed(self: Any, *axes: Any) -> Any:
    return _np.transpose(self, (axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes) or None)


def _raveled(a: Any, order: str = "C") -> Any:
    if order not in ("C", "F"):
        raise TypeError(f"a tensor is flattened in the order 'C' or 'F', got {order!r}")
    return _np.ravel(a if order == "C" else _np.transpose(a))


def _item(self: Any, *at: Any) -> Any:
    return tensor(self).numpy().item(*at)


def _refused_item(self: Any, key: Any, value: Any) -> None:
    raise TypeError(
        "`tensor[...] = value` would change a tensor, which cannot be changed. Use np.where, np.concatenate, or "
        "tf.tensor_scatter_nd_update, which give a new one"
    )


_FUNCTION_METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "clip", "compress", "conj", "conjugate", "cumprod",
    "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ptp", "repeat", "round",
    "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
)  # fmt: skip
# An array's methods and attributes that tensors and variables have while `numpy_on_tape` is active.
MEMBERS: dict[str, Any] = {
    **{name: _method(name) for name in _FUNCTION_METHODS},
    "T": property(lambda x: _np.transpose(x)), "mT": property(lambda x: _np.swapaxes(x, -1, -2)),
    "real": property(lambda x: _np.real(x)), "imag": property(lambda x: _np.imag(x)),
    "size": property(lambda x: math.prod(x.dims)), "flat": property(lambda x: iter(_tf.reshape(tensor(x), [-1]))),
    "itemsize": property(lambda x: x.dtype.size), "nbytes": property(lambda x: math.prod(x.dims) * x.dtype.size),
    "astype": lambda x, dtype, order="K", casting="unsafe", subok=True, copy=True: _astype(x, dtype),
    "copy": lambda x, order="C": _copy(x), "flatten": _raveled, "ravel": _raveled, "item": _item,
    "reshape": _reshaped, "tolist": lambda x: tensor(x).numpy().tolist(), "transpose": _transposed,
    "sort": _changing("sort", "np.sort(tensor)"), "fill": _changing("fill", "np.full_like(tensor, value)"),
    "put": _changing("put", "tf.tensor_scatter_nd_update"), "resize": _changing("resize", "np.resize(tensor, shape)"),
    "partition": _changing("partition", "np.sort(tensor)"), "__setitem__": _refused_item,
    "__pos__": lambda x: tensor(x),
}  # fmt: skip
