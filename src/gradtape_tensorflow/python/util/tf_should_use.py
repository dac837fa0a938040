"""`tensorflow.python.util.tf_should_use`: decorators for functions whose results must not be dropped.

TensorFlow warns of ops of a graph that nothing runs. Ops run here when they are called, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def should_use_result(
    fn: Callable[..., Any] | None = None, warn_in_eager: bool = False, error_in_function: bool = False
) -> Any:
    """Decorator without effect."""
    return (lambda fn: fn) if fn is None else fn


must_use_result_or_fatal = should_use_result
