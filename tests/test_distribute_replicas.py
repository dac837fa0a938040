"""`tf.distribute` with several replicas: the number of logical devices must be set before any is used.

These tests are therefore in files that pytest does not collect, each run in a separate process.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.several
TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    "name", ["on_four_cpus.py", "keras_on_four_cpus.py", "replicas_like_tensorflow.py"]
)
def test_in_a_process_of_its_own(name):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS / name)]
    environment = {**os.environ, "GRADTAPE_DEVICE": "cpu"}
    run = subprocess.run(command, capture_output=True, text=True, cwd=TESTS.parent, env=environment)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
