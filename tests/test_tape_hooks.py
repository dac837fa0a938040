"""Hooks on gradients during and after the backward pass."""

import pytest

import gradtape as tf


def test_hooks_need_something_with_a_gradient():
    v = tf.Variable(3)
    with tf.GradientTape() as tape:
        v * 1
        with pytest.raises(ValueError, match="not on this tape"):
            tape.on_gradient(v, print)


def test_a_hook_sees_and_changes_a_gradient_on_its_way():
    seen = []
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        h = v * 3.0
        y = h * h
        tape.on_gradient(h, lambda g: seen.append(g.numpy().tolist()))
        tape.on_gradient(v, lambda g: -g)
    assert tape.gradient(y, v).numpy().tolist() == [-18.0, -36.0]
    assert seen == [[6.0, 12.0]]


def test_a_hook_may_add_another_further_down():
    seen = []
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        z = y * y
        tape.on_gradient(z, lambda g: tape.on_gradient(y, lambda g: seen.append(float(g))))
    assert float(tape.gradient(z, v)) == 108
    assert seen == [18]


def test_a_hook_must_keep_the_shape():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        tape.on_gradient(y, lambda g: g[0])
    with pytest.raises(ValueError, match="must keep both"):
        tape.gradient(y, v)
    with pytest.raises(ValueError, match="not on this tape"):
        tape.on_gradient(tf.constant(1.0), print)


def test_finished_gradients_pass_through_the_tapes_hook():
    """The hook that an all-reducing tape needs."""
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * w
    tape.on_finished(lambda sources, grads: [10 * g for g in grads])
    assert [float(g) for g in tape.gradient(y, [v, w])] == [20, 10]


@pytest.mark.parametrize("finish, message", [(lambda g: g[:1], "Could not pack sequence"), (iter, "incompatible type")])
def test_a_finisher_returns_a_gradient_for_each_source(finish, message):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * w
    tape.on_finished(lambda sources, grads: finish(grads))
    with pytest.raises((ValueError, TypeError), match=message):
        tape.gradient(y, [v, w])


def test_a_list_of_sources_is_the_callers():
    v = tf.Variable([4.0, 0.0])
    sources = [v]
    with tf.GradientTape(trace=True, persistent=True) as tape:
        y = tf.reduce_sum(tf.sqrt(v))
    tape.gradient(y, sources)
    sources[0] = tf.Variable(1.0)
    assert "sqrt" in str(tape.diagnose())


def test_a_finisher_that_raises_leaves_the_tape_usable():
    v = tf.Variable(3.0)
    answers = iter([KeyError("no network"), None])

    def finish(sources, gradients):
        error = next(answers)
        if error is not None:
            raise error
        return gradients

    with tf.GradientTape() as tape:
        tape.on_finished(finish)
        y = v * v
    with pytest.raises(KeyError, match="no network"):
        tape.gradient(y, v)
    assert float(tape.gradient(y, v)) == 6.0
