"""Losses: cross entropies from logits, regularization, averages over examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor, is_tensor_like
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.distribution_context import count_replicas
from ...engine.run.namespace import ops
from ..arrays.casting import cast
from ..arrays.shaping import squeeze

NAMESPACES = ("nn",)
__all__ = [
    "compute_average_loss", "l2_loss", "log_poisson_loss", "scale_regularization_loss",
    "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits", "weighted_cross_entropy_with_logits",
]  # fmt: skip


def _pair(first: Any, second: Any, names: tuple[str, str]) -> tuple[Tensor, Tensor]:
    """Returns two tensors of the same shape, the first converted to the dtype of the second unless it has its own."""
    b = to_tensor(second)
    has_dtype = is_tensor_like(first)
    a = to_tensor(first, dtype=None if has_dtype else b.dtype)
    if a.dims != b.dims:
        raise ValueError(f"`{names[0]}` and `{names[1]}` must have the same shape, received ({b.dims} vs {a.dims}).")
    return a, b


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The cross entropy of independent yes-or-no labels, computed without overflow:
    `y = -labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))`, elementwise.

    - Shape: that of `labels` and `logits`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `logits`.
    - Derivative: `∂y/∂logits = sigmoid(logits) - labels`, `∂y/∂labels = -logits`.

    >>> tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [0.0, 100.0]).numpy()
    array([  0.6931472, 100.       ], dtype=float32)
    """
    if labels is None or logits is None:
        raise ValueError(
            "Both `labels` and `logits` must be provided for sigmoid_cross_entropy_with_logits. "
            f"Received: labels={labels} and logits={logits}"
        )
    return ops.sigmoid_cross_entropy(*_pair(labels, logits, ("logits", "labels")))


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1, name: str | None = None
) -> Tensor:
    """`-sum(labels * log(softmax(logits)))` along `axis`; the gradient reaches the labels too.

    - Shape: that of `logits` without `axis`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `logits`.
    - Derivative: `∂y/∂logits = softmax(logits) * Σ labels - labels`, in TensorFlow without the factor, which is 1 for
      probabilities; `∂y/∂labels = -log_softmax(logits)`.

    >>> tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[0.0, 0.0]]).numpy()
    array([0.6931472], dtype=float32)
    """
    z = to_tensor(logits)
    if not isinstance(labels, Tensor):
        p = to_tensor(labels)
        p = ops.cast(p, dtype=z.dtype) if p.dtype is not z.dtype else p
    else:
        p = labels if labels.dtype is z.dtype else ops.cast(labels, dtype=z.dtype)
    narrow = z.dtype if z.dtype in (dtypes.float16, dtypes.bfloat16) else None
    if narrow is not None:
        p, z = ops.cast(p, dtype=dtypes.float32), ops.cast(z, dtype=dtypes.float32)
    given = z.dims
    if p.dims != given:
        try:
            shape = np.broadcast_shapes(p.dims, z.dims)
        except ValueError:
            advice = ""
            if p.dims == z.dims[:-1]:
                advice = ". Use tf.nn.sparse_softmax_cross_entropy_with_logits for labels that are class numbers"
            raise errors.InvalidArgumentError(
                f"logits and labels must be broadcastable: logits_size={list(z.dims)} labels_size={list(p.dims)} "
                f"[Op:SoftmaxCrossEntropyWithLogits]{advice}"
            ) from None
        p, z = ops.broadcast_to(p, shape=shape), ops.broadcast_to(z, shape=shape)
    rank = len(z.dims)
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(f"axis={axis} is not an axis of logits of shape {z.dims}")
    axis %= rank
    if axis != rank - 1:
        perm = (*(i for i in range(rank) if i != axis), axis)
        p, z = ops.transpose(p, perm=perm), ops.transpose(z, perm=perm)
    y = ops.softmax_cross_entropy(p, z)
    if z.dims[:-1] != given[:-1] and p.dims != given:  # broadcasting the labels added losses
        y = _as_many(y, tuple(n for i, n in enumerate(given) if i != axis - rank + len(given)))
    return y if narrow is None else ops.cast(y, dtype=narrow)


def _as_many(losses: Tensor, dims: tuple[int, ...]) -> Tensor:
    """Returns the losses in the shape of the logits without the class axis."""
    if math.prod(losses.dims) != math.prod(dims):
        raise errors.InvalidArgumentError(
            f"Input to reshape is a tensor with {math.prod(losses.dims)} values, but the requested shape has "
            f"{math.prod(dims)} [Op:Reshape]: labels have the shape of the logits, or one that is broadcast to it"
        )
    return ops.reshape(losses, shape=dims)


