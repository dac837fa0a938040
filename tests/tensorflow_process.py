"""Runs programs under TensorFlow, or with other settings, in a separate process that stays alive.

The process runs this file, which does not import gradtape, with the interpreter that has TensorFlow.
"""

from __future__ import annotations

import importlib
import os
import pickle
import select
import subprocess
import sys
from typing import Any

_START_SECONDS = 300


class ProgramProcess:
    """An interpreter that runs programs. It is started for the first one, and restarted if one ends it.

    Args:
      python: the path of the interpreter.
      module: the module that programs know as `tf`.
      environment: the environment variables of the process.
      program_seconds: how long a program may take.
    """

    def __init__(self, python: str, module: str, environment: dict[str, str], program_seconds: float) -> None:
        self._command, self._environment = [python, __file__, module], environment
        self._program_seconds = program_seconds
        self._process: Any = None

    def result(self, source: str) -> Any:
        """Returns the value that the program assigns to `result`; None if it ended the process or took too long."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=self._environment,
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
            self.close()
            return None

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


class TensorFlow(ProgramProcess):
    """An interpreter that has TensorFlow."""

    def __init__(self, python: str, program_seconds: float = 20) -> None:
        quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "AUTOGRAPH_VERBOSITY": "0"}
        quiet.pop("PYTHONPATH", None)
        super().__init__(python, "tensorflow", quiet, program_seconds)


def _serve(module: str) -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a program prints is not a result
    import numpy as np

    tf = importlib.import_module(module)
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
    _serve(sys.argv[1])
