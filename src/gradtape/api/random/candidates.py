"""Candidate samplers for losses over many classes, with expected counts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor, wrong_input
from ...engine.run.namespace import ops
from ...engine.run.randomness import next_global_seed
from ..debugging.checks import assert_less, assert_non_negative
from .arguments import as_state

NAMESPACES = ("random",)
__all__ = ["all_candidate_sampler", "log_uniform_candidate_sampler", "uniform_candidate_sampler"]

BLOCKS_PER_CANDIDATE = 512


class LogUniformCandidateSampler(NamedTuple):
    """The result of `log_uniform_candidate_sampler`."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class UniformCandidateSampler(NamedTuple):
    """The result of `uniform_candidate_sampler`."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class AllCandidateSampler(NamedTuple):
    """The result of `all_candidate_sampler`."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def all_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, seed: int | None = None,
    name: str | None = None,
) -> AllCandidateSampler:  # fmt: skip
    """Returns all of `num_sampled` classes, each with an expected count of 1, for testing a loss deterministically.

    >>> tf.random.all_candidate_sampler([[1, 2]], 2, 3, True).sampled_candidates.numpy().tolist()
    [0, 1, 2]
    """
    true = check_arguments(true_classes, num_true, num_sampled, unique, num_sampled, "AllCandidateSampler")
    ids = to_tensor(list(range(num_sampled)), dtypes.int64)
    once = [ops.ones_like(ops.cast(k, dtype=dtypes.float32)) for k in (true, ids)]
    return AllCandidateSampler(ids, *once)


def log_uniform_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None,
    name: str | None = None,
) -> LogUniformCandidateSampler:  # fmt: skip
    """Samples `num_sampled` of `range_max` classes, class k in proportion to `log((k + 2) / (k + 1))`.

    Args:
      true_classes: of shape `(batch, num_true)`: classes whose expected counts are also returned.
      unique: whether to sample without replacement; the counts are then inclusion probabilities.

    >>> tf.random.set_seed(0)
    >>> tf.random.log_uniform_candidate_sampler([[1, 3]], 2, 4, True, 10, seed=1).sampled_candidates.numpy()
    array([1, 3, 5, 2])
    """
    return _sample_candidates(LogUniformCandidateSampler, true_classes, num_true, num_sampled, unique, range_max, seed)


def uniform_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None,
    name: str | None = None,
) -> UniformCandidateSampler:  # fmt: skip
    """Samples `num_sampled` of `range_max` classes uniformly; and the expected counts of these and of `true_classes`.

    >>> tf.random.set_seed(0)
    >>> tf.random.uniform_candidate_sampler([[1, 3]], 2, 4, True, 10, seed=1).sampled_candidates.numpy()
    array([3, 1, 8, 6])
    """
    return _sample_candidates(UniformCandidateSampler, true_classes, num_true, num_sampled, unique, range_max, seed)


def _sample_candidates(
    kind: Any, true_classes: Any, num_true: int, count: int, unique: bool, classes: int, seed: int | None
) -> Any:
    true = check_arguments(true_classes, num_true, count, unique, classes, kind.__name__)
    logarithmic = kind is LogUniformCandidateSampler
    ids, tries = _draw_classes(num_true, count, unique, classes, seed, logarithmic)
    chance = _log_chance if logarithmic else _even_chance
    return kind(ids, *(expected_count(chance(k, classes), count, tries) for k in (true, ids)))


def check_arguments(true_classes: Any, columns: int, count: int, unique: bool, classes: int, title: str) -> Tensor:
    """Returns the true classes as a matrix of int64; raises InvalidArgumentError for arguments that do not fit."""
    true = to_tensor(true_classes) if isinstance(true_classes, Tensor) else to_tensor(true_classes, dtypes.int64)
    if true.dtype is not dtypes.int64:
        raise errors.InvalidArgumentError(
            f"{wrong_input(title, 0, dtypes.int64, true.dtype)}. Use tf.cast(true_classes, tf.int64)"
        )
    if len(true.dims) != 2 or true.dims[1] != columns:
        raise errors.InvalidArgumentError(
            f"true_classes must have num_true columns, expected: {columns}, got the shape {true.dims} [Op:{title}]"
        )
    if unique and count > classes:
        raise errors.InvalidArgumentError(
            f"Sampler's range is too small: {count} different classes cannot be drawn from {classes} [Op:{title}]"
        )
    assert_non_negative(true, f"`true_candidate` out of range [0, {classes}) [Op:{title}]")
    assert_less(true, classes, f"`true_candidate` out of range [0, {classes}) [Op:{title}]")
    return true


def _draw_classes(
    num_true: int, count: int, unique: bool, classes: int, seed: int | None, logarithmic: bool
) -> tuple[Tensor, Tensor]:
    """Returns the classes, and the number of draws."""
    kind = "candidates", num_true, count, unique, classes, logarithmic
    state = as_state(next_global_seed(kind, seed, count * BLOCKS_PER_CANDIDATE))
    both = ops.random_candidates(state, count=count, classes=classes, unique=unique, logarithmic=logarithmic)
    return ops.slice(both, key=(slice(None, count),)), ops.slice(both, key=(count,))


def _log_chance(k: Tensor, classes: int) -> Tensor:
    k = ops.cast(k, dtype=dtypes.float64)
    return ops.log((k + 2.0) / (k + 1.0)) / math.log1p(classes)


def _even_chance(k: Tensor, classes: int) -> Tensor:
    return ops.cast(ops.ones_like(k), dtype=dtypes.float64) / classes


def expected_count(chance: Tensor, count: int, tries: Tensor) -> Tensor:
    """Returns the expected count of a probability among `count` draws; at most 1 if that took more `tries`."""
    some = ops.cast(tries, dtype=dtypes.float64)
    once = -ops.expm1(some * ops.log1p(-chance))
    return ops.cast(ops.where(ops.equal(some, float(count)), chance * float(count), once), dtype=dtypes.float32)
