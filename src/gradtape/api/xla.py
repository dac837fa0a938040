"""`tf.xla.experimental`: runs a computation compiled, as `tf.function(jit_compile=True)` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core import nest
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import thread
from .control.function import function

NAMESPACES = ("xla.experimental",)
__all__ = ["compile", "jit_scope"]


def compile(computation: Callable[..., Any], inputs: Any = None) -> Any:
    """Returns the result of `computation(*inputs)`, compiled by XLA; a single value is returned in a list.

    It is compiled in every call; a `tf.function(jit_compile=True)` is compiled once.

    >>> tf.xla.experimental.compile(lambda x: x + 1.0, [2.0])
    [<tf.Tensor: shape=(), dtype=float32, numpy=3.0>]
    """
    if inputs is not None and not isinstance(inputs, list | tuple):
        raise TypeError(f"inputs must be a list, got {inputs!r}. Put it in brackets")
    if not callable(computation):
        raise TypeError(f"'{type(computation).__name__}' object is not callable: compile takes a function")
    result = function(computation, jit_compile=True)(*nest.map_structure(to_tensor, list(inputs or [])))
    if result is None:
        return None
    if any(value is None for value in nest.flatten(result)):
        raise ValueError(
            "XLA computation function return values must all either be Operations or convertible to Tensors. Got "
            f'error: "None values not supported.", in {result!r}'
        )
    return nest.map_structure(to_tensor, result) if nest.is_nested(result) else [to_tensor(result)]


@contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """In TensorFlow, a hint to compile the ops of the block together; in gradtape it has no effect.

    >>> @tf.function
    ... def f(x):
    ...     with tf.xla.experimental.jit_scope():
    ...         return x + 1.0
    >>> float(f(1.0))
    2.0
    """
    if thread.trace is None:
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside "
            "tf.function."
        )
    yield
