"""Accidental hits of sampled classes, and unique labels of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ..namespace import resolve

NAMESPACES = ("nn",)
__all__ = ["compute_accidental_hits", "ctc_unique_labels"]


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
