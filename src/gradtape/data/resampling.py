"""Rejection resampling: drops and repeats elements until their classes follow a target distribution."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.tensor import Tensor, wrap
from ..engine.run.convert import to_array
from ..engine.run.namespace import ops
from ..engine.run.randomness import BLOCKS_PER_NUMBER, next_global_seed

logger = logging.getLogger("gradtape")
_BATCH, _SEEN_BEFORE = 32, 10  # batch size for counting classes, and the initial count of each class


def resample(dataset: Any, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any, seed: Any) -> Any:
    """Draws pairs of class and element as TensorFlow does: from the dataset, or from its accepted elements.

    Let p be the probability of a class in the dataset, t its target, and m and M the minimum and maximum of t/p. A draw
    is from the unchanged dataset with probability m, else from the dataset filtered with acceptance probability (t/p -
    m) / (M - m).
    """
    target = _chances(target_dist)
    if initial_dist is None:
        initial = dataset.map(class_func).batch(_BATCH).scan(
            np.full(target.size, _SEEN_BEFORE, np.int64), _count_classes
        ).unbatch()  # fmt: skip
    else:
        initial = type(dataset).from_tensors(wrap(_chances(initial_dist), dtypes.float32)).repeat()
    ratios = initial.map(lambda p: (wrap(_ratios(p.array, target), dtypes.float32), p))
    passed = type(dataset).zip((ratios.map(_let_through), dataset)).map(
        lambda let, data: (_call_with_data(class_func, data), let, data)
    ).filter(
        lambda kind, let, data: wrap(_draw_uniform(seed) < let.array[int(kind)], dtypes.bool)
    ).map(lambda kind, let, data: (kind, data)).prefetch(3)  # fmt: skip
    least = None if initial_dist is None else float(np.min(target / _chances(initial_dist)))
    as_it_is = dataset.map(lambda *parts: (class_func(*parts), parts[0] if len(parts) == 1 else parts))
    if least == 1:
        return as_it_is
    if least == 0:
        return passed
    weights = ratios.map(lambda ratio, _: wrap(_mixture(ratio.array.min()), dtypes.float32))
    return type(dataset).sample_from_datasets([as_it_is, passed], weights, seed, stop_on_empty_dataset=True)


def _chances(given: Any) -> Any:
    return to_array(given).astype(np.float32)


def _call_with_data(function: Callable[..., Any], data: Any) -> Any:
    return function(*data) if isinstance(data, tuple) else function(data)


def _count_classes(seen: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
    """Updates the class counts, and returns the estimated distribution once per element of the batch."""
    counts = seen.array + np.bincount(classes.array, minlength=seen.array.size)[: seen.array.size]
    chances = (counts / counts.sum()).astype(np.float32)
    return wrap(counts, dtypes.int64), wrap(np.tile(chances, (_BATCH, 1)), dtypes.float32)


def _ratios(initial: Any, target: Any) -> Any:
    return target / (initial + np.finfo(np.float32).tiny)


def _let_through(ratios: Tensor, initial: Tensor) -> Tensor:
    ratio = ratios.array
    found = (ratio - ratio.min()) / (ratio.max() - ratio.min())
    rejected = float(np.sum((1 - found) * initial.array))
    if not rejected < 0.5:
        logger.info("rejection_resample leaves out %.0f%% of the elements", 100 * rejected)
    return wrap(found, dtypes.float32)


def _mixture(least: Any) -> Any:
    return np.array([least, np.float32(1) - least], np.float32)


def _draw_uniform(seed: Any) -> Any:
    """Draws a number in [0, 1), as `tf.random.uniform` does."""
    state = next_global_seed("uniform", None if seed is None else int(seed), BLOCKS_PER_NUMBER)
    return ops.random_uniform(wrap(state, dtypes.uint64), shape=(), dtype=dtypes.float32).array
