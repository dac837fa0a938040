"""Realistic programs under `gradtape run` print the same as under TensorFlow.

`tests/programs/NAME.txt` contains TensorFlow's output; tools/record_programs.py writes it.
"""

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted(path.stem for path in (ROOT / "tests" / "programs").glob("*.py"))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
TOLERANCE = {"mixed_precision": 0.02}  # half precision, which the program prints rounded

pytestmark = pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")


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
    mine = printed[name].splitlines()
    theirs = (ROOT / "tests" / "programs" / f"{name}.txt").read_text().splitlines()
    assert "Traceback (most recent call last):" not in mine, printed[name]
    assert len(mine) == len(theirs)
    for line, expected in zip(mine, theirs, strict=True):
        assert words(line) == words(expected)
        for a, b in zip(numbers(line), numbers(expected), strict=True):
            tolerance = TOLERANCE.get(name, 1e-4)
            assert math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance), f"{line}\nTensorFlow: {expected}"


def words(line):
    """Returns a line without its numbers, and without the spaces that depend on their width."""
    return re.sub(r"\s+", "", NUMBER.sub("#", line))


def numbers(line):
    return [float(text) for text in NUMBER.findall(line)]
