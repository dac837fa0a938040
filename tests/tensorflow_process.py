"""Runs programs under TensorFlow in a separate process that stays alive; this file does not import gradtape.

The process runs this file with the interpreter that has TensorFlow.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from typing import Any

_START_SECONDS = 300


class TensorFlow:
    """An interpreter that has TensorFlow. It is started for the first program, and restarted if one ends it.

    Args:
      python: the path of the interpreter.
      program_seconds: how long a program may take.
    """

    def __init__(self, python: str, program_seconds: float = 20) -> None:
        self._python, self._program_seconds = python, program_seconds
        self._process: Any = None

    def result(self, source: str) -> Any:
        """Returns the value that the program assigns to `result`; None if it ended the process or took too long."""
        if self._process is None:
            quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "AUTOGRAPH_VERBOSITY": "0"}
            quiet.pop("PYTHONPATH", None)
            self._process = subprocess.Popen(
                [self._python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=quiet,
            )  # fmt: skip
            self._run("result = None", _START_SECONDS)
        return self._run(source, self._program_seconds)

    def _run(self, source: str, seconds: float) -> Any:
        try:
            pickle.dump(source, self._process.stdin)
            self._process.stdin.flush()
            if not select.select([self._process.stdout], [], [], seconds)[0]:
                raise EOFError
            return pickle.load(self._process.stdout)
        except (EOFError, OSError):
            self._process.kill()
            self._process.wait()
            self._process = None
            return None


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a program prints is not a result
    import numpy as np
    import tensorflow as tf

    while True:
        try:
            source = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        scope: dict[str, Any] = {"tf": tf, "np": np}
        exec(source, scope)
        pickle.dump(scope["result"], answers)
        answers.flush()


if __name__ == "__main__":
    _serve()
