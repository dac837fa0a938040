"""`tensorflow.python.training.py_checkpoint_reader`."""

from __future__ import annotations

from ....api.compat.v1_train import NewCheckpointReader

__all__ = ["NewCheckpointReader"]
