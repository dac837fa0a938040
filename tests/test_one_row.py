"""A public function with all its surfaces is one row of the catalogue: a copy of gradtape loses one and regains it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape.core.extras import is_installed

ROOT = Path(__file__).parent.parent
SECTION = "src/gradtape/api/catalogue/analysis.py"
NAMES = ("math.tan ", "tan ", "raw_ops.Tan ", "experimental.numpy.tan ")
HIDE_EXTRAS = "import sys; sys.modules.update(dict.fromkeys(['matplotlib', 'requests', 'jax']))"  # Keras imports them
ROW = re.compile(r"^tan = unary\(.*?\)\n(?=\S)", re.M | re.S)

WITHOUT_IT = """
import gradtape as tf
assert not hasattr(tf, "tan") and "tan" not in dir(tf.math) and "Tan" not in dir(tf.raw_ops)
assert not hasattr(tf.compat.v1, "tan") and not hasattr(tf.experimental.numpy, "tan")
"""

WITH_IT = """
import inspect, pydoc, tempfile
import numpy as np
import gradtape as tf

x = tf.constant([0.5, 1.0], tf.float64)
expected = np.tan(x.numpy())

def same(result):
    np.testing.assert_allclose(result.numpy(), expected, 1e-12)

# Names, signature and documentation.
assert tf.tan is tf.math.tan and "tan" in dir(tf) and "tan" in dir(tf.math)
assert list(inspect.signature(tf.tan).parameters) == ["x", "name"] and tf.tan.__module__ == "gradtape.math"
assert "`y = sin(x) / cos(x)`" in pydoc.plain(pydoc.render_doc(tf.tan)) and "tan " in tf.math.__doc__
same(tf.tan(x)); same(tf.math.tan(x=x, name="here"))

# The raw op and TensorFlow 1.
assert "Tan" in dir(tf.raw_ops)
same(tf.raw_ops.Tan(x=x)); same(tf.compat.v1.tan(x)); same(tf.compat.v1.math.tan(x))

# Composite tensors, and types of users.
ragged = tf.tan(tf.RaggedTensor.from_row_lengths(x, [0, 2]))
assert ragged.row_lengths().numpy().tolist() == [0, 2]
same(ragged.values)
sparse = tf.tan(tf.SparseTensor([[0, 1], [1, 0]], x, [2, 2]))
same(sparse.values)

class Wrapped(tf.experimental.ExtensionType):
    value: tf.Tensor

@tf.experimental.dispatch_for_unary_elementwise_apis(Wrapped)
def on_wrapped(function, x):
    return Wrapped(function(x.value))

same(tf.tan(Wrapped(x)).value)

# Engines and derivatives.
f = tf.function(tf.tan)
same(f(x)); same(f(x))
assert [op.type for op in f.get_concrete_function(x).graph.get_operations()].count("Tan") == 1
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.tan(x)
np.testing.assert_allclose(tape.gradient(y, x), 1 + expected**2)

# SavedModels, written and read.
model = tf.Module()
model.f = tf.function(tf.tan, input_signature=[tf.TensorSpec([None], tf.float64)])
with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(model, folder)
    same(tf.saved_model.load(folder).f(x))

# NumPy's and Keras' functions of that name.
same(tf.experimental.numpy.tan(x)); same(tf.keras.ops.tan(x))
"""


@pytest.fixture
def copy(tmp_path):
    for folder in ("src", "tests/data", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)  # with the compiled files, which remain valid
    (tmp_path / "tools").mkdir()
    for tool in ("index_names.py", "write_stubs.py"):
        shutil.copy(ROOT / "tools" / tool, tmp_path / "tools")
    return tmp_path


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "KERAS_BACKEND": "gradtape"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not is_installed("keras"), reason="the stub of `tf.keras` lists Keras' names")
def test_a_function_with_all_its_surfaces_is_one_row(copy):
    pytest.importorskip("tensorboardX", exc_type=ImportError)  # whose message classes `tf.summary` has
    section = copy / SECTION
    (row,) = ROW.findall(section.read_text())
    rest = ROW.sub("", section.read_text())
    section.write_text(rest)
    index = copy / "src/gradtape/api/names.txt"
    lines = index.read_text().splitlines(keepends=True)
    index.write_text("".join(line for line in lines if not line.startswith(NAMES)))
    run(copy, "-c", WITHOUT_IT)

    section.write_text(rest + row)
    run(copy, "tools/index_names.py")
    write_stubs = "import runpy; runpy.run_path('tools/write_stubs.py', run_name='__main__')"
    run(copy, "-c", f"{HIDE_EXTRAS}; {write_stubs}\n{WITH_IT}")  # in one process, which imports Keras once
    stub = (copy / "src/gradtape-stubs/math/__init__.pyi").read_text()
    assert "\ndef tan(x: TensorLike, name: str | None = ...) -> Tensor:" in stub
    assert "\n    tan as tan,\n" in (copy / "src/gradtape-stubs/__init__.pyi").read_text()
