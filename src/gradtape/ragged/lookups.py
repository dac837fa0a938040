"""Embeddings, counts and images with ragged arguments."""

from __future__ import annotations

from typing import Any

from ..api.arrays import concat as joining
from ..core import dtypes
from ..core.tensor import Tensor
from ..engine.run.namespace import ops
from . import arrays, indices
from .constructors import rows_of
from .tensor import RaggedTensor


def embedding_lookup(plain: Any, params: Any, ids: Any, *others: Any) -> Any:
    """`tf.nn.embedding_lookup` with ragged ids."""
    return ids.with_flat_values(plain(params, ids.flat_values, *others))


def embedding_lookup_sparse(plain: Any, params: Any, sp_ids: Any, sp_weights: Any, *others: Any) -> Any:
    """`tf.nn.embedding_lookup_sparse` and its safe form, which are the same for rows that are not sparse."""
    if isinstance(sp_ids, RaggedTensor) and sp_weights is not None:
        if not isinstance(sp_weights, RaggedTensor):
            raise TypeError(f"sp_weights must be RaggedTensor, got {type(sp_weights)}")
        arrays.check_same_rows([sp_ids, sp_weights], "sp_ids and sp_weights must have the same rows")
    return plain(params, *(x.to_sparse() if isinstance(x, RaggedTensor) else x for x in (sp_ids, sp_weights)), *others)


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: Any = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """`tf.math.bincount`: of all values, or of each row with `axis=-1`."""
    from ..api.math.bincount import bincount as dense
    from ..api.math.bincount import by_rows

    if weights is not None:
        if binary_output:
            raise ValueError(
                "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one."
            )
        if not isinstance(weights, RaggedTensor):
            raise ValueError(
                "`weights` must be a RaggedTensor if `values` is a RaggedTensor. Received argument "
                f"weights={weights} of type: {type(weights).__name__}."
            )
        arrays.check_same_rows([weights, arr], "'weights' and 'values' must have the same row splits.")
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    values = arr.flat_values
    values = values if values.dtype.is_integer else ops.cast(values, dtype=dtypes.int32)
    counted = None if weights is None else weights.flat_values
    if axis != -1:
        return dense(values, counted, minlength, maxlength, dtype, binary_output=binary_output)
    size = indices.looked_at(ops.max(values, axis=(0,), keepdims=False)) + 1 if values.dims[0] else 0
    size = size if minlength is None else max(size, indices.looked_at(minlength))
    size = size if maxlength is None else min(size, indices.looked_at(maxlength))
    return by_rows(arr.value_rowids(), values, counted, size, rows_of(arr), dtypes.as_dtype(dtype), binary_output)


def sparse_bincount(plain: Any, values: Any, weights: Any = None, *others: Any) -> Any:
    """`tf.sparse.bincount`."""
    return plain(*(x.to_sparse() if isinstance(x, RaggedTensor) else x for x in (values, weights)), *others)


def resize(plain: Any, images: Any, *others: Any) -> Tensor:
    """`tf.image.resize` of images with different sizes to one size."""
    each = [images[i] for i in range(rows_of(images))]
    if not each:
        raise ValueError("there must be an image to resize")
    return joining.stack([plain(x.to_tensor() if isinstance(x, RaggedTensor) else x, *others) for x in each])
