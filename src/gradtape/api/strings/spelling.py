"""TensorFlow's op names of string functions, for SavedModels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def spelled(function: Callable[..., Any], op: str, **attrs: Any) -> Callable[..., Any]:
    """Annotates a function of arrays with TensorFlow's op and its attributes."""
    function.spelling = (op, attrs)  # type: ignore[attr-defined]
    return function
