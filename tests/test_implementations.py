"""Several implementations of one API by device: a graph runs that of the device in use."""

import gc
import weakref

import pytest

import gradtape as tf
from gradtape.graph.trace.trace import present_trace


def function(f, device=None, api="add"):
    attributes = {"api_implements": api}
    if device is not None:
        attributes["api_preferred_device"] = device
    return tf.function(f, autograph=False, experimental_attributes=attributes)


def plus(n):
    return lambda x: (x + n, {"n": tf.constant(n)})


@pytest.mark.parametrize("first", [True, False])
def test_the_one_for_the_device_runs_whether_it_is_known_before_or_after_the_call(first):
    @tf.function
    def f(x):
        default, special = function(plus(1.0)), function(plus(10.0), "CPU")
        if first:
            special.get_concrete_function(x).add_to_graph()
        y, about = default(x)
        if not first:
            alternative = special.get_concrete_function(x)
            alternative.add_to_graph()
            alternative.add_gradient_functions_to_graph()
        return y * y, about["n"]

    for _ in range(3):
        y, n = f(tf.constant(2.0))
        assert (float(y), float(n)) == (144.0, 10.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = f(x)
    assert float(tape.gradient(y, x)) == 24.0


def test_one_for_another_device_is_not_even_traced():
    def broken(x):
        raise AssertionError("this is for a GPU")

    @tf.function
    def f(x):
        default = function(plus(1.0), "CPU")
        function(broken, "GPU").get_concrete_function(x).add_to_graph()
        return default(x)[0]

    assert float(f(tf.constant(2.0))) == 3.0


def test_apis_do_not_mix():
    @tf.function
    def f(x):
        a, b = function(plus(1.0), api="a"), function(plus(2.0), api="b")
        y, z = a(x)[0], b(x)[0]
        function(plus(10.0), "CPU", api="b").get_concrete_function(x).add_to_graph()
        return y, z

    assert [float(y) for y in f(tf.constant(0.0))] == [1.0, 10.0]


def test_outside_of_a_graph_what_is_called_runs():
    default, special = function(plus(1.0)), function(plus(10.0), "CPU")
    special.get_concrete_function(tf.constant(0.0)).add_to_graph()
    assert float(default(tf.constant(0.0))[0]) == 1.0


def test_attributes_that_tensorflow_does_not_know_are_named():
    assert float(tf.function(lambda x: x, experimental_attributes={"_noinline": True})(1.0)) == 1.0
    with pytest.raises(ValueError, match="no_such_thing is not supported"):
        tf.function(lambda x: x, experimental_attributes={"no_such_thing": 1})


def test_a_trace_is_freed_after_the_call():
    traces = []

    @tf.function
    def f(x):
        traces.append(weakref.ref(present_trace()))
        return function(plus(1.0))(x)[0]

    assert float(f(tf.constant(2.0))) == 3.0
    gc.collect()
    assert [trace() for trace in traces] == [None]
