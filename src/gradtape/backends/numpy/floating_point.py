"""Floating-point errors, which NumPy reports and TensorFlow's kernels do not: the log of 0 is -inf, without a warning.

`import gradtape` filters the warnings, which is free; but pytest, or a program, may replace the filters and turn
warnings into exceptions, and so may `np.seterr`. Turning reports off before every kernel, with `np.errstate`, would
take as long as several small ops. So a kernel or a rule that raises a report runs again with reports off, and so does
the program of a function unless it has effects; a program with effects runs with reports off from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np

REPORTS = (RuntimeWarning, FloatingPointError)  # the exceptions; a kernel may raise a RuntimeWarning of its own


def run_silently(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function without reports of floating-point errors."""
    with np.errstate(all="ignore"):
        return f(*args, **kwargs)


_callers: ContextVar[dict[str, Any] | None] = ContextVar("reports of the program's caller", default=None)


def run_program_silently(run: Callable[..., Any], *arrays: Any) -> Any:
    """Runs a program, which may call functions of the user, without reports of its own floating-point errors."""
    token = _callers.set(dict(np.geterr()))
    try:
        return run_silently(run, *arrays)
    finally:
        _callers.reset(token)


def reports_of_caller() -> AbstractContextManager[Any]:
    """Returns a context for a function of the user that a program calls: reports are as where the program is called."""
    settings = _callers.get()
    return nullcontext() if settings is None else np.errstate(**settings)
