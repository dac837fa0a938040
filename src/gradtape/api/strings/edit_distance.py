"""The Levenshtein distance: the number of insertions, deletions and substitutions between two sequences."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ...core import errors
from ...core.tensor import Tensor
from ...engine.run.convert import to_array, wrong_input
from ...sparse.tensor import SparseTensor, made_sparse

NAMESPACES = ("",)
__all__ = ["edit_distance"]


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Returns the distance between corresponding sequences of two sparse tensors, along the last axis.

    Args:
      normalize: whether to divide by the length of the true sequence; for an empty true sequence, the distance is inf,
        or 0 if both are empty.

    >>> guess = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    >>> right = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "c", "c"], [2, 2])
    >>> tf.edit_distance(guess, right).numpy()
    array([0.5, 0. ], dtype=float32)
    """
    hypothesis, truth = made_sparse(hypothesis), made_sparse(truth)
    for title, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, SparseTensor):
            raise TypeError(f"{title} must be a SparseTensor, got {value!r}. Use tf.sparse.from_dense")
    if hypothesis.dtype is not truth.dtype:
        raise errors.InvalidArgumentError(wrong_input("EditDistance", 4, hypothesis.dtype, truth.dtype))
    shapes = [to_array(s.dense_shape) for s in (hypothesis, truth)]
    if len(shapes[0]) != len(shapes[1]) or len(shapes[0]) < 2:
        raise errors.InvalidArgumentError(
            "Input SparseTensors must have the same rank, which must be at least 2, got the shapes "
            f"{shapes[0].tolist()} and {shapes[1].tolist()} [Op:EditDistance]"
        )
    shape = np.maximum(*shapes)[:-1]
    guesses, truths = _sequences(hypothesis, shape), _sequences(truth, shape)
    distances = np.zeros(shape, np.float32)
    for place in {*guesses, *truths}:
        a, b = guesses[place], truths[place]
        distance = np.float32(_distance(np.array(a), np.array(b)))
        distances[place] = distance if not normalize else distance / np.float32(len(b)) if b else np.inf
    return Tensor(distances)


def _sequences(s: SparseTensor, shape: Any) -> defaultdict[tuple[int, ...], list[Any]]:
    """Returns the sequence at each index that has one."""
    found: defaultdict[tuple[int, ...], list[Any]] = defaultdict(list)
    for index, value in zip(to_array(s.indices)[:, :-1].tolist(), to_array(s.values).tolist(), strict=True):
        if any(not 0 <= i < n for i, n in zip(index, shape, strict=True)):
            raise errors.InternalError(
                f"the place {index} of a sequence is outside of {shape.tolist()} [Op:EditDistance]"
            )
        found[tuple(index)].append(value)
    return found


def _distance(a: Any, b: Any) -> int:
    """Computes the table of distances between the first i of `a` and the first j of `b`, row by row."""
    steps = np.arange(len(b) + 1)
    row = steps
    for i, x in enumerate(a):
        best = np.minimum(row[:-1] + (b != x), row[1:] + 1)
        # An insertion costs one more than the entry to the left: a running minimum after subtracting the steps.
        row = np.minimum.accumulate(np.concatenate([[i + 1], best]) - steps) + steps
    return int(row[-1])
