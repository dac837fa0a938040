"""`tensorflow.python.util.traceback_utils`: which frames tracebacks show. Those of gradtape are always shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import gradtape

F = TypeVar("F", bound=Callable[..., object])


def filter_traceback(fn: F) -> F:
    """Returns the function."""
    return fn


inject_argument_info_in_traceback = filter_traceback


def is_traceback_filtering_enabled() -> bool:
    """Same as `tf.debugging.is_traceback_filtering_enabled`."""
    return bool(gradtape.debugging.is_traceback_filtering_enabled())
