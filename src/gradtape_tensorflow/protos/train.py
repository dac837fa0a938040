"""`tf.train`: messages that describe a cluster."""

from __future__ import annotations

from typing import Any

from .generated import find_among

NAMESPACES = ("train",)
__all__ = ["ClusterDef", "JobDef", "ServerDef"]

ClusterDef: type[Any]
JobDef: type[Any]
ServerDef: type[Any]

__getattr__ = find_among(__all__)
