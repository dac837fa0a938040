# Written by tools/write_stubs.py.
from typing import Any
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import AxisLike, ShapeLike, SizesLike, TensorLike, ValueLike
from gradtape.api.math.reductions import (
    l2_normalize as l2_normalize,
    zero_fraction as zero_fraction,
)
from gradtape.api.math.sorting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    top_k as top_k,
)
from gradtape.api.nn.activations import (
    gelu as gelu,
    leaky_relu as leaky_relu,
    swish as _silu,
    swish as swish,
)
from gradtape.api.nn.backward import (
    depthwise_conv2d_backprop_filter as _depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input as _depthwise_conv2d_native_backprop_input,
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
    with_space_to_batch as with_space_to_batch,
)
from gradtape.api.nn.convolution import (
    atrous_conv2d as atrous_conv2d,
    atrous_conv2d_transpose as atrous_conv2d_transpose,
    conv1d_transpose as conv1d_transpose,
    conv_transpose as conv_transpose,
)
from gradtape.api.nn.ctc import (
    collapse_repeated as collapse_repeated,
    ctc_loss as _ctc_loss_v2,
    ctc_unique_labels as ctc_unique_labels,
)
from gradtape.api.nn.ctc_decoders import (
    ctc_beam_search_decoder as _ctc_beam_search_decoder_v2,
    ctc_greedy_decoder as ctc_greedy_decoder,
)
from gradtape.api.nn.losses import (
    compute_average_loss as compute_average_loss,
    l2_loss as l2_loss,
    log_poisson_loss as log_poisson_loss,
    scale_regularization_loss as scale_regularization_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from gradtape.api.nn.normalization import (
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    local_response_normalization as _lrn,
    local_response_normalization as local_response_normalization,
    normalize_moments as normalize_moments,
)
from gradtape.api.nn.pooling import (
    avg_pool as _avg_pool_v2,
    avg_pool1d as avg_pool1d,
    avg_pool3d as avg_pool3d,
    max_pool as _max_pool_v2,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
)
from gradtape.api.nn.sampled_losses import (
    compute_accidental_hits as compute_accidental_hits,
    isotonic_regression as isotonic_regression,
)
from gradtape.api.random.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from gradtape.api.random.unigram_candidates import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from gradtape.math import (
    sigmoid as sigmoid,
    softplus as softplus,
    softsign as softsign,
    tanh as tanh,
)
from gradtape.nn import (
    elu as elu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
)
from gradtape_tensorflow.v1.ctc import (
    ctc_beam_search_decoder as ctc_beam_search_decoder,
    ctc_loss as ctc_loss,
)
def avg_pool(value: TensorLike | None, ksize: SizesLike, strides: SizesLike, padding: Any, data_format: str = ..., name: str | None = ..., input: TensorLike | None = ...) -> Tensor: ...
def avg_pool2d(value: TensorLike | None, ksize: SizesLike, strides: SizesLike, padding: Any, data_format: str = ..., name: str | None = ..., input: TensorLike | None = ...) -> Tensor: ...
avg_pool_v2 = _avg_pool_v2
def conv1d(value: TensorLike | None = ..., filters: TensorLike | None = ..., stride: SizesLike | None = ..., padding: Any = ..., use_cudnn_on_gpu: Any = ..., data_format: Any = ..., name: str | None = ..., input: TensorLike | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
def conv2d(input: TensorLike, filter: TensorLike | None = ..., strides: SizesLike | None = ..., padding: Any = ..., use_cudnn_on_gpu: Any = ..., data_format: str = ..., dilations: SizesLike | None = ..., name: str | None = ..., filters: TensorLike | None = ...) -> Tensor: ...
def conv2d_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any, use_cudnn_on_gpu: Any = ..., data_format: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor: ...
def conv2d_backprop_input(input_sizes: Any, filter: Any = ..., out_backprop: Any = ..., strides: Any = ..., padding: Any = ..., use_cudnn_on_gpu: Any = ..., data_format: Any = ..., dilations: Any = ..., name: str | None = ..., filters: Any = ...) -> Tensor: ...
def conv2d_transpose(value: TensorLike | None = ..., filter: TensorLike | None = ..., output_shape: ShapeLike | None = ..., strides: SizesLike | None = ..., padding: Any = ..., data_format: str = ..., name: str | None = ..., input: TensorLike | None = ..., filters: TensorLike | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
def conv3d(input: TensorLike, filter: TensorLike | None = ..., strides: SizesLike | None = ..., padding: Any = ..., data_format: str = ..., dilations: SizesLike | None = ..., name: str | None = ..., filters: TensorLike | None = ...) -> Tensor: ...
def conv3d_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any, data_format: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor: ...
def conv3d_backprop_filter_v2(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any, data_format: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor: ...
def conv3d_transpose(value: TensorLike | None, filter: TensorLike | None = ..., output_shape: ShapeLike | None = ..., strides: SizesLike | None = ..., padding: Any = ..., data_format: str = ..., name: str | None = ..., input: TensorLike | None = ..., filters: TensorLike | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
def convolution(input: TensorLike, filter: TensorLike | None, padding: Any, strides: SizesLike | None = ..., dilation_rate: SizesLike | None = ..., name: str | None = ..., data_format: str | None = ..., filters: TensorLike | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
def crelu(features: TensorLike, name: str | None = ..., axis: int = ...) -> Tensor: ...
ctc_beam_search_decoder_v2 = _ctc_beam_search_decoder_v2
ctc_loss_v2 = _ctc_loss_v2
def depth_to_space(input: TensorLike, block_size: int, name: str | None = ..., data_format: str = ...) -> Tensor: ...
def depthwise_conv2d(input: TensorLike, filter: TensorLike, strides: SizesLike, padding: Any, rate: SizesLike | None = ..., name: str | None = ..., data_format: str | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
def depthwise_conv2d_native(input: Any, filter: Any, strides: Any, padding: Any, data_format: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor: ...
depthwise_conv2d_native_backprop_filter = _depthwise_conv2d_native_backprop_filter
depthwise_conv2d_native_backprop_input = _depthwise_conv2d_native_backprop_input
def dilation2d(input: TensorLike, filter: TensorLike | None = ..., strides: SizesLike | None = ..., rates: SizesLike | None = ..., padding: str | None = ..., name: str | None = ..., filters: TensorLike | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
def dropout(x: TensorLike, keep_prob: Any = ..., noise_shape: ShapeLike | None = ..., seed: int | None = ..., name: str | None = ..., rate: Any = ...) -> Tensor: ...
def embedding_lookup(params: Any, ids: Any, partition_strategy: str = ..., name: str | None = ..., validate_indices: Any = ..., max_norm: TensorLike | None = ...) -> Tensor: ...
def embedding_lookup_sparse(params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = ..., name: str | None = ..., combiner: Any = ..., max_norm: str | None = ...) -> Tensor: ...
def erosion2d(value: TensorLike, kernel: TensorLike, strides: SizesLike, rates: SizesLike, padding: str, name: str | None = ...) -> Tensor: ...
def fractional_avg_pool(value: Any, pooling_ratio: Any, pseudo_random: Any = ..., overlapping: Any = ..., deterministic: Any = ..., seed: Any = ..., seed2: Any = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]: ...
def fractional_max_pool(value: Any, pooling_ratio: Any, pseudo_random: Any = ..., overlapping: Any = ..., deterministic: Any = ..., seed: Any = ..., seed2: Any = ..., name: str | None = ...) -> tuple[Tensor, Tensor, Tensor]: ...
def fused_batch_norm(x: Any, scale: Any, offset: Any, mean: Any = ..., variance: Any = ..., epsilon: float = ..., data_format: Any = ..., is_training: bool = ..., name: str | None = ..., exponential_avg_factor: float = ...) -> tuple[Tensor, ...]: ...
def in_top_k(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = ...) -> Tensor: ...
def log_softmax(logits: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dim: AxisLike | None = ...) -> Tensor: ...
lrn = _lrn
def max_pool(value: TensorLike | None, ksize: SizesLike, strides: SizesLike, padding: Any, data_format: str = ..., name: str | None = ..., input: TensorLike | None = ...) -> Tensor: ...
max_pool_v2 = _max_pool_v2
def max_pool_with_argmax(input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str, data_format: str = ..., Targmax: Any = ..., name: str | None = ..., output_dtype: Any = ..., include_batch_in_index: bool = ...) -> Any: ...
def moments(x: TensorLike, axes: AxisLike, shift: TensorLike | None = ..., name: str | None = ..., keep_dims: Any = ..., keepdims: Any = ...) -> tuple[Tensor, Tensor]: ...
def pool(input: TensorLike, window_shape: SizesLike, pooling_type: str, padding: Any, dilation_rate: SizesLike | None = ..., strides: SizesLike | None = ..., name: str | None = ..., data_format: str | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = ...) -> Tensor: ...
def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = ..., combiner: Any = ..., default_id: str | None = ..., name: str | None = ..., partition_strategy: str = ..., max_norm: int | None = ...) -> Tensor: ...
def separable_conv2d(input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike, strides: SizesLike, padding: Any, rate: SizesLike | None = ..., name: str | None = ..., data_format: str | None = ..., dilations: SizesLike | None = ...) -> Tensor: ...
silu = _silu
def softmax(logits: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dim: AxisLike | None = ...) -> Tensor: ...
def softmax_cross_entropy_with_logits(labels: ValueLike | None = ..., logits: TensorLike | None = ..., dim: Any = ..., name: str | None = ..., axis: int | None = ...) -> Tensor: ...
def softmax_cross_entropy_with_logits_v2(labels: TensorLike, logits: TensorLike, axis: int | None = ..., name: str | None = ..., dim: int | None = ...) -> Tensor: ...
def space_to_batch(input: TensorLike, paddings: TensorLike, block_size: Any = ..., name: str | None = ..., block_shape: Any = ...) -> Tensor: ...
def space_to_depth(input: TensorLike, block_size: int, name: str | None = ..., data_format: str = ...) -> Tensor: ...
def sparse_softmax_cross_entropy_with_logits(labels: TensorLike | None = ..., logits: TensorLike | None = ..., name: str | None = ...) -> Tensor: ...
def sufficient_statistics(x: TensorLike, axes: AxisLike, shift: TensorLike | None = ..., keep_dims: Any = ..., name: str | None = ..., keepdims: Any = ...) -> tuple[Tensor, Tensor, Tensor, Tensor | None]: ...
def weighted_cross_entropy_with_logits(labels: TensorLike | None = ..., logits: TensorLike | None = ..., pos_weight: TensorLike | None = ..., name: str | None = ..., targets: TensorLike | None = ...) -> Tensor: ...
def weighted_moments(x: TensorLike, axes: AxisLike, frequency_weights: TensorLike, name: str | None = ..., keep_dims: Any = ..., keepdims: Any = ...) -> tuple[Tensor, Tensor]: ...
def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = ...) -> Tensor: ...
