"""Saving and loading models."""

from pathlib import Path

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
DATA = Path(__file__).parent.parent / "data"


def network():
    inputs = keras.Input((8, 8, 1))
    x = keras.layers.Conv2D(4, 3, activation="relu")(inputs)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(x))


def test_a_model_and_its_optimizer_come_back(tmp_path):
    model = network()
    model.compile("adam", "sparse_categorical_crossentropy")
    x, y = np.random.default_rng(0).normal(size=(16, 8, 8, 1)).astype("float32"), np.arange(16) % 3
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5)
    assert int(loaded.optimizer.iterations) == int(model.optimizer.iterations) == 1
    np.testing.assert_allclose(
        loaded.fit(x, y, verbose=0).history["loss"], model.fit(x, y, verbose=0).history["loss"], rtol=1e-5
    )


def test_weights(tmp_path):
    model, other = network(), network()
    model.save_weights(tmp_path / "w.weights.h5")
    other.load_weights(tmp_path / "w.weights.h5")
    for a, b in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_summary_and_clone(capsys):
    model = network()
    model.summary()
    assert "conv2d" in capsys.readouterr().out
    clone = keras.models.clone_model(model)
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]


@pytest.mark.parametrize("name", ["images", "sequences"])
def test_models_made_on_another_backend(name):
    model = keras.models.load_model(DATA / f"keras_{name}.keras")
    known = np.load(DATA / f"keras_{name}.npz")
    np.testing.assert_allclose(model.predict(known["x"], verbose=0), known["y"], rtol=1e-5, atol=1e-5)


def test_a_model_that_was_built_for_the_shape_of_a_tensor(tmp_path):
    x = tf.ones([2, 3])
    model = keras.Sequential([keras.layers.Dense(2)])
    model.build(x.shape)
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(x), model(x))
