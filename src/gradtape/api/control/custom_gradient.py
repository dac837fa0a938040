"""User-defined gradient rules, stopped and passed-through gradients, and recomputation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from ...core import nest
from ...core.composites import CompositeTensor
from ...core.tensor import Tensor
from ...core.type_hints import Composite, ValueLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...engine.tape.custom import custom_call, recomputed, register_gradient
from ...sparse.tensor import SparseTensor
from ..namespace import root

NAMESPACES = ("",)
__all__ = ["RegisterGradient", "custom_gradient", "grad_pass_through", "no_gradient", "recompute_grad", "stop_gradient"]

P = ParamSpec("P")
R = TypeVar("R")


class _WithGradient:
    """A callable, also usable as a method, whose calls are recorded with a custom rule.

    `pairing(f)` is the function that returns the result and the rule.
    """

    def __init__(self, f: Callable[..., Any], pairing: Callable[..., Any], name: str | None = None) -> None:
        functools.update_wrapper(self, f)
        self._f = f
        self._pairing = pairing
        self._pair = pairing(f)
        self._name = str(name or getattr(f, "__name__", "function"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return custom_call(self._pair, self._name, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return _WithGradient(functools.partial(self._f, instance), self._pairing, self._name)


@overload
def custom_gradient(f: Callable[P, tuple[R, Any]]) -> Callable[P, R]: ...
@overload
def custom_gradient(f: None = None) -> Callable[[Callable[P, tuple[R, Any]]], Callable[P, R]]: ...
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorates a function that returns `(result, grad_fn)`: `grad_fn` is the gradient of its calls.

    `grad_fn(*dys)` receives the gradient of each result and returns one for each argument, or None. It is ordinary code
    and can itself be differentiated. Arguments may be passed by keyword. If the function reads variables, `grad_fn`
    must accept `variables` and return `(gradients, variable_gradients)`.

    Args:
      f: a function of tensors that returns a result, or nested results, and `grad_fn`.

    Returns:
      A function of the same arguments that returns the result alone.

    Raises:
      ValueError: in the backward pass, if `grad_fn` returns another number of gradients than there are arguments, or
        one of another shape or dtype than its argument.
      TypeError: if the function reads variables and `grad_fn` does not accept `variables`.

    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))
    >>> x = tf.constant(100.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = log1pexp(x)
    >>> float(tape.gradient(y, x))
    1.0
    """
    if f is None:
        return custom_gradient
    return _WithGradient(f, lambda f: f)


def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
    """Wraps `f` to save only its inputs: the backward pass runs it again, with the same random numbers.

    Args:
      f: a function of tensors, without side effects.

    Returns:
      A function of the same arguments and results.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.recompute_grad(lambda x: x * x * x)(x)
    >>> float(tape.gradient(y, x))
    27.0
    """
    return _WithGradient(f, recomputed)


def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """Wraps `f` with the gradient of the identity: incoming gradients pass through unchanged.

    Args:
      f: a function whose result has the shape of its argument.

    Returns:
      A function of the same arguments and results.

    >>> x = tf.constant(1.4)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> float(y), float(tape.gradient(y, x))
    (1.0, 1.0)
    """
    return _WithGradient(f, _pass_through)


def _pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    def pair(*args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]]:
        def straight(*gs: Tensor, variables: Any = None) -> Any:
            return (gs, [None] * len(variables)) if variables else gs

        return f(*args, **kwargs), straight

    return pair


@overload
def stop_gradient(input: Composite, name: str | None = None) -> Composite: ...  # type: ignore[overload-overlap]
@overload
def stop_gradient(input: ValueLike, name: str | None = None) -> Tensor: ...
def stop_gradient(input: ValueLike, name: str | None = None) -> Any:
    """Returns the value of `input` as a constant: no gradient flows backward, and no tangent forward.

    - Shape: that of `input`.
    - Dtypes: any; the result has that of `input`.
    - Derivative: none; gradients are `None`.

    Args:
      input: a tensor, or a value that converts to one.

    Returns:
      A tensor with the same value.

    >>> x = tf.constant(2.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * tf.stop_gradient(x)
    >>> float(tape.gradient(y, x))
    2.0
    """
    if isinstance(input, SparseTensor):
        return input.with_values(ops.stop_gradient(input.values))
    if isinstance(input, CompositeTensor):
        return nest.map_structure(stop_gradient, input, expand_composites=True)
    return ops.stop_gradient(to_tensor(input))


class RegisterGradient:
    """Decorator that registers the gradient function of an op type without a registered gradient.

    gradtape's ops, including those of `tf.raw_ops`, define their own rules (see `gradtape.extend`): the registry exists
    for code that fills it.

    >>> @tf.RegisterGradient("DoublingOp")
    ... def doubling_gradient(op, grad):
    ...     return 2.0 * grad
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string, got {op_type!r}")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if self._op_type in dir(root.raw_ops):
            raise KeyError(f"Registering two gradient with name {self._op_type!r}! tf.raw_ops.{self._op_type} has one")
        register_gradient(self._op_type, f)
        return f


RegisterGradient.__module__ = "gradtape"


def no_gradient(op_type: str) -> None:
    """Registers that an op type has no gradient.

    >>> tf.no_gradient("CountingOp")
    """
    register_gradient(op_type, None)
