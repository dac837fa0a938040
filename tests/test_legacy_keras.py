"""Keras 2, the package tf-keras, on gradtape: with TF_USE_LEGACY_KERAS=1, and as `tf_keras`."""

import os
from importlib.util import find_spec

import numpy as np
import pytest
from test_command_line import gradtape, script  # noqa: F401  a fixture

if find_spec("tf_keras") is None or find_spec("requests") is None:  # it can only be imported under `gradtape run`
    pytest.skip("tf-keras is not installed", allow_module_level=True)
LEGACY = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}


@pytest.fixture
def numbers(script):  # noqa: F811
    """Runs a program with Keras 2 and returns the numbers that it prints."""

    def run(text):
        done = gradtape("run", script(text), env=LEGACY)
        assert not done.returncode, done.stderr
        return [float(word) for word in done.stdout.split()]

    return run


def test_a_functional_model_trains_with_tensorflows_numbers(numbers):
    found = numbers(
        """
        import numpy as np
        import tensorflow as tf
        keras = tf.keras
        x = np.random.RandomState(0).randn(64, 8).astype("float32")
        y = (x.sum(1) > 0).astype("float32")
        keras.utils.set_random_seed(1)
        inputs = keras.Input((8,))
        hidden = keras.layers.Dense(16, activation="relu")(inputs) * 2.0 + 1
        outputs = keras.layers.Dense(1, activation="sigmoid")(tf.nn.relu(hidden)[:, :4])
        model = keras.Model(inputs, outputs)
        model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
        history = model.fit(x, y, epochs=2, batch_size=16, verbose=0).history
        print(*history["loss"], *model.predict(x[:2], verbose=0)[:, 0], *model.evaluate(x, y, verbose=0))
        """
    )
    recorded = [0.8534712791, 0.838093698, 0.74862176, 0.7415251, 0.82877326, 0.453125]  # TensorFlow 2.21's
    np.testing.assert_allclose(found, recorded, rtol=1e-5)


def test_a_layer_with_a_custom_gradient_trains_with_sgd(numbers):
    found = numbers(
        """
        import numpy as np
        import tensorflow as tf
        keras = tf.keras

        class Sign(keras.layers.Layer):
            def call(self, x):
                @tf.custom_gradient
                def sign(x):
                    return tf.sign(x), lambda dy: tf.where(tf.abs(x) <= 1.0, dy, tf.zeros_like(dy))
                return sign(x)

        x = np.linspace(-2, 2, 24).reshape(8, 3).astype("float32")
        model = keras.Sequential([keras.layers.Dense(4, input_shape=(3,)), Sign(), keras.layers.Dense(1)])
        model.set_weights([np.linspace(-1, 1, w.size).reshape(w.shape) for w in model.get_weights()])
        model.compile(keras.optimizers.SGD(0.1), "mse")
        print(*model.fit(x, x.sum(1), epochs=3, shuffle=False, verbose=0).history["loss"])
        """
    )
    np.testing.assert_allclose(found, [6.581810951, 2.955332756, 2.874842644], rtol=1e-5)  # TensorFlow 2.21's


def test_a_model_that_is_compiled_again_trains_in_its_new_mode(numbers):
    found = numbers(
        """
        import numpy as np
        import tensorflow as tf
        keras = tf.keras
        x = np.random.RandomState(0).randn(8, 4).astype("float32")
        model = keras.Sequential([keras.layers.BatchNormalization(input_shape=(4,))])
        for trainable in (False, True):
            model.trainable = trainable
            model.compile("sgd", "mse")
            before = model.predict(x, verbose=0)
            model.fit(x, x, verbose=0)
            print(float(abs(model.predict(x, verbose=0) - before).max() > 0))
        """
    )
    assert found == [0, 1]


def test_layers_find_shapes_with_python_control_flow_and_rows(numbers):
    found = numbers(
        """
        import tensorflow as tf
        keras = tf.keras

        class Clipped(keras.layers.Layer):
            def call(self, x):
                if tf.reduce_max(x) > 1:
                    x = x / tf.reduce_max(x)
                return x

        image = keras.Input((None, None, 3))
        hidden = keras.layers.Conv2D(5, 3, strides=2, padding="same")(Clipped()(image))
        found = [hidden.shape[1:] == [None, None, 5]]
        words = keras.Input((None,), ragged=True, dtype=tf.int32)
        rows = keras.layers.Lambda(lambda x: tf.reduce_mean(x, axis=1))(keras.layers.Embedding(4, 3)(words))
        model = keras.Model(words, rows)
        found += [rows.shape == [None, 3], model(tf.ragged.constant([[1, 2], [3]])).shape == [2, 3]]
        found += [tf.einsum("bij,bjk->bik", *[keras.Input((4, 4))] * 2).shape == [None, 4, 4]]
        print(*map(float, found))
        """
    )
    assert found == [1] * 4
