"""Conversion of a function when its first call needs it; installs the extension point `convert_function`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core.errors import InvalidArgumentError
from ..core.extension_points import convert_function
from ..engine.run import dispatch

_GENERATOR = 0x20  # the code object flag `inspect.CO_GENERATOR`


def convert(f: Callable[..., Any], recursive: bool = True, features: Iterable[Any] | Any | None = None) -> Any:
    """Converts the control flow on tensors in `f`, and in the functions it calls, to operators.

    Errors raised inside keep their class, and their messages include the user's source lines.
    """
    from .conversion import converted

    return converted(f, recursive, features)


def convert_if_needed(f: Callable[..., Any], features: Iterable[Any] | Any | None = None) -> Any:
    """Runs `f` unconverted until it needs conversion: that call raises `ConversionNeeded`, later ones run converted.

    A function that contains conditions, for which features are requested, or that runs eagerly although it is a
    `tf.function`, is converted immediately.
    """
    if hasattr(f, "autograph_info__"):
        return f
    # Imported lazily: eager programs, which import this module too, need neither.
    from ..graph.trace import conversion_status
    from ..graph.trace.conversion_status import ConversionNeeded, has_conditions, switched, waiting

    again = convert(f, features=features) if features or has_conditions(f) else None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal again
        if getattr(getattr(f, "__code__", None), "co_flags", 0) & _GENERATOR:
            raise NotImplementedError("generators are not supported by AutoGraph")
        if again is None and dispatch.thread.trace is None:
            from ..engine.run.randomness import function_streams

            # An eager run does not request it, but all iterations of a converted loop share their random streams.
            if function_streams() is not None:
                again = convert(f, features=features)
        if again is not None:
            with switched(off=False), waiting(False):
                return again(*args, **kwargs)
        looks = conversion_status.thread.looks
        try:
            with switched(off=False), waiting(True):
                return f(*args, **kwargs)
        except ConversionNeeded:
            again = convert(f, features=features)
            raise
        except Exception as error:
            told_by_tensors = isinstance(error, InvalidArgumentError) and conversion_status.thread.looks > looks
            if told_by_tensors and dispatch.thread.trace is not None:
                again = convert(f, features=features)
                raise ConversionNeeded from error  # after conversion, a failing op whose result is unused is removed
            from .error_messages import of_the_user

            explained = of_the_user(error)
            if explained is error:
                raise
        raise explained

    return call


convert_function.install(convert_if_needed)
