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

from ....core.tensor import Tensor, is_tensor_like
from . import promotion
from .elementwise import KERAS_ROWS, around, is_nan, nan_to_num, replace_nan
from .promotion import NUMPY, floating, tensor
from .quantiles import QUANTILES
from .signals import SIGNALS, last_axis, linalg, reject, tf, tnp
from .statistics import nancumprod, nancumsum, trapezoid, weighted_average


def _moved(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Applies NumPy's own function, which moves the entries of one array, by moving the entries' indices."""
    first = next(iter(inspect.signature(function).parameters))

    def call(*args: Any, **kwargs: Any) -> Any:
        a = tensor(args[0] if args else kwargs.pop(first))
        flat = tf.reshape(a, [-1])
        numbers = np.arange(math.prod(a.dims)).reshape(a.dims)
        found = function(numbers, *_values(args[1:]), **{k: _values([v])[0] for k, v in kwargs.items()})
        if isinstance(found, list | tuple):
            return type(found)(tf.gather(flat, at) for at in found)
        return tf.gather(flat, found)

    call.__name__ = name
    return call


def _adapted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function take NumPy's arguments and reject those that it lacks, except for requests of copies."""
    signature, supported = inspect.signature(getattr(np, name)), inspect.signature(function).parameters

    def call(*args: Any, **kwargs: Any) -> Any:
        (_, first), *rest = signature.bind(*args, **kwargs).arguments.items()
        reject(name, **{key: value for key, value in rest if key not in (*supported, "copy", "overwrite_input")})
        return function(first, **{key: value for key, value in rest if key in supported})

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
        reject(name, out=out)
        x = tensor(a, dtype)
        if where is not None and where is not True:
            neutral = _NEUTRAL[name] if initial is None or name in ("sum", "prod") else initial
            x = tnp.where(where, x, promotion.cast(tensor(neutral), x.dtype))
        y = getattr(tnp, name)(x, axis=axis, keepdims=bool(keepdims))
        if initial is None:
            return y
        joined = {"sum": tnp.add, "prod": tnp.multiply, "amax": tnp.maximum, "amin": tnp.minimum}[name]
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
    reject("mean", out=out)
    x = tensor(a, dtype)
    if where is None or where is True:
        return tnp.mean(x, axis=axis, keepdims=bool(keepdims))
    return tnp.sum(tnp.where(where, x, tnp.zeros_like(x)), axis, None, keepdims) / _number(x, where, axis, keepdims)


def _number(x: Tensor, where: Any, axis: Any, keepdims: Any) -> Any:
    chosen = tnp.broadcast_to(tensor(where), x.dims)
    return tnp.sum(promotion.cast(chosen, x.dtype), axis, None, bool(keepdims))


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
    reject("var", out=out)
    x = floating(tensor(a, dtype))
    where = True if where is None else where
    mean = _mean(x, axis, None, None, True, where) if mean is None else mean
    off = tnp.absolute(x - mean) ** 2
    off = off if where is True else tnp.where(where, off, tnp.zeros_like(off))
    count = _number(off, where, axis, keepdims)
    return tnp.sum(off, axis, None, bool(keepdims)) / (count - (ddof if correction is None else correction))


def _std(*args: Any, **kwargs: Any) -> Any:
    return tf.sqrt(_var(*args, **kwargs))


def _nan_extremum(name: str, value: float) -> Callable[..., Any]:
    reduce = _extremum(name)
    return lambda a, *args, **kwargs: reduce(replace_nan(tensor(a), value), *args, **kwargs)


def _nan_spread(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, *args, **kwargs: function(replace_nan(tensor(a), 0), *args, where=~is_nan(tensor(a)), **kwargs)


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
    reject("cov", fweights=fweights, aweights=aweights)
    x = tnp.atleast_2d(floating(tensor(m, dtype)))
    x = x if rowvar or x.dims[0] == 1 else tnp.transpose(x)
    if y is not None:
        other = tnp.atleast_2d(floating(y))
        x = tnp.concatenate([x, other if rowvar or other.dims[0] == 1 else tnp.transpose(other)], 0)
    x = x - tnp.mean(x, axis=1, keepdims=True)
    count = x.dims[1] - ((0 if bias else 1) if ddof is None else ddof)
    return tnp.squeeze(tnp.matmul(x, tnp.conj(tnp.transpose(x))) / count)


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    found = _cov(x, y, rowvar, dtype=dtype)
    if not found.dims:
        return found / found
    lengths = tnp.sqrt(tnp.real(tnp.diagonal(found)))
    return found / promotion.cast(lengths[:, None] * lengths[None], found.dtype)


# Linear algebra.


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = floating(x)
    if axis is None and ord is not None:
        axis = tuple(range(len(x.dims)))[-2:] if len(x.dims) > 1 else -1
    return linalg.norm(x, "euclidean" if ord is None else ord, axis, keepdims)


def _solve(a: Any, b: Any) -> Any:
    a, b = promotion.promoted(a, b)
    return linalg.solve(a, b[:, None])[..., 0] if len(b.dims) == 1 else linalg.solve(a, b)


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    found = linalg.svd(floating(a), full_matrices, compute_uv)
    return (found[1], found[0], linalg.adjoint(found[2])) if compute_uv else found


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    raise TypeError(
        "np.linalg.lstsq gives ranks beside the solution. Use tf.linalg.lstsq(a, b), or np.linalg.pinv(a) @ b"
    )


def _matrix_power(a: Any, n: int) -> Any:
    a = tensor(a)
    if n < 0:
        return _matrix_power(linalg.inv(a), -n)
    found = tf.eye(a.dims[-1], batch_shape=list(a.dims[:-2]), dtype=a.dtype)
    while n:
        found = tnp.matmul(found, a) if n % 2 else found
        a, n = tnp.matmul(a, a), n // 2
    return found


def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    reject("linalg.multi_dot", out=out)
    first, *rest = arrays
    found = tensor(first)
    for other in rest:
        found = tnp.dot(found, other)
    return found


def _condition(x: Any, p: Any = None) -> Any:
    x = floating(x)
    if p in (None, 2, -2):
        values = linalg.svd(x, compute_uv=False)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    return _norm(x, p, (-2, -1)) * _norm(linalg.inv(x), p, (-2, -1))


def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return tnp.sum(tnp.multiply(tnp.conj(x1), x2), axis)


# Shapes and entries.


def _pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    if mode in ("edge", "wrap"):
        reject("pad", **kwargs)
        return _moved("pad", np.pad)(array, pad_width, mode)
    return tnp.pad(array, pad_width, mode, **kwargs)


def _column_stack(tup: Any) -> Any:
    columns = [x[:, None] if len(x.dims) == 1 else x for x in map(tnp.atleast_1d, tup)]
    return tnp.concatenate(columns, 1)


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    arr, values = promotion.promoted(arr, values)
    numbers = np.arange(math.prod(arr.dims)).reshape(arr.dims)
    added = math.prod(arr.dims) + np.arange(math.prod(values.dims)).reshape(values.dims)
    found = np.insert(numbers, _values([obj])[0], added, axis)
    return tf.gather(tf.concat([tf.reshape(arr, [-1]), tf.reshape(values, [-1])], 0), found)


def _block(arrays: Any) -> Any:
    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    leaves = list(_leaves(arrays))
    rank = max(depth(arrays), *(len(x.dims) for x in leaves))

    def put(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = tensor(x)
            return tf.reshape(x, [*[1] * (rank - len(x.dims)), *x.dims])
        return tnp.concatenate([put(part, level - 1) for part in x], -level)

    return put(arrays, depth(arrays))


def _leaves(x: Any) -> Any:
    if isinstance(x, list):
        for part in x:
            yield from _leaves(part)
    else:
        yield tensor(x)


def _apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    x = last_axis(tensor(arr), axis)
    rows = tf.reshape(x, [-1, x.dims[-1]])
    found = tf.stack([tensor(func1d(rows[i], *args, **kwargs)) for i in range(rows.dims[0])])
    whole = tf.reshape(found, [*x.dims[:-1], *found.dims[1:]])
    added = len(found.dims) - 1
    rank = len(whole.dims)
    order = list(range(rank - added))
    place = int(axis) % len(x.dims)
    order[place:place] = list(range(rank - added, rank))
    return tf.transpose(whole, order)


def _piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    x = tensor(x)
    conditions = [tnp.broadcast_to(tensor(c), x.dims) for c in (condlist if isinstance(condlist, list) else [condlist])]
    if len(funclist) == len(conditions) + 1:
        others = ~tf.reduce_any(tf.stack(conditions), 0)
        conditions.append(others)
    y = tf.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):  # called, as in NumPy, on the entries to which it applies
            at = tf.where(condition)
            part = promotion.cast(tensor(function(tf.gather_nd(x, at), *args, **kwargs)), x.dtype)
            y = tf.tensor_scatter_nd_update(y, at, tnp.broadcast_to(part, (at.dims[0],)))
        else:
            y = tnp.where(condition, promotion.cast(tensor(function), x.dtype), y)
    return y


def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    at = np.asarray(_values([x])[0])
    count = max(int(at.max(initial=-1)) + 1, minlength)
    if weights is None:
        return np.bincount(at, minlength=minlength)
    return tf.math.unsorted_segment_sum(floating(weights), at, count)


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    x = tf.reshape(tensor(ary), [-1])
    ends = [None if e is None else promotion.cast(tf.reshape(tensor(e), [-1]), x.dtype) for e in (to_begin, to_end)]
    return tf.concat([part for part in (ends[0], x[1:] - x[:-1], ends[1]) if part is not None], 0)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    reject("clip", out=out)
    low, high = a_min if min is None else min, a_max if max is None else max
    y = tensor(a)
    y = y if low is None else tnp.maximum(y, low)
    return y if high is None else tnp.minimum(y, high)


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, **options: Any) -> Any:
    return promotion.cast(tensor(x), dtype)


def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return tf.identity(tensor(a))


def _like(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def make(a: Any, *args: Any, **kwargs: Any) -> Any:
        x = tensor(a)
        blank = np.broadcast_to(np.zeros((), x.dtype.as_numpy_dtype), x.dims)
        return function(blank, *args, **kwargs)

    return make


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return _moved("repeat", np.repeat)(a, repeats, axis)


# Elementwise functions that are not single ops.


def _copysign(x1: Any, x2: Any) -> Any:
    size = tnp.absolute(floating(x1))
    return tnp.where(tnp.signbit(x2), -size, size)


def _modf(x: Any) -> Any:
    whole = tnp.fix(floating(x))
    return x - whole, whole


def _ldexp(x1: Any, x2: Any) -> Any:
    x = floating(x1)
    return x * tnp.power(promotion.cast(tensor(2.0), x.dtype), promotion.cast(tensor(x2), x.dtype))


_OTHER = {row.name: row.bind(NUMPY) for row in KERAS_ROWS}  # functions that TensorFlow lacks

_MOVING = ("array_split", "delete", "resize", "roll", "rollaxis", "rot90", "take", "tile", "unstack")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _reduction("sum"), "prod": _reduction("prod"), "max": _extremum("amax"), "amax": _extremum("amax"),
    "min": _extremum("amin"), "amin": _extremum("amin"), "all": _truth("all"), "any": _truth("any"), "mean": _mean,
    "var": _var, "std": _std, "nanmax": _nan_extremum("amax", -np.inf), "nanmin": _nan_extremum("amin", np.inf),
    "nanvar": _nan_spread(_var), "nanstd": _nan_spread(_std),
    **{
        function.__name__: _adapted(function.__name__, function)
        for function in (*QUANTILES, around, nan_to_num, nancumprod, nancumsum)
    },
    "average": _adapted("average", weighted_average), "round": _adapted("round", around),
    "cov": _cov,
    "corrcoef": _corrcoef, **SIGNALS,
    "linalg.norm": _norm, "linalg.solve": _solve,
    "linalg.svd": _svd, "linalg.svdvals": lambda x, /: _svd(x, compute_uv=False), "linalg.lstsq": _lstsq,
    "linalg.matrix_power": _matrix_power, "linalg.multi_dot": _multi_dot, "linalg.cond": _condition,
    "linalg.vecdot": _vecdot, "linalg.matrix_transpose": lambda x, /: tnp.swapaxes(x, -1, -2),
    "linalg.trace": lambda x, /, *, offset=0, dtype=None: tnp.trace(x, offset, -2, -1),
    "linalg.diagonal": lambda x, /, *, offset=0: tnp.diagonal(x, offset, -2, -1),
    "linalg.outer": lambda x1, x2, /: tnp.outer(x1, x2), "linalg.matmul": lambda x1, x2, /: tnp.matmul(x1, x2),
    "linalg.cross": lambda x1, x2, /, *, axis=-1: tnp.cross(x1, x2, axis=axis),
    "linalg.vector_norm": (
        lambda x, /, *, axis=None, keepdims=False, ord=2: linalg.norm(floating(x), ord, axis, keepdims)
    ),
    "linalg.matrix_norm": lambda x, /, *, keepdims=False, ord="fro": _norm(x, ord, (-2, -1), keepdims),
    "matrix_transpose": lambda x, /: tnp.swapaxes(x, -1, -2),
    "permute_dims": lambda a, axes=None: tnp.transpose(a, axes),
    "pad": _pad, "column_stack": _column_stack, "trapezoid": trapezoid, "insert": _insert, "block": _block,
    "apply_along_axis": _apply_along_axis, "piecewise": _piecewise, "bincount": _bincount,
    "ediff1d": _ediff1d, "clip": _clip, "astype": _astype, "copy": _copy,
    "ravel": lambda a, order="C": _raveled(a, order), "repeat": _repeat, "i0": _OTHER["i0"],
    **{name: _moved(name, getattr(np, name)) for name in _MOVING if hasattr(np, name)},  # unstack: since NumPy 2.1
    "extract": lambda condition, arr: _moved("extract", lambda a: np.extract(_values([condition])[0], a))(arr),
    **{name: _like(name) for name in ("empty_like", "ones_like", "zeros_like")},
}  # fmt: skip

# Ufuncs by NumPy's name.
UFUNCS: dict[str, Callable[..., Any]] = {
    "copysign": _copysign, "fmax": _OTHER["fmax"], "fmin": _OTHER["fmin"], "modf": _modf,
    "ldexp": _ldexp, "vecdot": _vecdot, "clip": _clip,
    "matvec": lambda x1, x2: tnp.matmul(x1, tensor(x2)[..., None])[..., 0],
    "vecmat": lambda x1, x2: tnp.matmul(tnp.conj(tensor(x1))[..., None, :], x2)[..., 0, :],
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
    return tnp.reshape(self, shape[0] if one else shape, order)


def _transposed(self: Any, *axes: Any) -> Any:
    return tnp.transpose(self, (axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes) or None)


def _raveled(a: Any, order: str = "C") -> Any:
    if order not in ("C", "F"):
        raise TypeError(f"a tensor is flattened in the order 'C' or 'F', got {order!r}")
    return tnp.ravel(a if order == "C" else tnp.transpose(a))


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
    "T": property(lambda x: tnp.transpose(x)), "mT": property(lambda x: tnp.swapaxes(x, -1, -2)),
    "real": property(lambda x: tnp.real(x)), "imag": property(lambda x: tnp.imag(x)),
    "size": property(lambda x: math.prod(x.dims)), "flat": property(lambda x: iter(tf.reshape(tensor(x), [-1]))),
    "itemsize": property(lambda x: x.dtype.size), "nbytes": property(lambda x: math.prod(x.dims) * x.dtype.size),
    "astype": lambda x, dtype, order="K", casting="unsafe", subok=True, copy=True: _astype(x, dtype),
    "copy": lambda x, order="C": _copy(x), "flatten": _raveled, "ravel": _raveled, "item": _item,
    "reshape": _reshaped, "tolist": lambda x: tensor(x).numpy().tolist(), "transpose": _transposed,
    "sort": _changing("sort", "np.sort(tensor)"), "fill": _changing("fill", "np.full_like(tensor, value)"),
    "put": _changing("put", "tf.tensor_scatter_nd_update"), "resize": _changing("resize", "np.resize(tensor, shape)"),
    "partition": _changing("partition", "np.sort(tensor)"), "__setitem__": _refused_item,
    "__pos__": lambda x: tensor(x),
}  # fmt: skip
