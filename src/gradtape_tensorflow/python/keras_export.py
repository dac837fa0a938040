"""A model of any version of Keras as a function, for exporters: `tensorflow.python.keras.saving.saving_utils`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradtape as tf


def trace_model_call(model: Any, input_signature: Any = None) -> Any:
    """Returns a function of a model's inputs that returns a dict of its outputs by name, for any version of Keras.

    The specs of inputs are those given, or those of the model's symbolic inputs.
    """
    specs = _specs(model) if input_signature is None else input_signature
    specs = list(specs) if isinstance(specs, Sequence) else [specs]

    @tf.function(input_signature=specs, autograph=False)
    def wrapped_model(*args: Any) -> dict[str, Any]:
        outputs = tf.nest.flatten(model(*args, training=False))
        return dict(zip(_output_names(model) or _numbered(len(outputs)), outputs, strict=True))

    return wrapped_model


def _output_names(model: Any) -> list[str]:
    """Returns the names of a model's outputs; a Sequential of Keras 3 has those of its tensors."""
    named = getattr(model, "output_names", None)
    return named or [x.name.partition("/")[0] for x in getattr(model, "outputs", None) or ()]


def _numbered(count: int) -> list[str]:
    return [f"output_{i + 1}" for i in range(count)]


def _specs(model: Any) -> list[Any]:
    inputs = getattr(model, "inputs", None)
    if not inputs:
        raise ValueError(
            f"Model {model} cannot be saved either because the input shape is not available or because the forward "
            "pass of the model is not defined. Call it on data first, or give the specs of its inputs"
        )
    names = getattr(model, "input_names", None) or [x.name for x in inputs]
    specs = [tf.TensorSpec(x.shape, x.dtype, name=name) for x, name in zip(inputs, names, strict=True)]
    return specs if len(specs) == 1 else [specs]
