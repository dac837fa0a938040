"""Conversion of values to tensors and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import nest
from ...core.composites import CompositeTensor
from ...core.dtypes import DType, as_dtype
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, ShapeLike, ValueLike
from ...engine.run import convert, dispatch
from ...engine.run.namespace import ops

NAMESPACES = ("",)
__all__ = ["constant", "convert_to_tensor", "get_static_value", "is_tensor", "register_tensor_conversion_function"]


def constant(
    value: ValueLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, name: str = "Const"
) -> Tensor:
    """Creates a tensor from a value; a scalar fills `shape`.

    >>> tf.constant([1.0, 2.5])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>
    >>> tf.constant(0, shape=[1, 3]).numpy()
    array([[0, 0, 0]], dtype=int32)
    """
    if hasattr(value, "_as_tensor"):  # a variable is treated as an array, which has no derivative and may be cast
        read = value.value()  # type: ignore[union-attr]
        value = ops.stop_gradient(read if dtype is None else ops.cast(read, dtype=as_dtype(dtype)))
    if dtype is None:
        tensor = convert.to_constant(value)
    else:
        dtype = as_dtype(dtype)
        tensor = convert.to_constant(value, dtype)
    tensor = dispatch.register_created(tensor)
    if shape is None:
        return tensor
    target = TensorShape(shape if not isinstance(shape, Tensor) else shape.numpy().tolist())
    dims = tuple(target)
    given, wanted = TensorShape(tensor.dims).num_elements(), target.num_elements()
    if given == wanted:
        return tensor if tensor.dims == dims else ops.reshape(tensor, shape=dims)
    if given == 1:
        return ops.broadcast_to(ops.reshape(tensor, shape=()), shape=dims)
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {tensor} (converted from {value!r}) has "
        f"{given} elements, but got `shape` {target} with {wanted} elements."
    )


def convert_to_tensor(
    value: ValueLike, dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Converts a value to a tensor; a list of tensors is stacked and keeps its gradients.

    Args:
      dtype: The dtype that the result must have.
      dtype_hint: A preferred dtype, used if the value can be converted to it.

    >>> x = tf.constant(2.0)
    >>> tf.convert_to_tensor([x, 3.0]).numpy()
    array([2., 3.], dtype=float32)
    """
    target, hint = None if dtype is None else as_dtype(dtype), None if dtype_hint is None else as_dtype(dtype_hint)
    if type(value) in convert.readable:  # each read of a variable is a separate source of gradients
        value = value.value()  # type: ignore[union-attr]
    tensor = convert.to_tensor(value, target, hint)
    return tensor if isinstance(value, Tensor) or hasattr(value, "_as_tensor") else dispatch.register_created(tensor)


def is_tensor(x: object) -> bool:
    """Returns whether `x` is a tensor (also sparse or ragged) or a variable, as opposed to a value to convert.

    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor([1])
    (True, False)
    """
    if type(x).__name__ in ("ObjectProxy", "_DictWrapper"):  # wrapt's, of whatever value: TensorFlow's rule names them
        return False
    if isinstance(x, Tensor):
        return True
    native = x._is_native if isinstance(x, CompositeTensor) else hasattr(type(x), "_as_tensor")
    # Variables of Keras; then what declares itself, whatever the value: symbolic tensors of Keras 2, TFP's variables.
    return native or hasattr(x, "_gradtape_variable") or getattr(x, "is_tensor_like", None) is not None


def get_static_value(tensor: Any, partial: bool = False) -> np.ndarray[Any, Any] | None:
    """Returns the value of a tensor as a NumPy array, or None if it is not known during tracing.

    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(tensor, Tensor):
        return tensor.numpy() if type(tensor.computed()) is Tensor else None
    return None if hasattr(tensor, "_as_tensor") or isinstance(tensor, nest.Composite) else tensor


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Registers `conversion_func(value, dtype=None, name=None, as_ref=False)` for values of `base_type`.

    Args:
      conversion_func: Returns a tensor, or NotImplemented to defer to the next function.
      priority: Functions with a lower number are tried first.

    >>> class Celsius:
    ...     def __init__(self, degrees):
    ...         self.degrees = degrees
    >>> tf.register_tensor_conversion_function(
    ...     Celsius, lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.degrees + 273.0, dtype)
    ... )
    >>> print(tf.convert_to_tensor(Celsius(20.0)))
    tf.Tensor(293.0, shape=(), dtype=float32)
    """
    bases = base_type if isinstance(base_type, tuple) else (base_type,)
    if not bases or not all(isinstance(base, type) for base in bases):
        raise TypeError(f"Argument `base_type` must be a type or a tuple of types, got {base_type!r}")
    if any(issubclass(base, int | float | np.generic | np.ndarray) for base in bases):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable, got {conversion_func!r}")

    def convert_value(value: Any, dtype: DType | None) -> Any:
        return conversion_func(value, dtype=dtype, name=None, as_ref=False)

    convert.register(base_type, convert_value, priority)
