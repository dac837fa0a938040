"""Ragged tensors: rows of different lengths, stored as one tensor of values and row partitions."""

from . import conversion, elementwise, indexing
from . import operators as _operators  # noqa: F401  gives ragged tensors their operators
from .spec import RaggedTensorSpec
from .tensor import elsewhere

elsewhere.from_tensor = conversion.from_tensor
elsewhere.from_sparse = conversion.from_sparse
elsewhere.to_dense = conversion.to_dense
elsewhere.to_sparse = conversion.to_sparse
elsewhere.merge_dims = conversion.merge_dims
elsewhere.item = indexing.item
elsewhere.applied = elementwise.applied
elsewhere.written = conversion.written
elsewhere.spec = RaggedTensorSpec
