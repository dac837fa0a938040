"""`tensorflow.python.util.tf_export`: decorators that record a public name and return their target unchanged."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


class tf_export:
    """Records the public names of the target."""

    def __init__(self, *args: str, **kwargs: Any) -> None:
        self._names = args

    def __call__(self, value: Any) -> Any:
        """Returns the target."""
        with suppress(AttributeError):  # the target accepts no attributes
            value._tf_api_names = self._names
        return value

    def export_constant(self, module_name: str, name: str) -> None:
        """Does nothing: a constant has no attributes to record the name in."""


keras_export = estimator_export = tf_export


def get_canonical_name_for_symbol(symbol: Any, *args: Any, **kwargs: Any) -> str | None:
    """Returns the first public name of `symbol`."""
    return next(iter(getattr(symbol, "_tf_api_names", ())), None)


def kwarg_only(f: Any) -> Any:
    """Makes a function accept keyword arguments only."""

    def call(**kwargs: Any) -> Any:
        return f(**kwargs)

    return call
