"""Isolates the program from failures of its diagnostics.

Everything that runs inside the user's ops only to explain them later (a traced tape's entries, the event log, reports
of missing gradients) is guarded here. A failure is logged once, and the program continues unaffected.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

logger = logging.getLogger("gradtape")
_said: set[str] = set()


def never_raises(otherwise: Callable[..., Any] = lambda *args: None) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a diagnostic function so that it never raises: on an exception it returns `otherwise(*args)`."""

    def guard(explain: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(explain)
        def guarded(*args: Any) -> Any:
            try:
                return explain(*args)
            except Exception:  # not an interrupt, which belongs to the program
                say_once(explain.__qualname__)
                return otherwise(*args)

        return guarded

    return guard


def say_once(what: str) -> None:
    """Logs the exception being handled as a failure of `what`, unless one of its failures has been logged before."""
    if what not in _said:
        _said.add(what)
        logger.warning(
            "Generating an explanation failed (%s). The program and its gradients are not affected, but explanations "
            "may be missing or incomplete. Please report this:",
            what,
            exc_info=True,
        )
