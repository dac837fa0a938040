"""How Keras loads the gradtape backend: in fresh processes, because a process has one backend."""

import importlib
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from keras_gradtape import adaptations, keras_3_15, loader

KERAS = tf.keras.__version__

# Keras imports these if it can, which takes longer than the rest of it. Its own backends need JAX.
OPTIONAL = {"gradtape": ["jax", "matplotlib", "requests"], "numpy": ["matplotlib", "requests"]}


def python(program, backend):
    """Returns what a program prints, including errors, where KERAS_BACKEND is set to `backend`."""
    program = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL[backend]})); {program}"
    environment = {**os.environ, "KERAS_BACKEND": backend}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_other_backends_are_left_alone_and_said_to_be_imported():
    program = "import keras_gradtape.loader, keras, gradtape; print(keras.config.backend(), type(keras.ops.ones(2)))"
    said = python(f"{program}; gradtape.keras", "numpy")
    assert said.startswith("numpy <class 'numpy.ndarray'>")
    assert "Keras was imported before with the backend 'numpy'" in said
    assert "set KERAS_BACKEND=gradtape, or import gradtape before keras" in said


def test_another_backend_asked_for():
    said = python("import gradtape; gradtape.keras", "numpy")
    assert "gradtape.keras is Keras on gradtape, but the environment asks for KERAS_BACKEND=numpy" in said


PRINT = "print(keras.config.backend(), type(keras.ops.ones(2)).__module__.split('.')[0])"


@pytest.mark.parametrize("program", ["import keras", "import gradtape, keras"])
def test_ways_to_get_it(program):
    said = python(f"import keras_gradtape.loader; {program}; {PRINT}", "gradtape")
    assert said.strip() == "gradtape gradtape"


def test_a_version_of_keras_that_was_not_tested_works_and_warns():
    program = "import keras_gradtape.loader as loader; loader.TESTED = ('2.7',); import gradtape"
    program += f"; keras = gradtape.keras; import keras; {PRINT}"
    said = python(program, "gradtape")
    assert said.startswith("gradtape gradtape\n")
    assert "UserWarning: gradtape was tested with Keras 2.7, this is Keras 3." in said
    assert "pip install 'keras==2.7.*'" in said


BROKEN = """
import importlib.machinery
def breaks(self, name):
    if name == {module!r}:
        raise {error}("it is broken")
    return get_code(self, name)
get_code = importlib.machinery.SourceFileLoader.get_code
importlib.machinery.SourceFileLoader.get_code = breaks
import keras_gradtape.loader, keras
"""


@pytest.mark.parametrize("error", ["ImportError", "AttributeError"])
@pytest.mark.parametrize("module", ["src.ops.linalg", "src.layer", "src.trainer", "src.export", "src.optimizer"])
def test_errors_of_the_backend_s_own_imports_reach_the_user(module, error):
    said = python(BROKEN.format(module=f"keras_gradtape.{module}", error=error), "gradtape")
    assert f"BackendError: Keras {KERAS} cannot run on gradtape" in said, said
    assert f"{error}: it is broken" in said and "keras-gradtape" not in said.replace("pip install keras-gradtape", "")


FOREIGN = """
import functools, types
import keras, keras.distribution
import keras_gradtape.src as interface, keras_gradtape.src.ops as ops
from keras_gradtape.src import layer, trainer, export
known = {id(x) for module in (interface, ops, ops.core, layer, trainer, export) for x in vars(module).values()}
for name, module in sorted(sys.modules.items()):
    if name.startswith("keras.") and not name.startswith(("keras.src.backend.numpy", "keras.src.backend.tensorflow")):
        for title, x in vars(module).items():
            if title == "__loader__":  # which only remembers to adapt the module
                continue
            x = x.func if isinstance(x, functools.partial) else x
            owner = x if isinstance(x, type | types.FunctionType) else type(x)
            if owner.__module__.startswith(("gradtape", "keras_gradtape")) and id(x) not in known:
                print("found", name, title)
"""


@pytest.mark.skipif(not hasattr(importlib.import_module("keras.src.backend.config"), "PLUGGABLE_BACKENDS"),
                    reason="Keras 3.15 has no interface for backends")  # fmt: skip
def test_what_is_adapted_in_keras_is_in_the_table():
    said = python(FOREIGN, "gradtape")
    found = set(re.findall(r"^found (\S+)", said, re.MULTILINE))
    assert found and found <= set(adaptations.ALWAYS), said


def test_the_documentation_lists_what_is_adapted():
    page = (Path(__file__).parents[2] / "docs" / "keras.md").read_text()
    tables = page.partition("## What is adapted in Keras")[2].partition("\n## ")[0].split("Under [`gradtape run`]")
    for table, rows in zip(tables, (adaptations.ALWAYS, adaptations.AS_TENSORFLOW), strict=True):
        modules = [cell for line in table.splitlines() if line.startswith("| `keras") for cell in line.split("|")[1:2]]
        assert set(re.findall(r"`(keras[\w.]+)`", " ".join(modules))) == set(rows)


def test_packages_of_a_frozen_keras_have_no_folder(monkeypatch):
    backends = types.ModuleType("keras.src.backend")
    backends.__path__ = [os.path.join("in", "an", "archive")]
    monkeypatch.setitem(sys.modules, backends.__name__, backends)
    find = keras_3_15.take_place(types.SimpleNamespace(), {}, loader._reporting)
    for name in "numpy", "tensorflow":
        package, module = find(f"keras.src.backend.{name}"), find(f"keras.src.backend.{name}.core")
        assert package.submodule_search_locations == [os.path.join("in", "an", "archive", name)]
        assert module.submodule_search_locations is None


def test_a_layer_that_leaves_tensors_is_not_traced_at_every_step():
    """Lookup tables and similar layers compute with another library on values: such a model runs eagerly."""
    runs, keras = [], tf.keras

    class Lookup(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_jit = False

        def call(self, x):
            runs.append(1)
            return tf.constant(np.searchsorted([10, 20, 30], keras.ops.convert_to_numpy(x)).astype("int32"))

        def compute_output_spec(self, x):
            return keras.KerasTensor(x.shape, "int32")

    inputs = keras.Input((3,), dtype="int32")
    x = keras.layers.Embedding(5, 4)(Lookup()(inputs))
    model = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Flatten()(x)))
    model.compile("sgd", "mse")
    data, steps = np.random.default_rng(0).choice([10, 20, 30], (320, 3)), 40
    losses = [model.fit(data, np.ones((320, 1)), batch_size=8, verbose=0).history["loss"][0] for _ in range(3)]
    assert losses[-1] < 0.5 * losses[0]
    # A repeated batch may find the graph of one of the first steps.
    assert 3 * steps - 20 <= len(runs) <= 3 * steps + 20
    found = model.predict(np.array([[10, 20, 30]]), verbose=0)
    expected = model(np.array([[10, 20, 30]]))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
