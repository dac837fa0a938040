"""`tf.function`: functions run eagerly, as they are written, until they can be traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..errors import UnimplementedError

NAMESPACES = ("",)
__all__ = ["function"]


class Function:
    """A Python function with TensorFlow's interface around it; a call runs the Python code."""

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.input_signature = None if input_signature is None else tuple(input_signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.python_function(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return Function(functools.partial(self.python_function, instance), self.input_signature)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """A graph for one signature: not there yet."""
        raise UnimplementedError(
            f"tf.function runs {getattr(self, '__name__', 'functions')!r} eagerly: gradtape does not trace functions "
            "into graphs yet. Call the function itself"
        )

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced: never."""
        return 0


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
