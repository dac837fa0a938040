"""`numpy_on_tape`: NumPy's own functions, called on tensors, are ops like any others: recorded, traced, differentiated.

NumPy asks the arguments of its functions who computes them, by `__array_ufunc__` and `__array_function__`. Tensors have
neither until somebody calls `numpy_on_tape`, so programs that never do pay nothing. Then `np.sin(t)` is what
`tf.experimental.numpy.sin(t)` is. A function that has no counterpart computes
with arrays, as it does without, and says so if a tape follows what it is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from ...core import nest
from ...core.dtypes import DType
from ...core.tensor import Tensor, is_tensor_like
from ...graph.trace.closures import is_followed
from ...state.variable import Variable
from ..names import NAMES
from ..namespace import resolve
from . import promotion

NAMESPACES = ("",)
__all__ = ["numpy_on_tape"]

_VALUES: tuple[Any, ...] = (Tensor, Variable)

# The ufuncs that are Python's operators: there an array takes the tensor's dtype, as it does in `array * tensor`.
_OPERATORS = {
    np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.power, np.matmul,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
}  # fmt: skip

# What has another name in TensorFlow than in NumPy, and the same meaning.
_OTHER_NAMES = {
    "degrees": "experimental.numpy.rad2deg", "fmod": "truncatemod", "invert": "bitwise.invert",
    "left_shift": "bitwise.left_shift", "radians": "experimental.numpy.deg2rad", "right_shift": "bitwise.right_shift",
    "rint": "round", "trunc": "experimental.numpy.fix",
    "linalg.cholesky": "linalg.cholesky", "linalg.det": "linalg.det", "linalg.inv": "linalg.inv",
    "linalg.pinv": "linalg.pinv", "linalg.slogdet": "linalg.slogdet", "linalg.qr": "linalg.qr",
    "linalg.eigh": "linalg.eigh", "linalg.eigvalsh": "linalg.eigvalsh",
}  # fmt: skip

# What a ufunc's methods are called when they are functions.
_METHODS = {
    ("add", "reduce"): "sum", ("multiply", "reduce"): "prod", ("maximum", "reduce"): "amax",
    ("minimum", "reduce"): "amin", ("logical_and", "reduce"): "all", ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumsum", ("multiply", "accumulate"): "cumprod",
}  # fmt: skip


class numpy_on_tape:
    """From here on NumPy's functions take tensors and variables and give tensors, in all threads; `with` ends it.

    Where an array meets a tensor in an operator, or in its ufunc, the tensor's dtype holds as it does without; all
    other functions promote as NumPy does. What cannot be recorded computes with arrays and warns if a tape looks on.

    >>> import numpy as np
    >>> import gradtape as tf
    >>> x = tf.Variable([0.0, 1.0])
    >>> with tf.numpy_on_tape(), tf.GradientTape() as tape:
    ...     y = np.sum(np.exp(x) * np.array([1.0, 2.0]))
    >>> [round(float(slope), 3) for slope in tape.gradient(y, x)]
    [1.0, 5.437]
    """

    _depth = 0  # of the blocks and calls that are on

    def __init__(self) -> None:
        cls = type(self)
        cls._depth += 1
        if cls._depth == 1:
            for values in _VALUES:
                values.__array_ufunc__, values.__array_function__ = _ufunc, _function

    def __enter__(self) -> numpy_on_tape:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cls = type(self)
        cls._depth -= 1
        if not cls._depth:
            for values in _VALUES:
                del values.__array_ufunc__, values.__array_function__


def _ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    name = ufunc.__name__
    if kwargs.get("out") is not None:
        return _written(ufunc, method, inputs, kwargs)
    if method == "__call__" and not kwargs:
        call = _counterpart(name)
        if call is not None:
            return call(*(_in_the_tensors_dtype(inputs) if ufunc in _OPERATORS else inputs))
    elif method == "outer" and not kwargs and len(inputs) == 2:
        x, y = map(promotion.tensor, inputs)
        return ufunc(x[(..., *[None] * len(y.dims))], y)
    elif (name, method) in _METHODS:
        kwargs.setdefault("axis", 0)
        return resolve(f"experimental.numpy.{_METHODS[name, method]}")(*inputs, **kwargs)
    whole = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
    return _with_arrays(getattr(ufunc, method), whole, inputs, kwargs)


def _function(self: Any, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    space = function.__module__.removeprefix("numpy").lstrip(".")
    name = f"{space}.{function.__name__}".lstrip(".")
    call = _ADAPTED.get(name) or _counterpart(name)
    if call is None or kwargs.get("out") is not None:
        return _with_arrays(function, f"np.{name}", args, kwargs)
    return call(*args, **kwargs)


def _counterpart(name: str) -> Callable[..., Any] | None:
    """The function of ours that does what NumPy's of that name does, if there is one."""
    path = _OTHER_NAMES.get(name, f"experimental.numpy.{name}")
    return resolve(path) if path in NAMES else None


