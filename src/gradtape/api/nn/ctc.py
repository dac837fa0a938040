"""Connectionist temporal classification: the probability of a label sequence, summed over all its alignments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...sparse.tensor import SparseTensor
from ..arrays.indexing import gather, scatter_nd
from ..debugging.checks import assert_less_equal
from ..math.scans import cumsum
from ..math.segments import unsorted_segment_sum

NAMESPACES = ("nn",)
__all__ = ["collapse_repeated", "ctc_loss", "ctc_unique_labels"]

# TensorFlow's probability of ending in the wrong state, 1e-307, is the result for labels without an alignment.
_LOG_WRONG_END = math.log(1e-307)
_LOG_ZERO = -1e30  # finite, so that the derivative of an impossible path is 0 and not NaN


def _log_add(*terms: Tensor) -> Tensor:
    stacked = ops.stack(*terms, axis=0)
    return ops.logsumexp(stacked, axis=(0,), keepdims=False)


def label_rows(labels: SparseTensor, batch: int) -> tuple[Tensor, Tensor]:
    """Returns the labels of each row, left-aligned, and their number."""
    rows = ops.slice(labels.indices, key=(slice(None), 0))
    lengths = unsorted_segment_sum(ops.ones_like(rows), rows, batch)
    columns = cumsum(ops.ones_like(rows), exclusive=True) - gather(cumsum(lengths, exclusive=True), rows)
    dense = scatter_nd(ops.stack(rows, columns, axis=1), labels.values, [batch, max(labels.shape[1], 1)])
    return dense, ops.cast(lengths, dtype=dtypes.int32)


def _states(x: Tensor, part: slice) -> Tensor:
    return ops.slice(x, key=(slice(None), part))


def _if(condition: Tensor, dtype: Any, otherwise: float) -> Tensor:
    """Returns 0 where `condition` is true, `otherwise` elsewhere."""
    return (1 - ops.cast(condition, dtype=dtype)) * otherwise


def _infinite_loss(x: Tensor, ends: Tensor) -> Tensor:
    """Returns inf for each row, with the derivative of TensorFlow's kernel for sparse labels."""
    steps = ops.reshape(ops.constant(np.arange(x.dims[0])), shape=(x.dims[0], 1))
    running = ops.cast(ops.less(steps, ends), dtype=x.dtype)
    total = ops.sum(ops.logsumexp(x, axis=(2,), keepdims=False) * running, axis=(0,), keepdims=False)
    return total - ops.stop_gradient(total) + math.inf


