"""gradtape runs from a zip archive, as a zipapp or a cluster's `--py-files` has it."""

import os
import subprocess
import sys
import zipapp
import zipfile
from pathlib import Path

import numpy
import pytest

import gradtape

pytestmark = pytest.mark.several

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


def run(command, folder, path):
    """Runs Python without the installed gradtape (-S), with the modules at `path` and the libraries."""
    libraries = Path(numpy.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*path, libraries])), "GRADTAPE_PTH": "0"}
    done = subprocess.run([sys.executable, "-S", *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert not done.returncode, done
    return done.stdout


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    archive = tmp_path_factory.mktemp("archive") / "gradtape.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("__main__.py", PROGRAM)
        for package in ("gradtape", "gradtape_tensorflow", "keras_gradtape"):
            for path in (PACKAGES / package).rglob("*"):
                if path.is_file() and "__pycache__" not in path.parts:
                    file.write(path, path.relative_to(PACKAGES))
    return archive


def test_a_program_runs_on_an_archive(archive, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    lines = run(["program.py"], tmp_path, [archive]).splitlines()
    assert lines == ["[2.] None True", "[1.] 3.0", str(archive / "gradtape" / "__init__.py")]
    unchanged = "import tensorflow as tf; print(tf.add(1, 2).numpy())"
    assert run(["-m", "gradtape", "run", "-c", unchanged], tmp_path, [archive]) == "3\n"


def test_a_zipapp_contains_gradtape_or_runs_beside_it(archive, tmp_path):
    whole, program = tmp_path / "whole.pyz", tmp_path / "program.pyz"
    zipapp.create_archive(archive, whole, interpreter=sys.executable)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "__main__.py").write_text("import program")
    (tmp_path / "source" / "program.py").write_text(PROGRAM)
    zipapp.create_archive(tmp_path / "source", program, compressed=True)
    for application, path in ((whole, []), (program, [archive])):
        lines = run([application.name], tmp_path, path).splitlines()
        assert lines[:2] == ["[2.] None True", "[1.] 3.0"]
        assert lines[2].endswith(os.path.join(path[0] if path else whole.name, "gradtape", "__init__.py"))
