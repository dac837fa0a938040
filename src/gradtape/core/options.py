"""Options that TensorFlow's functions have and gradtape's cannot honor: a line in the log says so, once for each."""

from __future__ import annotations

from typing import Any

from . import logger

_logged: set[tuple[str, str]] = set()


def log_ignored(function: str, **options: Any) -> None:
    """Logs, once for each option of a function, that a value other than None and False has no effect."""
    for name, value in options.items():
        if value is not None and value is not False and (function, name) not in _logged:
            _logged.add((function, name))
            logger.warning("tf.%s: %s=%r has no effect here", function, name, value)
