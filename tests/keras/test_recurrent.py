"""Recurrent layers on gradtape: fused loops against Keras' own, masks, directions, states, traces, gradients."""

import importlib

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
layers = keras.layers
rnn = importlib.import_module("keras_gradtape.src.rnn")
X = np.random.default_rng(0).normal(size=(3, 5, 4)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [1, 1, 0, 1, 0]], bool)


def pair(kind, **options):
    """Returns a layer with the fused loop, and the same with Keras' loop over cells."""
    made = []
    for use_cudnn in ("auto", False):
        keras.utils.set_random_seed(3)
        made.append(getattr(layers, kind)(6, use_cudnn=use_cudnn, **options))
    return made


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"return_sequences": True},
        {"return_sequences": True, "go_backwards": True},
        {"return_state": True, "unroll": True},
        {"return_sequences": True, "activation": "relu", "use_bias": False, "recurrent_activation": "hard_sigmoid"},
    ],
)
def test_fused_loop_agrees_with_cells(kind, options):
    found, expected = ([np.asarray(y) for y in keras.tree.flatten(layer(X))] for layer in pair(kind, **options))
    for y, z in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, z, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")  # by some versions of Keras
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
def test_traced_loop_is_one_node_and_agrees(kind, masked, backwards):
    keras.utils.set_random_seed(3)
    layer = getattr(layers, kind)(6, return_sequences=True, go_backwards=backwards)
    mask = tf.constant(MASK) if masked else None
    expected = np.asarray(layer(X, mask=mask))
    traced = tf.function(lambda x: layer(x, mask=mask))
    np.testing.assert_allclose(traced(X), expected, rtol=1e-5, atol=1e-6)
    nodes = [node.op.name for node in traced.get_concrete_function(tf.constant(X)).graph.nodes]
    assert nodes.count("loop") == 1

    def gradients(function):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(function(X) ** 2)
        return tape.gradient(loss, layer.trainable_variables)

    for g, h in zip(gradients(traced), gradients(lambda x: layer(x, mask=mask)), strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(h), rtol=1e-4, atol=1e-5)


def test_what_a_masked_step_gives():
    cumulative = lambda row, states: (row + states[0], [row + states[0]])  # noqa: E731
    x = tf.reshape(tf.range(6.0), (1, 3, 2))
    start, mask = [tf.zeros((1, 2))], tf.constant([[False, True, False]])
    for unroll in (False, True):
        last, outputs, states = rnn.rnn(cumulative, x, start, mask=mask, unroll=unroll)
        assert outputs.numpy().tolist() == [[[0.0, 0.0], [2.0, 3.0], [2.0, 3.0]]]
        assert last.numpy().tolist() == states[0].numpy().tolist() == [[2.0, 3.0]]
        _, outputs, _ = rnn.rnn(cumulative, x, start, mask=mask, unroll=unroll, zero_output_for_mask=True)
        assert outputs.numpy().tolist() == [[[0.0, 0.0], [2.0, 3.0], [0.0, 0.0]]]


def test_state_goes_on_from_batch_to_batch():
    keras.utils.set_random_seed(1)
    layer = layers.LSTM(3, stateful=True)
    layer.build((2, 4, 2))
    x = np.ones((2, 4, 2), "float32")
    first, second = np.asarray(layer(x)), np.asarray(layer(x))
    assert not np.allclose(first, second)
    layer.reset_state()
    np.testing.assert_array_equal(layer(x), first)
    whole = layers.LSTM(3)
    whole.build((2, 8, 2))
    whole.set_weights(layer.get_weights()[:3])
    np.testing.assert_allclose(second, whole(np.ones((2, 8, 2), "float32")), rtol=1e-5)
