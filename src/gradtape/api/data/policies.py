"""Settings for datasets on several machines, or with state outside them, which change nothing here."""

from __future__ import annotations

import enum

from ...datasets.options import AutoShardPolicy, DistributeOptions

NAMESPACES = ("data.experimental",)
__all__ = ["AutoShardPolicy", "DistributeOptions", "ExternalStatePolicy"]


class ExternalStatePolicy(enum.Enum):
    """What to do about state that is outside a dataset when it is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2
