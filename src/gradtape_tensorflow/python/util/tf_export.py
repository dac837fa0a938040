"""`tensorflow.python.util.tf_export`: decorators that record the public names of functions and classes."""

from __future__ import annotations

import functools
from contextlib import suppress
from functools import cache
from typing import Any

from gradtape.api.catalogue.fronts import publications
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve

from . import tf_decorator

TENSORFLOW_API_NAME, KERAS_API_NAME = "tensorflow", "keras"
_ATTRIBUTES = {TENSORFLOW_API_NAME: "_tf_api_names", KERAS_API_NAME: "_keras_api_names"}
_symbols: dict[str, Any] = {}


class api_export:
    """Records the public names of the target."""

    def __init__(self, *args: str, api_name: str = TENSORFLOW_API_NAME, v1: Any = None, **kwargs: Any) -> None:
        self._names = args
        self._v1 = args if v1 is None else v1
        self._attribute = _ATTRIBUTES[api_name]

    def __call__(self, value: Any) -> Any:
        """Returns the target."""
        _, target = tf_decorator.unwrap(value)
        with suppress(AttributeError, TypeError):  # the target accepts no attributes
            setattr(target, self._attribute, self._names)
            setattr(target, f"{self._attribute}_v1", self._v1)
        for name in self._names:
            _symbols[name] = value
        for name in self._v1:
            _symbols[f"compat.v1.{name}"] = value
        return value

    def export_constant(self, module_name: str, name: str) -> None:
        """Does nothing: a constant has no attributes to record the name in."""


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = TENSORFLOW_API_NAME, add_prefix_to_v1_names: bool = False
) -> str | None:
    """Returns the first public name of a function or class, or None."""
    _, target = tf_decorator.unwrap(symbol) if callable(symbol) else (None, symbol)
    own = vars(target) if hasattr(target, "__dict__") else {}  # a subclass does not have the name of its base
    attribute = _ATTRIBUTES[api_name]
    names = own.get(attribute)
    if names:
        return str(names[0])
    old = own.get(f"{attribute}_v1")
    if old:
        return f"compat.v1.{old[0]}" if add_prefix_to_v1_names else str(old[0])
    return _public_name(symbol) if api_name == TENSORFLOW_API_NAME else None


def get_symbol_from_name(name: str) -> Any:
    """Returns the function or class with a public name, or None."""
    if name in _symbols:
        return _symbols[name]
    with suppress(AttributeError):
        return resolve(name)
    return None


def _public_name(symbol: Any) -> str | None:
    """Returns the canonical name of a function or class of gradtape."""
    publication = publications.get(symbol) if callable(symbol) and hasattr(symbol, "__code__") else None
    if publication is not None:
        return publication.path
    module, name = getattr(symbol, "__module__", ""), getattr(symbol, "__qualname__", "")
    found = _names_of_places().get((str(module).removeprefix("gradtape."), str(name)))
    return _name_of_class(symbol) if found is None and isinstance(symbol, type) else found


def _name_of_class(symbol: type) -> str | None:
    """Returns the public name of a class: mostly that of the namespace that it names as its module."""
    path = f"{symbol.__module__}.{symbol.__qualname__}".removeprefix("gradtape.")
    if path in NAMES and resolve(path) is symbol:
        return path
    if not symbol.__module__.startswith("gradtape."):
        return None
    names = (public for (_, name), public in _names_of_places().items() if name == symbol.__name__)
    return next((name for name in names if resolve(name) is symbol), None)


@cache
def _names_of_places() -> dict[tuple[str, str], str]:
    """Returns the public names by the module and the name of what they stand for."""
    found: dict[tuple[str, str], str] = {}
    for name, place in NAMES.items():
        if not name.startswith(("compat.", "raw_ops.")):
            module, _, attribute = place.partition(":")
            found.setdefault((module, attribute), name)
    return found
