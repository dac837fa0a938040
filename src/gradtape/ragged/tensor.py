"""The classes of ragged tensors, with all their methods and operators.

Import them from here: `ragged_tensor.py` has the class without what is implemented by means of it.
"""

from __future__ import annotations

from . import conversion, elementwise, indexing
from . import operators as _operators  # noqa: F401  gives ragged tensors their operators
from .partition import RowPartition
from .ragged_tensor import RaggedTensor, elsewhere
from .ragged_tensor import axis_of as axis_of
from .spec import RaggedTensorSpec

NAMESPACES = ("", "experimental")
__all__ = ["RaggedTensor", "RaggedTensorSpec", "RowPartition"]

elsewhere.from_tensor = conversion.from_tensor
elsewhere.from_sparse = conversion.from_sparse
elsewhere.to_dense = conversion.to_dense
elsewhere.to_sparse = conversion.to_sparse
elsewhere.merge_dims = conversion.merge_dims
elsewhere.item = indexing.item
elsewhere.applied = elementwise.applied
elsewhere.written = conversion.written
elsewhere.spec = RaggedTensorSpec
