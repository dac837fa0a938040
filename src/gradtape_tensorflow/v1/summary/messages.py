"""`tf.compat.v1.summary`: messages of event files."""

from __future__ import annotations

from typing import Any

from ...protos.generated import find_among

NAMESPACES = ("compat.v1.summary",)
__all__ = ["Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"]

Event: type[Any]
SessionLog: type[Any]
Summary: type[Any]
SummaryDescription: type[Any]
TaggedRunMetadata: type[Any]

__getattr__ = find_among(__all__)
