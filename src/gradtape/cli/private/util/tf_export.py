"""`tensorflow.python.util.tf_export`: decorators that say a public name. What they decorate stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def tf_export(*args: str, **kwargs: Any) -> Callable[[Any], Any]:
    """Notes the names under which what follows is public."""

    def decorate(value: Any) -> Any:
        try:
            value._tf_api_names = args
        except AttributeError:  # of what takes no attributes
            pass
        return value

    return decorate


keras_export = estimator_export = tf_export


def get_canonical_name_for_symbol(symbol: Any, *args: Any, **kwargs: Any) -> str | None:
    """The first name under which `symbol` is public."""
    return next(iter(getattr(symbol, "_tf_api_names", ())), None)


def kwarg_only(f: Any) -> Any:
    """A function that takes keyword arguments alone."""

    def call(**kwargs: Any) -> Any:
        return f(**kwargs)

    return call