def sparse_softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """The cross entropy of integer labels:
    `y = -log(softmax(logits)[..., labels])` along the last axis, computed without overflow.

    - Shape: `[...]`, `[..., classes]` → `[...]`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `logits`.
    - Derivative: `∂y/∂logits = softmax(logits) - one_hot(labels)`; none for `labels`.

    >>> tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]]).numpy()
    array([0.6931472], dtype=float32)
    """
    z = logits if type(logits) is Tensor else to_tensor(logits)
    k = labels if type(labels) is Tensor else to_tensor(labels)
    given, shape = k.dims, z.dims
    if not shape:
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if len(given) != len(shape) - 1:
        advice = ". Use tf.nn.softmax_cross_entropy_with_logits for one-hot labels" if given == shape else ""
        raise ValueError(
            f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape={given} of rank "
            f"{len(given)} and logits.shape={shape} of rank {len(shape)}{advice}"
        )
    if given != shape[:-1]:
        raise ValueError(
            f"`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape={given} "
            f"and logits.shape={shape}"
        )
    if not k.dtype.is_integer:
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tlabels' of {k.dtype.kernel_name()} is not in the list of allowed values: int32, int64 "
            "[Op:SparseSoftmaxCrossEntropyWithLogits]. Labels are class numbers. Use tf.cast(labels, tf.int64)"
        )
    if not z.dtype.is_floating:
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {z.dtype.kernel_name()} is not in the list of allowed values: half, bfloat16, "
            "float, double [Op:SparseSoftmaxCrossEntropyWithLogits]. Use tf.cast(logits, tf.float32)"
        )
    narrow = z.dtype if z.dtype is dtypes.float16 or z.dtype is dtypes.bfloat16 else None
    z = z if narrow is None else ops.cast(z, dtype=dtypes.float32)
    k = k if k.dtype is dtypes.int64 else ops.cast(k, dtype=dtypes.int64)
    y = ops.sparse_softmax_cross_entropy(k, z)
    return y if narrow is None else ops.cast(y, dtype=narrow)


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` with the positive term multiplied by `pos_weight`.

    >>> tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 2.0).numpy()
    array([1.3862944, 0.6931472], dtype=float32)
    """
    p, z = _pair(labels, logits, ("logits", "labels"))
    # `z - p * z` would be NaN for an infinite logit.
    return (1 - p) * z + (p * (to_tensor(pos_weight, hint=p.dtype) - 1) + 1) * ops.softplus(-z)


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """`exp(log_input) - log_input * targets`; `compute_full_loss` adds Stirling's approximation of `log(targets!)`.

    >>> tf.nn.log_poisson_loss([1.0], [0.0]).numpy()
    array([1.], dtype=float32)
    """
    t, c = _pair(targets, log_input, ("log_input", "targets"))
    loss = ops.exp(c) - c * t
    if compute_full_loss:
        stirling = t * ops.log(t) - t + ops.log(t * (2 * math.pi)) * 0.5
        small = ops.logical_and(ops.greater_equal(t, 0), ops.less_equal(t, 1))
        loss = loss + ops.where(small, ops.zeros_like(t), stirling)
    return loss


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of the squares of all elements, `y = sum(t**2) / 2`: the usual penalty of large weights.

    - Shape: a scalar.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`; the result has that of `t`.
    - Derivative: `∂y/∂t = t`.

    >>> float(tf.nn.l2_loss(tf.constant([3.0, 4.0])))
    12.5
    """
    return ops.half_square(to_tensor(t))


def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike | None = None, global_batch_size: TensorLike | None = None
) -> Tensor:
    """Divides the weighted sum of the losses by the global batch size, by default that of all replicas.

    >>> float(tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[1.0, 0.5], global_batch_size=4))
    0.5
    """
    loss = to_tensor(per_example_loss)
    if not loss.dims:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. Received "
            f"per_example_loss={per_example_loss} with rank 0"
        )
    if sample_weight is not None:
        weight = cast(sample_weight, loss.dtype)
        missing = len(loss.dims) - len(weight.dims)
        if missing == 1 and weight.dims:
            weight = ops.reshape(weight, shape=(*weight.dims, 1))
        elif missing == -1:
            weight = squeeze(weight, -1)
        loss = loss * weight
    if global_batch_size is None:
        examples = loss.dims[0] * count_replicas("compute_average_loss")
    else:
        size = to_array(global_batch_size)
        if size.dtype.kind not in "iu":
            raise TypeError(f"global_batch_size must be an integer. Received: global_batch_size={global_batch_size!r}")
        if size.ndim:
            raise ValueError(f"global_batch_size must be scalar. Received one of shape {size.shape}: {size}")
        if size < 0:
            raise errors.InvalidArgumentError(f"global_batch_size must be non-negative. Received: {size}")
        examples = int(size)
    return ops.divide_no_nan(ops.sum(loss, axis=tuple(range(len(loss.dims))), keepdims=False), examples)


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """Sums the losses and divides by the number of replicas, so that a regularization loss counts once.

    >>> float(tf.nn.scale_regularization_loss([1.0, 2.0]))
    3.0
    """
    loss = to_tensor(regularization_loss)
    total = ops.sum(loss, axis=tuple(range(len(loss.dims))), keepdims=False)
    return total / count_replicas("scale_regularization_loss")  # the division converts integers to floats
