"""Errors leave the API with the user's frames only (`core.tracebacks`); tests/mistakes compares with TensorFlow's."""

import traceback

import numpy as np
import pytest

import gradtape as tf

HERE = "test_tracebacks.py"


def frames(call, kind=Exception):
    """Returns the file and the function of each frame of the error that `call` raises, from `call` on."""
    with pytest.raises(kind) as caught:
        call()
    entries = traceback.extract_tb(caught.value.__traceback__)
    return [(entry.filename.rpartition("/")[2], entry.name) for entry in entries[1:]]


def failing(*args):
    raise ZeroDivisionError("the user's own")


@tf.custom_gradient
def without_gradient(x):
    return x, failing


def gradient():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = without_gradient(x)
    return tape.gradient(y, x)


@tf.function
def branching(x):
    if tf.reduce_sum(x) > 0:
        x = x @ x
    return x


X = tf.ones((2, 3))
OURS = {
    "operator": lambda: X @ X,
    "reflected operator": lambda: "text" - X,
    "dtypes": lambda: X + tf.constant(1),
    "op": lambda: tf.matmul(X, X),
    "composed op": lambda: tf.nn.moments(X, 5),
    "index": lambda: X["text"],
    "place": lambda: X[5],
    "places": lambda: X[:, [7]],
    "name": lambda: tf.constatn,
    "name in a namespace": lambda: tf.math.sinn,
    "method of arrays": lambda: X.reshape,
    "length": lambda: tf.nest.map_structure(failing.__name__.strip, [1], [1, 2]),
    "assign": lambda: tf.Variable(1.0).assign([1.0, 2.0]),
    "assign_add": lambda: tf.Variable(1.0).assign_add([1.0, 2.0]),
    "variable": lambda: tf.Variable(),
    "watch": lambda: tf.GradientTape().watch("text"),
    "gradient": lambda: tf.GradientTape().gradient(X, X),
    "jacobian": lambda: tf.GradientTape().jacobian(X, X),
    "function": lambda: branching(X),
    "arguments": lambda: branching(),
    "concrete function": lambda: branching.get_concrete_function(tf.ones((3, 3)))(tf.ones((3, 3), tf.int32)),
    "dataset": lambda: tf.data.Dataset.from_tensor_slices((X, tf.ones(5))),
    "elements": lambda: list(tf.data.Dataset.range(2).map(lambda i: tf.reshape(i, [3]))),
    "checkpoint": lambda: tf.train.Checkpoint(v=tf.Variable(1.0)).restore("missing"),
    "file": lambda: tf.io.gfile.GFile("missing").read(),
    "saved model": lambda: tf.saved_model.load("missing"),
    "raw op": lambda: tf.raw_ops.MatMul(a=X, b=X),
    "ragged": lambda: tf.RaggedTensor.from_row_lengths([1.0], [2]),
    "numpy": lambda: tf.experimental.numpy.reshape(X, [7]),
}


@pytest.mark.parametrize("name", OURS)
def test_no_frame_is_gradtapes(name):
    assert {file for file, _ in frames(OURS[name])} == {HERE}


@pytest.mark.parametrize(
    "call",
    [
        gradient,
        lambda: tf.map_fn(failing, X),
        lambda: tf.function(lambda: failing())(),
        lambda: tf.while_loop(failing, failing, [X]),
        lambda: tf.nest.map_structure(failing, [1]),
        lambda: tf.distribute.OneDeviceStrategy("/cpu:0").run(failing),
    ],
)
def test_frames_of_functions_that_gradtape_calls_stay(call):
    found = frames(call)
    assert found[-1] == (HERE, "failing")
    assert {file for file, _ in found} == {HERE}


def test_filtering_can_be_turned_off():
    tf.debugging.disable_traceback_filtering()
    try:
        assert not tf.debugging.is_traceback_filtering_enabled()
        assert len(frames(OURS["dtypes"])) > 2
    finally:
        tf.debugging.enable_traceback_filtering()
    assert len(frames(OURS["dtypes"])) == 1


def printed(call):
    with pytest.raises(Exception) as caught:
        call()
    return "".join(traceback.format_exception(caught.value))


def test_errors_that_gradtape_has_handled_are_not_shown():
    for call in OURS["operator"], OURS["function"]:
        assert printed(call).count("Traceback (most recent call last)") == 1


def test_errors_that_the_user_has_handled_are_shown():
    def call():
        try:
            failing()
        except ZeroDivisionError:
            X @ X

    assert "the user's own" in printed(call)


def test_causes_have_the_users_frames():
    with pytest.raises(tf.errors.UnknownError) as caught:
        list(tf.data.Dataset.range(2).map(lambda i: tf.py_function(failing, [i], tf.float32)))
    cause = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert [entry.name for entry in cause] == ["failing"]


def test_tracebacks_are_those_of_the_thread_that_raised():
    """An error that is raised again elsewhere has the frames of both places."""
    with pytest.raises(ZeroDivisionError) as first:
        failing()

    def again():
        raise first.value

    assert ("test_tracebacks.py", "again") in frames(lambda: tf.map_fn(lambda x: again(), np.ones(2)))
