"""Recordings of functions, branches, loops, custom gradients and assigned variables."""

import sys

import numpy as np
import pytest

import gradtape as tf


def squared_until_large(v):
    x = 1.0 * v
    while tf.reduce_sum(x) < 100.0:
        x = x * x + tf.cast(v > 1.5, tf.float64)
    return tf.reduce_sum(x)


def either(v):
    if tf.reduce_sum(v) > 5.0:
        return tf.reduce_sum(v**3)
    return tf.reduce_sum(tf.exp(v))


def scanned(v):
    return tf.reduce_sum(tf.scan(lambda a, x: a * x + tf.sin(x), v))


def mapped(v):
    return tf.reduce_sum(tf.map_fn(lambda x: either(tf.stack([x, x])), v))


def counted(v):
    total = tf.zeros([], tf.float64)
    for i in tf.range(3):
        total += v[i] ** tf.cast(i + 1, tf.float64)
    return total


@tf.custom_gradient
def slow_cube(x):
    squared = x * x
    return x * squared, lambda g: 0.5 * g * squared


@tf.custom_gradient
def rows_of(table):
    def rule(g):
        return tf.IndexedSlices(2.0 * g, tf.constant([2, 0]), tf.constant([3], tf.int64))

    return tf.gather(table, [2, 0]), rule


def custom(v):
    return tf.reduce_sum(slow_cube(tf.sin(v)) * v)


def custom_rows(v):
    return tf.reduce_sum(rows_of(v) ** 2)


def recomputed(v):
    return tf.recompute_grad(lambda x: tf.reduce_sum(tf.exp(x) * x))(v)


PARTS = (squared_until_large, either, scanned, mapped, counted, custom, custom_rows, recomputed)


def second_order(tape, y, v):
    return tape.hvp(y, v, np.ones(v.shape))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("program", PARTS, ids=lambda f: f.__name__)
def test_branches_loops_and_custom_gradients(tmp_path, program, wrap):
    run = wrap(program)

    def asked(at):
        v = tf.Variable(at, name="v", dtype=tf.float64)
        with tf.GradientTape(trace=True, persistent=True) as tape:
            y = run(v)
        return tape, y, v

    tape, y, v = asked([1.0, 2.0, 3.0])
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    np.testing.assert_array_equal(loaded.targets[0], y)
    expected = tape.gradient(y, v)
    np.testing.assert_allclose(tf.convert_to_tensor(loaded.gradient()), tf.convert_to_tensor(expected), rtol=1e-13)
    assert loaded.diagnose().ok
    assert "step.html" in str(loaded.report(tmp_path / "step.html"))
    second = second_order(loaded, loaded.targets[0], loaded.sources["v"])
    np.testing.assert_allclose(second, second_order(tape, y, v), rtol=1e-12)
    if run is program and program in (squared_until_large, either, mapped):
        return  # branches and loops of Python code: the recording contains what they did, not the alternatives
    for other in ([0.5, 1.0, 1.5], [4.0, 1.0, 2.0]):
        again = loaded.replay({"v": other})
        tape, y, v = asked(other)
        np.testing.assert_allclose(again.targets[0], y, rtol=1e-13)
        found, expected = again.gradient(), tape.gradient(y, v)
        np.testing.assert_allclose(tf.convert_to_tensor(found), tf.convert_to_tensor(expected), rtol=1e-13)


def test_a_function_that_prints_and_one_that_assigns(tmp_path, capsys):
    state = tf.Variable(0.0)

    @tf.function
    def prints(v):
        tf.print("a step", output_stream=sys.stdout)
        return tf.reduce_sum(v**2)

    @tf.function
    def assigns(v):
        state.assign(2.0)
        return tf.reduce_sum(v * state)

    for function, expected in ((prints, [2.0, 4.0]), (assigns, [2.0, 2.0])):
        v = tf.Variable([1.0, 2.0], name="v")
        with tf.GradientTape(trace=True) as tape:
            y = function(v)
        loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
        assert loaded.gradient().numpy().tolist() == expected
    assert capsys.readouterr().out == "a step\n"


