# Written by tools/write_stubs.py.
from typing import Any
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import AxisLike, TensorLike
from gradtape.sparse.arithmetic import (
    maximum as maximum,
    minimum as minimum,
    sampled_addmm as sampled_addmm,
    softmax as softmax,
    sparse_dense_matmul as _matmul,
    sparse_dense_matmul as sparse_dense_matmul,
)
from gradtape.sparse.conversion import (
    SparseTensor as SparseTensor,
    eye as eye,
    fill_empty_rows as fill_empty_rows,
    from_dense as from_dense,
    map_values as map_values,
    mask as mask,
    reorder as reorder,
    retain as retain,
    to_dense as to_dense,
    to_indicator as to_indicator,
)
from gradtape.sparse.crossing import (
    cross as cross,
    cross_hashed as cross_hashed,
)
from gradtape.sparse.segments import (
    bincount as bincount,
)
from gradtape.sparse.shaping import (
    expand_dims as expand_dims,
    reset_shape as reset_shape,
    reshape as reshape,
    slice as slice,
    transpose as transpose,
)
from gradtape_tensorflow.v1.graph import (
    sparse_placeholder as _placeholder,
)
def add(a: TensorLike, b: TensorLike, threshold: TensorLike | None = ..., thresh: TensorLike | None = ...) -> Tensor: ...
def concat(axis: TensorLike | None, sp_inputs: Any, name: str | None = ..., expand_nonconcat_dim: Any = ..., concat_dim: TensorLike | None = ..., expand_nonconcat_dims: bool | None = ...) -> SparseTensor: ...
matmul = _matmul
def merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = ..., already_sorted: bool = ...) -> SparseTensor: ...
placeholder = _placeholder
def reduce_max(sp_input: Any, axis: AxisLike | None = ..., keepdims: bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: bool | None = ...) -> Tensor | SparseTensor: ...
def reduce_max_sparse(sp_input: Any, axis: AxisLike | None = ..., keepdims: bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: bool | None = ...) -> Tensor | SparseTensor: ...
def reduce_sum(sp_input: Any, axis: AxisLike | None = ..., keepdims: bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: bool | None = ...) -> Tensor | SparseTensor: ...
def reduce_sum_sparse(sp_input: Any, axis: AxisLike | None = ..., keepdims: bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: bool | None = ...) -> Tensor | SparseTensor: ...
def segment_mean(data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = ..., num_segments: TensorLike | None = ..., sparse_gradient: bool = ...) -> Tensor: ...
def segment_sqrt_n(data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = ..., num_segments: TensorLike | None = ..., sparse_gradient: bool = ...) -> Tensor: ...
def segment_sum(data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = ..., num_segments: TensorLike | None = ..., sparse_gradient: bool = ...) -> Tensor: ...
def split(keyword_required: Any = ..., sp_input: Any = ..., num_split: Any = ..., axis: Any = ..., name: str | None = ..., split_dim: Any = ...) -> list[SparseTensor]: ...
