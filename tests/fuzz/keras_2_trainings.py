"""Random trainings of Keras 2: `fit` against `run_eagerly=True` or a loop with a tape, and TensorFlow.

A seed determines a model (sequential, functional, or subclassed with a list of layers that grows through another name;
dense layers, convolutions, embeddings with repeated and masked ids, recurrent layers, normalization, dropout), the
data, an optimizer of either family with clipping and changing learning rates, losses, metrics, sample and class
weights, steps per execution, a training step of its own, callbacks and validation. Compared are losses, metrics,
weights and predictions, and predictions after saving and loading the weights. With an interpreter that has TensorFlow
and tf-keras, `fit` there gives the same numbers, except with dropout in several steps per execution.

Rounding may be amplified: the gradient of a shift before a batch normalization is 0, and Adam and its relatives take
long steps along what rounding leaves of it. So trainings that differ are repeated with inputs and initial weights
changed by a unit in the last place, and may differ from `fit` by some times as much as these do.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

_PERTURBED = ["perturbed 1", "perturbed 2", "perturbed 3"]
_MOST_AMPLIFIED = 10  # times the largest difference from a perturbed training: sums round more often than inputs


def disagreements(seed: int, tensorflow: str | None) -> list[str]:
    if find_spec("tf_keras") is None or find_spec("requests") is None:
        return []  # Keras 2 is not installed
    other = "eager" if seed % 2 else "loop"
    case, found = _worker(sys.executable, "-m", "gradtape", "run").ask(seed, ["fit", other])
    runs = {} if found[other] is None else {f"by {other}": found[other]}
    # A loop over steps is unrolled, so that Python code counts other seeds: see docs/differences.md.
    counts_seeds = case["steps_per_execution"] > 1 and "Dropout" in case["layers"]
    if tensorflow is not None and not counts_seeds:
        theirs = _worker(tensorflow).ask(seed, ["fit"])[1]["fit"]
        runs |= {} if isinstance(theirs, str) else {"by TensorFlow": theirs}  # it refuses some labels of one axis
    fitted = found["fit"]
    if isinstance(fitted, str):
        return [f"fit raised {fitted} for {case}"]
    problems = [fitted["problem"]] if "problem" in fitted else []
    for name, run in runs.items():
        if isinstance(run, str):
            problems.append(f"{name} raised {run}")
            continue
        wrong = [key for key in fitted if key in run and not _agree(fitted[key], run[key])]
        if wrong:
            perturbed = _worker(sys.executable, "-m", "gradtape", "run").ask(seed, _PERTURBED)[1].values()
            wrong = [key for key in wrong if not _agree(fitted[key], run[key], [x[key] for x in perturbed])]
        if wrong:
            shown = "predictions" if "predictions" in wrong else wrong[0]
            problems.append(f"{wrong} differ, {shown} {fitted[shown]} by fit, {run[shown]} {name}")
    return [f"{problem} for {case}" for problem in problems]


def _agree(fitted: Any, expected: Any, perturbed: Sequence[Any] = ()) -> bool:
    """Whether results are equal up to rounding, of which `perturbed` results show how much it is amplified."""
    if isinstance(fitted, list):
        if any(len(fitted) != len(x) for x in perturbed):  # of the epochs, which end by a loss
            return True
        parts = zip(*perturbed, strict=True) if perturbed else [()] * len(fitted)
        return len(fitted) == len(expected) and all(map(_agree, fitted, expected, parts))
    amplified = max((float(np.max(np.abs(fitted - x), initial=0.0)) for x in perturbed), default=0.0)
    same = np.shape(fitted) == np.shape(expected)
    return same and np.allclose(fitted, expected, 2e-3, 2e-4 + _MOST_AMPLIFIED * amplified, equal_nan=True)


class _Worker:
    """A process with Keras 2; see `_keras_2_worker`."""

    def __init__(self, *python: str) -> None:
        program = str(Path(__file__).with_name("_keras_2_worker.py"))
        quiet = {**os.environ, "TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        if "gradtape" not in python:
            quiet.pop("PYTHONPATH", None)
        self._process = subprocess.Popen([*python, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, env=quiet)  # fmt: skip
        atexit.register(self._process.terminate)

    def ask(self, seed: int, modes: list[str]) -> tuple[Any, dict[str, Any]]:
        """Returns a description of the case and the results of its modes."""
        assert self._process.stdin is not None and self._process.stdout is not None
        pickle.dump((seed, modes), self._process.stdin)
        self._process.stdin.flush()
        answer: tuple[Any, dict[str, Any]] = pickle.load(self._process.stdout)
        return answer


@cache
def _worker(*python: str) -> _Worker:
    return _Worker(*python)
