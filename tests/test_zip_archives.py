"""gradtape runs from a zip archive, as a zipapp or a cluster's `--py-files` has it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy

import gradtape

PACKAGES = Path(gradtape.__file__).parents[1]
PROGRAM = """
import gradtape as tf, numpy as np

@tf.function
def double(x):
    if tf.reduce_sum(x) > 0:
        return x * 2.0
    return x

v = tf.Variable([1.0])
with tf.GradientTape(trace=True) as tape:
    y = tf.round(double(v))
print(y.numpy(), tape.gradient(y, v), "no derivative" in str(tape.explain(y, v)))
tape.report("report.html", y, v)
module = tf.Module()
module.v = v
tf.saved_model.save(module, "saved")
print(tf.saved_model.load("saved").v.numpy(), tf.raw_ops.AddV2(x=1.0, y=2.0).numpy())
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
print(tf.__file__)
"""


def test_a_program_runs_on_an_archive(tmp_path):
    archive = tmp_path / "gradtape.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for package in ("gradtape", "keras_gradtape"):
            for path in (PACKAGES / package).rglob("*"):
                if path.is_file() and "__pycache__" not in path.parts:
                    file.write(path, path.relative_to(PACKAGES))
    libraries = Path(numpy.__file__).parents[1]
    # -S leaves out the installed gradtape.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [archive, libraries])), "GRADTAPE_PTH": "0"}
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-S", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[2.] None True", "[1.] 3.0", str(archive / "gradtape" / "__init__.py")], done
    unchanged = "import tensorflow as tf; print(tf.add(1, 2).numpy())"
    command = [sys.executable, "-S", "-m", "gradtape", "run", "-c", unchanged]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "3\n", done
