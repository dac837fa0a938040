"""`tensorflow.python.trackable.base`: decorators and values of trackable objects."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def no_automatic_dependency_tracking(method: F) -> F:
    """Decorator: attributes set in the method do not become children of the object."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        self._self_setattr_tracking = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self._self_setattr_tracking = before

    return call  # type: ignore[return-value]


class CheckpointInitialValueCallable:
    """The initial value of a variable, read from a checkpoint; here variables are restored after their creation."""


class CheckpointInitialValue:
    """The initial value of a variable, read from a checkpoint; here variables are restored after their creation."""
