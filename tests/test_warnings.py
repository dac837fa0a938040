"""NumPy's warnings about gradtape's kernels (log of 0, overflow) are silenced, as TensorFlow does not warn."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"

CASE = """
class Case(tf.test.TestCase):
    def test_kernels(self):
        x = tf.Variable([0.0, 1.0])
        with tf.GradientTape() as tape:
            y = tf.math.log(x)
        self.assertAllEqual(tape.gradient(y, x), [float("inf"), 1.0])
"""

FUNCTION = """
def test_kernels():
    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as tape:
        y = tf.math.log(x)
    assert tape.gradient(y, x).numpy().tolist() == [float("inf"), 1.0]
"""


@pytest.mark.parametrize(
    ("program", "command"),
    [
        (CASE, ["-m", "unittest", "-q", "test_them"]),
        (FUNCTION + "test_kernels()\n", ["-W", "error", "test_them.py"]),
        (FUNCTION + "test_kernels()\n", ["-O", "-W", "error", "test_them.py"]),
    ],
    ids=["unittest", "warnings as errors", "optimised"],
)
def test_kernels_do_not_warn(program, command, tmp_path):
    (tmp_path / "test_them.py").write_text("import gradtape as tf\n" + program)
    run = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Warning" not in run.stdout + run.stderr
