"""Which backend Keras takes: every row of the table in docs/keras.md, each in a fresh process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape.core.extras import is_installed

if not is_installed("keras"):
    pytest.skip("needs Keras", allow_module_level=True)

pytestmark = pytest.mark.several
PAGE = Path(__file__).parent.parent / "docs/keras.md"
SHOWN = "import keras; print(keras.src.backend.backend())"
LINE = "Keras runs on gradtape, which this program imports; KERAS_BACKEND=tensorflow runs it on TensorFlow\n"
TENSORFLOW = "TensorFlow's place"  # what the module raises that stands for an installed TensorFlow

# The row of the table, KERAS_BACKEND, the backend in keras.json, whether TensorFlow is installed, the program, whether
# `gradtape run` runs it, and what ends its output: a backend or an error.
CASES = [
    (1, "", "numpy", True, f"import gradtape; gradtape.keras; {SHOWN}", False, "gradtape"),
    (1, "numpy", "", True, "import gradtape.keras", False, "Unset it, or set it to gradtape"),
    (1, "", "numpy", True, f"{SHOWN}; import gradtape.keras", False,
     "Keras was imported before with the backend 'numpy', and a process has one: set KERAS_BACKEND=gradtape, or import "
     "gradtape before keras"),
    (2, "", "", False,
     f"import gradtape; {SHOWN}; keras.config.set_backend('numpy'); {SHOWN}; keras.config.set_backend('gradtape'); "
     f"{SHOWN}", False, "gradtape\nnumpy\ngradtape"),
    (3, "tensorflow", "", False, SHOWN, True, "gradtape"),
    (4, "gradtape", "", True, SHOWN, False, "gradtape"),
    (4, "gradtape", "numpy", True, f"import gradtape; {SHOWN}", False, "gradtape"),
    (4, "numpy", "", True, f"import gradtape; {SHOWN}", False, "numpy"),
    (4, "tensorflow", "", True, f"import gradtape; {SHOWN}", False, TENSORFLOW),
    (4, "numpy", "", False, SHOWN, True, "numpy"),
    (5, "", "numpy", True, f"import gradtape; {SHOWN}", False, "numpy"),
    (5, "", "numpy", True, SHOWN, True, "numpy"),
    (6, "", "", False, f"import gradtape; from keras import layers; {SHOWN}", False, "gradtape"),
    (6, "", "tensorflow", True, f"import gradtape; {SHOWN}", False, LINE + "gradtape"),
    (6, "", "tensorflow", True, SHOWN, True, "gradtape"),
    (7, "", "", True, f"{SHOWN}; import gradtape", False, TENSORFLOW),
    (7, "", "tensorflow", False, SHOWN, False, "No module named 'tensorflow'"),
]  # fmt: skip


@pytest.mark.parametrize("row, variable, configured, has_tensorflow, program, under_run, said", CASES)
def test_keras_takes_the_backend_of_the_table(
    tmp_path, row, variable, configured, has_tensorflow, program, under_run, said
):
    if configured:
        (tmp_path / "keras.json").write_text(json.dumps({"backend": configured}))
    if has_tensorflow:
        (tmp_path / "modules/tensorflow").mkdir(parents=True)
        (tmp_path / "modules/tensorflow/__init__.py").write_text(f"raise ImportError({TENSORFLOW!r})")
    (tmp_path / "program.py").write_text(program)
    names = ("KERAS_BACKEND", "PYTHONPATH", "TF_USE_LEGACY_KERAS")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {"KERAS_HOME": str(tmp_path), "PYTHONPATH": str(tmp_path / "modules"), "PYTHONWARNINGS": "ignore"}
    environment |= {"KERAS_BACKEND": variable} if variable else {}
    run = ["-m", "gradtape", "run"] if under_run else []
    done = subprocess.run(
        [sys.executable, *run, str(tmp_path / "program.py")], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.rstrip().endswith(said), done.stdout[-2000:]


def test_the_table_has_no_other_rows():
    numbers = re.findall(r"^\| (\d) \|", PAGE.read_text(), re.MULTILINE)
    assert list(map(int, numbers)) == sorted({case[0] for case in CASES})
