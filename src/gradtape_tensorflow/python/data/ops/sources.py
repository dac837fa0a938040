"""Classes of datasets by their source, of which Keras 2 asks for those that are not batched.

Datasets are of one class here, and do not know their source, so these classes have no instances.
"""

from __future__ import annotations


class _RangeDataset:
    """A dataset of `range`."""


class _GeneratorDataset:
    """A dataset of `from_generator`."""


class _TensorDataset:
    """A dataset of `from_tensors`."""


class _TensorSliceDataset:
    """A dataset of `from_tensor_slices`."""


class _SparseTensorSliceDataset:
    """A dataset of `from_sparse_tensor_slices`."""
