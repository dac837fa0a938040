"""`tensorflow.python.training.py_checkpoint_reader`."""

from __future__ import annotations

from ...v1.train.steps import NewCheckpointReader

__all__ = ["NewCheckpointReader"]
