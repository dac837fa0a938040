"""Decoders of connectionist temporal classification: the label sequences that logits over frames predict."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor, wrong_input
from ...sparse.tensor import SparseTensor

NAMESPACES = ("nn",)
__all__ = ["ctc_beam_search_decoder", "ctc_greedy_decoder"]


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Tensor]:
    """Returns the most probable class of each frame, without blanks, and minus the sum of their logits.

    Args:
      inputs: logits of shape `(frames, batch, classes)`.
      merge_repeated: whether to merge a class that is the most probable one in successive frames into one label.
      blank_index: the blank class, the last by default.

    >>> logits = tf.math.log([[[0.6, 0.1, 0.3]], [[0.6, 0.1, 0.3]], [[0.1, 0.2, 0.7]], [[0.1, 0.8, 0.1]]])
    >>> (decoded,), _ = tf.nn.ctc_greedy_decoder(logits, [4])
    >>> decoded.values.numpy()
    array([0, 1])
    """
    logits, lengths = _logits(inputs, sequence_length, "CTCGreedyDecoder")
    frames, _, classes = logits.shape
    blank = classes - 1 if blank_index is None else blank_index
    if not -classes <= blank < classes:
        raise errors.InvalidArgumentError(
            f"blank_index expected to be between {-classes} and {classes - 1} but was {blank} [Op:CTCGreedyDecoder]"
        )
    best = logits.argmax(axis=2)
    counted = np.arange(frames)[:, None] < lengths
    emitted = counted & (best != blank % classes)
    if merge_repeated:
        emitted[1:] &= best[1:] != best[:-1]
    score = -np.where(counted, logits.max(axis=2), 0).sum(axis=0, dtype=logits.dtype)
    decoded = [best[emitted[:, i], i] for i in range(len(lengths))]
    return [_labels(decoded)], Tensor(score[:, None])


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Returns the `top_paths` most probable label sequences, summed over alignments, and their log probabilities.

    Args:
      inputs: logits of shape `(frames, batch, classes)`; the last class is the blank.
      beam_width: the number of prefixes kept from frame to frame.

    >>> logits = tf.math.log([[[0.4, 0.6]], [[0.4, 0.6]]])
    >>> (decoded,), log_probability = tf.nn.ctc_beam_search_decoder(logits, [2])
    >>> decoded.values.numpy(), tf.exp(log_probability).numpy().round(3)
    (array([0]), array([[0.64]], dtype=float32))
    """
    return beam_search(inputs, sequence_length, beam_width, top_paths)


def beam_search(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int, top_paths: int, merge_repeated: bool = False
) -> tuple[list[SparseTensor], Tensor]:
    """`ctc_beam_search_decoder`; with `merge_repeated`, runs of a label in the sequences found become one."""
    title = "CTCBeamSearchDecoder"
    for attribute, value in (("beam_width", beam_width), ("top_paths", top_paths)):
        if value < 1:
            raise errors.InvalidArgumentError(
                f"Value for attr '{attribute}' of {value} must be at least minimum 1 [Op:{title}]"
            )
    logits, lengths = _logits(inputs, sequence_length, title)
    if top_paths > beam_width:
        raise errors.InvalidArgumentError(
            f"requested more paths than the beam width: top_paths={top_paths}, beam_width={beam_width} [Op:{title}]"
        )
    peak = logits.max(axis=2, keepdims=True)
    logs = logits - peak - np.log(np.exp(logits - peak).sum(axis=2, keepdims=True))
    found = [_beam(logs[: max(n, 0), i], beam_width) for i, n in enumerate(lengths)]
    fewest = min(len(paths) for paths, _ in found)
    if fewest < top_paths:
        raise errors.InvalidArgumentError(
            f"Less leaves in the beam search than requested: top_paths={top_paths}, found {fewest} [Op:{title}]"
        )
    merged = (lambda path: tuple([label for label, _ in itertools.groupby(path)])) if merge_repeated else tuple
    decoded = [_labels([merged(paths[k]) for paths, _ in found]) for k in range(top_paths)]
    return decoded, Tensor(np.stack([totals[:top_paths] for _, totals in found]))


