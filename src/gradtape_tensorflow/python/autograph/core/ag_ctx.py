"""`tensorflow.python.autograph.core.ag_ctx`: whether code is being converted."""

from __future__ import annotations

import enum


class Status(enum.Enum):
    """Whether AutoGraph converts the code that is called."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """The status of AutoGraph; a context manager."""

    def __init__(self, status: Status, options: object = None) -> None:
        self.status, self.options = status, options

    def __enter__(self) -> ControlStatusCtx:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def control_status_ctx() -> ControlStatusCtx:
    """Returns the current status."""
    return ControlStatusCtx(Status.UNSPECIFIED)
