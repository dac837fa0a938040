"""Summaries in TensorFlow 2's format: a tensor, and metadata that names the TensorBoard plugin."""

from __future__ import annotations

import os
from itertools import count
from typing import Any

import numpy as np

from ...core.dtypes import DType
from ..io.tensors import encoded

_number = count().__next__


def unique_suffix() -> str:
    """Returns what tells event files apart that writers of one host open within a second: process id and counter."""
    return f".{os.getpid()}.{_number()}"


def plugin_metadata(plugin: str, description: str | None = None, content: bytes = b"") -> Any:
    """Returns a `SummaryMetadata` for a plugin, with the plugin's own message."""
    from tensorboardX.proto.summary_pb2 import SummaryMetadata

    plugin_data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(plugin_data=plugin_data, summary_description=description or "")


def tensor_event(tag: str, array: np.ndarray[Any, Any], dtype: DType, metadata: Any) -> Any:
    """Returns the summary of an array; `metadata` is a `SummaryMetadata` of any package, a serialized one, or None."""
    from tensorboardX.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboardX.proto.tensor_pb2 import TensorProto

    if metadata is not None and not isinstance(metadata, bytes):
        metadata = metadata.SerializeToString()
    parsed = None if metadata is None else SummaryMetadata.FromString(metadata)
    tensor = TensorProto.FromString(encoded(array, dtype))
    return Summary(value=[Summary.Value(tag=tag, metadata=parsed, tensor=tensor)])
