"""`tensorflow.python.eager.backprop`: gradients of functions, as eager TensorFlow 1 spells them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import gradtape
from gradtape.engine.run.signatures import signature_of

GradientTape = gradtape.GradientTape


def _indices(f: Callable[..., Any], params: Sequence[int | str] | None, count: int) -> list[int]:
    """Returns the positions of the differentiated arguments."""
    if params is None:
        return [*range(count)]
    names = [*signature_of(f).parameters]
    return [names.index(param) if isinstance(param, str) else param for param in params]


def make_vjp(f: Callable[..., Any], params: Sequence[int | str] | None = None, persistent: bool = True) -> Any:
    """Returns a function with the result of `f` and a function from its cotangent to the arguments' gradients."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError("The gradient function can't be called with keyword arguments.")
        tensors = [gradtape.convert_to_tensor(x) for x in args]
        sources = [tensors[at] for at in _indices(f, params, len(args))]
        with gradtape.GradientTape(persistent=persistent, watch_accessed_variables=False) as tape:
            for source in sources:
                tape.watch(source)
            result = f(*tensors)
            if result is None:
                raise ValueError(f"Cannot differentiate a function that returns None; did you forget to return {f}?")
        return result, lambda dy=None: tape.gradient(result, sources, output_gradients=dy)

    return decorated


def val_and_grad_function(f: Callable[..., Any], params: Sequence[int | str] | None = None) -> Any:
    """Returns a function with the result of `f` and the gradients of its arguments."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        dy = kwargs.pop("dy", None)
        result, vjp = make_vjp(f, params, persistent=False)(*args, **kwargs)
        return result, vjp(dy)

    return decorated


def gradients_function(f: Callable[..., Any], params: Sequence[int | str] | None = None) -> Any:
    """Returns a function with the gradients of the arguments of `f`."""
    return functools.wraps(f)(lambda *args, **kwargs: val_and_grad_function(f, params)(*args, **kwargs)[1])


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
