"""Calls of a `tf.function`, and functions that are dropped, leave nothing behind."""

import gc

import pytest

import gradtape as tf


def _recomputed_loop():
    x, w = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
    loop = tf.recompute_grad(
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * w), (0, x))[1]
    )

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(loop(x))
        return tape.gradient(y, [x, w])

    return step


def _product_with_a_hessian():
    w = tf.Variable([1.0, 2.0])

    def step():
        with tf.autodiff.ForwardAccumulator(w, tf.ones([2])) as acc:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.sin(w) * w**3)
            g = tape.gradient(y, w)
        return acc.jvp(g)

    return step


@pytest.mark.parametrize("make", [_recomputed_loop, _product_with_a_hessian])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_call_leaves_nothing_behind(make, compiled):
    step = make()
    step = tf.function(step) if compiled else step

    def objects():
        gc.collect()
        found = gc.get_objects()
        return sum(type(o) is dict for o in found), sum(type(o).__name__ in ("Value", "Node", "Tensor") for o in found)

    for _ in range(40):  # recurring functions are compiled after a while
        step()
    dicts, values = objects()
    for _ in range(40):
        step()
    dicts_after, values_after = objects()
    assert dicts_after - dicts < 20
    assert values_after - values < 20


def _gradient_of(f):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@tf.custom_gradient
def _doubled(x):
    return tf.tanh(x), lambda g: g * 2.0


def _looped(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) * x), [0, x])[1]


def _forward_over_reverse(f):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        gradient = _gradient_of(lambda _: f(x))
    return accumulator.jvp(gradient)


def _along_itself(x):
    with tf.autodiff.ForwardAccumulator(x, x) as accumulator:
        y = tf.tanh(x)
    return accumulator.jvp(y)


TRACED_ANEW = {
    "recorded": lambda: _gradient_of(tf.function(lambda x: x * 2.0)),
    "branch": lambda: _gradient_of(tf.function(lambda x: tf.cond(x[0] > 0.0, lambda: x * 2.0, lambda: x))),
    "loop": lambda: _gradient_of(tf.function(lambda x: _looped(x))),
    "recomputed loop": lambda: _gradient_of(tf.function(lambda x: tf.recompute_grad(_looped)(x))),
    "rule": lambda: _gradient_of(tf.function(lambda x: _doubled(x))),
    "map": lambda: tf.function(lambda x: tf.map_fn(lambda row: row * 2.0, x))(tf.ones([3])),
    "along itself": lambda: tf.function(_along_itself)(tf.ones([3])),
    "forward over reverse": lambda: _forward_over_reverse(tf.function(lambda x: tf.tanh(x))),
}


@pytest.mark.parametrize("work", TRACED_ANEW.values(), ids=TRACED_ANEW)
def test_a_function_that_is_forgotten_leaves_nothing_to_the_collector(work):
    for _ in range(3):
        work()
    gc.collect()
    gc.disable()
    try:
        work()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [type(x).__name__ for x in gc.garbage if type(x).__module__.partition(".")[0] == "gradtape"]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left
