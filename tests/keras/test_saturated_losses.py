"""A cross entropy of the output of softmax or sigmoid is computed from the logits, as Keras does on TensorFlow."""

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
layers = keras.layers
X = np.ones((1, 1), "float32")
# Loss, activation, weights, a wrong label; then the loss and the norm of its gradient under TensorFlow 2.21.
CASES = {
    "categorical": ("categorical_crossentropy", "softmax", [[100.0, -100.0]], [[0.0, 1.0]], 200.0, 2.0),
    "sparse": ("sparse_categorical_crossentropy", "softmax", [[100.0, -100.0]], [1], 200.0, 2.0),
    "binary": ("binary_crossentropy", "sigmoid", [[100.0]], [[0.0]], 100.0, 2**0.5),
}
MODELS = {
    "sequential": lambda n, name: keras.Sequential([keras.Input((1,)), layers.Dense(n, activation=name)]),
    "activation_layer": lambda n, name: keras.Sequential([layers.Dense(n), layers.Activation(name)]),
    "functional": lambda n, name: functional(n, name),
    "nested": lambda n, name: keras.Sequential([keras.Sequential([layers.Dense(n, activation=name)])]),
    "keras_ops": lambda n, name: Subclass(n, getattr(keras.ops, name)),
    "activations": lambda n, name: Subclass(n, getattr(keras.activations, name)),
    "tf_nn": lambda n, name: Subclass(n, getattr(tf.nn, name)),
    "reshaped": lambda n, name: Subclass(n, lambda x: tf.reshape(getattr(tf.nn, name)(x), (-1, n))),
}


def functional(n, name):
    given = keras.Input((1,))
    return keras.Model(given, layers.Dense(n, activation=name)(given))


class Subclass(keras.Model):
    def __init__(self, n, activation):
        super().__init__()
        self.dense = layers.Dense(n)
        self.activation = activation

    def call(self, x):
        return self.activation(self.dense(x))


@pytest.mark.parametrize("how", ["graph", "eager", "tape", "xla"])
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("case", CASES)
def test_a_saturated_activation_still_trains(case, kind, how):
    loss, activation, kernel, label, expected, norm = CASES[case]
    kernel, label = np.array(kernel, "float32"), np.array(label, "float32")
    model = MODELS[kind](kernel.shape[1], activation)
    model(X)
    model.set_weights([kernel, np.zeros(kernel.shape[1], "float32")])
    if how == "tape":
        with tf.GradientTape() as tape:
            found = tf.reduce_mean(keras.losses.get(loss)(label, model(X)))
        moved = [-g.numpy() for g in tape.gradient(found, model.trainable_variables)]
    else:
        options = {"run_eagerly": how == "eager", "jit_compile": how == "xla"}
        model.compile(keras.optimizers.SGD(1.0), loss, **options)
        found = model.train_on_batch(X, label)
        moved = [model.get_weights()[0] - kernel, model.get_weights()[1]]
    # TensorFlow looks for logits of its own functions in graphs only, and not through other ops.
    if kind == "reshaped" or (kind == "tf_nn" and how in ("tape", "eager")):
        expected, norm = 15.94238 if case == "binary" else 16.11809, 0.0
    np.testing.assert_allclose(float(found), expected, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(sum((m**2).sum() for m in moved)), norm, rtol=1e-5)


def test_whoever_calls_probabilities_logits_is_warned():
    p = keras.ops.softmax(np.array([[1.0, 3.0]], "float32"))
    with pytest.warns(UserWarning, match="`from_logits=True`, but the `output` argument was produced by a Softmax"):
        found = keras.ops.categorical_crossentropy(np.array([[0.0, 1.0]], "float32"), p, from_logits=True)
    np.testing.assert_allclose(found, [0.12692805], rtol=1e-6)


def test_probabilities_are_clipped_before_they_are_made_to_add_up():
    p = np.array([[0.0, 0.5], [2.0, 0.5]], "float32")
    found = keras.ops.sparse_categorical_crossentropy(np.array([0, 1]), p)
    np.testing.assert_allclose(found, [15.424949, 1.0986122], rtol=1e-6)  # as under TensorFlow
