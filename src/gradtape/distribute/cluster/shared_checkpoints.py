"""Checkpoints of several processes: written by one process, or sharded."""

from __future__ import annotations

from typing import Any

from ...checkpoint.shared import Group, write_together
from . import collectives
from . import membership as cluster

NAMESPACES = ("distribute",)
__all__ = ["save"]


def save(manager: Any, *args: Any, shards: bool = False, **kwargs: Any) -> Any:
    """Calls `manager.save(...)` of a `tf.train.CheckpointManager` or `Checkpoint` on all ranks, and writes once.

    The first rank writes while the others wait. If that fails, for example on a full disk, all ranks raise the error.
    Any number of processes can restore the checkpoint.

    Args:
      shards: each rank writes a part of the variables to its own file, for large models on a shared disk.

    >>> import tempfile
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tempfile.mkdtemp(), 2)
    >>> tf.distribute.save(manager).endswith("ckpt-1")
    True
    """
    me = cluster.identity()
    group = Group(me.rank, me.size, lambda value: collectives.exchange(value, "part of a checkpoint"), shards)
    with write_together(group):
        path = manager.save(*args, **kwargs)
    collectives.barrier("end of a checkpoint")
    return path
