"""Realistic programs whose gradients are None or zero, and the tape's explanation.

Each runs on a plain tape, which knows the cause, and on a traced one, which knows more and has the line: the one marked
with `# here`.
"""

from __future__ import annotations

import inspect
import io
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.inspect import Cause

PROGRAMS: dict[str, tuple[Callable[[], Any], Cause, Cause]] = {}


def explained(cause: Cause, quiet: Cause | None = None) -> Any:
    """Returns the causes that a traced and a plain tape find for a program's tape, target and source."""

    def keep(program: Callable[[], Any]) -> Callable[[], Any]:
        PROGRAMS[program.__name__] = (program, cause, quiet or cause)
        return program

    return keep


@explained(Cause.NEVER_WATCHED)
def a_constant_is_not_watched() -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x  # here
    return tape, y, x


@explained(Cause.NEVER_WATCHED)
def a_batch_of_images_is_not_watched() -> Any:
    images = tf.random.normal((2, 4))
    weights = tf.Variable(tf.ones((4, 3)))
    with tf.GradientTape() as tape:
        scores = tf.nn.softmax(images @ weights)  # here
    return tape, scores, images


@explained(Cause.NEVER_WATCHED)
def watching_is_switched_off() -> Any:
    v = tf.Variable(1.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * 2.0  # here
    return tape, y, v


@explained(Cause.WATCHED_LATE, Cause.OUTSIDE_BLOCK)
def watched_after_use() -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x  # here
        tape.watch(x)
    return tape, y, x


@explained(Cause.WATCHED_LATE)
def watched_after_another_target() -> Any:
    x, v = tf.constant(3.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * v  # here
        tape.watch(x)
        tape.watch(y)
    return tape, y, x


@explained(Cause.BEFORE_TAPE, Cause.OUTSIDE_BLOCK)
def the_model_is_called_before_the_tape() -> Any:
    w = tf.Variable([[1.0], [2.0]])
    predictions = tf.constant([[3.0, 4.0]]) @ w  # here
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(predictions - 1.0))
    return tape, loss, w


@explained(Cause.AFTER_BLOCK, Cause.OUTSIDE_BLOCK)
def the_loss_is_computed_after_the_block() -> Any:
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = w * 2.0
    loss = tf.reduce_sum(y)  # here
    return tape, loss, w


@explained(Cause.OTHER_THREAD, Cause.OUTSIDE_BLOCK)
def computed_in_another_thread() -> Any:
    v = tf.Variable(3.0)
    results = []

    def work() -> None:
        results.append(v * v)  # here

    with tf.GradientTape() as tape:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return tape, results[0], v


@explained(Cause.STOPPED, Cause.OUTSIDE_BLOCK)
def computed_while_recording_was_stopped() -> Any:
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape, tape.stop_recording():
        y = v * v  # here
    return tape, y, v


@explained(Cause.NOT_TRAINABLE)
def a_variable_that_is_not_trainable() -> Any:
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v  # here
    return tape, y, v


@explained(Cause.NUMPY)
def through_numpy() -> Any:
    v = tf.Variable([3.0, 2.0])
    with tf.GradientTape() as tape:
        squared = (v * v).numpy()  # here
        y = tf.reduce_sum(tf.constant(squared))
    return tape, y, v


@explained(Cause.NUMPY)
def through_a_numpy_function() -> Any:
    v, scale = tf.Variable([3.0, 2.0]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        mean = np.mean(v, axis=0)  # here
        y = scale * tf.math.reduce_mean(mean)
    return tape, y, v


@explained(Cause.NUMPY)
def through_dlpack() -> Any:
    v = tf.Variable([3.0, 2.0])
    with tf.GradientTape() as tape:
        squared = np.from_dlpack(v * v)  # here
        y = tf.reduce_sum(tf.constant(squared))
    return tape, y, v


@explained(Cause.NUMPY)
def through_a_python_number() -> Any:
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.constant(float(v * v))  # here
    return tape, y, v


@explained(Cause.NUMPY)
def the_variable_itself_as_a_number() -> Any:
    v, w = tf.Variable(3.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = w * v.numpy()  # here
    return tape, y, v


@explained(Cause.INTEGER)
def cast_to_integers() -> Any:
    v = tf.Variable(3.7)
    with tf.GradientTape() as tape:
        whole = tf.cast(v * v, tf.int32)  # here
        y = tf.cast(whole, tf.float32)
    return tape, y, v


@explained(Cause.INTEGER)
def an_integer_constant() -> Any:
    x = tf.constant(10)
    with tf.GradientTape() as tape:
        tape.watch(x)  # here
        y = x * x
    return tape, y, x


@explained(Cause.NOT_DIFFERENTIABLE)
def accuracy_as_a_loss() -> Any:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        labels = tf.argmax(tf.constant([[1.0, 0.0]]) @ w, axis=1)  # here
        y = tf.reduce_mean(tf.cast(labels == 1, tf.float32))
    return tape, y, w


@explained(Cause.NOT_DIFFERENTIABLE)
def a_threshold() -> Any:
    w = tf.Variable([0.2, 0.8])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.cast(tf.sigmoid(w) > 0.5, tf.float32))  # here
    return tape, y, w


@explained(Cause.NOT_DIFFERENTIABLE)
def rounded() -> Any:
    w = tf.Variable([0.2, 0.8])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.round(w * 10.0))  # here
    return tape, y, w


@explained(Cause.STOP_GRADIENT)
def stopped_on_purpose() -> Any:
    w = tf.Variable([0.2, 0.8])
    with tf.GradientTape() as tape:
        target = tf.stop_gradient(w * 2.0)  # here
        y = tf.reduce_sum(target * target)
    return tape, y, w


@explained(Cause.ASSIGN)
def through_a_variable() -> Any:
    w, state = tf.Variable(2.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        state.assign(w * 3.0)  # here
        y = state * state
    return tape, y, w


@explained(Cause.ASSIGN)
def through_a_new_variable() -> Any:
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        copy = tf.Variable(w * 3.0)  # here
        y = copy * copy
    return tape, y, w


@explained(Cause.REBOUND, Cause.NEVER_WATCHED)
def a_variable_that_became_a_tensor() -> Any:
    x = tf.Variable(2.0)
    x = x + 1.0  # here
    with tf.GradientTape() as tape:
        y = x * x
    return tape, y, x


@explained(Cause.REBOUND)
def a_name_used_again() -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        x = x + 1.0  # here
    return tape, y, x


@explained(Cause.NO_PATH)
def a_head_the_loss_does_not_use() -> Any:
    body, head, unused = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        features = body * 2.0
        loss = features * head  # here
        features * unused
    return tape, loss, unused


@explained(Cause.NO_PATH, Cause.OUTSIDE_BLOCK)
def never_read() -> Any:
    used, unused = tf.Variable(1.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        loss = used * 2.0  # here
    return tape, loss, unused


@explained(Cause.ZERO)
def a_dead_relu() -> Any:
    w = tf.Variable([-1.0, -2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.nn.relu(w) * 3.0)  # here
    return tape, y, w


@explained(Cause.ZERO)
def clipped() -> Any:
    w = tf.Variable([7.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.clip_by_value(w, 0.0, 1.0))  # here
    return tape, y, w


@explained(Cause.ZERO)
def saturated() -> Any:
    w = tf.Variable([200.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.sigmoid(w))  # here
    return tape, y, w


@explained(Cause.NO_RULE)
def a_custom_gradient_without_one() -> Any:
    @tf.custom_gradient
    def f(a: Any, b: Any) -> Any:
        return a * b, lambda g: (g * b, None)

    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(a, b)  # here
    return tape, y, b


@explained(Cause.STOP_GRADIENT)
def stopped_inside_a_function() -> Any:
    @tf.function
    def f(x: Any) -> Any:
        frozen = tf.stop_gradient(x * 2.0)  # here
        return tf.reduce_sum(frozen * 3.0)

    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = f(w)
    return tape, y, w


@explained(Cause.CONNECTED)
def all_is_well() -> Any:
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(w * w)
        float(y)
    return tape, y, w


@explained(Cause.NOT_FINITE)
def a_root_at_zero() -> Any:
    w = tf.Variable([0.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.sqrt(w))
    return tape, y, w


def marked_line(program: Callable[[], Any]) -> int | None:
    lines, first = inspect.getsourcelines(program)
    return next((first + i for i, line in enumerate(lines) if "# here" in line), None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_plain_tape_knows_the_cause(name: str) -> None:
    program, _, cause = PROGRAMS[name]
    tape, target, source = program()
    (before,) = tape.explain(target, source).reasons
    gradient = tape.gradient(target, source)
    (after,) = tape.explain(target, source).reasons
    assert before.cause is after.cause is cause, str(after)
    in_a_graph = marked_line(program) if name == "stopped_inside_a_function" else None  # graphs always know their lines
    assert [r.line and r.line[1] for r in (before, after)] == [in_a_graph, in_a_graph]
    assert (gradient is None) == (cause not in (Cause.ZERO, Cause.CONNECTED, Cause.NOT_FINITE))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_traced_tape_knows_the_line(name: str) -> None:
    program, cause, _ = PROGRAMS[name]
    with tf.inspect.tracing():
        tape, target, source = program()
        tape.gradient(target, source)
        (reason,) = tape.explain(target, source).reasons
    assert reason.cause is cause, str(reason)
    expected = marked_line(program)
    assert (reason.line and reason.line[1]) == expected
    if expected is not None:
        assert f"test_explain.py:{expected}" in str(reason)


def test_reporting_what_is_missing_does_not_change_a_traced_function() -> None:
    traced = []

    @tf.function
    def slope(x: Any) -> Any:
        traced.append(x)
        with tf.GradientTape() as tape:
            y = v * x
        return tape.gradient(y, [v, unused])[0]

    v, unused = tf.Variable(2.0, name="v"), tf.Variable(1.0, name="unused")
    said = io.StringIO()
    with tf.inspect.tracing(said):
        assert [float(slope(tf.constant(x))) for x in (1.0, 2.0, 3.0)] == [1.0, 2.0, 3.0]
    assert len(traced) == 1
    assert said.getvalue().startswith("gradient is None for `unused`")


def test_a_source_that_is_the_target_and_one_without_elements() -> None:
    v, empty = tf.Variable([1.0, 2.0]), tf.Variable(tf.zeros([0, 3]))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(empty * 2.0)
    for target, source in ((v, v), (y, empty)):
        assert tape.gradient(target, source) is not None
        assert tape.explain(target, source).reasons[0].cause is Cause.CONNECTED


def test_the_event_log_leaves_when_tracing_ends() -> None:
    from gradtape.engine.run import dispatch

    with tf.inspect.tracing():
        assert dispatch.thread.recorder is not None
    assert dispatch.thread.recorder is None
    tape = tf.GradientTape(trace=True)
    assert dispatch.thread.base is not None
    del tape
    assert dispatch.thread.base is None
    assert tf.constant(1.0).tracer is None


def test_the_event_log_comes_to_threads_that_had_tapes_and_leaves_them() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from gradtape.engine.run import dispatch

    def recorder_after_a_tape() -> Any:
        with tf.GradientTape():
            pass
        return dispatch.thread.recorder

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(recorder_after_a_tape).result() is None
        with tf.inspect.tracing():
            assert pool.submit(lambda: dispatch.thread.recorder).result() is dispatch.thread.base is not None
            assert pool.submit(recorder_after_a_tape).result() is dispatch.thread.base
        assert pool.submit(lambda: dispatch.thread.recorder).result() is None


def test_numbers_are_the_same_under_tracing() -> None:
    def step(v: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.sin(v) * v) + tf.reduce_max(v)
            g = tape.gradient(y, v)
        return g, outer.gradient(g, v)

    @tf.function
    def traced(v: Any) -> Any:
        return step(v)

    v = tf.Variable([0.3, 0.7])
    plain = step(v)
    with tf.inspect.tracing():
        for found in (step(v), traced(v)):
            for a, b in zip(plain, found, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-6)


def test_several_sources_and_a_nest() -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b", trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = a * b
    explanation = tape.explain([y, y * 2.0], {"first": a, "second": [b]})
    assert [r.cause for r in explanation.reasons] == [Cause.CONNECTED, Cause.NOT_TRAINABLE]
    assert [r["source"] for r in explanation.as_dicts()] == ["`a`", "`b`"]
    assert str(explanation).count("\n") == 1


def test_a_released_tape_says_so() -> None:
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    assert tape.explain(y, v).reasons[0].cause is Cause.RELEASED
    with pytest.raises(RuntimeError, match="never entered"):
        tf.GradientTape().explain(y, v)


def test_a_tape_that_is_used_up_keeps_no_activations() -> None:
    import weakref

    v, other = tf.Variable([1.0]), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        hidden = tf.exp(v)
        kept = weakref.ref(hidden)
        y = hidden * hidden
    assert tape.gradient(y, [v, other])[1] is None
    del hidden, y
    assert kept() is None
    assert tape._past is not None


def test_missing_gradients_are_reported_once_each() -> None:
    stream = io.StringIO()
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.inspect.tracing(stream):
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = v * v
            tape.gradient(y, [v, w])
    assert stream.getvalue().count("gradient is None for `w`") == 1
    assert "None for `v`" not in stream.getvalue() and "depends on `v`" in stream.getvalue()


def test_a_long_computation_that_nobody_records_is_not_kept_for_ever() -> None:
    with tf.inspect.tracing():
        x = tf.constant(0.0)
        for _ in range(5000):
            x = x + 1.0
        from gradtape.inspect.records.event_log import events

        event = tf.nest.flatten(x)[0].tracer[1]
        assert event.steps < 2100
        assert x.tracer[0] is events.key


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_tensor_that_is_watched_after_a_recorded_op_has_used_it(trace, persistent):
    x, w = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape(persistent=persistent, trace=trace) as tape:
        y = x * w
        tape.watch(x)
        loss = tf.reduce_sum(y * y)
    assert tape.gradient(loss, x) is None
    reason = tape.explain(loss, x).reasons[0]
    assert reason.cause == "watched after use"
    assert "watch" in reason.sentence


def test_a_tensor_that_is_watched_late_and_not_used_at_all_has_no_path():
    x, w = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        y = w * w
        tape.watch(x)
        loss = tf.reduce_sum(y)
    assert tape.explain(loss, x).reasons[0].cause == "no path"


@pytest.mark.parametrize("library", ["scipy.special", "scipy.linalg", "torch"])
def test_the_line_where_a_value_enters_a_library_is_the_users(library):
    module = pytest.importorskip(library)
    enter = {
        "scipy.special": lambda x: module.logsumexp(x),
        "scipy.linalg": lambda x: module.norm(x),
        "torch": lambda x: module.from_dlpack(x * 2.0).numpy(),
    }[library]
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(trace=True) as tape:
        y = tf.constant(enter(x))
    (reason,) = tape.explain(y, x).reasons
    assert reason.line[0] == __file__ and reason.line[2] == "<lambda>"
