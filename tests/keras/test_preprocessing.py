"""Layers that prepare data: inside `Dataset.map` and inside a model, the same numbers as by hand."""

import importlib.util

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
layers = keras.layers
RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 2.0, (32, 4)).astype("float32")
TOKENS = RNG.integers(0, 6, (32, 4))
IMAGES = RNG.uniform(0, 255, (32, 6, 4, 3)).astype("float32")
BOUNDARIES = [1.0, 3.0, 5.0]


def adapted(layer, data):
    layer.adapt(data)
    return layer


def bins(x):
    return np.searchsorted(BOUNDARIES, x, side="right")


def present(tokens, count):
    return (tokens[:, :, None] == np.arange(count)).any(1).astype("float32")


CASES = {
    "normalization": (lambda: adapted(layers.Normalization(), X), X, (X - X.mean(0)) / X.std(0)),
    "discretization": (lambda: layers.Discretization(BOUNDARIES), X, bins(X)),
    "discretization to multi-hot": (
        lambda: layers.Discretization(BOUNDARIES, output_mode="multi_hot"), X, present(bins(X), 4),
    ),
    "category encoding": (lambda: layers.CategoryEncoding(6, "multi_hot"), TOKENS, present(TOKENS, 6)),
    "rescaling": (lambda: layers.Rescaling(1 / 255, offset=-1.0), IMAGES, IMAGES / 255 - 1),
    "center crop": (lambda: layers.CenterCrop(2, 2), IMAGES, IMAGES[:, 2:4, 1:3]),
    "resizing": (lambda: layers.Resizing(3, 2), IMAGES, IMAGES.reshape(32, 3, 2, 2, 2, 3).mean((2, 4))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_in_a_dataset_and_in_a_model(name):
    make, given, expected = CASES[name]
    layer = make()
    mapped = tf.data.Dataset.from_tensor_slices(given).batch(8).map(layer)
    np.testing.assert_allclose(np.concatenate([batch.numpy() for batch in mapped]), expected, rtol=1e-4, atol=1e-4)
    inputs = keras.Input(given.shape[1:], dtype=given.dtype.name)
    model = keras.Model(inputs, layer(inputs))
    np.testing.assert_allclose(model.predict(given, verbose=0), expected, rtol=1e-4, atol=1e-4)


def test_bins_adapt_to_data():
    layer = adapted(layers.Discretization(num_bins=4), X)
    counts = np.bincount(np.asarray(layer(X)).ravel(), minlength=4)
    assert np.all(np.abs(counts - X.size / 4) <= 0.15 * X.size)


@pytest.mark.filterwarnings("ignore:.*shuffle=True")  # Keras says so whenever `fit` is given a dataset
@pytest.mark.parametrize("where", ["dataset", "model"])
def test_training_on_augmented_images(where):
    keras.utils.set_random_seed(0)
    augment = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.1), layers.Rescaling(1 / 255)])
    target = IMAGES.mean((1, 2, 3), keepdims=True)[:, 0, 0] / 255
    data = tf.data.Dataset.from_tensor_slices((IMAGES, target)).batch(8)
    head = [layers.Flatten(), layers.Dense(1)]
    if where == "dataset":
        data = data.map(lambda x, y: (augment(x, training=True), y))
    model = keras.Sequential(head if where == "dataset" else [augment, *head])
    model.compile("adam", "mse")
    losses = model.fit(data, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is not None, reason="they use TensorFlow where there is one")
@pytest.mark.parametrize("name", ["StringLookup", "IntegerLookup", "TextVectorization", "Hashing", "HashedCrossing"])
def test_layers_of_tensorflow_say_what_they_need(name):
    with pytest.raises(ImportError, match=f"{name} requires TensorFlow"):
        getattr(layers, name)(*[3] * name.startswith("Hash"))
