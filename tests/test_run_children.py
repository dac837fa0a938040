"""Processes that a program of `gradtape run` starts: those of the same interpreter serve gradtape as TensorFlow."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

STARTUP_FILE = Path(sysconfig.get_path("purelib"), "_gradtape_keras.py")
SOURCE = Path(__file__).parent.parent / "src" / "_gradtape_keras.py"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("KERAS_BACKEND", "GRADTAPE_CHILDREN")}
pytestmark = [
    pytest.mark.several,
    pytest.mark.skipif(
        not STARTUP_FILE.exists() or STARTUP_FILE.read_text() != SOURCE.read_text(),
        reason="the startup file of this environment is another one",
    ),
]

CHILD = """
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from importlib.util import find_spec
assert "gradtape" not in sys.modules
try:
    print(version("tensorflow"), len(list(distributions(name="tensorflow"))), bool(find_spec("tensorflow")), end=" ")
    import tensorflow as tf
    print(float(tf.nn.relu(2.0)))
except (PackageNotFoundError, ImportError) as error:
    print(type(error).__name__)
"""
SERVED, NOT_SERVED = "2.21.0 1 True 2.0", "PackageNotFoundError"

PROGRAM = """
import os, subprocess, sys
import tensorflow as tf
executable, child, environment = sys.argv[1], sys.argv[2], dict(word.split("=") for word in sys.argv[3:])
subprocess.run([executable, "-c", child], env={**os.environ, **environment}, check=True)
"""

# A worker as joblib's loky and Ray start them: a new interpreter that gets a function by cloudpickle.
WORKER = """
import pickle, subprocess, sys
import cloudpickle
import tensorflow as tf

factor = tf.Variable(3.0)

@tf.function
def scaled(x):
    return tf.math.reduce_sum(tf.nn.relu(x) * factor)

def task(x):
    return float(scaled(x)), [int(i) for i in tf.data.Dataset.range(3)], tf.keras.__name__

scaled(tf.constant([1.0]))
work = cloudpickle.dumps((task, tf.constant([1.0, -2.0, 4.0])))
code = "import pickle, sys; task, x = pickle.load(sys.stdin.buffer); print(task(x))"
subprocess.run([sys.executable, "-c", code], input=work, check=True)
"""


def run(program, *arguments, **environment):
    command = [sys.executable, "-m", "gradtape", "run", "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_children_of_the_same_interpreter():
    assert run(PROGRAM, sys.executable, CHILD) == SERVED
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}], check=True)"
    assert run(PROGRAM, sys.executable, nested) == SERVED


def test_the_switch():
    assert run(PROGRAM, sys.executable, CHILD, GRADTAPE_CHILDREN="0") == NOT_SERVED
    assert run(PROGRAM, sys.executable, CHILD, "GRADTAPE_CHILDREN=0") == NOT_SERVED  # for one child
    assert run(PROGRAM, sys.executable, CHILD, "GRADTAPE_PTH=0") == NOT_SERVED
    assert run(PROGRAM, sys.executable, CHILD, GRADTAPE_CHILDREN="/another/environment:cpython-311") == SERVED


def test_another_environment_does_not_inherit(tmp_path):
    """Even if it has gradtape and its startup file."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    python = tmp_path / "bin" / "python"
    command = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    library = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    (library / "_gradtape_keras.py").write_text(SOURCE.read_text())
    (library / "gradtape_keras.pth").write_text(SOURCE.with_name("gradtape_keras.pth").read_text())
    packages = [path for path in sys.path if path.endswith(("site-packages", "src"))]
    (library / "packages.pth").write_text("\n".join(packages))
    assert run(PROGRAM, str(python), f"{CHILD}\nimport gradtape") == NOT_SERVED
    assert run(PROGRAM, str(python), CHILD, f"GRADTAPE_CHILDREN={tmp_path}:{sys.implementation.cache_tag}") == SERVED


def test_a_process_that_does_not_import_tensorflow_does_not_import_gradtape():
    child = "import sys, importlib.metadata as m, numpy; m.entry_points(); print('gradtape' in sys.modules)"
    assert run(PROGRAM, sys.executable, child) == "False"


def test_workers_that_get_functions_by_cloudpickle():
    pytest.importorskip("cloudpickle")
    assert run(WORKER).startswith("(15.0, [0, 1, 2], '")
    switched_off = WORKER.replace("check=True", "check=False, stderr=-1")
    assert run(switched_off, GRADTAPE_CHILDREN="0") == ""
