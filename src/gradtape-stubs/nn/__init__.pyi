# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
from gradtape.nn import experimental as experimental
from gradtape.api.arrays.slicing import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from gradtape.api.math.reductions import (
    l2_normalize as l2_normalize,
    log_softmax as log_softmax,
    softmax as softmax,
    zero_fraction as zero_fraction,
)
from gradtape.api.math.sorting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
    top_k as top_k,
)
from gradtape.api.nn.activations import (
    crelu as crelu,
    dropout as dropout,
    gelu as gelu,
    leaky_relu as leaky_relu,
    swish as _silu,
    swish as swish,
)
from gradtape.api.nn.backward import (
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
    with_space_to_batch as with_space_to_batch,
)
from gradtape.api.nn.convolution import (
    atrous_conv2d as atrous_conv2d,
    atrous_conv2d_transpose as atrous_conv2d_transpose,
    conv1d as conv1d,
    conv1d_transpose as conv1d_transpose,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
    conv_transpose as conv_transpose,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
)
from gradtape.api.nn.ctc import (
    collapse_repeated as collapse_repeated,
    ctc_loss as ctc_loss,
    ctc_unique_labels as ctc_unique_labels,
)
from gradtape.api.nn.ctc_decoders import (
    ctc_beam_search_decoder as ctc_beam_search_decoder,
    ctc_greedy_decoder as ctc_greedy_decoder,
)
from gradtape.api.nn.embedding import (
    embedding_lookup as embedding_lookup,
    embedding_lookup_sparse as embedding_lookup_sparse,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from gradtape.api.nn.losses import (
    compute_average_loss as compute_average_loss,
    l2_loss as l2_loss,
    log_poisson_loss as log_poisson_loss,
    scale_regularization_loss as scale_regularization_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from gradtape.api.nn.normalization import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    local_response_normalization as _lrn,
    local_response_normalization as local_response_normalization,
    moments as moments,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from gradtape.api.nn.pooling import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    dilation2d as dilation2d,
    erosion2d as erosion2d,
    fractional_avg_pool as fractional_avg_pool,
    fractional_max_pool as fractional_max_pool,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
)
from gradtape.api.nn.sampled_losses import (
    compute_accidental_hits as compute_accidental_hits,
    isotonic_regression as isotonic_regression,
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from gradtape.api.random.candidates import (
    all_candidate_sampler as all_candidate_sampler,
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
def elu(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""The exponential linear unit: `y = features if features > 0 else exp(features) - 1`.

    - Shape: that of `features`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `features`.
    - Derivative: `dy/dfeatures = minimum(0, y) + 1`.

    >>> tf.nn.elu(tf.constant([0.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """
lrn = _lrn
def relu(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""The rectifier: `y = max(features, 0)`; its derivative at 0 is 0.

    - Shape: that of `features`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of `features`.
    - Derivative: `dy/dfeatures = 1 if y > 0 else 0`, `0` at `features = 0`.

    >>> tf.nn.relu(tf.constant([-1.0, 0.0, 2.0])).numpy()
    array([0., 0., 2.], dtype=float32)
    """
def relu6(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""The rectifier with an upper limit: `y = min(max(features, 0), 6)`.

    - Shape: that of `features`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of `features`.
    - Derivative: `dy/dfeatures = 1 if y < 6 and y > 0 else 0`, `0` at `features = 0` and `features = 6`.

    >>> tf.nn.relu6(tf.constant([-1.0, 3.0, 9.0])).numpy()
    array([0., 3., 6.], dtype=float32)
    """
def selu(features: TensorLike, name: str | None = ...) -> Tensor:
    r"""The scaled exponential linear unit: `y = scale * (features if features > 0 else alpha * (exp(features) - 1))`, with `scale = 1.0507009873554805` and `alpha = 1.6732632423543772`, keeps mean 0 and variance 1.

    - Shape: that of `features`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `features`.
    - Derivative: `dy/dfeatures = y + scale * alpha if y < 0 else scale`.

    >>> tf.nn.selu(tf.constant([0.0, 2.0])).numpy()
    array([0.      , 2.101402], dtype=float32)
    """
silu = _silu
