"""Keras' dtype promotion: converts arguments to tensors of one dtype.

Python numbers are weakly typed: they take the dtype of the tensors beside them. Where Keras' lattice, designed for JAX,
would return 32 bits although an argument has 64, the 64 bits are kept (`loader`), so no argument is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from keras.src.backend.common.backend_utils import canonicalize_axis
from keras.src.backend.common.dtypes import result_type
from keras.src.backend.common.variables import standardize_dtype
from keras.src.backend.config import floatx

from gradtape.api.experimental.numpy.promotion import PromotionPolicy
from gradtape.core.dtypes import NUMERIC, DType, as_dtype
from gradtape.core.tensor import Tensor, wrap
from gradtape.engine.run.convert import own_read, readable
from gradtape.engine.run.namespace import ops

from ..core import dense_tensor

_NUMBERS = (int, float)
_SUMMED = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}


def tensor(x: Any, dtype: Any = None) -> Tensor:
    """Converts `x` to a tensor, cast to `dtype` if given."""
    if not isinstance(x, Tensor):
        return _number(x, dtype) if type(dtype) is DType and type(x) in _NUMBERS else dense_tensor(x, dtype)
    if dtype is None:
        return x
    dtype = as_dtype(dtype)
    return x if x.dtype is dtype else ops.cast(x, dtype=dtype)


def _number(x: Any, dtype: DType) -> Tensor:
    try:
        return wrap(dtype.as_numpy_dtype(x), dtype)
    except OverflowError:
        return dense_tensor(x, dtype)


def dtype_of(dtype: Any = None) -> DType:
    """Returns the dtype for Keras' `dtype` argument: None means `floatx`."""
    return as_dtype(standardize_dtype(dtype))


@lru_cache(maxsize=4096)
def _common(kinds: tuple[Any, ...], default: str) -> DType:
    return as_dtype(result_type(*kinds))


def common(*values: Any) -> DType:
    """Returns the common dtype of tensors, Python numbers, dtype names and the types `int` and `float`."""
    return _common(tuple(_kind(v) for v in values), floatx())


def _kind(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.dtype.name
    if isinstance(value, DType):
        return value.name
    return value if isinstance(value, str | type) else type(value)


def weak(x: Any) -> Any:
    """Converts `x` to a tensor, except for Python numbers, which stay weakly typed."""
    return x if isinstance(x, Tensor | int | float) else dense_tensor(x)


def promote(*values: Any) -> Sequence[Tensor]:
    """Converts the values to tensors of their common dtype."""
    if len(values) == 2:  # fast path for most calls, which need no promotion
        x, y = values
        if type(x) is Tensor is type(y) and x.dtype is y.dtype:
            return values
        if type(x) in readable:
            x = own_read(x)
        if type(y) in readable:
            y = own_read(y)
        values = x, y
        if not isinstance(x, Tensor):
            if isinstance(y, Tensor) and _follows(x, y.dtype):
                return [_number(x, y.dtype), y]
        elif not isinstance(y, Tensor):
            if _follows(y, x.dtype):
                return [x, _number(y, x.dtype)]
        elif x.dtype is y.dtype:
            return [x, y]
    values = tuple(weak(v) for v in values)
    return cast_all(values, common(*values))


def _follows(number: Any, dtype: DType) -> bool:
    """Returns whether a tensor of this dtype keeps it beside the number."""
    return (type(number) is float and dtype.is_floating) or (type(number) is int and dtype.kind & NUMERIC > 0)


def promote_floats(*values: Any) -> Sequence[Tensor]:
    """Converts the values to tensors of their common floating dtype; integers become `floatx`."""
    if isinstance(values[0], Tensor) and values[0].dtype.is_floating:
        return promote(*values)
    values = tuple(weak(v) for v in values)
    return cast_all(values, common(*values, float))


def cast_all(values: Any, dtype: Any) -> list[Tensor]:
    return [tensor(v, dtype) for v in values]


def floating(x: Any) -> Tensor:
    """Converts `x` to a floating tensor: integers and bools become `floatx`."""
    x = tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else tensor(x, floatx())


def numeric(x: Any, dtype: Any = "int32") -> Tensor:
    """Converts `x` to a numeric tensor: bools become integers."""
    x = tensor(x)
    return tensor(x, dtype) if x.dtype.is_bool else x


def summed(x: Any) -> Tensor:
    """Converts `x` to the dtype of its sums and products: small integers are widened to 32 bits."""
    x = tensor(x)
    wider = _SUMMED.get(x.dtype.name)
    return tensor(x, wider) if wider else x


def truth(x: Any) -> Tensor:
    """Returns whether each entry is nonzero."""
    x = tensor(x)
    return x if x.dtype.is_bool else ops.not_equal(x, ops.zeros_like(x))


def on_bools(f: Any, *xs: Tensor, **attrs: Any) -> Tensor:
    """Applies a numeric op to bools, as 0 and 1."""
    if not xs[0].dtype.is_bool:
        return f(*xs, **attrs)
    return tensor(f(*(tensor(x, "uint8") for x in xs), **attrs), "bool")


def axes_of(x: Tensor, axis: Any) -> tuple[int, ...]:
    """Returns the axes as non-negative numbers; None means all of them."""
    return axes_of_rank(len(x.dims), axis)


def axes_of_rank(rank: int, axis: Any) -> tuple[int, ...]:
    """Same as `axes_of`, for a tensor of this rank."""
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, list | tuple):
        found = tuple(canonicalize_axis(int(a), rank) for a in axis)
        if len(set(found)) != len(found):
            raise ValueError(f"duplicate value in `axis`: {axis} for a tensor of rank {rank}")
        return found
    return (canonicalize_axis(int(axis), rank),)


def axis_of(x: Tensor, axis: Any) -> int:
    """Returns the axis as a non-negative number."""
    return canonicalize_axis(int(axis), len(x.dims))


def _promote_numeric(*values: Any) -> list[Tensor]:
    return [numeric(x) for x in promote(*values)]


def _truths(*values: Any) -> list[Tensor]:
    return [truth(x) for x in values]


def _published(name: str) -> Any:
    return getattr(import_module(__package__), name)


KERAS = PromotionPolicy(
    tensor=tensor, floating=floating, real=floating, numeric=numeric, truth=truth, summed=summed, running=numeric,
    promote=promote, join=promote, promote_floats=promote_floats, promote_numeric=_promote_numeric, truths=_truths,
    dtype_of=dtype_of, axes=axes_of, checked=axes_of, functions=_published,
)  # fmt: skip
