"""The classes of ragged tensors."""

from __future__ import annotations

from ...state.ragged.partition import RowPartition
from ...state.ragged.spec import RaggedTensorSpec
from ...state.ragged.tensor import RaggedTensor

NAMESPACES = ("", "experimental")
__all__ = ["RaggedTensor", "RaggedTensorSpec", "RowPartition"]
