"""Realistic programs under `gradtape run` print the same as under TensorFlow.

`tests/programs/NAME.txt` contains TensorFlow's output; tools/record_programs.py writes it.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from printed_output import difference

from gradtape.core.extras import is_installed

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted(path.stem for path in (ROOT / "tests" / "programs").glob("*.py"))
TOLERANCE = {"mixed_precision": 0.02}  # half precision, which the program prints rounded

pytestmark = pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")


@pytest.fixture(scope="module")
def printed():
    """Returns the output of all programs, run in one process."""
    environment = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    command = [sys.executable, "-m", "gradtape", "run", ROOT / "tools" / "record_programs.py"]
    command += [ROOT / "tests" / "programs", "--print"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])["printed"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_prints_what_it_prints_under_tensorflow(name, printed):
    expected = (ROOT / "tests" / "programs" / f"{name}.txt").read_text()
    assert "Traceback (most recent call last):" not in printed[name].splitlines(), printed[name]
    differing = difference(printed[name], expected, TOLERANCE.get(name, 1e-4))
    assert differing is None, differing


def test_the_first_hour_has_commands_and_recorded_outputs():
    spec = importlib.util.spec_from_file_location("first_hour", ROOT / "tools" / "first_hour.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert "pip install '.[keras]'" in tool.readme_commands((ROOT / "README.md").read_text())
    programs = {path.stem for path in tool.PROGRAMS.glob("*.py")}
    assert len(programs) == 20 and {path.stem for path in tool.PROGRAMS.glob("*.txt")} == programs


def test_a_different_number_word_or_line_is_reported():
    assert difference("loss  1.00001 [ 2 ]", "loss 1.0 [2]") is None
    assert difference("loss 1.1", "loss 1.0") == "loss 1.1\nTensorFlow: loss 1.0"
    assert difference("lost 1.0", "loss 1.0") is not None
    assert difference("a\nb", "a") == "2 lines\nTensorFlow: 1 lines"
