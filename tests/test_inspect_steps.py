"""`record_steps`: which steps are kept, what is kept of them, and that nothing else changes."""

import gc
import math
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from test_inspect_report import embedded

import gradtape as tf
from gradtape.core import modes
from gradtape.core.extras import is_installed
from gradtape.inspect.records import event_log
from gradtape.inspect.reports.steps import StepObserver


@pytest.fixture(autouse=True, scope="module")
def nothing_of_others():
    """Ensures that no traced tape of another file is alive, which would trace all tapes."""
    gc.collect()


@pytest.fixture(autouse=True)
def nothing_stays(nothing_of_others):
    """Ensures that each test leaves no traced tape either."""
    before = event_log.events.holders
    yield
    gc.collect()
    assert not any(isinstance(o, StepObserver) for o in modes.entered) and event_log.events.holders <= before


def run(steps, w, rate=0.1, width=4):
    """Runs a few steps of descent; returns the losses and gradient norms, measured independently."""
    x = tf.constant(np.linspace(-1, 1, 3 * width).reshape(3, width).astype(np.float32))
    outside = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            with tf.name_scope("layer"):
                hidden = tf.tanh(x @ w)
            loss = tf.reduce_mean(tf.square(hidden - 0.5))
        gradient = tape.gradient(loss, w)
        w.assign_sub(rate * gradient)
        outside.append((float(loss), float(np.linalg.norm(gradient.numpy()))))
    return outside


def weights(width=4):
    rng = np.random.default_rng(0)
    return tf.Variable(rng.normal(size=(width, 2)).astype(np.float32), name="w")


def test_steps_have_the_numbers_of_the_run_and_leave_it_as_it_is():
    plain, watched = weights(), weights()
    expected = run(7, plain)
    with tf.inspect.record_steps(every=3) as steps:
        outside = run(7, watched)
    assert outside == expected
    np.testing.assert_array_equal(plain.numpy(), watched.numpy())
    assert steps.seen == 7 and [step.number for step in steps] == [0, 3, 6]
    for step in steps:
        loss, norm = expected[step.number]
        assert step.loss == loss and step.norms["w"] == pytest.approx(norm, rel=1e-6)


def test_only_the_steps_that_are_kept_are_traced():
    kinds = []
    w = tf.Variable(1.0)
    with tf.inspect.record_steps(every=2):
        for _ in range(4):
            with tf.GradientTape() as tape:
                loss = w * w
            kinds.append(type(tape._log).__name__)
            tape.gradient(loss, w)
            del tape, loss
    assert kinds == ["TracingLog", "Log", "TracingLog", "Log"]


def test_a_long_run_keeps_few_steps_spread_over_it():
    with tf.inspect.record_steps(keep=5) as steps:
        run(23, weights())
    numbers = [step.number for step in steps]
    assert 2 <= len(numbers) <= 5 and steps.every > 1
    assert numbers[0] == 0 and numbers[-1] >= 16
    assert len({b - a for a, b in pairwise(numbers)}) == 1


def test_steps_hold_numbers_and_no_arrays():
    w = weights(width=4000)
    with tf.inspect.record_steps(keep=50) as steps:
        run(3, w, width=4000)
        tracemalloc.start()
        run(6, w, width=4000)
        grown = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    assert len(steps) == 9
    assert max(len(step.packed) for step in steps) < 10_000
    assert grown < 1_000_000  # a step's values alone have more than 48,000 bytes, and gradients as many


def test_the_page_has_one_graph_and_what_changes(tmp_path):
    with tf.inspect.record_steps() as steps:
        run(3, weights())
    data = embedded(steps.report(tmp_path / "training.html"))
    assert len(data["graphs"]) == 1 and [s["step"] for s in data["steps"]] == [0, 1, 2]
    assert [s["loss"] for s in data["steps"]] == [step.loss for step in steps]
    (tanh,) = [node for node in data["graphs"][0]["nodes"] if node["op"] == "tanh"]
    assert "value" not in tanh
    means = [s["nodes"][str(tanh["id"])]["value"]["mean"] for s in data["steps"]]
    assert len(set(means)) == 3
    assert "3 of 3 steps" in str(steps) and "w" in str(steps)
    assert embedded(tf.inspect.report(steps, tmp_path / "same.html")) == data


def test_what_is_nan_or_none_at_a_step_is_said(tmp_path):
    v, spare = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="spare")
    with tf.inspect.record_steps() as steps:
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.math.log(v)
            tape.gradient(loss, [v, spare])
            v.assign(-1.0)
    assert steps[0].loss == 0.0 and math.isnan(steps[1].loss)
    assert steps[0].norms == {"v": 1.0, "spare": None}
    data = embedded(steps.report(tmp_path / "training.html"))
    assert data["steps"][1]["loss"] is None
    assert {p["kind"] for p in data["steps"][1]["problems"]} == {"nan", "none"}


