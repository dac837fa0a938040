"""`tensorflow.python.trackable.base`: decorators and values of trackable objects."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from gradtape.core.owners import Owner

F = TypeVar("F", bound=Callable[..., Any])


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Context manager: attributes set meanwhile do not become children of the object."""
    before = getattr(obj, "_self_setattr_tracking", True)
    attributes = dict(vars(obj))
    obj._self_setattr_tracking = False
    try:
        yield
    finally:
        obj._self_setattr_tracking = before
        if isinstance(obj, Owner):
            obj._untrack_attributes([name for name, x in vars(obj).items() if attributes.get(name, obj) is not x])


def no_automatic_dependency_tracking(method: F) -> F:
    """Decorator: attributes set in the method do not become children of the object."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]


class CheckpointInitialValueCallable:
    """The initial value of a variable, read from a checkpoint; here variables are restored after their creation."""


class CheckpointInitialValue:
    """The initial value of a variable, read from a checkpoint; here variables are restored after their creation."""
