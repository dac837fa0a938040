"""A few rounds of `make stress`, whose subject and axes the docstring of `thread_stress` lists."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytestmark = pytest.mark.several


def test_threads_that_do_everything_at_once():
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "GRADTAPE_LOCK_DELAYS": "0.001"}
    command = [sys.executable, "-m", "thread_stress", "--rounds", "3"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("3 of 3 rounds, 0 failed"), done.stdout + done.stderr
