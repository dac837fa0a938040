"""Cross-entropies, one-hot encodings and the peak signal-to-noise ratio."""

from __future__ import annotations

import math
import warnings
from typing import Any

from keras.src import backend
from keras.src.backend.common import standardize_dtype

import gradtape as tf
from gradtape import Tensor
from gradtape.core.tracebacks import at_boundary
from gradtape.engine.registry.op import Op
from gradtape.engine.run.namespace import ops
from gradtape.ops.arrays.reductions import softmax
from gradtape.ops.elementwise.transcendental import sigmoid

from ...sparse import hot
from ..core import cast
from ..core import dense_tensor as convert_to_tensor


def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    x = convert_to_tensor(x)
    if not x.dtype.is_integer:
        x = cast(x, "int32")
    dtype = tf.as_dtype(backend.floatx() if dtype is None else standardize_dtype(dtype))
    if sparse:
        return hot(x, int(num_classes), axis % (len(x.dims) + 1), dtype)
    on, off = (ops.cast(tf.constant(flag), dtype=dtype) for flag in (1, 0))
    return ops.one_hot(x, on, off, depth=int(num_classes), axis=axis % (len(x.dims) + 1))


def multi_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    x = cast(convert_to_tensor(x), "int32")
    along = 1 if len(x.dims) > 1 else 0
    if sparse:
        found = one_hot(x, num_classes, axis=axis, dtype="int32", sparse=True)
        largest = tf.sparse.reduce_max(found, axis=along, output_is_sparse=True)
        return tf.cast(largest, backend.floatx() if dtype is None else dtype)
    largest = ops.max(one_hot(x, num_classes, axis=axis, dtype="int32"), axis=(along,), keepdims=False)
    return cast(largest, backend.floatx() if dtype is None else dtype)


@at_boundary
def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    x, labels = _pair(target, output)
    if not x.dims:
        raise ValueError(
            "Arguments `target` and `output` must be at least rank 1. Received: "
            f"target.shape={labels.dims}, output.shape={x.dims}"
        )
    axis = axis % len(x.dims)
    x, from_logits = _logits(x, from_logits, softmax, "categorical_crossentropy")
    if from_logits:
        last = (*(i for i in range(len(x.dims)) if i != axis), axis)
        if axis != len(x.dims) - 1:
            x, labels = ops.transpose(x, perm=last), ops.transpose(labels, perm=last)
        return ops.softmax_cross_entropy(labels, x)
    return -ops.sum(labels * ops.log(_probabilities(x, axis)), axis=(axis,), keepdims=False)


def _logits(output: Tensor, from_logits: bool, activation: Op, loss: str) -> tuple[Tensor, bool]:
    """Returns the input of the loss, and whether it is logits: those of an activation are known.

    In a graph, this includes TensorFlow's own functions: see `keras.src.backend.tensorflow.nn._get_logits`.
    """
    logits = getattr(output, "_keras_logits", None)
    if logits is None:
        op, inputs, attrs = getattr(output, "made_by", None) or (None, (), {})
        if op is activation and attrs.get("axis", -1) in (-1, len(output.dims) - 1):
            logits = inputs[0]
    if logits is None:
        return output, from_logits
    if from_logits:
        warnings.warn(
            f'"`{loss}` received `from_logits=True`, but the `output` argument was produced by a '
            f"{activation.name.capitalize()} activation and thus does not represent logits. Was this intended?",
            stacklevel=3,
        )
    return convert_to_tensor(logits, output.dtype), True


def _pair(target: Any, output: Any) -> tuple[Tensor, Tensor]:
    """Returns the output, and the target cast to its dtype; raises ValueError if the shapes differ."""
    x, labels = convert_to_tensor(output), convert_to_tensor(target)
    if labels.dims != x.dims:
        advice = ""
        if x.dims and x.dims[-1] > 1 and labels.dims in (x.dims[:-1], (*x.dims[:-1], 1)):
            advice = (
                f". The labels have rank {len(labels.dims)} and no axis of {x.dims[-1]} classes. Use "
                "tf.keras.losses.SparseCategoricalCrossentropy for labels that are class numbers"
            )
        raise ValueError(
            "Arguments `target` and `output` must have the same shape. Received: "
            f"target.shape={labels.dims}, output.shape={x.dims}{advice}"
        )
    return x, cast(labels, x.dtype)


def _probabilities(x: Tensor, axis: int) -> Tensor:
    return _clipped(x / ops.sum(x, axis=(axis,), keepdims=True))


def _clipped(x: Tensor) -> Tensor:
    epsilon = backend.epsilon()
    return ops.minimum(ops.maximum(x, epsilon), 1.0 - epsilon)


@at_boundary
def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    x, labels = convert_to_tensor(output), cast(convert_to_tensor(target), "int64")
    if len(labels.dims) == len(x.dims) and labels.dims and labels.dims[-1] == 1:
        labels = ops.reshape(labels, shape=labels.dims[:-1])
    if not x.dims:
        raise ValueError(f"Argument `output` must be at least rank 1. Received: output.shape={x.dims}")
    axis = axis % len(x.dims)
    x, from_logits = _logits(x, from_logits, softmax, "sparse_categorical_crossentropy")
    if labels.dims != x.dims[:-1]:
        advice = ""
        if labels.dims == x.dims:
            advice = (
                f". The labels have rank {len(labels.dims)} like the output, and class numbers have one axis less. Use "
                "tf.keras.losses.CategoricalCrossentropy for one-hot labels"
            )
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last dimension: "
            f"target.shape={labels.dims}, output.shape={x.dims}{advice}"
        )
    if axis != len(x.dims) - 1:
        hot = one_hot(labels, x.dims[axis], axis=axis, dtype=x.dtype.name)
        return categorical_crossentropy(hot, x, from_logits, axis)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x if from_logits else ops.log(_clipped(x)))


@at_boundary
def binary_crossentropy(target, output, from_logits=False):
    x, labels = _pair(target, output)
    x, from_logits = _logits(x, from_logits, sigmoid, "binary_crossentropy")
    if from_logits:
        return ops.sigmoid_cross_entropy(labels, x)
    x = _clipped(x)
    return -(labels * ops.log(x) + (1.0 - labels) * ops.log(1.0 - x))


def psnr(x1, x2, max_val):
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    if x1.dims != x2.dims:
        raise ValueError(f"Input shapes {x1.dims} and {x2.dims} must match for PSNR calculation. ")
    error = ops.mean(ops.squared_difference(x1, x2), axis=tuple(range(len(x1.dims))), keepdims=False)
    peak = convert_to_tensor(max_val, dtype=x2.dtype)
    return (20 * ops.log(peak) - 10 * ops.log(error)) / math.log(10)
