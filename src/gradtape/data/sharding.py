"""Auto-sharding: the part of a dataset for one worker, by files and by batch sizes of its replicas."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ..core import errors
from ..engine.run.dispatch import recorded_by
from .calls import dataset_of
from .elements.structure import leaves
from .pipeline import UNKNOWN_CARDINALITY
from .resumable import ChainIterator


def by_files(dataset: Any, count: int, index: int) -> Any:
    """Keeps every `count`-th file from `index` on; returns None unless all sources of the dataset are files."""
    if _opens_files(dataset):
        return dataset._again(_some(dataset._over[0], count, index))
    parts = [by_files(part, count, index) for part in dataset._over]
    return None if not parts or None in parts else dataset._again(*parts)


def _opens_files(dataset: Any) -> bool:
    """Returns whether the dataset reads files that its input dataset names."""
    if dataset._reads_files or dataset._opened is None:
        return bool(dataset._reads_files)
    with recorded_by(()):
        first = list(itertools.islice(dataset._over[0]._samples(), 1))
        return bool(first) and _has_files(dataset_of(dataset._opened.begin()(first[0]), "map_func"))


def _has_files(dataset: Any) -> bool:
    return _opens_files(dataset) or any([_has_files(part) for part in dataset._over])


def _some(names: Any, count: int, index: int) -> Any:
    """Takes every `count`-th file name, upstream of a shuffle: workers may shuffle differently."""
    if names._kind == "_ShuffleDataset":
        return names._again(_some(names._over[0], count, index))

    def chosen(elements: Iterator[Any]) -> Iterator[Any]:
        first = list(itertools.islice(elements, count))
        if len(first) < count:
            raise errors.InvalidArgumentError(
                f"Could not apply FILE based sharding: the dataset only has {len(first)} file(s), which is not enough "
                f"for the required {count} shards/workers. If you are using datasets with distribution strategy, "
                "consider setting the auto sharding policy to either DATA or OFF using the "
                "`experimental_distribute.auto_shard_policy` option of `tf.data.Options()`. Or, split your input files "
                "into a larger number of small files such that number of files is greater than number of shards/workers"
            )
        return itertools.islice(itertools.chain(first, elements), index, None, count)

    return names._derived("_ShardDataset", chosen, size=UNKNOWN_CARDINALITY, sampled=lambda elements: elements)


def batch_size(dataset: Any) -> int | None:
    """Returns the number of rows of all elements except possibly the last; None if unknown."""
    known = dataset._known(may_run=False)
    shapes = [] if known is None else [getattr(spec, "shape", None) for spec in leaves(known)]
    rows = {shape[0] if shape is not None and shape.rank else None for shape in shapes}
    return rows.pop() if len(rows) == 1 and None not in rows else dataset._rows


def split_batches(dataset: Any, size: int | None, parts: int, first: int, split: Callable[[Any], list[Any]]) -> Any:
    """Splits global batches into batches for one replica: `parts` per batch; `first` is the worker's first replica.

    If the batch size is known, the batches of all workers add up to it in every step. Otherwise, `split` divides each
    batch.
    """
    if size is None or size < parts:
        return dataset._derived(
            "_LegacyRebatchDataset",
            lambda elements: ChainIterator(map(iter, map(split, elements))),
            size=UNKNOWN_CARDINALITY,
        )
    sizes = [size // parts + (i < size % parts) for i in range(parts)]
    return dataset.rebatch(sizes[first:] + sizes[:first])
