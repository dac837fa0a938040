"""`tensorflow.python.eager.backprop`: gradients of functions, as eager TensorFlow 1 spells them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gradtape

GradientTape = gradtape.GradientTape


def implicit_val_and_grad(f: Callable[..., Any]) -> Any:
    """Returns a function with the result of `f` and the (gradient, variable) pairs of the variables it reads."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with gradtape.GradientTape() as tape:
            result = f(*args, **kwargs)
            if result is None:
                raise ValueError(f"Cannot differentiate a function that returns None; did you forget to return {f}?")
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return result, [*zip(tape.gradient(result, variables), variables, strict=True)]

    return decorated


def implicit_grad(f: Callable[..., Any]) -> Any:
    """Returns a function with the (gradient, variable) pairs of the variables that `f` reads."""
    return functools.wraps(f)(lambda *args, **kwargs: implicit_val_and_grad(f)(*args, **kwargs)[1])