def _in_the_tensors_dtype(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tensor and an array whose numbers are of the tensor's kind, such as two floats, as two tensors of one dtype."""
    kinds = {x.dtype for x in inputs if is_tensor_like(x)}
    own = kinds.pop()
    if kinds or any(_kind(x, own) != own.numpy.kind for x in inputs if not is_tensor_like(x)):
        return inputs
    return tuple(x if is_tensor_like(x) else promotion.tensor(x, own) for x in inputs)


def _kind(array: Any, other: DType) -> str:
    return np.result_type(np.asarray(array).dtype, other.numpy).kind


def _with_arrays(function: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
    given = [x for x in nest.flatten((args, kwargs)) if is_tensor_like(x)]
    if any(map(is_followed, map(promotion.tensor, given))):
        warnings.warn(
            f"{name} has no counterpart that a tape records: it computes with arrays, and no gradient goes through it. "
            "Use a function of gradtape, or tf.custom_gradient around it; tensor.numpy() says that this is meant",
            stacklevel=4,
        )
    args, kwargs = nest.map_structure(lambda x: np.asarray(x) if is_tensor_like(x) else x, (args, kwargs))
    return function(*args, **kwargs)


def _written(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The ufunc that writes its result into an array: nobody could say later what the array's numbers came from."""
    name = f"np.{ufunc.__name__}"
    if any(is_tensor_like(x) for x in kwargs["out"]):
        raise TypeError(f"{name}(..., out=tensor) would change a tensor, which cannot be changed. Leave `out` away")
    if any(is_followed(promotion.tensor(x)) for x in inputs if is_tensor_like(x)):
        raise TypeError(
            f"{name}(..., out=array), which `array += tensor` is too, would write what a tape records into a NumPy "
            "array, where it is lost. Use `array = array + tensor`, or tensor.numpy() if that is meant"
        )
    return _with_arrays(getattr(ufunc, method), name, inputs, kwargs)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = promotion.tensor(x)
    if axis is None and ord is not None:
        axis = tuple(range(len(x.dims)))[-2:] if len(x.dims) > 1 else -1
    return resolve("linalg.norm")(x, "euclidean" if ord is None else ord, axis, keepdims)


def _solve(a: Any, b: Any) -> Any:
    a, b = promotion.promoted(a, b)
    return resolve("linalg.solve")(a, b[:, None])[..., 0] if len(b.dims) == 1 else resolve("linalg.solve")(a, b)


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    found = resolve("linalg.svd")(promotion.tensor(a), full_matrices, compute_uv)
    return (found[1], found[0], resolve("linalg.adjoint")(found[2])) if compute_uv else found


def _pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    return resolve("experimental.numpy.pad")(array, pad_width, mode, **kwargs)


def _column_stack(tup: Any) -> Any:
    columns = [x[:, None] if len(x.dims) == 1 else x for x in map(promotion.tensor, tup)]
    return resolve("experimental.numpy.concatenate")(columns, 1)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = resolve("experimental.numpy.moveaxis")(y, axis, -1)
    if x is not None:
        x = promotion.tensor(x)
        x = resolve("experimental.numpy.moveaxis")(x, axis, -1) if len(x.dims) > 1 else x
        dx = resolve("experimental.numpy.diff")(x)
    return resolve("experimental.numpy.sum")((y[..., 1:] + y[..., :-1]) * dx / 2, -1)


# NumPy's functions whose arguments or results are arranged in another way than TensorFlow's.
_ADAPTED: dict[str, Callable[..., Any]] = {
    "column_stack": _column_stack,
    "linalg.norm": _norm,
    "linalg.solve": _solve,
    "linalg.svd": _svd,
    "pad": _pad,
    "trapezoid": _trapezoid,
}
