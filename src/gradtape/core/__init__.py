"""The base layer: errors, dtypes, shapes, nested structures, scopes, the tensor, the logger. Imports no other layer."""

from __future__ import annotations

import os
from typing import Any


def text_beside(spec: Any, file: str) -> str:
    """Returns the text of a data file in the folder of a module, which may be in a zip archive."""
    text: bytes = spec.loader.get_data(os.path.join(os.path.dirname(spec.origin), file))
    return text.decode()


class LazyLogger:
    """Python's logger of a name. The first use imports `logging`, which is 3% of the time to import gradtape."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        import logging

        return getattr(logging.getLogger(self._name), name)


logger = LazyLogger("gradtape")
_logged: set[tuple[str, str]] = set()


def log_ignored(function: str, **options: Any) -> None:
    """Logs, once for each option of a function, that a value other than None and False has no effect."""
    for name, value in options.items():
        if value is not None and value is not False and (function, name) not in _logged:
            _logged.add((function, name))
            logger.warning("tf.%s: %s=%r has no effect here", function, name, value)
