"""`tensorflow.python.framework.test_util`: decorators of tests that need no change on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def disable_cudnn_autotune(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the test: no cuDNN chooses algorithms here."""
    return function