def ctc_loss(
    labels: TensorLike, logits: TensorLike, label_length: TensorLike | None, logit_length: TensorLike,
    logits_time_major: bool = True, unique: tuple[Tensor, Tensor] | None = None, blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`-log` of the probability of each row of `labels` under `logits`, of shape `(frames, batch, classes)`.

    Args:
      labels: dense, of shape `(batch, max_labels)`; or sparse: each row's labels are its values in their order,
        `label_length` is not used, and `blank_index` must be given.
      logits_time_major: False if the logits have shape `(batch, frames, classes)`.
      blank_index: the blank class, 0 by default; negative numbers count from the end.

    >>> tf.nn.ctc_loss([[1, 2]], tf.zeros((3, 1, 3)), label_length=[2], logit_length=[3]).numpy()
    array([1.686399], dtype=float32)
    """
    x = to_tensor(logits)
    if len(x.dims) != 3:
        raise ValueError(f"logits must have three axes, frames, batch and classes. Received: shape {x.dims}")
    if not logits_time_major:
        x = ops.transpose(x, perm=(1, 0, 2))
    _, batch, classes = x.dims
    is_sparse = isinstance(labels, SparseTensor)
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("Argument `blank_index` must be provided when `labels` is a `SparseTensor`.")
        labels, label_length = label_rows(labels, batch)
        assert_less_equal(
            label_length, logit_length, "Not enough time for target transition sequence: more labels than frames"
        )
    blank = 0 if blank_index is None else blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise errors.InvalidArgumentError(f"blank_index={blank_index} is not one of the {classes} classes")
    return alignment_loss(x, labels, label_length, logit_length, blank, infinite=is_sparse)


def alignment_loss(
    x: Tensor, labels: Any, label_length: Any, logit_length: Any, blank: int, infinite: bool = False,
    merges: bool = True,
) -> Tensor:  # fmt: skip
    """Returns `-log` of the probability of each row of `labels`, the sum over all alignments.

    Args:
      x: the logits, `(frames, batch, classes)`.
      infinite: whether labels without an alignment have an infinite loss, as sparse ones in TensorFlow, or a large one.
      merges: whether a label may last several frames; otherwise, each frame that emits it is a label of its own.
    """
    frames, batch, classes = x.dims
    narrow = x.dtype if x.dtype in (dtypes.float16, dtypes.bfloat16) else None
    x = x if narrow is None else ops.cast(x, dtype=dtypes.float32)
    targets, lengths, ends = (
        ops.cast(to_tensor(value), dtype=dtypes.int64) for value in (labels, label_length, logit_length)
    )
    most = targets.dims[1]
    states = 2 * most + 1
    # The states of an alignment: a blank, a label, a blank, a label, ..., a blank.
    blanks = ops.zeros_like(targets) + blank
    pairs = ops.reshape(ops.stack(blanks, targets, axis=2), shape=(batch, 2 * most))
    path = ops.concat(pairs, ops.constant(np.full((batch, 1), blank)), axis=1)
    hits = ops.equal(ops.reshape(path, shape=(batch, 1, states)), ops.constant(np.arange(classes)[:, None]))
    emitted = ops.matmul(
        ops.transpose(ops.log_softmax(x, axis=2), perm=(1, 0, 2)), ops.cast(hits, dtype=x.dtype)
    )  # (batch, frames, states)
    is_label = ops.constant(np.arange(states) % 2 == 1)
    changes = ops.not_equal(_states(path, slice(2, None)), _states(path, slice(-2)))
    skips = ops.slice(is_label, key=(slice(2, None),))
    skip_cost = _if(ops.logical_and(changes, skips) if merges else skips, x.dtype, _LOG_ZERO)
    stay_cost = _if(ops.logical_not(is_label), x.dtype, _LOG_ZERO)
    none = ops.constant(np.full((batch, 2), _LOG_ZERO, x.dtype.numpy))
    first = np.where(np.arange(states) < 2, 0, _LOG_ZERO).astype(x.dtype.numpy)
    alpha = ops.constant(first) + ops.slice(emitted, key=(slice(None), 0))
    for t in range(1, frames):
        one = ops.concat(_states(none, slice(1)), _states(alpha, slice(-1)), axis=1)
        two = ops.concat(none, _states(alpha, slice(-2)) + skip_cost, axis=1)
        moved = _log_add(alpha if merges else alpha + stay_cost, one, two) + ops.slice(emitted, key=(slice(None), t))
        running = ops.reshape(ops.less(ops.constant(np.array(t)), ends), shape=(batch, 1))
        alpha = ops.where(running, moved, alpha)
    last = ops.reshape(2 * lengths, shape=(batch, 1))
    place = ops.constant(np.arange(states))
    final = ops.logical_or(ops.equal(place, last), ops.equal(place, last - 1))
    loss = -ops.logsumexp(alpha + _if(final, x.dtype, _LOG_WRONG_END), axis=(1,), keepdims=False)
    no_frames = -_if(ops.equal(lengths, 0), x.dtype, _LOG_WRONG_END)
    loss = ops.where(ops.greater(ends, 0), loss, no_frames)
    if infinite:
        repeats = ops.logical_not(ops.slice(changes, key=(slice(None), slice(1, None, 2))))
        inside = ops.less(ops.constant(np.arange(1, most)), ops.reshape(lengths, shape=(batch, 1)))
        blanks_between = ops.sum(
            ops.cast(ops.logical_and(repeats, inside), dtype=dtypes.int64), axis=(1,), keepdims=False
        )
        needed = lengths + blanks_between if merges else lengths
        loss = ops.where(ops.less_equal(needed, ends), loss, _infinite_loss(x, ends))
    return loss if narrow is None else ops.cast(loss, dtype=narrow)


def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Merges runs of the same label in each row of `labels`; also returns the new lengths of the rows.

    >>> rows, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 3])
    >>> rows.numpy().tolist(), lengths.numpy().tolist()
    ([[1, 2, 1], [3, 0, 0]], [3, 1])
    """
    rows, given = to_tensor(labels), to_tensor(seq_length)
    values, lengths = to_array(rows), to_array(given)
    starts = np.ones(values.shape, bool)
    starts[:, 1:] = values[:, 1:] != values[:, :-1]
    starts &= np.arange(values.shape[1]) < lengths[:, None]
    counts = starts.sum(axis=1)
    merged = np.zeros((len(values), int(counts.max(initial=0))), values.dtype)
    merged[np.arange(merged.shape[1]) < counts[:, None]] = values[starts]
    return Tensor(merged, rows.dtype), Tensor(counts.astype(lengths.dtype), given.dtype)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> list[Tensor]:
    """Returns the distinct labels of each row, padded with zeros, and the index of each label among them.

    >>> [x.numpy().tolist() for x in tf.nn.ctc_unique_labels([[3, 4, 4]])]
    [[[3, 4, 0]], [[0, 1, 1]]]
    """
    rows = to_array(to_tensor(labels))
    unique, places = np.zeros(rows.shape, np.int64), np.zeros(rows.shape, np.int32)
    for i, row in enumerate(rows.tolist()):
        order = list(dict.fromkeys(row))
        unique[i, : len(order)] = order
        places[i] = [order.index(label) for label in row]
    return [to_tensor(unique), to_tensor(places)]
