"""Placeholder elements, on which a user function is run to infer its output specs when a dataset is empty.

There are two of them, which differ in every size and value that the specs leave undefined: a size in which the two
results differ depends on the data and becomes None.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import wrap
from ...ragged.tensor import RaggedTensor, RaggedTensorSpec
from ...sparse.tensor import SparseTensor
from ...state.specs import SparseTensorSpec, TensorSpec
from .specs import DatasetSpec, NoneTensorSpec
from .structure import map_leaves, scalar

_VARIANTS = (1, 2)  # the value of all entries, and the size of undefined dimensions


def placeholders(specs: Any, dataset_class: Any) -> list[Any]:
    """Creates elements with these specs; raises `TypeError` for specs without placeholder."""
    return [map_leaves(lambda spec: _placeholder(spec, n, dataset_class), specs) for n in _VARIANTS]  # noqa: B023


def _placeholder(spec: Any, n: int, dataset_class: Any) -> Any:
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, DatasetSpec):
        inner = spec.element_spec
        return dataset_class._of_elements(placeholders(inner, dataset_class)[:n], inner)
    if isinstance(spec, RaggedTensorSpec):
        sizes = _sizes(spec.shape, n)
        counts = [math.prod(sizes[: level + 1]) for level in range(spec.ragged_rank + 1)]
        values = _fill_placeholder([counts[-1], *sizes[spec.ragged_rank + 1 :]], spec.dtype, n)
        for level in reversed(range(spec.ragged_rank)):
            size = sizes[level + 1]
            if spec.shape[level + 1] is None:
                lengths = np.full(counts[level], size).astype(spec.row_splits_dtype.numpy)
                values = RaggedTensor.from_row_lengths(values, wrap(lengths, spec.row_splits_dtype))
            else:
                rows = wrap(np.asarray(counts[level], spec.row_splits_dtype.numpy)[()], spec.row_splits_dtype)
                values = RaggedTensor.from_uniform_row_length(values, size, nrows=rows)
        return values
    if isinstance(spec, SparseTensorSpec):
        sizes = _sizes(spec.shape, n)
        indices = wrap(np.zeros((0, len(sizes)), np.int64), dtypes.int64)
        shape = wrap(np.array(sizes, np.int64), dtypes.int64)
        return SparseTensor(indices, _fill_placeholder([0], spec.dtype, n), shape)
    if not isinstance(spec, TensorSpec):
        raise TypeError(f"no element of {spec} can be made up")
    return _fill_placeholder(_sizes(spec.shape, n), spec.dtype, n)


def _sizes(shape: Any, n: int) -> list[int]:
    return [n] if shape.rank is None else [n if size is None else size for size in shape]


def _fill_placeholder(sizes: list[int], dtype: Any, n: int) -> Any:
    if dtype is dtypes.string:
        return wrap(np.full(sizes, str(n).encode(), object) if sizes else scalar(str(n).encode()), dtype)
    array = np.full(sizes, n).astype(dtype.numpy)
    return wrap(array if sizes else array[()], dtype)
