"""Writes tests/data/keras_*.keras, models made with Keras on JAX, and what they predict there.

KERAS_BACKEND=jax python tools/make_keras_models.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data"


def images() -> tuple[Any, Any]:
    """A small convolutional network."""
    inputs = keras.Input((12, 12, 2))
    x = keras.layers.Conv2D(6, 3, padding="same", activation="relu")(inputs)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.DepthwiseConv2D(3, strides=2)(x)
    x = keras.layers.Add()([x, keras.layers.Conv2D(6, 1, strides=2, padding="valid")(inputs)[:, :5, :5]])
    x = keras.layers.MaxPooling2D()(keras.layers.LayerNormalization()(x))
    x = keras.layers.Dense(8, activation="gelu")(keras.layers.Flatten()(x))
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(x)), (12, 12, 2)


def sequences() -> tuple[Any, Any]:
    """Recurrent layers and attention over embeddings."""
    inputs = keras.Input((10,), dtype="int32")
    x = keras.layers.Embedding(20, 8)(inputs)
    x = keras.layers.Bidirectional(keras.layers.LSTM(6, return_sequences=True))(x)
    x = keras.layers.MultiHeadAttention(2, 4)(x, x)
    x = keras.layers.GRU(5)(x)
    return keras.Model(inputs, keras.layers.Dense(2)(x)), (10,)


def main() -> None:
    """Writes the files."""
    for name, (model, shape) in {"images": images(), "sequences": sequences()}.items():
        generator = np.random.default_rng(0)
        x = generator.integers(0, 20, (4, *shape)) if len(shape) == 1 else generator.normal(size=(4, *shape))
        x = x.astype("int32" if len(shape) == 1 else "float32")
        for weight in model.weights:
            weight.assign(generator.uniform(0.2, 0.8, weight.shape) * (1 if "variance" in weight.path else 0.7))
        model.save(FOLDER / f"keras_{name}.keras")
        np.savez(FOLDER / f"keras_{name}.npz", x=x, y=model.predict(x, verbose=0))


if __name__ == "__main__":
    main()
