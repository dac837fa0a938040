"""`tensorflow.python.util.deprecation`: decorators that log a deprecation once."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any

from gradtape.engine.run.signatures import signature_of

from .tf_decorator import make_decorator

logger = logging.getLogger("tensorflow")

_PRINT_DEPRECATION_WARNINGS = True
_said: set[Any] = set()


def _say(what: Any, text: str, date: str | None, instructions: str, once: bool = True) -> None:
    if not _PRINT_DEPRECATION_WARNINGS or (once and what in _said):
        return
    _said.add(what)
    when = "in a future version" if date is None else f"after {date}"
    logger.warning("%s is deprecated and will be removed %s.\nInstructions for updating:\n%s", text, when, instructions)


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """Logs a deprecation when the function or class is called."""

    def decorate(what: Any) -> Any:
        if isinstance(what, type):
            constructor = "__init__" if what.__new__ is object.__new__ else "__new__"
            setattr(what, constructor, decorate_function(getattr(what, constructor), what))
            return what
        return decorate_function(what, what)

    def decorate_function(function: Any, named: Any) -> Any:
        @functools.wraps(function)
        def new_function(*args: Any, **kwargs: Any) -> Any:
            _say(named, f"{named.__qualname__} (from {named.__module__})", date, instructions, warn_once)
            return function(*args, **kwargs)

        return make_decorator(function, new_function, "deprecated")

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Callable[[Any], Any]:
    """Logs a deprecation when one of these arguments is given; a tuple adds the value that is not deprecated."""
    rows = [row if isinstance(row, tuple) else (row,) for row in deprecated_arg_names_or_tuples]

    def decorate(function: Any) -> Any:
        signature = signature_of(function)
        absent = [row[0] for row in rows if row[0] not in signature.parameters]
        if absent:
            raise ValueError(f"The following deprecated arguments are not present in the function signature: {absent}.")

        @functools.wraps(function)
        def new_function(*args: Any, **named: Any) -> Any:
            with contextlib.suppress(TypeError):  # an invalid call: the function itself reports it
                given = signature.bind(*args, **named).arguments
                for name, *fine in rows:
                    if name in given and not (fine and _equal(given[name], fine[0])):
                        text = f"calling {function.__qualname__} (from {function.__module__}) with {name}"
                        _say((function, name), text, date, instructions)
            return function(*args, **named)

        return make_decorator(function, new_function, "deprecated")

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[[Any], Any]:
    """Logs a deprecation for these values of these arguments."""

    def decorate(function: Any) -> Any:
        signature = signature_of(function)

        @functools.wraps(function)
        def new_function(*args: Any, **named: Any) -> Any:
            with contextlib.suppress(TypeError):
                given = signature.bind(*args, **named).arguments
                for name, value in deprecated_kwargs.items():
                    if name in given and _equal(given[name], value):
                        text = f"calling {function.__qualname__} (from {function.__module__}) with {name}={value}"
                        _say((function, name), text, date, instructions, warn_once)
            return function(*args, **named)

        return make_decorator(function, new_function, "deprecated")

    return decorate


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """Returns the function or class under a deprecated name."""
    if isinstance(func_or_class, type):
        return type(func_or_class.__name__, (func_or_class,), {"__doc__": func_or_class.__doc__})

    @functools.wraps(func_or_class)
    def new_function(*args: Any, **kwargs: Any) -> Any:
        _say((func_or_class, deprecated_name), f"The name {deprecated_name}", None, f"Please use {name}", warn_once)
        return func_or_class(*args, **kwargs)

    return make_decorator(func_or_class, new_function, "deprecated")


def deprecated_endpoints(*args: Any) -> Callable[[Any], Any]:
    """Records deprecated names."""

    def decorate(function: Any) -> Any:
        function._tf_deprecated_api_names = args
        return function

    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Returns the value of an argument with two names."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
        return old_value
    return new_value


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Context manager: logs nothing."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    with contextlib.suppress(TypeError, ValueError):
        equal = a == b
        return equal if isinstance(equal, bool) else False
    return False