@pytest.mark.parametrize("jit_compile", [False, True])
def test_what_a_function_drew_is_in_the_file(tmp_path, jit_compile):
    @tf.function(jit_compile=jit_compile)
    def step(v):
        kept = tf.nn.dropout(v, 0.5)
        return tf.reduce_sum(kept * tf.random.normal([50]))

    v = tf.Variable(tf.ones([50]), name="v")
    for _ in range(3):
        with tf.GradientTape(trace=True) as tape:
            y = step(v)
        expected = tape.gradient(y, v)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    assert 5 < np.count_nonzero(expected) < 45
    np.testing.assert_allclose(loaded.gradient(), expected, rtol=1e-6)
    again = loaded.replay({"v": 2.0 * np.ones(50)})
    np.testing.assert_allclose(again.targets[0], 2.0 * y, rtol=1e-5)


def test_a_diagnosis_looks_into_a_call_that_draws():
    @tf.function
    def step(v):
        return tf.reduce_sum(tf.math.log(v) * tf.random.uniform([2], 0.5))

    v = tf.Variable([1.0, 0.0])
    with tf.GradientTape(trace=True) as tape:
        y = step(v)
    state = float(step(v + 1.0))
    assert "tf.math.log" in str(tape.diagnose(y, v))
    assert float(step(v + 1.0)) != state


def test_numpy_inside_of_a_custom_gradient_is_known_for_its_own_inputs_only(tmp_path):
    @tf.custom_gradient
    def cosine(x):
        return tf.constant(np.cos(x.numpy())), lambda g: -g * tf.sin(x)

    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(trace=True) as tape:
        y = cosine(v)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    np.testing.assert_allclose(loaded.gradient(), -np.sin([1.0, 2.0]), rtol=1e-6)
    with pytest.raises(
        ValueError, match=r"custom gradient at .*test_recordings_functions\.py:\d+.* not recorded as ops"
    ):
        loaded.replay({"v": [1.0, 3.0]})


def test_a_branch_that_was_never_traced_is_no_replay(tmp_path):
    @tf.function
    def step(v):
        return tf.reduce_sum(tf.boolean_mask(v, v > 0.0) ** 2)

    v = tf.Variable([1.0, -1.0, 2.0], name="v")
    with tf.GradientTape(trace=True) as tape:
        y = step(v)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    assert loaded.gradient().numpy().tolist() == [2.0, 0.0, 4.0]
    assert loaded.replay({"v": [-1.0, 3.0, 4.0]}).gradient().numpy().tolist() == [0.0, 6.0, 8.0]
    with pytest.raises(
        ValueError, match=r"the function was traced for specific values at .*test_recordings_functions\.py"
    ):
        loaded.replay({"v": [1.0, 1.0, 1.0]})


def test_where_two_loops_part(tmp_path):
    def save(name, body, start=1.0):
        v = tf.Variable([start, 2.0], name="v")

        @tf.function
        def step(v):
            return tf.reduce_sum(tf.scan(body, v))

        with tf.GradientTape(trace=True) as tape:
            y = step(v)
        return tape.save(tmp_path / name, y, v)

    a = save("a.tape", lambda a, x: tf.sin(a) * x)
    assert tf.inspect.compare(a, save("same.tape", lambda a, x: tf.sin(a) * x)).same
    found = tf.inspect.compare(a, save("b.tape", lambda a, x: tf.cos(a) * x))
    assert found.kind == "program"
    assert "inside loop, in its body, sin in a, cos in b" in str(found)
    assert found.lines[0][1] + 2 == found.lines[1][1]
    c, d = save("c.tape", lambda a, x: 2.0 * x), save("d.tape", lambda a, x: 2.5 * x)
    found = tf.inspect.compare(c, d)
    assert (found.kind, found.difference) == ("input", 0.5)
    assert "a constant of op" in str(found)
    assert tf.inspect.compare(a, save("e.tape", lambda a, x: tf.sin(a) * x, start=1.5)).kind == "input"


