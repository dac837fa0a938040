"""Settings for distributed datasets and external state, which have no effect."""

from __future__ import annotations

import enum

from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ServiceOptions,
)

NAMESPACES = ("data.experimental",)
__all__ = [
    "SHARD_HINT",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "ServiceOptions",
]

SHARD_HINT = -1  # as the number of shards of `Dataset.shard`, for the policy `AutoShardPolicy.HINT`


class ExternalStatePolicy(enum.Enum):
    """How to handle external state when a dataset is saved."""

    __module__ = "gradtape.data.experimental"

    WARN = 0
    IGNORE = 1
    FAIL = 2
