"""`tensorflow.python.util.traceback_utils`: which frames tracebacks show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import gradtape
from gradtape.core.tracebacks import at_boundary

F = TypeVar("F", bound=Callable[..., object])

filter_traceback = at_boundary


def inject_argument_info_in_traceback(fn: F, object_name: str | None = None) -> F:
    """Returns the function."""
    return fn


def is_traceback_filtering_enabled() -> bool:
    """Same as `tf.debugging.is_traceback_filtering_enabled`."""
    return bool(gradtape.debugging.is_traceback_filtering_enabled())
