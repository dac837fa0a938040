"""Serves a Keras model, a SavedModel and a function of handwritten digits over HTTP.

    python examples/service.py [--port 8000] [--folder digits-models]
    gunicorn --workers 2 --worker-class uvicorn_worker.UvicornWorker "service:app()"    # in the folder examples

    curl localhost:8000/v1/models/keras
    curl localhost:8000/v1/models/keras:predict --data '{"instances": [...]}'

The first start trains the model, for seconds, and saves it in both formats. Everything is traced and compiled for each
batch size before the service listens, so that no request waits for it. SIGTERM ends the service after running requests.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import keras_digits
import numpy as np
import uvicorn
from fastapi import FastAPI
from predict_api import SIZES, Predictor, create_app

import gradtape as tf

FOLDER = Path(os.environ.get("DIGITS_MODELS", "digits-models"))
SHAPE = (8, 8, 1)


def save(folder: Path, epochs: int = 5) -> None:
    """Trains the model and saves it as `digits.keras` and as the SavedModel `digits`."""
    model, _ = keras_digits.trained_by_fit(epochs)
    model.export(folder / "digits", verbose=False)
    model.save(folder / "digits.keras")


def of_keras(file: Path) -> Predictor:
    """Returns logits by a Keras model."""
    model = tf.keras.models.load_model(file)
    prepare = model.make_predict_function().get_concrete_function
    return Predictor(model.predict_on_batch, SHAPE, lambda size: prepare(tf.TensorSpec((size, *SHAPE), tf.float32)))


def of_saved_model(folder: Path) -> Predictor:
    """Returns logits by a SavedModel."""
    model = tf.saved_model.load(folder)
    return Predictor(
        lambda batch: model.serve(tf.constant(batch)), SHAPE, lambda size: model.serve(tf.zeros((size, *SHAPE)))
    )


def of_function() -> Predictor:
    """Returns the indices of the five most similar training images, by cosine."""
    images = keras_digits.load()[0].reshape(-1, 64)
    bank = tf.constant(images / np.linalg.norm(images, axis=1, keepdims=True))

    @tf.function(jit_compile=True)
    def nearest(batch: tf.Tensor) -> tf.Tensor:
        queries = tf.math.l2_normalize(tf.reshape(batch, (-1, 64)), axis=1)
        return tf.math.top_k(tf.matmul(queries, bank, transpose_b=True), k=5).indices

    return Predictor(
        lambda batch: nearest(tf.constant(batch)),
        SHAPE,
        lambda size: nearest.get_concrete_function(tf.TensorSpec((size, *SHAPE), tf.float32)),
    )


def load(folder: Path) -> dict[str, Predictor]:
    """Returns what the service serves."""
    return {
        "keras": of_keras(folder / "digits.keras"),
        "saved_model": of_saved_model(folder / "digits"),
        "nearest": of_function(),
    }


def app(folder: Path = FOLDER) -> FastAPI:
    """Returns the service; the models are saved first if they are not there."""
    # Requests run in parallel, each on one core: threads of several requests would wait for each other.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    if not (folder / "digits.keras").exists():
        folder.mkdir(parents=True, exist_ok=True)
        save(folder)
    return create_app(lambda: load(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args()
    print(f"batch sizes {', '.join(map(str, SIZES))}; metrics at http://{options.host}:{options.port}/metrics")
    uvicorn.run(app(options.folder), host=options.host, port=options.port, access_log=False)


if __name__ == "__main__":
    main()
