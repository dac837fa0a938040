"""How front ends convert and promote operands, and NumPy's rules: Python numbers adapt to arrays, else have 64 bits.

`tf.experimental.numpy` and Keras' `keras.ops` share functions, which are written once in this package. A shared
function takes a `PromotionPolicy` first: `with_policy` publishes it by NumPy's rules, `under_policy` by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ....core import dtypes
from ....core.dtypes import DType
from ....core.tensor import Tensor, is_tensor_like
from ....core.type_hints import AxisLike, DTypeLike, TensorLike
from ....engine.run.convert import is_registered, to_tensor
from ....engine.run.namespace import ops
from ...catalogue.fronts import renamed
from ...names import NAMES
from ...namespace import resolve

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Promotion:
    """The setting of the process, from `experimental_enable_numpy_behavior`."""

    prefers_float32 = False  # whether Python floats become float32


setting = _Promotion()


@dataclass(frozen=True, eq=False)
class PromotionPolicy:
    """The conversions of a front end."""

    tensor: Callable[..., Tensor]  # of a value, to a dtype if given
    floating: Callable[[TensorLike], Tensor]  # integers become floats
    real: Callable[[TensorLike], Tensor]  # for functions that NumPy also defines on integers, Keras on floats only
    numeric: Callable[[TensorLike], Tensor]  # for functions that Keras computes in integers for bools
    truth: Callable[[TensorLike], Tensor]  # whether each entry is nonzero
    summed: Callable[[TensorLike], Tensor]  # to the dtype of sums and products: small integers are widened
    running: Callable[[TensorLike], Tensor]  # to the dtype of cumulative sums and products
    promote: Callable[..., Sequence[Tensor]]  # to the common dtype
    join: Callable[..., Sequence[Tensor]]  # to the common dtype of values that are concatenated
    promote_floats: Callable[..., Sequence[Tensor]]
    promote_numeric: Callable[..., Sequence[Tensor]]
    truths: Callable[..., Sequence[Tensor]]
    dtype_of: Callable[..., DType]  # for a `dtype` argument; without one, the default floating dtype
    axes: Callable[[Tensor, AxisLike | None], tuple[int, ...]]  # as non-negative numbers; None means all
    checked: Callable[[Tensor, AxisLike], AxisLike]  # an axis for a function of TensorFlow, which raises its own errors
    functions: Callable[[str], Any]  # the published function of a name

    def __getattr__(self, name: str) -> Any:  # pickle asks the policy for a function that is bound to it
        if name.startswith("__"):
            raise AttributeError(name)
        return self.functions(name)


def with_policy(function: Callable[Concatenate[PromotionPolicy, _P], _R]) -> Callable[_P, _R]:
    """Publishes a shared function by NumPy's rules."""
    return MethodType(function, NUMPY)


def under_policy(published: Any, policy: PromotionPolicy, *names: str, defaults: tuple[Any, ...] = ()) -> Any:
    """Returns a function that `with_policy` published under another policy; `names` rename its first parameters."""
    function = renamed(published.__func__, published.__name__, ("p", *names))
    function.__defaults__ = defaults or function.__defaults__
    return MethodType(function, policy)


