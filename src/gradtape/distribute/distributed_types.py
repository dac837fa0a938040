"""`tf.types.experimental.distributed`: the classes of values of replicas, for annotations and checks."""

from __future__ import annotations

from .values import Mirrored, PerReplica

NAMESPACES = ("types.experimental.distributed",)
__all__ = ["Mirrored", "PerReplica"]
