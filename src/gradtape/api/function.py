"""`tf.function`: functions run eagerly, as they are written, until they can be traced."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import nest
from ..engine.convert import to_tensor
from ..errors import UnimplementedError
from ..slices import IndexedSlices
from ..specs import TensorSpec
from ..tensor import Tensor
from ..tensor_array import TensorArray
from ..variable import Variable

NAMESPACES = ("",)
__all__ = ["function"]


class Function:
    """A Python function with TensorFlow's interface around it; a call runs the Python code.

    Arrays come in as tensors, and numbers, arrays and variables go out as tensors, as they would from a graph.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.input_signature = None if input_signature is None else tuple(input_signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.input_signature is not None:
            args, kwargs = self._bound(args, kwargs), {}
        else:
            args = tuple([_each(_taken, value) for value in args])
            kwargs = {name: _each(_taken, value) for name, value in kwargs.items()}
        return _each(_given, self.python_function(*args, **kwargs))

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments as the tensors `input_signature` asks for."""
        assert self.input_signature is not None
        try:
            call = inspect.signature(self.python_function).bind(*args, **kwargs)
            call.apply_defaults()
            if len(call.args) != len(self.input_signature) or call.kwargs:
                raise TypeError(f"{len(call.args)} arguments for the {len(self.input_signature)} of the signature")
            return nest.pack_sequence_as(self.input_signature, list(_as_asked(self.input_signature, call.args)))
        except (TypeError, ValueError, KeyError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: {kwargs} "
                f"for input_signature: {self.input_signature}."
            ) from error

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return Function(types.MethodType(self.python_function, instance), self.input_signature)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """A graph for one signature: not there yet."""
        raise UnimplementedError(
            f"tf.function runs {getattr(self, '__name__', 'functions')!r} eagerly: gradtape does not trace functions "
            "into graphs yet. Call the function itself"
        )

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced: never."""
        return 0


def _as_asked(spec: Any, value: Any) -> Iterator[Tensor]:
    """The tensors of `value` in the order of the specs in the structure `spec`."""
    if isinstance(spec, Mapping):
        for key in sorted(spec):
            yield from _as_asked(spec[key], value[key])
    elif nest.is_nested(spec):
        for part, its_value in zip(spec, value, strict=True):
            yield from _as_asked(part, its_value)
    else:
        tensor = to_tensor(value) if isinstance(value, Tensor | Variable) else to_tensor(value, dtype=spec.dtype)
        if not spec.is_compatible_with(tensor):
            raise TypeError(f"Can not cast {TensorSpec.from_tensor(tensor)} to {spec}")
        yield tensor


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    return nest.map_structure(change, value) if nest.is_nested(value) else change(value)


def _taken(value: Any) -> Any:
    return to_tensor(value) if isinstance(value, np.ndarray | np.generic) else value


def _given(value: Any) -> Any:
    if value is None or isinstance(value, Tensor | IndexedSlices | TensorArray):
        return value
    try:
        return to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; found return value of type {type(value).__name__}, which is not a Tensor."
        ) from None


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """A decorator for functions to be traced into graphs. Functions run eagerly until the tracer lands.

    The result is the same; Python code in the function runs at every call.

    >>> import gradtape as tf
    >>> @tf.function
    ... def square(x):
    ...     return x * x
    >>> float(square(tf.constant(3.0)))
    9.0
    """
    if func is None:
        return lambda f: Function(f, input_signature)
    return Function(func, input_signature)
