"""`tensorflow.python.training.py_checkpoint_reader`."""

from __future__ import annotations

from typing import Any

import gradtape


def NewCheckpointReader(filepattern: Any) -> Any:
    """Returns a reader of a checkpoint's variables."""
    return gradtape.train.load_checkpoint(filepattern)
