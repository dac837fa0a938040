"""Checkpoints of several processes: written once, or each process a part."""

from __future__ import annotations

from typing import Any

from ...checkpoints.shared import Group, together
from ...distribution import cluster, collectives

NAMESPACES = ("distribute",)
__all__ = ["save"]


def save(manager: Any, *args: Any, shards: bool = False, **kwargs: Any) -> Any:
    """`manager.save(...)` of a `tf.train.CheckpointManager` or `Checkpoint`, called by all ranks, written once.

    The first rank writes, the others wait. If that fails, as on a full disk, all raise. A checkpoint can be restored by
    any number of processes.

    Args:
      shards: each rank writes a part of the variables, into a file of its own: for large models on a shared disk.

    >>> import gradtape as tf, tempfile
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tempfile.mkdtemp(), 2)
    >>> tf.distribute.save(manager).endswith("ckpt-1")
    True
    """
    me = cluster.identity()
    group = Group(me.rank, me.size, lambda value: collectives.exchange(value, "part of a checkpoint"), shards)
    with together(group):
        path = manager.save(*args, **kwargs)
    collectives.barrier("end of a checkpoint")
    return path
