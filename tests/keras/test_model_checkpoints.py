"""Checkpoints of Keras models and optimizers."""

import numpy as np
import pytest

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


class Sum(keras.optimizers.Optimizer):
    """An optimizer that fills its list after this has become an attribute."""

    def build(self, variables):
        super().build(variables)
        self.sums = []
        for variable in variables:
            self.sums.append(self.add_variable_from_reference(variable, name="sum"))

    def update_step(self, gradient, variable, learning_rate):
        total = self.sums[self._get_variable_index(variable)]
        self.assign_add(total, gradient)
        self.assign_sub(variable, learning_rate * total)


@pytest.mark.parametrize("kind", [keras.optimizers.Adafactor, Sum])
def test_an_optimizer_that_is_built_later_has_its_values_at_once(tmp_path, kind):
    first, again = kind(0.1), kind(0.1)
    variables = [keras.Variable(np.ones(shape, np.float32)) for shape in [(2, 3), (3,)]]
    first.apply([tf.fill(v.shape, 2.0) for v in variables], variables)
    path = tf.train.Checkpoint(optimizer=first).write(tmp_path / "ckpt")
    status = tf.train.Checkpoint(optimizer=again).read(path)
    again.build(variables)
    for found, expected in zip(again.variables, first.variables, strict=True):
        np.testing.assert_array_equal(found.numpy(), expected.numpy(), expected.path)
    status.assert_existing_objects_matched()


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
