"""Keras models as TensorBoard summaries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.api.summary.events import plugin_metadata, tensor_event
from gradtape.api.summary.scalars import written
from gradtape.engine.run.convert import to_tensor


def write_model(name: str, data: Any, step: Any = None) -> Any:
    """Writes the model's configuration; returns whether it could be serialized and written."""
    try:
        configuration = data.to_json()
    except Exception as error:
        warnings.warn(f"Model failed to serialize as JSON. Ignoring... {error}", stacklevel=2)
        return False

    def event(tag: str, value: Any) -> Any:
        metadata = plugin_metadata("graph_keras_model", content=b"1")
        return tensor_event(tag, np.array(value.numpy(), object), tf.string, metadata)

    return written(name, step, lambda: to_tensor(configuration), event)
