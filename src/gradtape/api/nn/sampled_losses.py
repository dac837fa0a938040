"""Sampled losses over many classes, accidental hits of sampled classes, and isotonic regression."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run import dispatch
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...engine.run.randomness import seeds_of_op
from ..namespace import resolve
from ..random.candidates import log_uniform_candidate_sampler
from .embedding import embedding_lookup

NAMESPACES = ("nn",)
__all__ = ["compute_accidental_hits", "isotonic_regression", "nce_loss", "sampled_softmax_loss"]

_NEVER = -float(np.finfo(np.float32).max)


def _logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int,
    sampled_values: Any, remove_accidental_hits: bool, seed: int | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Returns logits of true and sampled classes minus the logs of their probabilities, and the labels."""
    x = to_tensor(inputs)
    true = ops.cast(to_tensor(labels), dtype=dtypes.int64)
    batch = x.dims[0]
    flat = ops.reshape(true, shape=(batch * num_true,))
    values = sampled_values
    if values is None:
        values = log_uniform_candidate_sampler(true, num_true, num_sampled, True, num_classes, seed)
    ids, true_count, sampled_count = (ops.stop_gradient(to_tensor(value)) for value in values)
    ids = ops.cast(ids, dtype=dtypes.int64)
    every = ops.concat(flat, ids, axis=0)
    w, b = embedding_lookup(weights, every), embedding_lookup(biases, every)
    here, there = (slice(None, batch * num_true),), (slice(batch * num_true, None),)
    true_w = ops.reshape(ops.slice(w, key=here), shape=(batch, num_true, x.dims[1]))
    of_true = ops.sum(ops.reshape(x, shape=(batch, 1, x.dims[1])) * true_w, axis=(2,), keepdims=False)
    of_true = of_true + ops.reshape(ops.slice(b, key=here), shape=(batch, num_true))
    of_sampled = ops.matmul(x, ops.slice(w, key=there), transpose_b=True) + ops.slice(b, key=there)
    if remove_accidental_hits:
        if dispatch.thread.trace is None:
            seeds_of_op(None)  # nothing is drawn, but TensorFlow's op that finds the hits consumes a seed
        same = ops.equal(ops.reshape(true, shape=(batch, num_true, 1)), ids)
        hits = ops.sum(ops.cast(same, dtype=x.dtype), axis=(1,), keepdims=False)
        of_sampled = of_sampled + hits * _NEVER
    of_true = of_true - ops.log(ops.cast(true_count, dtype=x.dtype))
    of_sampled = of_sampled - ops.log(ops.cast(sampled_count, dtype=x.dtype))
    target = np.zeros((batch, num_true + ids.dims[0]), x.dtype.numpy)
    target[:, :num_true] = 1 / num_true
    return ops.concat(of_true, of_sampled, axis=1), Tensor(target)


def nce_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: tuple[Tensor, Tensor, Tensor] | None = None,
    remove_accidental_hits: bool = False, name: str = "nce_loss",
) -> Tensor:  # fmt: skip
    """Noise-contrastive estimation: logistic regression of the true classes against `num_sampled` sampled ones.

    >>> given = tf.constant([0], tf.int64), tf.constant([[1.0]]), tf.constant([1.0])
    >>> w, b, x = tf.zeros((3, 2)), tf.zeros(3), tf.ones((1, 2))
    >>> tf.nn.nce_loss(w, b, [[1]], x, num_sampled=1, num_classes=3, sampled_values=given).numpy()
    array([1.3862944], dtype=float32)
    """
    logits, target = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        seed=None,
    )  # fmt: skip
    return ops.sum(ops.sigmoid_cross_entropy(target, logits), axis=(1,), keepdims=False)


def sampled_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: tuple[Tensor, Tensor, Tensor] | None = None, remove_accidental_hits: bool = True,
    seed: int | None = None, name: str = "sampled_softmax_loss",
) -> Tensor:  # fmt: skip
    """The softmax cross entropy over the true classes and `num_sampled` sampled ones.

    >>> given = tf.constant([0], tf.int64), tf.constant([[1.0]]), tf.constant([1.0])
    >>> w, b, x = tf.zeros((3, 2)), tf.zeros(3), tf.ones((1, 2))
    >>> tf.nn.sampled_softmax_loss(w, b, [[1]], x, num_sampled=1, num_classes=3, sampled_values=given).numpy()
    array([0.6931472], dtype=float32)
    """
    logits, target = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        seed=seed,
    )  # fmt: skip
    return ops.softmax_cross_entropy(target, logits)


class IsotonicRegression(NamedTuple):
    """The result of `isotonic_regression`: the sequence, and the segment of each element."""

    output: Tensor
    segments: Tensor


def isotonic_regression(inputs: TensorLike, decreasing: bool = True, axis: int = -1) -> IsotonicRegression:
    """Returns the nonincreasing (or nondecreasing) sequence closest to `inputs` along `axis`.

    >>> tf.nn.isotonic_regression(tf.constant([3.0, 1.0, 2.0])).output.numpy()
    array([3. , 1.5, 1.5], dtype=float32)
    """
    x = to_tensor(inputs)
    if not x.dtype.is_floating:
        x = ops.cast(x, dtype=dtypes.float32 if x.dtype.size < 4 else dtypes.float64)
    rank = len(x.dims)
    axis = int(to_array(axis)) % rank
    perm = (*(i for i in range(rank) if i != axis), axis)
    back = tuple(np.argsort(perm).tolist())
    y, segments = ops.isotonic(ops.transpose(x if decreasing else -x, perm=perm))
    y, segments = ops.transpose(y, perm=back), ops.transpose(segments, perm=back)
    return IsotonicRegression(y if decreasing else -y, segments)


class ComputeAccidentalHits(NamedTuple):
    """The result of `compute_accidental_hits`."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


def compute_accidental_hits(
    true_classes: TensorLike, sampled_candidates: TensorLike, num_true: int, seed: int | None = None,
    name: str | None = None,
) -> ComputeAccidentalHits:  # fmt: skip
    """Returns the rows of `true_classes` and the positions of candidates that occur in them, with the lowest weight.

    If a class is sampled twice, its last position counts.

    >>> hits = tf.nn.compute_accidental_hits([[1, 3]], [2, 3], 2)
    >>> hits.indices.numpy().tolist(), hits.ids.numpy().tolist()
    ([0], [1])
    """
    true, drawn = to_tensor(true_classes, hint=dtypes.int64), to_tensor(sampled_candidates, hint=dtypes.int64)
    if len(true.dims) != 2 or true.dims[1] != num_true:
        raise errors.InvalidArgumentError(
            f"true_candidates must be a batch_size * num_true matrix, got {list(true.dims)} with num_true = {num_true}"
        )
    if len(drawn.dims) != 1:
        raise errors.InvalidArgumentError(f"sampled_candidates must be a vector, got shape {list(drawn.dims)}")
    count = drawn.dims[0]
    same = resolve("equal")(true[:, :, None], drawn)
    places = resolve("where")(same, np.arange(count), -1)
    last = resolve("reduce_max")(places, axis=2)
    found = resolve("where")(resolve("greater_equal")(last, 0))
    rows = resolve("cast")(found[:, 0], dtypes.int32)
    ids = resolve("cast")(resolve("gather_nd")(last, found), dtypes.int64)
    return ComputeAccidentalHits(rows, ids, resolve("fill")([found.dims[0]], np.finfo(np.float32).min))
