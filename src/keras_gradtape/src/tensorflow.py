"""TensorFlow's interface for Keras: gradtape's names, plus the private and TensorFlow 1 names that Keras uses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gradtape as tf
from gradtape.core.nest import Composite
from gradtape.core.owners import Trackable


class _Extended(SimpleNamespace):
    """A namespace of gradtape with additional names, which take precedence."""

    def __init__(self, base: Any, **names: Any) -> None:
        super().__init__(_base=base, **names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


__internal__ = SimpleNamespace(
    CompositeTensor=Composite,
    EagerTensor=tf.Tensor,
    distribute=SimpleNamespace(strategy_supports_no_merge_call=lambda: True),
    smart_cond=SimpleNamespace(smart_cond=tf.cond),
    tf2=SimpleNamespace(enabled=lambda: True),
    tracking=SimpleNamespace(AutoTrackable=tf.Module, Trackable=Trackable),
)


def _cond(pred: Any, true_fn: Any, false_fn: Any) -> Any:
    """`tf.cond` with TensorFlow 1's unpacking of a list with a single result."""
    result = tf.cond(pred, true_fn, false_fn)
    return result[0] if isinstance(result, list | tuple) and len(result) == 1 else result


def _gradients(ys: Any, xs: Any, colocate_gradients_with_ops: bool = False) -> Any:
    return tf.gradients(ys, xs)


def _where(condition: Any, x: Any, y: Any) -> Any:
    """`tf.where` with TensorFlow 1's broadcasting: a vector condition selects whole rows."""
    rows = len(condition.shape) == 1
    return tf.where(tf.reshape(condition, [-1] + [1] * (len(x.shape) - 1)) if rows else condition, x, y)


def _initializer(kind: Any) -> Any:
    """Adapts an initializer to TensorFlow 1's signature, where the constructor takes the dtype."""

    def made(first: Any, second: Any, dtype: Any, seed: Any) -> Any:
        return lambda shape: kind(first, second, seed=seed)(shape, dtype)

    return made


def _convolution(input: Any, filter: Any, **options: Any) -> Any:
    dilations = options.pop("dilation_rate")
    return tf.nn.convolution(input, filter, dilations=dilations, **options)


def _ctc_loss(inputs: Any, labels: Any, sequence_length: Any) -> Any:
    return tf.nn.ctc_loss(labels, inputs, None, sequence_length, blank_index=-1)


def _ctc_beam_search_decoder(inputs: Any, sequence_length: Any, beam_width: int, top_paths: int) -> Any:
    """The decoder with TensorFlow 1's merging of repeated labels."""
    paths, scores = tf.nn.ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths)
    return [_without_repetitions(path) for path in paths], scores


def _without_repetitions(path: Any) -> Any:
    present = tf.sparse.to_dense(tf.sparse.map_values(tf.ones_like, path))
    labels, lengths = tf.nn.collapse_repeated(tf.sparse.to_dense(path), tf.reduce_sum(present, axis=1))
    places = tf.where(tf.sequence_mask(lengths, labels.shape[1]))
    return tf.SparseTensor(places, tf.gather_nd(labels, places), labels.shape)


compat = _Extended(
    tf.compat,
    v1=_Extended(
        tf.compat.v1,
        assign=lambda ref, value: ref.assign(value),
        assign_add=lambda ref, value: ref.assign_add(value),
        assign_sub=lambda ref, value: ref.assign_sub(value),
        boolean_mask=tf.boolean_mask,
        cond=_cond,
        foldl=tf.foldl,
        foldr=tf.foldr,
        gather=tf.gather,
        gather_nd=tf.gather_nd,
        gradients=_gradients,
        map_fn=tf.map_fn,
        math=SimpleNamespace(in_top_k=lambda predictions, targets, k: tf.math.in_top_k(targets, predictions, k)),
        nn=SimpleNamespace(
            avg_pool=tf.nn.avg_pool,
            conv2d_transpose=tf.nn.conv2d_transpose,
            convolution=_convolution,
            ctc_beam_search_decoder=_ctc_beam_search_decoder,
            ctc_loss=_ctc_loss,
            max_pool=tf.nn.max_pool,
        ),
        pad=tf.pad,
        random_normal_initializer=_initializer(tf.random_normal_initializer),
        random_uniform_initializer=_initializer(tf.random_uniform_initializer),
        scan=tf.scan,
        sparse_concat=tf.sparse.concat,
        where=_where,
        while_loop=tf.while_loop,
    ),
)


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
