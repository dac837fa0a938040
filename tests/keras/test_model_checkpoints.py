"""Checkpoints of Keras models and optimizers."""

import numpy as np

import gradtape as tf

keras = tf.keras
X = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
Y = X.sum(1, keepdims=True)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(4, activation="tanh")
        self.rest = [keras.layers.BatchNormalization(), keras.layers.Dense(1)]

    def call(self, x, training=False):
        x = self.first(x)
        return self.rest[1](self.rest[0](x, training=training))


def trained():
    net = Net()
    net.compile(keras.optimizers.Adam(0.01), "mse")
    net.fit(X, Y, epochs=2, verbose=0)
    return net


def test_a_model_that_is_built_later_goes_on_where_the_other_was(tmp_path):
    net = trained()
    path = tf.train.Checkpoint(model=net, optimizer=net.optimizer).save(tmp_path / "ckpt")
    again = Net()
    again.compile(keras.optimizers.Adam(0.01), "mse")
    status = tf.train.Checkpoint(model=again, optimizer=again.optimizer).restore(path)
    expected = net.fit(X, Y, shuffle=False, verbose=0).history["loss"]
    found = again.fit(X, Y, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    status.assert_existing_objects_matched()
    for mine, its in zip(again.variables, net.variables, strict=True):
        np.testing.assert_allclose(mine.numpy(), its.numpy(), rtol=1e-4, atol=1e-6)


def test_a_built_model(tmp_path):
    net, other = trained(), trained()
    path = tf.train.Checkpoint(net).write(tmp_path / "ckpt")
    assert "first/_kernel/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    tf.train.Checkpoint(other).read(path).assert_consumed()
    np.testing.assert_array_equal(other.predict(X, verbose=0), net.predict(X, verbose=0))


def test_a_sequential_model_that_is_not_built_yet(tmp_path):
    def network():
        layers = [keras.layers.Dense(3, "tanh"), keras.layers.Flatten(), keras.layers.Dense(4), keras.layers.Dense(2)]
        return keras.Sequential(layers)

    x = tf.constant(np.linspace(-1, 1, 12).reshape(2, 3, 2), tf.float32)
    model = network()
    expected = model(x)
    path = tf.train.Checkpoint(model=model).save(tmp_path / "model")
    again = network()
    status = tf.train.Checkpoint(model=again).restore(path)
    np.testing.assert_allclose(again(x), expected)
    status.assert_existing_objects_matched()
