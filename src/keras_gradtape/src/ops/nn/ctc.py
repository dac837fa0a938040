"""Connectionist temporal classification (CTC): loss and decoders."""

from __future__ import annotations

import numpy as np
from keras.src.backend.common.dtypes import result_type

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import cast
from ..core import dense_tensor as convert_to_tensor


def ctc_loss(target, output, target_length, output_length, mask_index=0):
    x = convert_to_tensor(output)
    x = cast(x, result_type(x.dtype.name, "float32"))
    labels, label_length, logit_length = (
        cast(convert_to_tensor(value), "int32") for value in (target, target_length, output_length)
    )
    return tf.nn.ctc_loss(labels, x, label_length, logit_length, logits_time_major=False, blank_index=mask_index)


def ctc_decode(
    inputs, sequence_lengths, strategy="greedy", beam_width=100, top_paths=1, merge_repeated=True, mask_index=0
):
    x = convert_to_tensor(inputs)
    x = cast(x, result_type(x.dtype.name, "float32"))
    lengths = cast(convert_to_tensor(sequence_lengths), "int32")
    blank = (x.dims[2] - 1 if mask_index is None else mask_index) % x.dims[2]
    if strategy == "greedy":
        return _greedy(x, lengths, merge_repeated, blank)
    if strategy == "beam_search":
        return _beam_search(x, lengths, beam_width, top_paths, blank)
    raise ValueError(f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'.")


def _greedy(x: Tensor, lengths: Tensor, merge_repeated: bool, blank: int) -> tuple[Tensor, Tensor]:
    """Returns the most probable class per frame, with labels moved to the front and padded with -1."""
    _, frames, _ = x.dims
    counted = convert_to_tensor(np.arange(frames), dtype="int32") < lengths[:, None]
    best = tf.argmax(x, axis=2, output_type="int32")
    scores = ops.masked(counted, ops.max(x, axis=(2,), keepdims=False))
    is_label = ops.logical_and(counted, best != blank)
    if merge_repeated:
        changes = best[:, 1:] != best[:, :-1]
        is_label = ops.logical_and(is_label, tf.pad(changes, [(0, 0), (1, 0)], constant_values=True))
    labels = ops.where(is_label, best, convert_to_tensor(-1, dtype=best.dtype))
    order = tf.argsort(ops.cast(ops.logical_not(is_label), dtype=best.dtype), axis=1, stable=True)
    labels = tf.gather(labels, order, axis=1, batch_dims=1)
    return labels[None], -ops.sum(scores, axis=(1,), keepdims=True)


def _beam_search(x: Tensor, lengths: Tensor, beam_width: int, top_paths: int, blank: int) -> tuple[Tensor, Tensor]:
    batch, frames, classes = x.dims
    order = [*(i for i in range(classes) if i != blank), blank]  # TensorFlow's decoder expects the blank at the end
    logits = tf.gather(ops.transpose(x, perm=(1, 0, 2)), order, axis=2)
    paths, scores = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width, top_paths)
    class_of = convert_to_tensor([*order, -1], dtype="int32")
    dense = []
    for path in paths:
        rows = tf.sparse.to_dense(tf.SparseTensor(path.indices, path.values, (batch, frames)), default_value=classes)
        dense.append(tf.gather(class_of, rows))
    return ops.stack(*dense, axis=0), scores
