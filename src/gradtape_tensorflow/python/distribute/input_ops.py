"""`tensorflow.python.distribute.input_ops`: datasets of several workers."""

from __future__ import annotations

from typing import Any


def auto_shard_dataset(dataset: Any, num_shards: Any, index: Any, num_replicas_in_sync: Any = None) -> Any:
    """Returns the part of a dataset that a worker processes."""
    return dataset.shard(num_shards, index)
