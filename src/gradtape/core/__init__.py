"""The base layer: errors, dtypes, shapes, nested structures, scopes, the tensor, the logger. Imports no other layer."""

from __future__ import annotations

from typing import Any


class LazyLogger:
    """Python's logger of a name. The first use imports `logging`, which is 3% of the time to import gradtape."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        import logging

        return getattr(logging.getLogger(self._name), name)


logger = LazyLogger("gradtape")
