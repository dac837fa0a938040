"""`tensorflow.python.util.keras_deps`: functions of Keras that TensorFlow calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

functions: dict[str, Callable[..., Any]] = {}


def _registration(name: str) -> Callable[[Callable[..., Any]], None]:
    def register(function: Callable[..., Any]) -> None:
        functions[name] = function

    return register


register_call_context_function = _registration("call_context")
register_clear_session_function = _registration("clear_session")
register_get_session_function = _registration("get_session")
register_load_model_function = _registration("load_model")
