"""`tensorflow.python.eager.function`: traced functions, as older versions of TensorFlow spell them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape
from gradtape.graph.function.concrete_function import ConcreteFunction

__all__ = ["ConcreteFunction"]


def defun(func: Callable[..., Any] | None = None, input_signature: Any = None, autograph: bool = True, **_: Any) -> Any:
    """`tf.function`, which may also create variables at its first call."""
    if func is None:
        return lambda func: defun(func, input_signature, autograph)
    return gradtape.function(func, input_signature=input_signature, autograph=autograph)


def defun_with_attributes(
    func: Callable[..., Any] | None = None, input_signature: Any = None, attributes: Any = None, **options: Any
) -> Any:
    """`defun`; attributes are for TensorFlow's runtime."""
    return defun(func, input_signature, **options)
