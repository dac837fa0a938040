"""Settings for distributed datasets and external state, which have no effect."""

from __future__ import annotations

import enum

from ...datasets.options import AutoShardPolicy, DistributeOptions

NAMESPACES = ("data.experimental",)
__all__ = ["AutoShardPolicy", "DistributeOptions", "ExternalStatePolicy"]


class ExternalStatePolicy(enum.Enum):
    """How to handle external state when a dataset is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2
