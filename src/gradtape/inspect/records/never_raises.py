"""The boundary between a program and what explains it: what goes wrong in an explanation must not go wrong there.

Whatever runs inside the user's ops only in order to explain them later (a traced tape's notes, the witness, reports of
missing gradients) passes through here. If it fails, that is said once, and the program goes on as if nobody watched.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

logger = logging.getLogger("gradtape")
_said: set[str] = set()


def never_raises(otherwise: Callable[..., Any] = lambda *args: None) -> Callable[[Callable[..., Any]], Any]:
    """Makes of an explaining function one that never raises: where it would, it returns `otherwise(*its arguments)`."""

    def guard(explain: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(explain)
        def guarded(*args: Any) -> Any:
            try:
                return explain(*args)
            except Exception:  # not an interrupt, which is the program's
                say_once(explain.__qualname__)
                return otherwise(*args)

        return guarded

    return guard


def say_once(what: str) -> None:
    """Logs the exception being handled as a failure of `what`, unless one of its failures has been logged before."""
    if what not in _said:
        _said.add(what)
        logger.warning(
            "What makes explanations failed (%s). The program and its gradients are not affected, but explanations may "
            "be missing or incomplete. Please report this:",
            what,
            exc_info=True,
        )
