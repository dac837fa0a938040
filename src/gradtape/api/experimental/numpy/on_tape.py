"""`numpy_on_tape`: NumPy's own functions, called on tensors, are recorded, traced and differentiated.

NumPy dispatches its functions through `__array_ufunc__` and `__array_function__` of the arguments. Tensors have neither
until a program calls `numpy_on_tape`, so other programs pay nothing. Then `np.sin(t)` calls
`tf.experimental.numpy.sin(t)`, and tensors have the methods of arrays. A tensor that a tape records is never converted
to an array silently: a function without a counterpart, `np.asarray(t)` and `array[0] = t` raise an error.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from ....core import nest
from ....core.dtypes import DType
from ....core.operators import ARITHMETIC, BINARY
from ....core.pickling import Unpicklable
from ....core.tensor import Tensor, is_tensor_like
from ....graph.trace.closures import is_external
from ....state.variable import Variable
from ...names import NAMES
from ...namespace import resolve
from . import promotion
from .behavior import getitem
from .counterparts import FUNCTIONS, IN_PLACE, MEMBERS, UFUNCS, WITHOUT_DERIVATIVE

NAMESPACES = ("",)
__all__ = ["numpy_on_tape"]

_MISSING = object()
_VALUES: tuple[Any, ...] = (Tensor, Variable)

# The ufuncs of Python's operators: an array takes the tensor's dtype, as in `array * tensor`.
_OPERATORS = {row.ufunc for row in BINARY}

# Functions with the same meaning but another name in TensorFlow.
_OTHER_NAMES = {
    "degrees": "experimental.numpy.rad2deg", "fmod": "truncatemod", "invert": "bitwise.invert",
    "left_shift": "bitwise.left_shift", "radians": "experimental.numpy.deg2rad", "right_shift": "bitwise.right_shift",
    "rint": "round", "trunc": "experimental.numpy.fix",
    "linalg.cholesky": "linalg.cholesky", "linalg.det": "linalg.det", "linalg.inv": "linalg.inv",
    "linalg.pinv": "linalg.pinv", "linalg.slogdet": "linalg.slogdet", "linalg.qr": "linalg.qr",
    "linalg.eigh": "linalg.eigh", "linalg.eigvalsh": "linalg.eigvalsh",
}  # fmt: skip

# The names of a ufunc's methods as functions.
_METHODS = {
    ("add", "reduce"): "sum", ("multiply", "reduce"): "prod", ("maximum", "reduce"): "amax",
    ("minimum", "reduce"): "amin", ("logical_and", "reduce"): "all", ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumsum", ("multiply", "accumulate"): "cumprod",
}  # fmt: skip


class numpy_on_tape(Unpicklable):
    """Makes NumPy's functions accept and return tensors, in all threads; `with` limits it to a block.

    Tensors have the methods of arrays, such as `x.T` and `x.mean()`. In an operator, or its ufunc, with an array and a
    tensor, the tensor's dtype applies as usual; all other functions promote as NumPy does. A function that cannot be
    recorded computes with arrays, and raises a TypeError for a tensor that a tape records. So do `float(tensor)` and
    `array[0] = tensor`, which NumPy reports as a ValueError.

    >>> x = tf.Variable([0.0, 1.0])
    >>> with tf.numpy_on_tape(), tf.GradientTape() as tape:
    ...     y = np.sum(np.exp(x) * np.array([1.0, 2.0]))
    >>> [round(float(slope), 3) for slope in tape.gradient(y, x)]
    [1.0, 5.437]
    """

    _instead = "create one in each process"

    _depth = 0  # the number of active blocks and calls
    _before: tuple[tuple[Any, str, Any], ...] = ()  # the replaced members of tensors and variables: class, name, value

    def __init__(self) -> None:
        cls = type(self)
        cls._depth += 1
        if cls._depth == 1:
            cls._before = tuple(
                (values, name, vars(values).get(name, _MISSING)) for values in _VALUES for name in _members(values)
            )
            for values in _VALUES:
                for name, member in _members(values).items():
                    setattr(values, name, member)

    def __enter__(self) -> numpy_on_tape:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cls = type(self)
        cls._depth -= 1
        if not cls._depth:
            for values, name, member in cls._before:
                if member is _MISSING:
                    delattr(values, name)
                else:
                    setattr(values, name, member)


numpy_on_tape.__module__ = "gradtape"


def _members(values: Any) -> dict[str, Any]:
    """Returns the members to add to tensors or variables; a variable keeps its own, as its slices are assignable."""
    found = {"__array_ufunc__": _ufunc, "__array_function__": _function, "__array__": _array_of(values.__array__)}
    found |= {name: _number_of(getattr(values, name)) for name in ("__float__", "__complex__")}
    for row in ARITHMETIC:
        found[row.method] = _operator(getattr(values, row.method), row.ufunc, reflected=False)
        found[row.reflected] = _operator(getattr(values, row.reflected), row.ufunc, reflected=True)
    if values is Tensor:
        found["__getitem__"] = _indexing(values.__getitem__)
    return found | {name: member for name, member in MEMBERS.items() if values is Tensor or name not in vars(values)}


def _operator(own: Callable[[Any, Any], Any], ufunc: np.ufunc, reflected: bool) -> Callable[[Any, Any], Any]:
    """Returns an operator that is NumPy's where TensorFlow's accepts only operands of one dtype, or no vectors.

    Code that replaces operators temporarily may restore this one after the block: it then acts as TensorFlow's.
    """

    def call(x: Any, y: Any) -> Any:
        number = isinstance(y, int | float) and not isinstance(y, bool)
        alike = number and (x.dtype.is_floating or x.dtype.is_complex or isinstance(y, int))
        alike = alike or (is_tensor_like(y) and y.dtype == x.dtype)
        known = is_tensor_like(y) or isinstance(y, int | float | complex | np.ndarray | np.generic | list)
        if not numpy_on_tape._depth or not known or (alike and ufunc is not np.matmul):
            return own(x, y)
        return ufunc(y, x) if reflected else ufunc(x, y)

    return call


def _indexing(own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """NumPy's indexing: lists and arrays of indices, and masks."""

    def item(x: Any, key: Any) -> Any:
        return getitem(x, key) if numpy_on_tape._depth else own(x, key)

    return item


