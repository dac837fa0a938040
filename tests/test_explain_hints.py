"""In an interactive session, the first None gradient of each cause prints a line; elsewhere, none does."""

import os
import subprocess
import sys

import pytest

SESSION = """
import gradtape as tf, library
x, v, w = tf.Variable(3), tf.Variable(2.0, name="v"), tf.Variable(1.0, name="w")
c = tf.constant(3.0)
with tf.GradientTape(persistent=True) as tape: y = c * v

tape.gradient(y, c, unconnected_gradients="zero"), library.gradient(tape, y, w)  # 1: asked for, and a library's
with tf.inspect.tracing(): tape.gradient(y, w)  # 2: reported by the mode

tape.gradient(y, [v, x, w])  # 3
tape.gradient(y, x), tape.gradient(y, x)  # 4: the same cause
tape.gradient(y, c)  # 5
tape.gradient(v, y)  # 6
def step():
    with tf.GradientTape() as tape: z = tf.stop_gradient(v)
    return tape.gradient(z, v)

tf.function(step, autograph=False)(), step()  # 7
"""
LIBRARY = """
def gradient(tape, *arguments):
    return tape.gradient(*arguments)
"""


def run(tmp_path, *options, text, **variables):
    (tmp_path / "site-packages").mkdir(exist_ok=True)
    (tmp_path / "site-packages" / "library.py").write_text(LIBRARY)
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    path = os.pathsep.join([str(tmp_path / "site-packages"), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *options], input=text, capture_output=True, text=True, timeout=300,
        env=environment | {"PYTHONPATH": path} | variables,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return [line[line.index("gradtape: ") :] for line in done.stderr.splitlines() if "gradtape: " in line]


def test_a_session_is_told_about_the_first_none_of_each_cause(tmp_path):
    integer, constant, swapped, stopped = run(tmp_path, "-i", text=SESSION)
    assert integer.startswith("gradtape: the gradient is None for `x` (and 1 more): its dtype is int32, and only")
    assert constant.startswith("gradtape: the gradient is None for `c`: it is a tensor that was never watched; only")
    assert "`y`: it was computed from the target `v`, so the arguments seem to be swapped. The first" in swapped
    assert "`v`: tf.stop_gradient stops the gradient" in stopped
    for line in (integer, constant, swapped, stopped):
        assert line.endswith(" See tape.explain(target, sources). GRADTAPE_HINTS=0 turns these hints off")


@pytest.mark.parametrize("variables", [{"GRADTAPE_HINTS": "0"}, {"PYTEST_CURRENT_TEST": "test"}])
def test_hints_are_off(variables, tmp_path):
    assert run(tmp_path, "-i", text=SESSION, **variables) == []


def test_scripts_and_doctests_print_no_hints(tmp_path):
    assert run(tmp_path, "-", text=SESSION) == []
    examples = tmp_path / "examples.txt"
    examples.write_text(
        ">>> import gradtape as tf\n>>> x = tf.Variable(3)\n>>> with tf.GradientTape() as tape:\n...     y = x * x\n"
        ">>> tape.gradient(y, x)\n"
    )
    text = f"import doctest\ndoctest.testfile({str(examples)!r}, module_relative=False)\n"
    assert run(tmp_path, "-i", text=text) == []
