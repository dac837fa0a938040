"""AutoGraph: Python's `if`, `while` and `for` on tensors become part of the graph of a traced function.

A function is rewritten (by diastatic-malt, which is imported when it is first needed) so that every statement whose
meaning may depend on a tensor is a call of an operator of this package. While a function is traced, a tensor's operator
is `tf.cond` or `tf.while_loop`; everything else, and everything in eager code, is plain Python.

Uses api and what is below; what traces knows it only as the converter registered in `graph.trace.conversion_status`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core.errors import InvalidArgumentError
from ..engine.run import dispatch
from ..graph.trace import conversion_status
from ..graph.trace.conversion_status import ConversionNeeded, available, has_conditions, register_converter, waiting
from .error_messages import of_the_user

_GENERATOR = 0x20  # the flag of a code object, `inspect.CO_GENERATOR`


def convert(f: Callable[..., Any], recursive: bool = True, features: Iterable[Any] | Any | None = None) -> Any:
    """`f` with its control flow on tensors, and that of the functions it calls, made of operators.

    Errors raised inside keep their class, and their message says where in the user's code they come from. Without
    diastatic-malt, `f` itself.
    """
    if not available():
        return f
    from .conversion import converted

    return converted(f, recursive, features)


def convert_if_needed(f: Callable[..., Any], features: Iterable[Any] | Any | None = None) -> Any:
    """`f` as it is written, until it needs to be converted: that call raises `ConversionNeeded`, later ones run.

    A function with conditions of its own, or with features asked for, is converted at once.
    """
    if hasattr(f, "autograph_info__"):
        return f
    again = convert(f, features=features) if features or has_conditions(f) else None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal again
        if getattr(getattr(f, "__code__", None), "co_flags", 0) & _GENERATOR:
            raise NotImplementedError("generators are not supported by AutoGraph")
        if again is not None:
            with waiting(False):
                return again(*args, **kwargs)
        looks = conversion_status.thread.looks
        try:
            with waiting(True):
                return f(*args, **kwargs)
        except ConversionNeeded:
            again = convert(f, features=features)
            raise
        except Exception as error:
            told_by_tensors = isinstance(error, InvalidArgumentError) and conversion_status.thread.looks > looks
            if told_by_tensors and dispatch.thread.trace is not None and available():
                again = convert(f, features=features)
                raise ConversionNeeded from error  # converted, the op that fails is left out if nobody uses its result
            explained = of_the_user(error)
            if explained is error:
                raise
        raise explained

    return call


register_converter(convert_if_needed)
