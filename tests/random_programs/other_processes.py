"""Runs a random program under TensorFlow, or on gradtape without PyTorch's kernels."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from tensorflow_process import ProgramProcess, TensorFlow

import gradtape

_PROGRAM_SECONDS = 120

# Runs the calls of a program, up to the first that fails.
_CALLS = """
result = []
try:
    step, variables = build(tf, lambda f: f)
    for xs in calls(tf):
        ys = [*step(*xs), *variables]
        result.append([None if y is None else np.asarray(tf.convert_to_tensor(y).numpy()) for y in ys])
except Exception as error:
    result.append(Exception(f"{type(error).__name__}: {error}"[:300]))
"""


def tensorflow(python: str) -> ProgramProcess:
    """Returns the interpreter with TensorFlow that random programs share."""
    return TensorFlow(python, _PROGRAM_SECONDS)


def numpy_kernels() -> ProgramProcess:
    """Returns a process in which NumPy computes arrays of every size, also if PyTorch is installed."""
    path = os.pathsep.join([str(Path(gradtape.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "GRADTAPE_KERNELS": "numpy", "PYTHONPATH": path}
    return ProgramProcess(sys.executable, "gradtape", environment, _PROGRAM_SECONDS)


def outcome(process: ProgramProcess, source: str) -> list[Any] | None:
    """Returns the result of each call, up to the first that fails; None if the process ended."""
    found: list[Any] | None = process.result(source + _CALLS)
    return found