def assigning(v, w):
    first = tf.reduce_sum(v * w)
    v.assign(v * w + 1.0)
    w.assign_add(v)
    return first + tf.reduce_sum(v * v * w)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_a_variable_that_is_assigned_between_reads(tmp_path, wrap):
    def run(at):
        v, w = tf.Variable(at, name="v"), tf.Variable([1.0, 3.0], name="w")
        step = wrap(assigning)
        with tf.GradientTape(trace=True, persistent=True) as tape:
            y = step(v, w) + tf.reduce_sum(v)
            y += step(v, w)
        return tape, y, [v, w]

    tape, y, sources = run([1.0, 2.0])
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, sources))
    np.testing.assert_allclose(loaded.gradient(), tape.gradient(y, sources), rtol=1e-6)
    np.testing.assert_allclose(loaded.inputs["v"], [1.0, 2.0])
    assert loaded.audit_precision().rows is not None
    again = loaded.replay({"v": [2.0, -1.0]})
    tape, y, sources = run([2.0, -1.0])
    np.testing.assert_allclose(again.targets[0], y, rtol=1e-5)
    np.testing.assert_allclose(again.gradient(), tape.gradient(y, sources), rtol=1e-5)


def settled(v, x):  # with the recorded inputs, the assignment does not change the numbers
    first = tf.reduce_sum(v * v)
    tf.function(lambda: (v.assign(tf.minimum(v, 10.0)), tf.reduce_sum(v))[1])()
    return first + tf.reduce_sum(v * v)


def silent(v, x):  # a call that returns nothing is no record
    tf.function(lambda: [v.assign(0.5 * v + x)][1:])()
    return tf.reduce_sum(v * v)


def unwatched(v, x):
    state = tf.Variable([1.0, 1.0], trainable=False)
    state.assign_add(v * x)
    tf.function(lambda: [state.assign(state * x + 1.0)][1:])()
    return tf.reduce_sum(v * state)


def call_counter(v, x):  # calls that give integers have no derivative
    count = tf.function(lambda: tf.reduce_sum(tf.cast(v > 0.0, tf.int32)))()
    return tf.reduce_sum(v * x * tf.cast(tf.function(lambda n: 2 * n + 1)(count), tf.float32))


@pytest.mark.parametrize("step", [settled, silent, unwatched, call_counter])
def test_what_functions_leave_in_variables_is_computed_again(tmp_path, step):
    def run(at):
        v, x = tf.Variable(at, name="v"), tf.constant([2.0, -1.0])
        with tf.GradientTape(trace=True, persistent=True) as tape:
            tape.watch(x)
            y = step(v, x)
        return tape, y, [v, x]

    recorded = run([3.0, -5.0])
    loaded = tf.load_tape(recorded[0].save(tmp_path / "step.tape", *recorded[1:]))
    cases = (loaded, recorded), (loaded.replay({"v": [20.0, 4.0]}), run([20.0, 4.0]))
    for found, (tape, y, sources) in cases:
        np.testing.assert_allclose(found.targets[0], y, rtol=1e-6)
        for g, h in zip(tape.gradient(y, sources), found.gradient(), strict=True):
            assert (g is None) == (h is None)
            if g is not None:
                np.testing.assert_allclose(h, g, rtol=1e-6)


def test_a_call_on_two_tapes_is_replayed_for_the_branches_it_took(tmp_path):
    @tf.function
    def branch(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x) * x, lambda: x)

    def run(at):
        v = tf.Variable(at, name="v")
        with tf.GradientTape(trace=True, persistent=True) as tape:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(branch(v) ** 2)
            y += tf.reduce_sum(inner.gradient(y, v))
        return tape, y, v

    tape, y, v = run([1.0, 2.0])
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, v))
    again, (tape, y, v) = loaded.replay({"v": [3.0, -1.0]}), run([3.0, -1.0])
    np.testing.assert_allclose(again.targets[0], y, rtol=1e-6)
    np.testing.assert_allclose(again.gradient(), tape.gradient(y, v), rtol=1e-6)
    with pytest.raises(ValueError, match="traced for specific values"):
        loaded.replay({"v": [-3.0, -1.0]})


def test_a_source_that_a_call_made_of_what_has_no_derivative(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    scale = tf.function(lambda x, w: tf.stop_gradient(x) * 2.0 + 0.0 * tf.stop_gradient(w))
    with tf.GradientTape(trace=True, persistent=True) as tape:
        middle = scale(v, v)
        y = tf.reduce_sum(middle**2)
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, [middle, v]))
    expected = tape.gradient(y, [middle, v])
    np.testing.assert_allclose(loaded.gradient()[0], expected[0])
    assert expected[1] is None and loaded.gradient()[1] is None
    np.testing.assert_allclose(loaded.replay({"v": [3.0, 4.0]}).gradient()[0], [12.0, 16.0])
