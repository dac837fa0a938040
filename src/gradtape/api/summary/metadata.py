"""`tf.compat.v1.SummaryMetadata`: a summary's message to its plugin, from tensorboardX."""

from __future__ import annotations

from typing import Any

NAMESPACES = ("compat.v1",)
__all__ = ["SummaryMetadata"]  # noqa: F822  found when it is asked for


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    try:
        from tensorboardX.proto.summary_pb2 import SummaryMetadata
    except ModuleNotFoundError:
        raise ImportError(
            "tf.summary needs tensorboardX, which is not installed: pip install 'gradtape[summary]'"
        ) from None
    return SummaryMetadata
