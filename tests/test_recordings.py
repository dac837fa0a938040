"""Steps in files: saved, loaded without their program, replayed, and compared."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.cli import main

RNG = np.random.default_rng(0)


def step(x, w, b):
    h = tf.nn.relu(x @ w + b)
    parts = tf.split(h, 2, axis=1)
    return tf.reduce_mean(parts[0] * tf.exp(parts[1][:, ::-1])) + tf.reduce_sum(tf.cast(b, tf.float64)[..., 1:3])


def recorded(path, run=step, **changes):
    given = {"x": RNG.normal(size=(5, 3)), "w": np.eye(3, 4), "b": np.ones(4)} | changes
    x = tf.constant(given["x"])
    w, b = tf.Variable(given["w"], name="w"), tf.Variable(given["b"], name="b")
    with tf.GradientTape(trace=True) as tape:
        y = run(x, w, b)
    gradients = tape.gradient(y, [w, b])
    return tape.save(path, y, [w, b]), gradients


@pytest.mark.parametrize("run", [step, tf.function(step)], ids=["eager", "function"])
def test_the_gradients_are_the_same(tmp_path, run):
    path, expected = recorded(tmp_path / "step.tape", run)
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
    path, _ = recorded(tmp_path / "step.tape")
    loaded = tf.load_tape(path)
    again = loaded.replay({"b": [1.0, 2.0, 3.0, 4.0]})
    _, expected = recorded(tmp_path / "other.tape", x=loaded.recording.constants[0].numpy(), b=np.arange(1.0, 5.0))
    for found, g in zip(again.gradient(), expected, strict=True):
        np.testing.assert_allclose(found, g, rtol=1e-12)
    with pytest.raises(ValueError, match="no input 'c'"):
        loaded.replay({"c": 1.0})
    with pytest.raises(ValueError, match="has the shape"):
        loaded.replay({"b": [1.0]})


def test_where_two_runs_part(tmp_path, capsys):
    x = RNG.normal(size=(5, 3))
    first, _ = recorded(tmp_path / "a.tape", x=x)
    same, _ = recorded(tmp_path / "b.tape", x=x)
    assert tf.inspect.compare(first, same).same
    other_input, _ = recorded(tmp_path / "c.tape", x=x, b=np.array([1.0, 1.0, 1.5, 1.0]))
    found = tf.inspect.compare(first, other_input)
    assert (found.kind, found.difference) == ("input", 0.5)
    assert "the input b: at index (2,) a has 1, b has 1.5; 1 of 4 numbers differ" in str(found)

    def noisy(x, w, b):
        h = tf.nn.relu(x @ w + b)
        parts = tf.split(h, 2, axis=1)
        return tf.reduce_mean(parts[0] * tf.exp(parts[1][:, ::-1] + 1e-7)) + tf.reduce_sum(b)

    def another(x, w, b):
        return tf.reduce_mean(tf.nn.softplus(x @ w + b))

    third, _ = recorded(tmp_path / "d.tape", another, x=x)
    found = tf.inspect.compare(first, third)
    assert found.kind == "program"
    assert "relu in a, softplus in b" in str(found)
    assert found.lines[1][1] == another.__code__.co_firstlineno + 1
    fourth, _ = recorded(tmp_path / "e.tape", noisy, x=x)
    assert tf.inspect.compare(first, fourth).kind == "program"
    assert main(["compare", str(first), str(same)]) == 0
    assert main(["compare", str(first), str(third)]) == 1
    assert "test_recordings.py" in capsys.readouterr().out
    assert main(["compare", str(first), str(tmp_path / "nothing.tape")]) == 2


def test_small_differences_may_be_tolerated(tmp_path):
    x = RNG.normal(size=(5, 3))
    first, _ = recorded(tmp_path / "a.tape", x=x)
    near, _ = recorded(tmp_path / "b.tape", x=x, w=np.eye(3, 4) * (1 + 1e-9))
    assert tf.inspect.compare(first, near).kind == "input"
    assert tf.inspect.compare(first, near, tolerance=1e-6).same


def test_damaged_files_and_other_files(tmp_path):
    path, _ = recorded(tmp_path / "step.tape")
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.DataLossError):
            tf.load_tape(path)
    np.savez(tmp_path / "arrays.tape", x=np.ones(3))
    with pytest.raises(tf.errors.DataLossError):
        tf.load_tape(tmp_path / "arrays.tape.npz")
    with pytest.raises(tf.errors.NotFoundError):
        tf.load_tape(tmp_path / "nothing.tape")


def test_what_a_file_has_no_words_for(tmp_path):
    @tf.custom_gradient
    def doubled(x):
        return 2.0 * x, lambda g: 2.0 * g

    v = tf.Variable([1.0])
    with tf.GradientTape(trace=True) as tape:
        y = doubled(v)
    with pytest.raises(RuntimeError, match=r"doubled at test_recordings\.py"):
        tape.save(tmp_path / "step.tape", y, v)
    assert os.listdir(tmp_path) == []