def _beam(logs: Any, width: int) -> tuple[list[tuple[int, ...]], Any]:
    """Returns the `width` most probable label sequences and their log probabilities, in descending order.

    The probability of a prefix has two parts: alignments that end with a blank, and those that end with its last label.
    A label can repeat only after a blank; without one, it is a continuation of the same label.
    """
    paths: list[tuple[int, ...]] = [()]
    blank, label = np.zeros(1, logs.dtype), np.full(1, -np.inf, logs.dtype)
    for frame in logs:
        classes, silence = frame[:-1], frame[-1]
        total = np.logaddexp(blank, label)
        last = np.array([path[-1] if path else -1 for path in paths])
        longer = np.where(np.arange(len(classes)) == last[:, None], blank[:, None], total[:, None]) + classes
        stays = label + np.where(last < 0, 0, frame[last])
        rows = {path: row for row, path in enumerate(paths)}
        children: list[dict[int, int]] = [{} for _ in paths]  # prefixes that are in the beam themselves
        for row, path in enumerate(paths):
            parent = rows.get(path[:-1]) if path else None
            if parent is not None:
                stays[row] = np.logaddexp(stays[row], longer[parent, path[-1]])
                children[parent][path[-1]] = row
        kept = total + silence
        old = len(paths)
        best = _survivors(np.logaddexp(kept, stays), total, longer, children, width)
        blank = np.concatenate([kept, np.full(longer.size, -np.inf, logs.dtype)])[best]
        label = np.concatenate([stays, longer.reshape(-1)])[best]
        paths = [paths[i] if i < old else (*paths[(i - old) // len(classes)], (i - old) % len(classes)) for i in best]
    return paths, np.logaddexp(blank, label)


def _survivors(sums: Any, total: Any, longer: Any, children: list[dict[int, int]], width: int) -> list[int]:
    """Returns the indices of the `width` best prefixes: those in the beam first, then their extensions by one label.

    As in TensorFlow, a prefix that was dropped before its parent is processed is not extended.
    """
    old, classes = longer.shape
    beam = [(value, -row) for row, value in enumerate(sums.tolist())]
    heapq.heapify(beam)
    lost: set[int] = set()
    given_up: set[int] = set()
    for row, before in enumerate(total.tolist()):
        floor = beam[0][0] if len(beam) == width else -np.inf
        if row in given_up or before <= floor:
            continue
        for c in sorted({*np.flatnonzero(longer[row] > floor).tolist(), *children[row]}):
            if c in children[row]:
                if children[row][c] in lost:
                    given_up.add(children[row][c])
                continue
            candidate = (float(longer[row, c]), -(old + row * classes + c))
            if len(beam) < width:
                heapq.heappush(beam, candidate)
            elif candidate[0] > beam[0][0]:
                lost.add(-heapq.heapreplace(beam, candidate)[1])
    return [-number for _, number in sorted(beam, reverse=True)]


def _logits(inputs: Any, sequence_length: Any, title: str) -> tuple[Any, Any]:
    """Returns the logits and the number of frames of each batch member, after checking them."""
    given = to_tensor(inputs)
    if given.dtype not in (dtypes.float32, dtypes.float64):
        if isinstance(inputs, Tensor):
            raise errors.InvalidArgumentError(
                f"Value for attr 'T' of {given.dtype.kernel_name()} is not in the list of allowed values: float, "
                f"double [Op:{title}]"
            )
        given = to_tensor(inputs, dtypes.float32)
    if isinstance(sequence_length, Tensor) and sequence_length.dtype is not dtypes.int32:
        raise errors.InvalidArgumentError(wrong_input(title, 1, dtypes.int32, sequence_length.dtype))
    logits, lengths = to_array(given), to_array(to_tensor(sequence_length, dtypes.int32))
    if logits.ndim != 3:
        raise errors.InvalidArgumentError(
            f"inputs is not a 3-Tensor of frames, batch and classes, but of shape {list(logits.shape)} [Op:{title}]"
        )
    if not logits.size:
        raise errors.InvalidArgumentError(f"inputs must not be empty, got shape {list(logits.shape)} [Op:{title}]")
    frames, batch, _ = logits.shape
    if lengths.shape != (batch,):
        raise errors.FailedPreconditionError(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {lengths.size} batch_size: {batch} "
            f"[Op:{title}]"
        )
    if (lengths > frames).any():
        raise errors.FailedPreconditionError(
            f"sequence_length({int(np.argmax(lengths > frames))}) <= {frames} does not hold: {lengths.tolist()} "
            f"[Op:{title}]"
        )
    return logits, lengths


def _labels(sequences: list[Any]) -> SparseTensor:
    """Returns one sequence of labels per row."""
    sizes = [len(sequence) for sequence in sequences]
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.concatenate([np.arange(n) for n in sizes])
    values = np.concatenate([np.asarray(sequence, np.int64) for sequence in sequences])
    return SparseTensor(np.stack([rows, columns], axis=1), values, np.array([len(sizes), max(sizes)]))
