"""`tensorflow.python.summary.summary`: TensorFlow 1's summaries of graphs."""

from __future__ import annotations

from typing import Any


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """Raises: summaries are written when they are computed."""
    raise RuntimeError(
        "Merging tf.summary.* ops is not compatible with eager execution. Use `tf.summary` of TensorFlow 2 instead."
    )


def merge_all(key: Any = None, scope: Any = None, name: str | None = None) -> Any:
    """Raises: summaries are written when they are computed."""
    return merge([])
