"""`fit(shuffle=)` with a seed trains on arrays in the same order as Keras on TensorFlow."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras


def losses(shuffle, **options):
    keras.utils.set_random_seed(7)
    x = np.arange(150, dtype="float32").reshape(50, 3) / 100
    y = x.sum(1, keepdims=True) ** 2
    layers = [keras.layers.Dense(4, activation="tanh"), keras.layers.Dropout(0.2), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((3,)), *layers])
    model.compile(keras.optimizers.Adam(0.05), "mse")
    return model.fit(x, y, batch_size=8, epochs=3, shuffle=shuffle, verbose=0, **options).history["loss"]


@pytest.mark.parametrize(
    ("shuffle", "options", "expected"),  # as on TensorFlow 2.21
    [
        (False, {}, [68.234367, 50.412609, 44.119354]),
        (True, {}, [75.539444, 50.80331, 41.827282]),
        ("batch", {}, [68.28244, 50.145416, 43.738628]),
        (True, {"validation_split": 0.2}, [31.837336, 19.817242, 15.029813]),
    ],
)
def test_losses_are_those_of_keras_on_tensorflow(shuffle, options, expected):
    np.testing.assert_allclose(losses(shuffle, **options), expected, rtol=1e-5)


def order(seed):
    """Returns the order of ten rows in `fit`, with a seed for NumPy only."""
    seen = []

    class Noting(keras.Model):
        def train_step(self, data):
            seen.extend(np.asarray(data[0])[:, 0].tolist())
            return {}

    model = Noting()
    model.compile("sgd", "mse", run_eagerly=True)
    tf.random.set_seed(None)
    np.random.seed(seed)  # noqa: NPY002  # what Keras draws with
    model.fit(np.arange(10.0)[:, None], np.zeros(10), batch_size=4, verbose=0)
    return seen


def test_without_a_global_seed_the_order_is_drawn_by_numpy():
    assert order(3) == order(3)
    assert order(3) != order(4)
    assert sorted(order(3)) == list(range(10))