@pytest.mark.parametrize("jit_compile", [False, True])
def test_each_run_of_a_function_is_a_step(jit_compile, tmp_path):
    w = tf.Variable([[0.5], [-0.5]], name="w")
    x = tf.constant(np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32))

    @tf.function(jit_compile=jit_compile)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) - 0.5))
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.5 * gradient)
        return loss, tf.norm(gradient)

    with tf.inspect.record_steps(every=3) as steps:
        results = [step(x) for _ in range(10)]
    step(x)
    assert [kept.number for kept in steps] == [0, 3, 6, 9] and steps.seen == 10
    for kept in steps:
        loss, norm = results[kept.number]
        assert kept.loss == pytest.approx(float(loss), rel=1e-6)
        assert kept.norms == {"w": pytest.approx(float(norm), rel=1e-5)}
    data = embedded(steps.report(tmp_path / "training.html"))
    assert len(data["graphs"]) == 1
    (tanh,) = [node for node in data["graphs"][0]["nodes"] if node["op"] == "tanh"]
    assert "tf.tanh(x @ w)" in str(tanh["line"])


def test_a_first_call_that_makes_variables_is_one_step():
    made = []

    @tf.function
    def step():
        if not made:
            made.append(tf.Variable(3.0, name="v"))
        with tf.GradientTape() as tape:
            loss = made[0] ** 2
        return tape.gradient(loss, made[0])

    with tf.inspect.record_steps() as steps:
        for _ in range(3):
            step()
    assert [(kept.number, kept.loss) for kept in steps] == [(0, 9.0), (1, 9.0), (2, 9.0)]


def test_a_training_loop_inside_of_a_function_has_its_steps():
    w = tf.Variable(4.0, name="w")

    @tf.function
    def train(n):
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                loss = w * w
            w.assign_sub(0.25 * tape.gradient(loss, w))

    with tf.inspect.record_steps(every=2) as steps:
        train(tf.constant(5))
    found = [(step.number, step.loss, step.norms["w"]) for step in steps]
    assert found == [(0, 16.0, 8.0), (2, 1.0, 2.0), (4, 0.0625, 0.5)]


def test_inner_tapes_and_other_threads_are_no_steps(tmp_path):
    x = tf.Variable(2.0)

    def second():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x**3
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    @tf.function
    def compiled():
        with tf.GradientTape() as tape:
            y = x * x
        return tape.gradient(y, x)

    with tf.inspect.record_steps() as steps:
        assert float(second()) == 12.0
        thread = threading.Thread(target=run, args=(2, weights()))
        thread.start()
        thread.join()
    assert [step.loss for step in steps] == [12.0] and steps.seen == 1
    compiled()
    with tf.inspect.record_steps() as again:
        assert [float(compiled()) for _ in range(2)] == [4.0, 4.0]
    assert [step.loss for step in again] == [4.0, 4.0]
    with tf.inspect.record_steps() as none:
        pass
    with pytest.raises(ValueError, match="run_functions_eagerly"):
        none.report(tmp_path / "none.html")


def test_wrong_arguments_and_errors_in_the_block_leave_nothing_behind():
    for wrong in ({"every": 0}, {"keep": 1}, {"every": 1.5}):
        with pytest.raises(ValueError, match="must be an integer"), tf.inspect.record_steps(**wrong):
            pass
    with pytest.raises(ZeroDivisionError), tf.inspect.record_steps():
        raise ZeroDivisionError


@pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")
@pytest.mark.parametrize("how", [{"run_eagerly": True}, {}, {"jit_compile": True}], ids=str)
def test_a_keras_model_is_recorded_step_by_step(how, tmp_path):
    keras = tf.keras
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(3, "relu", name="first"), keras.layers.Dense(1, name="second")])
    model.compile("sgd", "mse", **how)
    x = np.ones((8, 2), np.float32)
    with tf.inspect.record_steps() as steps:
        history = model.fit(x, x[:, :1], batch_size=8, epochs=12, verbose=0)
    assert [step.loss for step in steps] == pytest.approx(history.history["loss"], rel=1e-5)
    assert [name for name in steps[0].norms if name.endswith("kernel")] and len(steps[0].norms) == 4
    tree = embedded(steps.report(tmp_path / "fit.html"))["graphs"][0]["tree"]
    assert "first" in str(tree) and "second" in str(tree)
