"""`tensorflow.python.checkpoint.checkpoint_management`: the file that names the checkpoints of a folder."""

from __future__ import annotations

from typing import Any

import gradtape


def update_checkpoint_state_internal(
    save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None, save_relative_paths: bool = False, all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:  # fmt: skip
    """Writes the `checkpoint` file of a folder; the paths in it are relative where they can be."""
    gradtape.compat.v1.train.update_checkpoint_state(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )  # fmt: skip
