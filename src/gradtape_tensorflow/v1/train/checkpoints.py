"""`tf.compat.v1.train`: management of checkpoint files as in TensorFlow 1."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gradtape.checkpoint import files, state
from gradtape.core.type_hints import PathLike

NAMESPACES = ("compat.v1.train",)
__all__ = ["checkpoint_exists", "get_checkpoint_mtimes", "remove_checkpoint", "update_checkpoint_state"]


def checkpoint_exists(checkpoint_prefix: PathLike) -> bool:
    """Returns whether there is a checkpoint at this path, gradtape's or TensorFlow's.

    >>> tf.compat.v1.train.checkpoint_exists("/none/such")
    False
    """
    return files.exists(os.fsdecode(checkpoint_prefix))


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[Any]) -> list[float]:
    """Returns the modification times of existing checkpoints, in seconds.

    >>> tf.compat.v1.train.get_checkpoint_mtimes(["/none/such"])
    []
    """
    found = [files.newest(os.fsdecode(prefix)) for prefix in checkpoint_prefixes]
    return [os.path.getmtime(path) for path in found if path is not None]


def remove_checkpoint(
    checkpoint_prefix: PathLike, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Deletes the files of a checkpoint.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/ckpt")
    >>> tf.compat.v1.train.remove_checkpoint(path)
    >>> tf.compat.v1.train.checkpoint_exists(path)
    False
    """
    files.remove(os.fsdecode(checkpoint_prefix))
    if os.path.exists(meta := f"{os.fsdecode(checkpoint_prefix)}.{meta_graph_suffix}"):
        os.remove(meta)


def update_checkpoint_state(
    save_dir: PathLike, model_checkpoint_path: PathLike, all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None, all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:  # fmt: skip
    """Writes the `checkpoint` file of a folder: the latest checkpoint and all existing ones.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(folder + "/ckpt")
    >>> tf.compat.v1.train.update_checkpoint_state(folder, path)
    >>> tf.train.latest_checkpoint(folder) == path
    True
    """
    latest = os.fsdecode(model_checkpoint_path)
    paths = [os.fsdecode(path) for path in all_model_checkpoint_paths or []]
    times = list(all_model_checkpoint_timestamps or [])
    if latest not in paths:
        paths.append(latest)
    if times and len(times) != len(paths):
        raise ValueError(
            f"Length of timestamps (if provided) must match checkpoint paths. Got {len(times)} and {len(paths)}."
        )
    state.write(
        os.fsdecode(save_dir), latest, paths, times, last_preserved_timestamp, latest_filename or "checkpoint"
    )
