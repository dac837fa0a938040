"""`tensorflow.python.util.dispatch`: dispatchers that libraries register for calls with their own types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradtape
from gradtape.api.catalogue import fronts
from gradtape.core.errors import NeedsExamples
from gradtape.core.extension_points import foreign_arguments, foreign_operands
from gradtape.core.operators import BINARY, UNARY

from . import tf_decorator

DISPATCH_ATTR = "_tf_fallback_dispatchers"


class OpDispatcher:
    """Handles the calls of one function with types that it does not accept."""

    NOT_SUPPORTED = object()

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Returns the result of the call, or `NOT_SUPPORTED`."""
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Handles the calls of `op` from now on."""
        vars(tf_decorator.unwrap(op)[1]).setdefault(DISPATCH_ATTR, []).append(self)
        foreign_arguments.install(_of_function)


class _TypeBasedDispatcher(OpDispatcher):
    """Handles the calls with an argument of the given types, or a list that has one."""

    def __init__(self, override_func: Callable[..., Any], types: tuple[type, ...]) -> None:
        self._function, self._types = override_func, types

    def handle(self, args: Any, kwargs: Any) -> Any:
        """Calls the function for these types."""
        values = [*args, *kwargs.values()]
        values += [part for value in values if isinstance(value, list | tuple) for part in value]
        handles = any(isinstance(x, self._types) for x in values)
        return self._function(*args, **kwargs) if handles else self.NOT_SUPPORTED


def dispatch_for_types(op: Any, *types: type) -> Callable[[Any], Any]:
    """Decorator: the function handles calls of `op` with arguments of these types."""

    def decorator(function: Any) -> Any:
        _TypeBasedDispatcher(function, types).register(op)
        return function

    return decorator


class GlobalOpDispatcher:
    """Handles the calls of all functions with types that they do not accept."""

    NOT_SUPPORTED = OpDispatcher.NOT_SUPPORTED

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Returns the result of `op(*args, **kwargs)`, or `NOT_SUPPORTED`."""

    def register(self) -> None:
        """Handles calls from now on."""

        def dispatcher(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            found = self.handle(op, args, kwargs)
            return NotImplemented if found is self.NOT_SUPPORTED else found

        fronts.dispatchers.append(dispatcher)
        foreign_operands.install(_of_operator)


def dispatch(op: Any, args: Any, kwargs: Any) -> Any:
    """Returns the result of the first dispatcher that handles a call, or `OpDispatcher.NOT_SUPPORTED`."""
    for own in getattr(tf_decorator.unwrap(op)[1], DISPATCH_ATTR, ()):
        found = own.handle(args, kwargs)
        if found is not OpDispatcher.NOT_SUPPORTED:
            return found
    for dispatcher in fronts.dispatchers:
        found = dispatcher(op, args, kwargs)
        if found is not NotImplemented:
            return found
    return OpDispatcher.NOT_SUPPORTED


def _of_function(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Passes a call of gradtape's own function to the dispatchers."""
    found = dispatch(function, tuple(args), kwargs)
    return NotImplemented if found is OpDispatcher.NOT_SUPPORTED else found


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """Decorator: calls that raise TypeError or ValueError are passed to the dispatchers.

    In scratch graphs, a call that reads sizes or values runs with examples, as that of a public function.
    """

    def decorator(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except NeedsExamples as signal:
                return signal.for_examples(function, args, kwargs)
            except (TypeError, ValueError):
                found = dispatch(call, args, kwargs)
                if found is OpDispatcher.NOT_SUPPORTED:
                    raise
                return found

        return tf_decorator.make_decorator(function, call)

    return decorator if target is None else decorator(target)


add_fallback_dispatch_list = add_dispatch_support
_NAMES = {"sub": "subtract", "mul": "multiply", "div": "truediv", "mod": "floormod", "neg": "negative"}
_OPERATORS = {name for row in (*BINARY, *UNARY) for name in (row.op, row.bool_op)} | {"getitem"}


def _of_operator(op: str, values: Sequence[Any]) -> Any:
    """Passes an operator with foreign operands to the dispatchers, as a call of its function."""
    from . import operators

    if op not in _OPERATORS:
        return NotImplemented
    own = {"add": operators.add, "equal": operators.eq, "not_equal": operators.ne, "getitem": operators.getitem}
    function = own.get(op) or getattr(gradtape.linalg if op == "matmul" else gradtape.math, _NAMES.get(op, op))
    first = values[0]
    if isinstance(first, np.ndarray) and len(values) == 2:  # an operand on the left takes the dtype of the other one
        values = (gradtape.convert_to_tensor(first, getattr(values[1], "dtype", None)), values[1])
    found = dispatch(function, tuple(values), {})
    return NotImplemented if found is OpDispatcher.NOT_SUPPORTED else found
