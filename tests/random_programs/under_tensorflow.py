"""Runs a random program under TensorFlow."""

from __future__ import annotations

from typing import Any

from tensorflow_process import TensorFlow

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


def interpreter(python: str) -> TensorFlow:
    """Returns the interpreter that random programs share."""
    return TensorFlow(python, _PROGRAM_SECONDS)


def outcome(tensorflow: TensorFlow, source: str) -> list[Any] | None:
    """Returns the result of each call, up to the first that fails; None if the process ended."""
    found: list[Any] | None = tensorflow.result(source + _CALLS)
    return found
