"""Wrappers of recurrent cells: numbers are those of TensorFlow 2.21."""

import collections

import numpy as np
import pytest

import gradtape as tf

LSTMState = collections.namedtuple("LSTMState", ["c", "h"])


class Sum:
    """A cell: the output and the new state are the sum of input and state."""

    state_size = output_size = 3

    def __init__(self, scale=1.0):
        self.w = tf.Variable(scale)
        self.built_for = None

    def build(self, shape):
        self.built_for = shape

    def call(self, x, state):
        y = self.w * x + state[0]
        return y, [y]

    __call__ = call

    def get_config(self):
        return {"scale": 1.0}


X, STATE = tf.constant([[1.0, 2.0, 3.0]]), [tf.constant([[0.5, 0.5, 0.5]])]


def test_a_residual_cell_adds_its_inputs():
    cell = Sum()
    wrapped = tf.nn.RNNCellResidualWrapper(cell)
    for call in (wrapped, wrapped.call, tf.function(lambda x, s: wrapped(x, s))):
        output, state = call(X, STATE)
        assert output.numpy().tolist() == [[2.5, 4.5, 6.5]] and state[0].numpy().tolist() == [[1.5, 2.5, 3.5]]
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(wrapped(X, STATE)[0])
    assert float(tape.gradient(y, wrapped.trainable_variables or [cell.w])[0]) == 6.0
    own = tf.nn.RNNCellResidualWrapper(cell, residual_fn=lambda x, y: y - x)
    assert own(X, STATE)[0].numpy().tolist() == [[0.5, 0.5, 0.5]]
    assert (own.state_size, own.output_size, cell.built_for.as_list()) == (3, 3, [1, 3])
    assert own.get_initial_state(batch_size=2, dtype=tf.float32).numpy().tolist() == [[0.0] * 3] * 2
    assert own.get_config()["cell"] == {"class_name": "Sum", "config": {"scale": 1.0}}


def test_a_device_cell_runs_its_cell():
    wrapped = tf.nn.RNNCellDeviceWrapper(Sum(), "/cpu:0")
    assert wrapped(X, STATE)[0].numpy().tolist() == [[1.5, 2.5, 3.5]]
    assert (
        wrapped.zero_state(1, tf.float32).numpy().tolist() == [[0.0] * 3] and wrapped.get_config()["device"] == "/cpu:0"
    )


@pytest.mark.parametrize("what", ["input", "state", "output"])
def test_dropout_of_parts(what):
    wide = tf.ones([1, 1000])
    wrapped = tf.nn.RNNCellDropoutWrapper(Sum(), **{f"{what}_keep_prob": 0.5}, seed=1)
    output, state = wrapped(wide, [tf.zeros([1, 1000])])
    found = state[0] if what == "state" else output
    assert set(np.unique(found)) == {0.0, 2.0} and 400 < np.count_nonzero(found) < 600
    if what == "state":
        assert np.all(output == 1.0)


def test_variational_dropout_has_one_mask():
    wrapped = tf.nn.RNNCellDropoutWrapper(
        Sum(), input_keep_prob=0.5, variational_recurrent=True, input_size=tf.TensorShape([3]), dtype=tf.float32, seed=3
    )
    first, second = (wrapped(X, [tf.zeros([1, 3])])[0].numpy() for _ in range(2))
    assert first.tolist() == second.tolist() and set(np.unique(first / X.numpy())) <= {0.0, 2.0}


def test_the_memory_of_an_lstm_is_kept():
    class Cell(Sum):
        def call(self, x, state):
            return x, LSTMState(c=x, h=x)

        __call__ = call

    wrapped = tf.nn.RNNCellDropoutWrapper(Cell(), state_keep_prob=0.5, seed=1)
    _, state = wrapped(tf.ones([1, 100]), LSTMState(tf.zeros([1, 100]), tf.zeros([1, 100])))
    assert np.all(state.c == 1.0) and set(np.unique(state.h)) == {0.0, 2.0}


def test_errors_are_tensorflows():
    with pytest.raises(ValueError, match="Parameter input_keep_prob must be between 0 and 1"):
        tf.nn.RNNCellDropoutWrapper(Sum(), input_keep_prob=2.0)
    with pytest.raises(ValueError, match="When variational_recurrent=True, dtype must be provided"):
        tf.nn.RNNCellDropoutWrapper(Sum(), variational_recurrent=True)
    with pytest.raises(ValueError, match="input_size must be provided"):
        tf.nn.RNNCellDropoutWrapper(Sum(), input_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32)
    with pytest.raises(TypeError, match="dropout_state_filter_visitor must be callable"):
        tf.nn.RNNCellDropoutWrapper(Sum(), dropout_state_filter_visitor=1)
