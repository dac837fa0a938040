"""Candidate samplers with given or learned frequencies of classes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...engine.run.randomness import next_global_seed
from ...state.variable import Variable
from .arguments import as_state
from .candidates import BLOCKS_PER_CANDIDATE, check_arguments, expected_count

NAMESPACES = ("random",)
__all__ = ["fixed_unigram_candidate_sampler", "learned_unigram_candidate_sampler"]


class FixedUnigramCandidateSampler(NamedTuple):
    """The result of `fixed_unigram_candidate_sampler`."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class LearnedUnigramCandidateSampler(NamedTuple):
    """The result of `learned_unigram_candidate_sampler`."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, vocab_file: str = "",
    distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0,
    unigrams: Sequence[float] = (), seed: int | None = None, name: str | None = None,
) -> FixedUnigramCandidateSampler:  # fmt: skip
    """Samples `num_sampled` of `range_max` classes in proportion to given counts of words.

    Args:
      vocab_file: a file with a word and its count on each line, separated by commas; or `unigrams`, the counts.
      distortion: the power of the counts that is used: 0 for a uniform distribution.
      num_reserved_ids: the number of ids before those of the words, which are never sampled.
      num_shards, shard: sample the ids of one shard only, which `range_max` then counts.

    >>> tf.random.set_seed(0)
    >>> counts = [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> found = tf.random.fixed_unigram_candidate_sampler([[1, 3]], 2, 4, True, 5, unigrams=counts, seed=1)
    >>> found.sampled_candidates.numpy()
    array([1, 3, 2, 4])
    """
    title = FixedUnigramCandidateSampler.__name__
    if bool(vocab_file) == bool(len(unigrams)):
        raise errors.InvalidArgumentError(
            f"Must provide {'only one of' if vocab_file else 'either'} vocab_file {'and' if vocab_file else 'or'} "
            f"unigrams. [Op:{title}]"
        )
    counts = _counts_of(vocab_file) if vocab_file else np.asarray(unigrams, np.float32)
    if distortion != 1.0:
        counts = counts ** np.float32(distortion)
    weights = np.concatenate([np.zeros(num_reserved_ids, np.float32), counts])[shard::num_shards]
    if weights.size != range_max:
        raise errors.InvalidArgumentError(
            f"range is {range_max} must be equal to weights size  {weights.size} [Op:{title}]"
        )
    true = check_arguments(true_classes, num_true, num_sampled, unique, range_max * num_shards, title)
    kind = "fixed_unigram", num_true, num_sampled, unique, range_max, distortion, num_reserved_ids, num_shards, shard
    table = to_tensor(weights, dtypes.float32)
    drawn, tries = _draw((*kind, weights.tobytes()), table, num_sampled, unique, seed, aliased=True)
    ids = drawn * num_shards + shard
    chances = np.zeros(range_max * num_shards)
    chances[shard::num_shards] = weights / weights.sum(dtype=np.float64)
    all_chances = to_tensor(chances, dtypes.float64)
    counts_of = [expected_count(ops.gather_rows(all_chances, k), num_sampled, tries) for k in (true, ids)]
    return FixedUnigramCandidateSampler(ids, *counts_of)


def _counts_of(vocab_file: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    try:
        with open(vocab_file, encoding="utf-8", newline="") as lines:
            return np.array([float(line[-1]) for line in csv.reader(lines) if line], np.float32)
    except OSError as error:
        raise errors.NotFoundError(f"{vocab_file}; {error.strerror}") from None


def _draw(
    kind: tuple[object, ...], weights: Tensor, count: int, unique: bool, seed: int | None, aliased: bool
) -> tuple[Tensor, Tensor]:
    """Returns the classes, and the number of draws."""
    state = as_state(next_global_seed(kind, seed, count * BLOCKS_PER_CANDIDATE))
    both = ops.random_weighted_candidates(state, weights, count=count, unique=unique, aliased=aliased)
    return ops.slice(both, key=(slice(None, count),)), ops.slice(both, key=(count,))


_frequencies: dict[tuple[object, ...], Variable] = {}  # learned so far, by the arguments of the sampler


def learned_unigram_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None,
    name: str | None = None,
) -> LearnedUnigramCandidateSampler:  # fmt: skip
    """Samples `num_sampled` of `range_max` classes in proportion to how often earlier calls had them as true classes.

    Calls with the same arguments, except the classes, share what they learn. All classes are counted once at first.

    >>> found = tf.random.learned_unigram_candidate_sampler([[1, 3]], 2, 4, True, 10, seed=1)
    >>> found.true_expected_count.shape
    TensorShape([1, 2])
    """
    true = check_arguments(
        true_classes, num_true, num_sampled, unique, range_max, LearnedUnigramCandidateSampler.__name__
    )
    kind = "learned_unigram", num_true, num_sampled, unique, range_max, seed
    if kind not in _frequencies:
        with dispatch.traced_by(None):
            _frequencies[kind] = Variable(np.ones(range_max, np.int64), trainable=False)
    learned = _frequencies[kind]
    weights = to_tensor(learned)
    ids, tries = _draw(kind[:-1], weights, num_sampled, unique, seed, aliased=False)
    chances = ops.cast(weights, dtype=dtypes.float64)
    chances = chances / ops.sum(chances, axis=None, keepdims=False)
    counts = [expected_count(ops.gather_rows(chances, k), num_sampled, tries) for k in (true, ids)]
    flat = ops.reshape(true, shape=(-1,))
    learned.scatter_nd_add(ops.reshape(true, shape=(-1, 1)), ops.ones_like(flat))
    return LearnedUnigramCandidateSampler(ids, *counts)