def tensor(value: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Converts `value` to a tensor as NumPy would: Python floats are float64, integers int64."""
    if not is_tensor_like(value) and not is_registered(value):
        leaves = value if isinstance(value, list | tuple) else ()
        if any(is_tensor_like(x) or isinstance(x, list | tuple) for x in leaves):
            value = resolve("stack")(promoted(*leaves)) if leaves else np.asarray(value)
        elif setting.prefers_float32 and not isinstance(value, str | bytes | np.ndarray):
            value = np.asarray(value, dtype=result_type(value).as_numpy_dtype)
        else:
            value = np.asarray(value)
    x = to_tensor(value)
    return x if dtype is None else cast(x, dtype)


def cast(x: Tensor, dtype: DTypeLike) -> Tensor:
    """Converts `x` to another dtype, TensorFlow's or NumPy's."""
    kind = dtype_of(dtype)
    if (x.dtype is dtypes.string) != (kind is dtypes.string):
        raise TypeError(f"Cannot convert an array of {x.dtype.name} to {kind.name}")
    return x if x.dtype is kind else ops.cast(x, dtype=kind)


def _leaves(value: Any) -> Iterator[Any]:
    """Yields what represents `value` in NumPy's promotion: a tensor's dtype, a (weak) number or an array."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, DType) or is_tensor_like(value):
        kind = value if isinstance(value, DType) else value.dtype
        yield kind if kind.narrow else kind.numpy
    elif setting.prefers_float32 and isinstance(value, float | complex):
        yield np.float32(value) if isinstance(value, float) else np.complex64(value)
    else:
        yield value


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Returns the dtype to which NumPy promotes arrays, numbers and dtypes; Python numbers are weak.

    >>> tf.experimental.numpy.result_type(tf.constant(1.0), 2, tf.int64)
    tf.float64
    """
    leaves = list(_leaves(arrays_and_dtypes)) or [np.asarray([])]
    narrow = next((x for x in leaves if isinstance(x, DType)), None)
    return narrow or dtypes.as_dtype(np.result_type(*leaves))


def promoted(*values: Any) -> list[Tensor]:
    """Returns the values as tensors of their promoted dtype."""
    kind = result_type(*values)
    return [cast(tensor(value), kind) for value in values]


def floating(value: TensorLike) -> Tensor:
    """Converts to a tensor of floats: integers become float64."""
    x = tensor(value)
    return x if x.dtype.is_floating or x.dtype.is_complex else ops.cast(x, dtype=dtypes.float64)


def promote_floats(*values: TensorLike) -> list[Tensor]:
    """Returns the values as tensors of their promoted dtype, which is float64 for integers."""
    return [floating(x) for x in promoted(*values)]


def truth(value: TensorLike) -> Tensor:
    """Returns whether each entry is nonzero."""
    return cast(tensor(value), dtypes.bool)


def summed(value: TensorLike) -> Tensor:
    """Converts to the dtype of sums and products: small integers get 64 bits."""
    x = tensor(value)
    if x.dtype.is_bool or (x.dtype.is_integer and x.dtype.size < 8):
        return cast(x, dtypes.uint64 if x.dtype.is_unsigned else dtypes.int64)
    return x


def axes_of(x: Tensor, axis: AxisLike | None) -> tuple[int, ...]:
    """Returns the axes as non-negative numbers; None means all of them."""
    rank = len(x.dims)
    axes = range(rank) if axis is None else [int(each) for each in np.atleast_1d(np.asarray(axis))]
    for each in axes:
        if not -rank <= each < rank:
            raise np.exceptions.AxisError(each, rank)
    return tuple(each % rank for each in axes)


def own(name: str) -> Any:
    """Returns TensorFlow's function `name` in `tf.math` or its root."""
    return resolve(f"math.{name}" if f"math.{name}" in NAMES else name)


def broadcast(*tensors: Tensor) -> list[Tensor]:
    """Broadcasts tensors to a common shape."""
    dims = np.broadcast_shapes(*(x.dims for x in tensors))
    return [x if x.dims == dims else resolve("broadcast_to")(x, dims) for x in tensors]


def dtype_of(dtype: DTypeLike | None = float) -> DType:
    """Returns TensorFlow's dtype for NumPy's argument `dtype`."""
    return dtypes.as_dtype(dtype if isinstance(dtype, DType) else np.dtype(dtype))


def _join(*values: TensorLike) -> list[Tensor]:
    return promoted(*(tensor(x) for x in values))  # numbers are not weak


def _truths(*values: TensorLike) -> list[Tensor]:
    return [truth(x) for x in values]


def _unchecked(x: Tensor, axis: AxisLike) -> AxisLike:
    return axis


def _published(name: str) -> Any:
    return resolve(f"experimental.numpy.{name}")


NUMPY = PromotionPolicy(
    tensor=tensor, floating=floating, real=tensor, numeric=tensor, truth=truth, summed=summed, running=summed,
    promote=promoted, join=_join, promote_floats=promote_floats, promote_numeric=promoted, truths=_truths,
    dtype_of=dtype_of, axes=axes_of, checked=_unchecked, functions=_published,
)  # fmt: skip
