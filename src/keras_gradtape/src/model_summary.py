"""Keras models as TensorBoard summaries."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from keras.src import callbacks, tree

import gradtape as tf
from gradtape.api.summary.events import plugin_metadata, tensor_event
from gradtape.api.summary.scalars import written
from gradtape.engine.run.convert import to_tensor


def prepare(given: Any) -> None:
    """Lets TensorBoard callbacks write with gradtape's `tf.summary`, before they import TensorFlow's."""
    for callback in tree.flatten(given):
        if isinstance(callback, callbacks.TensorBoard):
            callback._summary_module = tf.summary
            callback._write_keras_model_summary = partial(_write_model_of, callback)


def _write_model_of(callback: Any) -> None:
    if type(callback.model).__name__ in ("Functional", "Sequential"):
        with callback._train_writer.as_default():
            write_model("keras", callback.model, step=0)


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
