"""What TensorFlow's graphs call a function on strings, so that a SavedModel can have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def spelled(function: Callable[..., Any], op: str, **attrs: Any) -> Callable[..., Any]:
    """A function of arrays, with the op of TensorFlow's that it is, and the op's attributes."""
    function.spelling = (op, attrs)  # type: ignore[attr-defined]
    return function
