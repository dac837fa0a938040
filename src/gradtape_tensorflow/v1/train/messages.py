"""`tf.compat.v1.train`: the message of a saver."""

from __future__ import annotations

from typing import Any

from ...protos.generated import find_among

NAMESPACES = ("compat.v1.train",)
__all__ = ["SaverDef"]

SaverDef: type[Any]

__getattr__ = find_among(__all__)
