"""Random functions, saved and loaded: values, gradients and assignments equal those of the live function.

With an interpreter that has TensorFlow, the same program is built there as well, and every path must give the numbers
of the live function: TensorFlow loads what gradtape saved, and gradtape loads what TensorFlow saved. A gradient that is
None is None everywhere. TensorFlow may fail on its own SavedModel, as it does for custom gradients in branches and
loops, but not on gradtape's.

Axes: dtypes, ops, branches and loops, custom gradients, kinds of arguments, open rows and columns, sizes computed from
the number of rows (quotients, remainders, limits), and, where it is open, the number of rows: 1 to 1001, even and odd.
A program whose sizes cannot be written is refused, and never written wrongly.
"""

from __future__ import annotations

import atexit
import os
import pickle
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf

from . import _saved_model_programs as programs

REFUSED = re.compile("depends on a size|a size in it|depends on the sizes")
_TOLERANCES = {"float16": 3e-2, "bfloat16": 6e-2, "float32": 2e-4, "complex64": 2e-4}


def disagreements(seed: int, tensorflow: str | None) -> list[str]:
    module, inputs = programs.built(tf, seed)
    live = programs.results(tf, module, inputs)
    problems = [f"the live function gives {name}: {found}" for name, found in live.items() if isinstance(found, str)]
    if problems:
        return problems
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
        try:
            tf.saved_model.save(module, ours)
        except Exception as error:
            if REFUSED.search(str(error)):
                return []
            problems.append(f"saving raised {type(error).__name__}: {error}")
        else:
            problems += _compare("loaded", live, _loaded(ours, inputs))
        if tensorflow is not None:
            answers = _tensorflow(tensorflow).ask(seed, None if problems else ours, theirs)
            problems = _compare_with_tensorflow(live, answers, problems)
            if "own" in answers:
                problems += _compare("TensorFlow's SavedModel, loaded here,", live, _loaded(theirs, inputs))
    return problems


def _loaded(folder: str, inputs: dict[str, list[Any]]) -> dict[str, Any]:
    try:
        return programs.results(tf, tf.saved_model.load(folder), inputs)
    except Exception as error:
        return {"load": f"{type(error).__name__}: {error}"}


def _compare_with_tensorflow(live: dict[str, Any], answers: dict[str, Any], refused: list[str]) -> list[str]:
    """Returns differences from TensorFlow, given the reason why the program could not be saved and loaded, if any."""
    if refused and "save" in answers:
        return []  # TensorFlow cannot save it either
    problems = list(refused)
    if "own" in answers:
        problems += _compare("TensorFlow's own SavedModel", live, answers["own"], may_raise=True)
    if not refused:
        problems += _compare("the SavedModel in TensorFlow", live, answers["ours"])
    return problems


def _compare(who: str, wanted: dict[str, Any], found: dict[str, Any], may_raise: bool = False) -> list[str]:
    """Returns the differences between two results; see `programs.results`."""
    if "load" in found:
        return [f"{who} cannot be loaded: {found['load']}"]
    problems = []
    for name, values in wanted.items():
        results = found.get(name, "nothing")
        if isinstance(results, str):
            problems += [] if may_raise else [f"{who} gives {name}: {results}"]
            continue
        kind = wanted[f"{name.partition(' ')[0]} values"][0][0]  # a value computed in a function has its target's dtype
        for i, (a, b) in enumerate(zip(values, results, strict=True)):
            difference = _difference(a, b, _TOLERANCES.get(kind, 1e-9))
            if difference:
                problems.append(f"{who} {name}[{i}] {difference}")
    return problems


def _difference(wanted: Any, found: Any, tolerance: float) -> str:
    """Returns how a tensor, as `programs` describes it, differs from the live one."""
    if wanted is None or found is None:
        return "" if wanted is found else f"is {found}, and live {wanted}"
    (dtype, a), (found_dtype, b) = wanted, found
    if (dtype, a.shape) != (found_dtype, b.shape):
        return f"is {found_dtype} of shape {b.shape}, and live {dtype} of shape {a.shape}"
    scale = max(1.0, float(np.max(np.abs(np.where(np.isfinite(a), a, 0)), initial=0)))
    if not np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return f"is {b.tolist()}, and live {a.tolist()}"
    return ""


class _TensorFlow:
    """A process of another interpreter that builds, saves and loads the programs with TensorFlow."""

    def __init__(self, interpreter: str) -> None:
        program = Path(__file__).with_name("_tensorflow_loader.py")
        self._process = subprocess.Popen([interpreter, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL)  # fmt: skip
        atexit.register(self._process.terminate)

    def ask(self, seed: int, ours: str | None, own: str) -> dict[str, Any]:
        """Returns TensorFlow's results; see `_tensorflow_loader.answered`."""
        assert self._process.stdin is not None and self._process.stdout is not None
        pickle.dump((seed, ours, own), self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)


@cache
def _tensorflow(interpreter: str) -> _TensorFlow:
    return _TensorFlow(interpreter)


if __name__ == "__main__":
    sys.exit("\n".join(disagreements(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)))
