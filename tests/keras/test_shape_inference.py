"""Inferring the shapes of an unbuilt model by running it has no side effects: TensorFlow's initial weights."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
compute_output_spec = pytest.importorskip("keras.src.backend").compute_output_spec

BUILDS = {
    "tf_initializer": lambda layer: layer.add_weight(shape=(2,), initializer=tf.random_normal_initializer(stddev=1.0)),
    "function": lambda layer: layer.add_weight(
        shape=(2,), initializer=lambda shape, dtype: tf.random.normal(shape, dtype=dtype)
    ),
    "tf_variable": lambda layer: tf.Variable(tf.random.normal((2,))),
    "keras_variable": lambda layer: keras.Variable(tf.random.normal((2,))),
}


class Scale(keras.layers.Layer):
    def __init__(self, made):
        super().__init__()
        self.made = made

    def build(self, shape):
        self.w = self.made(self)

    def call(self, x):
        return x * self.w


class Noisy(keras.Model):
    def __init__(self, made):
        super().__init__()
        self.scales = [Scale(made), Scale(made)]
        self.generator = tf.random.Generator.from_seed(3)
        self.calls = tf.Variable(0, trainable=False)

    def call(self, x):
        self.calls.assign_add(1)
        for scale in self.scales:
            x = scale(x)
        return x + tf.random.normal((2,)) + self.generator.normal((2,))


@pytest.mark.filterwarnings("ignore:.*does not have a `build")
@pytest.mark.parametrize("made", BUILDS)
def test_the_first_call_of_a_model_draws_once(made):
    tf.random.set_seed(5)
    expected = [tf.random.normal((2,)).numpy() for _ in range(4)]
    generator = tf.random.Generator.from_seed(3)
    tf.random.set_seed(5)
    model = Noisy(BUILDS[made])
    y = model(tf.ones((1, 2)))
    np.testing.assert_array_equal([scale.w.numpy() for scale in model.scales], expected[:2])
    np.testing.assert_allclose(
        y, [expected[0] * expected[1] + expected[2] + generator.normal((2,)).numpy()], rtol=1e-5, atol=1e-6
    )
    np.testing.assert_array_equal(tf.random.normal((2,)), expected[3])
    np.testing.assert_array_equal(model.generator.normal((2,)), generator.normal((2,)))
    assert int(model.calls) == 1


@pytest.mark.parametrize("made", ["tf_initializer", "function"])
def test_a_symbolic_call_draws_for_the_weights_only(made):
    tf.random.set_seed(5)
    expected = [tf.random.normal((2,)).numpy() for _ in range(3)]
    tf.random.set_seed(5)
    model = Noisy(BUILDS[made])
    given = keras.Input((2,))
    keras.Model(given, model(given))
    np.testing.assert_array_equal([scale.w.numpy() for scale in model.scales], expected[:2])
    np.testing.assert_array_equal(tf.random.normal((2,)), expected[2])
    assert int(model.calls) == 0


class Misstated(keras.layers.Dense):
    """A layer whose rule returns the first shape it was asked for, as keras-tcn's does."""

    def build(self, shape):
        super().build(shape)
        self.first = (16, self.units)

    def compute_output_shape(self, shape):
        return self.first


def test_fit_trains_where_a_rule_misstates_the_shape():
    model = keras.Sequential([keras.Input((3,)), Misstated(4), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    assert model.fit(np.ones((24, 3)), np.ones((24, 1)), batch_size=8, verbose=0).history.keys() == {"loss", "mae"}


def test_the_spec_of_a_model_is_found_by_running_it():
    model = keras.Sequential([keras.Input((3,)), Misstated(4)])
    assert compute_output_spec(model, keras.KerasTensor((8, 3))).shape == (8, 4)
    assert compute_output_spec(model, keras.KerasTensor((None, 3))).shape == (None, 4)


@pytest.mark.parametrize("jit_compile", [None, True])
def test_a_layer_without_build_is_built_inside_a_function(jit_compile):
    class Both(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, inputs):
            first, second = inputs
            return self.dense(first) + self.dense(second)

    layer = Both()
    found = tf.function(lambda x: layer((x, 2 * x)), jit_compile=jit_compile)(tf.ones((3, 4)))
    np.testing.assert_allclose(found, np.full((3, 2), 12.0))
    assert layer.built
    sparse = Both()
    kept = tf.SparseTensor([[0, 1]], [5.0], (3, 4))
    found = tf.function(lambda x: sparse((x, x)), jit_compile=jit_compile)(kept)
    np.testing.assert_allclose(found, [[10.0, 10.0], [0.0, 0.0], [0.0, 0.0]])
