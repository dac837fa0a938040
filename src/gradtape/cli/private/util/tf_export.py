"""`tensorflow.python.util.tf_export`: decorators that say a public name. What they decorate stays as it is."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


class tf_export:
    """Notes the names under which what follows is public."""

    def __init__(self, *args: str, **kwargs: Any) -> None:
        self._names = args

    def __call__(self, value: Any) -> Any:
        """What was decorated."""
        with suppress(AttributeError):  # of what takes no attributes
            value._tf_api_names = self._names
        return value

    def export_constant(self, module_name: str, name: str) -> None:
        """A constant has no attributes to note it in."""


keras_export = estimator_export = tf_export


def get_canonical_name_for_symbol(symbol: Any, *args: Any, **kwargs: Any) -> str | None:
    """The first name under which `symbol` is public."""
    return next(iter(getattr(symbol, "_tf_api_names", ())), None)


def kwarg_only(f: Any) -> Any:
    """A function that takes keyword arguments alone."""

    def call(**kwargs: Any) -> Any:
        return f(**kwargs)

    return call
