"""`tf.experimental.Optional`."""

from __future__ import annotations

from ...datasets.iterators import Optional

NAMESPACES = ("experimental",)
__all__ = ["Optional"]
