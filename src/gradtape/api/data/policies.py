"""Settings for datasets on several machines or with state outside them: they are kept, and change nothing here."""

from __future__ import annotations

import enum

NAMESPACES = ("data.experimental",)
__all__ = ["AutoShardPolicy", "ExternalStatePolicy"]


class AutoShardPolicy(enum.IntEnum):
    """How a dataset would be divided among machines."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What to do about state that is outside a dataset when it is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2
