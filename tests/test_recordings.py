"""Steps in files: saved, loaded without their program, replayed and compared."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.cli import main
from gradtape.inspect.recordings.compare import _compare_values

RNG = np.random.default_rng(0)


def step(x, w, b):
    h = tf.nn.relu(x @ w + b)
    parts = tf.split(h, 2, axis=1)
    return tf.reduce_mean(parts[0] * tf.exp(parts[1][:, ::-1])) + tf.reduce_sum(tf.cast(b, tf.float64)[..., 1:3])


def save_step(path, run=step, **changes):
    given = {"x": RNG.normal(size=(5, 3)), "w": np.eye(3, 4), "b": np.ones(4)} | changes
    x = tf.constant(given["x"])
    w, b = tf.Variable(given["w"], name="w"), tf.Variable(given["b"], name="b")
    with tf.GradientTape(trace=True) as tape:
        y = run(x, w, b)
    gradients = tape.gradient(y, [w, b])
    return tape.save(path, y, [w, b]), gradients


@pytest.mark.parametrize("run", [step, tf.function(step)], ids=["eager", "function"])
def test_the_gradients_are_the_same(tmp_path, run):
    path, expected = save_step(tmp_path / "step.tape", run)
    loaded = tf.load_tape(path)
    assert list(loaded.sources) == ["w", "b"]
    for found, g in zip(loaded.gradient(), expected, strict=True):
        np.testing.assert_allclose(found, g, rtol=1e-15)
    one = loaded.gradient(sources=loaded.sources["b"])
    np.testing.assert_allclose(one, expected[1], rtol=1e-15)
    assert loaded.diagnose().ok
    assert "w" in str(loaded.explain(loaded.targets, list(loaded.sources.values())))
    assert "step.html" in str(loaded.report(tmp_path / "step.html"))


def test_lines_are_known_where_the_program_is_not(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import sys\nimport gradtape as tf\n"
        "v = tf.Variable([0.0, 1.0], name='v')\n"
        "with tf.GradientTape(trace=True) as tape:\n"
        "    loss = tf.reduce_sum(tf.math.log(v))\n"
        "tape.save(sys.argv[1], loss, v)\n"
    )
    path = tmp_path / "elsewhere" / "step.tape"
    subprocess.run([sys.executable, program, path], check=True, cwd=tmp_path)
    program.unlink()
    found = str(tf.load_tape(path).diagnose())
    assert "train.py:5" in found
    assert "loss = tf.reduce_sum(tf.math.log(v))" in found


def test_other_inputs(tmp_path):
    path, _ = save_step(tmp_path / "step.tape")
    loaded = tf.load_tape(path)
    again = loaded.replay({"b": [1.0, 2.0, 3.0, 4.0]})
    _, expected = save_step(tmp_path / "other.tape", x=loaded.recording.constants[0].numpy(), b=np.arange(1.0, 5.0))
    for found, g in zip(again.gradient(), expected, strict=True):
        np.testing.assert_allclose(found, g, rtol=1e-12)
    with pytest.raises(ValueError, match="no input 'c'"):
        loaded.replay({"c": 1.0})
    with pytest.raises(ValueError, match="has the shape"):
        loaded.replay({"b": [1.0]})


def test_where_two_runs_part(tmp_path, capsys):
    x = RNG.normal(size=(5, 3))
    first, _ = save_step(tmp_path / "a.tape", x=x)
    same, _ = save_step(tmp_path / "b.tape", x=x)
    assert tf.inspect.compare(first, same).same
    other_input, _ = save_step(tmp_path / "c.tape", x=x, b=np.array([1.0, 1.0, 1.5, 1.0]))
    found = tf.inspect.compare(first, other_input)
    assert (found.kind, found.difference) == ("input", 0.5)
    assert "the input b: at index (2,) a has 1, b has 1.5; 1 of 4 numbers differ" in str(found)

    def noisy(x, w, b):
        h = tf.nn.relu(x @ w + b)
        parts = tf.split(h, 2, axis=1)
        return tf.reduce_mean(parts[0] * tf.exp(parts[1][:, ::-1] + 1e-7)) + tf.reduce_sum(b)

    def another(x, w, b):
        return tf.reduce_mean(tf.nn.softplus(x @ w + b))

    third, _ = save_step(tmp_path / "d.tape", another, x=x)
    found = tf.inspect.compare(first, third)
    assert found.kind == "program"
    assert "relu in a, softplus in b" in str(found)
    assert found.lines[1][1] == another.__code__.co_firstlineno + 1
    fourth, _ = save_step(tmp_path / "e.tape", noisy, x=x)
    assert tf.inspect.compare(first, fourth).kind == "program"
    assert main(["compare", str(first), str(same)]) == 0
    assert main(["compare", str(first), str(third)]) == 1
    assert "test_recordings.py" in capsys.readouterr().out
    assert main(["compare", str(first), str(tmp_path / "nothing.tape")]) == 2


def test_small_differences_may_be_tolerated(tmp_path):
    x = RNG.normal(size=(5, 3))
    first, _ = save_step(tmp_path / "a.tape", x=x)
    near, _ = save_step(tmp_path / "b.tape", x=x, w=np.eye(3, 4) * (1 + 1e-9))
    assert tf.inspect.compare(first, near).kind == "input"
    assert tf.inspect.compare(first, near, tolerance=1e-6).same


def test_what_a_file_has_no_words_for(tmp_path):
    @tf.custom_gradient
    def doubled(x):
        return 2.0 * x, lambda g: tf.constant(2.0 * g.numpy())

    @tf.custom_gradient
    def clipped(x):
        return 2.0 * x, lambda g: g if tf.reduce_max(g) < 1.0 else g / tf.reduce_max(g)

    v = tf.Variable([1.0])
    for function in (doubled, clipped):
        with tf.GradientTape(trace=True) as tape:
            y = function(v)
        with pytest.raises(RuntimeError, match=rf"gradient of {function.__name__} at test_recordings\.py:\d+") as found:
            tape.save(tmp_path / "step.tape", y, v)
        assert "Use TensorFlow ops" in str(found.value)

    @tf.function
    def noisy_loop(v):
        for _ in tf.range(3):
            v = v * tf.random.uniform([1])
        return v

    with tf.GradientTape(trace=True) as tape:
        y = noisy_loop(v)
    with pytest.raises(RuntimeError, match=r"run the call of noisy_loop at test_recordings.*draws random numbers"):
        tape.save(tmp_path / "step.tape", y, v)
    assert os.listdir(tmp_path) == []


def test_complex_values_have_their_own_rules(tmp_path):
    for run in (lambda z: z * z, tf.function(lambda z: z * z)):
        z = tf.Variable(1.0 + 2.0j, name="z", dtype=tf.complex64)
        with tf.GradientTape(trace=True, persistent=True) as tape:
            y = run(z)
        loaded = tf.load_tape(tape.save(tmp_path / "step.tape", y, z))
        assert tape.gradient(y, z).numpy() == loaded.gradient().numpy() == 2.0 - 4.0j


def test_sources_that_nothing_uses_and_values_on_the_way(tmp_path):
    x, unused, never = tf.constant([1.0, 2.0]), tf.constant(3.0), tf.Variable(4.0, name="never")
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape(trace=True, persistent=True) as tape:
        tape.watch([x, unused])
        middle = x * v
        y = tf.reduce_sum(middle**2)
        other = tf.stop_gradient(y)
    sources = [v, unused, never, middle, x, v]
    loaded = tf.load_tape(tape.save(tmp_path / "step.tape", [y, other], sources))
    expected, found = tape.gradient([y, other], sources), loaded.gradient()
    assert [g is None for g in found] == [False, True, True, False, False, False]
    for g, h in zip(expected, found, strict=True):
        assert (g is None) == (h is None)
        if g is not None:
            np.testing.assert_allclose(h, g)
    assert len(loaded.targets) == 2
    assert [reason.cause.value for reason in loaded.explain().reasons] == [
        "connected", "no path", "no path", "connected", "connected", "connected"
    ]  # fmt: skip
    assert tf.load_tape(tape.save(tmp_path / "all.tape")).gradient() is not None  # about what it watches


def test_other_inputs_than_variables(tmp_path):
    batch, labels, watched = tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant(0.5)
    w = tf.Variable([[1.0, 0.0], [0.5, 1.0]], name="w")

    @tf.function
    def step(x, labels):
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x @ w))

    def run(batch, labels, watched):
        with tf.GradientTape(trace=True, persistent=True) as tape:
            tape.watch(watched)
            y = step(batch, labels) * watched + tf.reduce_sum(tf.where(w > watched, w, 0.0))
        return tape, y

    tape, y = run(batch, labels, watched)
    path = tape.save(tmp_path / "step.tape", y, w, inputs={"x": batch, "labels": labels, "scale": watched})
    loaded = tf.load_tape(path)
    assert sorted(loaded.inputs) == ["labels", "scale", "w", "x"]
    others = {"x": tf.constant([[-1.0, 4.0]]), "labels": np.array([0]), "scale": tf.constant(0.75)}
    again = loaded.replay(others)
    tape, y = run(*map(tf.constant, (others["x"], [0], 0.75)))
    np.testing.assert_allclose(again.targets[0], y, rtol=1e-6)
    np.testing.assert_allclose(again.gradient(), tape.gradient(y, w), rtol=1e-6)
    with pytest.raises(ValueError, match="the input 'z' is not an argument of any recorded op"):
        tape.save(path, y, w, inputs={"z": tf.constant(1.0)})


def test_other_targets_and_large_integers_are_differences(tmp_path):
    def saved(name, target):
        v = tf.Variable([1.0, 2.0], name="v")
        with tf.GradientTape(trace=True) as tape:
            results = tf.exp(v), tf.sin(v)
        return tape.save(tmp_path / name, results[target], v)

    found = tf.inspect.compare(saved("a", 0), saved("b", 1))
    assert (found.same, found.kind) == (False, "program") and "targets" in str(found)
    assert tf.inspect.compare(tmp_path / "a", saved("c", 0)).same
    large = [tf.constant([2**53 + i], tf.int64) for i in (0, 1)]
    assert _compare_values(large[0], large[1], 0.0) is not None and _compare_values(large[0], large[0], 0.0) is None
