"""`tensorflow.python.distribute.load_context`: options in force while a model is loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_options: list[Any] = []


@contextlib.contextmanager
def load_context(load_options: Any) -> Iterator[None]:
    """Context manager: `load_options` are in force."""
    _options.append(load_options)
    try:
        yield
    finally:
        _options.pop()
