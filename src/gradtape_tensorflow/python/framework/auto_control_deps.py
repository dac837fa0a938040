"""`tensorflow.python.framework.auto_control_deps`: the order of ops with side effects, which traces always keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class AutomaticControlDependencies:
    """Context manager without effect: stateful ops of a trace run in the order of the program."""

    def __enter__(self) -> AutomaticControlDependencies:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def mark_as_return(self, tensor: Any) -> Any:
        """Returns the value."""
        return tensor

    def run_independently(self, op: Any) -> None:
        """Does nothing."""


def automatic_control_dependencies(f: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function."""
    return f
