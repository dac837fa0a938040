"""What a tape watches: tensors on request, trainable variables when read."""

import logging

import numpy as np
import pytest

import gradtape as tf
from gradtape.api import tape_arguments
from gradtape.core import dtypes


@pytest.fixture
def fresh_warnings(monkeypatch):
    monkeypatch.setattr(tape_arguments, "warned", {})


@pytest.mark.parametrize(
    "make",
    [lambda: tf.constant(1), lambda: tf.constant(True), lambda: tf.constant("text"), lambda: tf.Variable(1)],
    ids=["int", "bool", "string", "int variable"],
)
def test_watching_what_has_no_derivative_warns(make, caplog, fresh_warnings):
    with caplog.at_level(logging.WARNING, "gradtape"), tf.GradientTape() as tape:
        x = make()
        tape.watch(x)
        y = tf.identity(x)
    assert f"must be floating (e.g. tf.float32), got tf.{x.dtype.name}" in caplog.text
    assert tape.gradient(y, [x]) == [None]


def test_the_warning_comes_five_times_at_most(caplog, fresh_warnings):
    with caplog.at_level(logging.WARNING, "gradtape"), tf.GradientTape() as tape:
        for _ in range(9):
            tape.watch(tf.constant(1))
    assert len(caplog.records) == 5


def test_which_dtypes_have_derivatives():
    yes = {d.name for d in dtypes.ALL if d.differentiable}
    names = "float16 bfloat16 float32 float64 complex64 complex128".split()
    assert all(getattr(tf, name).differentiable for name in names)
    assert yes == set(names)
    assert not tf.as_dtype("float8_e5m2").differentiable


@pytest.mark.parametrize("bad", [3.0, np.ones(2), None, "x"], ids=["float", "ndarray", "None", "str"])
def test_only_tensors_and_variables_can_be_watched(bad):
    with tf.GradientTape() as tape, pytest.raises(ValueError, match=r"Passed in object .* not tf\.Tensor or tf"):
        tape.watch(bad)


def test_a_nest_with_a_stranger_watches_nothing():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ValueError, match="Passed in object 'x'"):
            tape.watch([x, "x"])
        y = x * x
    assert tape.gradient(y, x) is None


def test_a_nest_is_watched_leaf_by_leaf():
    a, b, c = (tf.constant(v) for v in (1.0, 2.0, 3.0))
    with tf.GradientTape() as tape:
        tape.watch({"a": a, "rest": [b, (c,)]})
        y = a * b * c
    assert [float(g) for g in tape.gradient(y, [a, b, c])] == [6, 3, 2]


def test_watching_after_the_use_is_too_late():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
    assert tape.gradient(y, x) is None


def test_watching_after_the_block_records_nothing():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        pass
    tape.watch(x)
    assert tape.gradient(x * x, x) is None


def test_a_variable_that_is_not_trainable():
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v * v
    assert [w is v for w in tape.watched_variables()] == [True]
    assert float(tape.gradient(y, v)) == 6


def test_an_integer_variable_is_listed_but_has_no_gradient():
    v = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = v * v
    assert v.trainable
    assert [w is v for w in tape.watched_variables()] == [True]
    assert tape.gradient(y, v) is None


def test_watch_accessed_variables_can_be_turned_off():
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * w
    dv, dw = tape.gradient(y, [v, w])
    assert float(dv) == 2
    assert dw is None


@pytest.mark.parametrize(
    ("access", "counts"),
    [
        (lambda v: v * 1.0, True),
        (lambda v: v.read_value(), True),
        (lambda v: v.numpy(), True),
        (lambda v: v.assign(1.0), True),
        (lambda v: v.shape, False),
        (lambda v: v.name, False),
    ],
    ids=["arithmetic", "read_value", "numpy", "assign", "shape", "name"],
)
def test_what_counts_as_an_access(access, counts):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        access(v)
    assert len(tape.watched_variables()) == counts


def test_a_variable_read_while_paused_is_not_watched():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape, tape.stop_recording():
        v * 1.0
    assert tape.watched_variables() == ()


def test_watched_variables_come_in_order_of_creation_and_once():
    a, b, c = (tf.Variable(1.0, name=n) for n in "abc")
    tape = tf.GradientTape()
    assert tape.watched_variables() == ()
    with tape:
        y = c * a * c * b
    watched = tape.watched_variables()
    assert isinstance(watched, tuple)
    assert [w is v for w, v in zip(watched, (a, b, c), strict=True)] == [True] * 3
    tape.gradient(y, a)
    assert len(tape.watched_variables()) == 3
    with tape:
        pass
    assert tape.watched_variables() == ()


def test_a_tape_in_a_function_watches_what_a_tape_around_the_call_watches():
    x = tf.constant(2.0)

    @tf.function
    def slope():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    with tf.GradientTape() as outer:
        outer.watch(x)
        found = slope()
    assert (found.numpy(), outer.gradient(found, x).numpy()) == (12.0, 12.0)


@pytest.mark.parametrize("f", [lambda x, c: x * c * c, lambda x, c: tf.square(c) * x, lambda x, c: tf.exp(c) * x])
def test_a_second_derivative_of_a_tensor_from_outside_that_a_traced_function_watches(f):
    x, c = tf.constant([1.0, 2.0]), tf.constant([0.5, 0.25])

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(c)
            y = f(x, c)
        return tape.gradient(y, c)

    def bend(slope):
        with tf.GradientTape() as tape:
            tape.watch(c)
            g = slope(x)
        return tape.gradient(g, c).numpy()

    traced = tf.function(slope)
    traced(x)  # traced while no tape watches the tensor
    np.testing.assert_allclose(bend(traced), bend(slope), rtol=1e-6)