def _array_of(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A conversion to an array that rejects tensors recorded by a tape."""

    def array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        _check_not_followed(self, "a NumPy array")
        return convert(self, dtype, copy)

    return array


def _number_of(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same for Python numbers: `array[0] = tensor` converts to one, as `math.exp(tensor)` does."""

    def number(self: Any) -> Any:
        _check_not_followed(self, "a number of Python's")
        return convert(self)

    return number


def _check_not_followed(x: Any, what: str) -> None:
    if numpy_on_tape._depth and is_external(promotion.tensor(x)):
        raise TypeError(
            f"a tensor that a tape records would become {what}, where its gradient is lost: by `array[...] = tensor`, "
            "np.asarray, np.array, float or a function of the module math. Use np.stack, np.concatenate or np.where on "
            "tensors, or tensor.numpy() if that is meant"
        )


def _ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    name = ufunc.__name__
    if kwargs.get("out") is not None:
        return _written(ufunc, method, inputs, kwargs)
    dtype = kwargs.pop("dtype", None) if method == "__call__" else None
    if method == "__call__" and not kwargs:
        call = UFUNCS.get(name) or _counterpart(name)
        if call is not None:
            y = call(*(_in_the_tensors_dtype(inputs) if ufunc in _OPERATORS else inputs))
            return y if dtype is None else promotion.cast(y, dtype)
    elif method == "outer" and not kwargs and len(inputs) == 2:
        x, y = map(promotion.tensor, inputs)
        return ufunc(x[(..., *[None] * len(y.dims))], y)
    elif (name, method) in _METHODS:
        kwargs.setdefault("axis", 0)
        function = _METHODS[name, method]
        return (FUNCTIONS.get(function) or resolve(f"experimental.numpy.{function}"))(*inputs, **kwargs)
    elif (name, method) == ("add", "reduceat") and len(inputs) == 2:
        return _reduceat(*inputs, **kwargs)
    whole = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
    if method == "at":
        return _in_place(ufunc.at, whole, inputs, kwargs)
    kwargs = kwargs if dtype is None else kwargs | {"dtype": dtype}
    return _with_arrays(getattr(ufunc, method), whole, inputs, kwargs, lost=name not in WITHOUT_DERIVATIVE)


def _reduceat(a: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Sums the parts of `a` that start at the indices; a part that does not start before the next is a single entry."""
    x = resolve("experimental.numpy.moveaxis")(promotion.tensor(a, dtype), axis, 0)
    starts = [int(i) for i in np.asarray(indices)]
    stops = [*starts[1:], x.dims[0]]
    parts = [
        resolve("reduce_sum")(x[i:j], 0) if j > i else x[i] for i, j in zip(starts, stops, strict=True)
    ]
    return resolve("experimental.numpy.moveaxis")(resolve("stack")(parts), 0, axis)


def _function(self: Any, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    space = function.__module__.removeprefix("numpy").lstrip(".")
    name = f"{space}.{function.__name__}".lstrip(".")
    if name in IN_PLACE:
        return _in_place(function, f"np.{name}", args, kwargs)
    call = FUNCTIONS.get(name) or _counterpart(name)
    if call is None or kwargs.get("out") is not None:
        return _with_arrays(function, f"np.{name}", args, kwargs, lost=name not in WITHOUT_DERIVATIVE)
    return call(*args, **kwargs)


def _in_place(function: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
    """A function that writes into its first argument."""
    if is_tensor_like(args[0]):
        raise TypeError(
            f"{name} would change a tensor, which cannot be changed. Use np.where or tf.tensor_scatter_nd_update, "
            "which give a new one"
        )
    return _with_arrays(function, name, args, kwargs, lost=True)


def _counterpart(name: str) -> Callable[..., Any] | None:
    """Returns the counterpart of NumPy's function of that name, if there is one."""
    path = _OTHER_NAMES.get(name, f"experimental.numpy.{name}")
    return resolve(path) if path in NAMES else None


def _in_the_tensors_dtype(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Converts a tensor and an array of the same kind of numbers, such as floats, to tensors of the tensor's dtype."""
    kinds = {x.dtype for x in inputs if is_tensor_like(x)}
    own = kinds.pop()
    if kinds or any(_kind(x, own) != own.numpy.kind for x in inputs if not is_tensor_like(x)):
        return inputs
    return tuple(x if is_tensor_like(x) else promotion.tensor(x, own) for x in inputs)


def _kind(array: Any, other: DType) -> str:
    return np.result_type(np.asarray(array).dtype, other.numpy).kind


def _with_arrays(function: Callable[..., Any], name: str, args: Any, kwargs: Any, lost: bool) -> Any:
    """Applies NumPy's own function to arrays; `lost` means that a derivative would be lost."""
    given = [x for x in nest.flatten((args, kwargs)) if is_tensor_like(x)]
    if lost and any(map(is_external, map(promotion.tensor, given))):
        raise TypeError(
            f"{name}, with these arguments, has no counterpart that a tape records: no gradient would go through it. "
            "Use a function of gradtape, or tf.custom_gradient around it; tensor.numpy() says that this is meant"
        )
    args, kwargs = nest.map_structure(lambda x: x.numpy() if is_tensor_like(x) else x, (args, kwargs))
    return function(*args, **kwargs)


def _written(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Applies a ufunc that writes its result into an array, which cannot be differentiated later."""
    name = f"np.{ufunc.__name__}"
    if any(is_tensor_like(x) for x in kwargs["out"]):
        raise TypeError(f"{name}(..., out=tensor) would change a tensor, which cannot be changed. Leave `out` away")
    if any(is_external(promotion.tensor(x)) for x in inputs if is_tensor_like(x)):
        raise TypeError(
            f"{name}(..., out=array), which `array += tensor` is too, would write what a tape records into a NumPy "
            "array, where it is lost. Use `array = array + tensor`, or tensor.numpy() if that is meant"
        )
    return _with_arrays(getattr(ufunc, method), name, inputs, kwargs, lost=True)
