"""`tf.compat.v1.SummaryMetadata`: what a summary tells the plugin that shows it, a message of tensorboardX's."""

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
