"""Programs run where the locale knows ASCII only, without a home directory, and leave nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape

pytestmark = pytest.mark.several

SOURCE = Path(gradtape.__file__).parents[1]
PROGRAM = '''# coding: utf-8
import os, sys
import numpy as np
import gradtape as tf

@tf.function(jit_compile=True)
def f(x):
    if tf.reduce_sum(x) > 0:  # ein Größenvergleich
        x = tf.sin(x)
    return x * 2.0

v = tf.Variable([1.0])
with tf.GradientTape(trace=True) as tape:
    y = tf.round(f(v))
tape.report("report.html", y, v)
module = tf.Module()
module.v = v
tf.saved_model.save(module, os.path.abspath("saved"))
tf.print("ß", output_stream="file://" + os.path.abspath("printed"))
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
model.save(os.path.abspath("model.keras"))
print(y.numpy(), tf.saved_model.load(os.path.abspath("saved")).v.numpy(), sys.getfilesystemencoding())
try:
    f(tf.constant("text"))
except TypeError as error:
    print(ascii(str(error)))
'''


def run(program, folder, **environment):
    command = [sys.executable, program]
    environment = {"PATH": os.environ["PATH"], "MPLCONFIGDIR": str(folder / "plots"), **environment}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert not done.returncode, done
    return done.stdout.splitlines()


def test_paths_that_the_locale_cannot_decode(tmp_path):
    folder = tmp_path / "Häuser"
    folder.mkdir()
    (folder / "Größe.py").write_text(PROGRAM, encoding="utf-8")
    lines = run(folder / "Größe.py", folder, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert lines[0] == "[2.] [1.] ascii"
    assert r"Gr\udcc3\udcb6\udcc3\udc9fe.py" in lines[1] and "if tf.reduce_sum(x) > 0:" in lines[1]
    assert (folder / "printed").read_text(encoding="utf-8") == "ß\n"


def test_without_a_home_directory_nothing_is_written_but_what_the_program_writes(tmp_path):
    files = set(SOURCE.rglob("*.*"))
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    home = tmp_path / "missing"
    lines = run("program.py", tmp_path, HOME=str(home), TMPDIR=str(tmp_path / "temporary"), PYTHONDONTWRITEBYTECODE="1")
    assert lines[0] == "[2.] [1.] utf-8"
    assert not home.exists() and not list((tmp_path / "temporary").iterdir())
    written = {path.name for path in tmp_path.iterdir()} - {"plots"}
    assert written == {"program.py", "temporary", "report.html", "saved", "printed", "model.keras"}
    assert set(SOURCE.rglob("*.*")) == files
