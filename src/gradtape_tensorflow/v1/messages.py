"""`tf.compat.v1`: messages of graphs, sessions, options, events and summaries."""

from __future__ import annotations

from typing import Any

from ..protos.generated import find_among

NAMESPACES = ("compat.v1",)
__all__ = [
    "AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions", "HistogramProto", "LogMessage",
    "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata", "RunOptions", "SessionLog", "Summary",
    "SummaryMetadata", "TensorInfo",
]  # fmt: skip

AttrValue: type[Any]
ConfigProto: type[Any]
Event: type[Any]
GPUOptions: type[Any]
GraphDef: type[Any]
GraphOptions: type[Any]
HistogramProto: type[Any]
LogMessage: type[Any]
MetaGraphDef: type[Any]
NameAttrList: type[Any]
NodeDef: type[Any]
OptimizerOptions: type[Any]
RunMetadata: type[Any]
RunOptions: type[Any]
SessionLog: type[Any]
Summary: type[Any]
SummaryMetadata: type[Any]
TensorInfo: type[Any]

__getattr__ = find_among(__all__)
