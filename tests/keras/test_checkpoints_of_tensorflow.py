"""A Keras model trained and saved on TensorFlow 2.21 continues on gradtape: see tools/record_checkpoints.py."""

from pathlib import Path

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras

PREFIX = Path(__file__).parent.parent / "data" / "checkpoints" / "keras"
X, Y = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.5]]), np.ones((3, 1))


@pytest.mark.parametrize("built", [True, False])
def test_a_model_and_its_optimizer_go_on(built):
    layers = [keras.layers.Dense(2, "tanh"), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.1), "mse")
    if built:
        model.fit(X, Y, epochs=1, verbose=0)
    status = tf.train.Checkpoint(model=model, optimizer=model.optimizer).read(PREFIX)
    if built:
        expected = [[2.2767961], [2.4360905], [1.3725696]]
        np.testing.assert_allclose(model.predict(X, verbose=0), expected, rtol=1e-5)
    model.fit(X, Y, epochs=1, verbose=0)
    expected = [[2.2871804], [2.2241108], [1.3832816]]
    np.testing.assert_allclose(model.predict(X, verbose=0), expected, rtol=1e-5)
    assert int(model.optimizer.iterations) == 3
    status.assert_existing_objects_matched()
