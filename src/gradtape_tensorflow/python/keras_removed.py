"""Functions of Keras 2.6, which `tensorflow.python.keras` still has, that tf-keras does not have any more."""

from __future__ import annotations

from typing import Any

import gradtape as tf


def expand_1d(data: Any) -> Any:
    """Returns a nested structure whose tensors of rank 1 have a second axis; composite tensors stay as they are."""
    return tf.nest.map_structure(lambda x: tf.expand_dims(x, -1) if _is_vector(x) else x, data)


def _is_vector(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and value.shape.rank == 1
