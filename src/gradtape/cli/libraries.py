"""Third-party libraries for TensorFlow, and whether they run on gradtape.

`libraries.txt` has a line for each that `make ecosystem` runs: the module, the distribution, its version, the outcome,
and `keras2` if it needs Keras 2. tools/ecosystem/run.py writes it together with the table of docs/ecosystem.md.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..core import text_beside
from .shipped import find_shipped

_COMPILED = "has ops that are compiled for TensorFlow, which gradtape does not load"

# Libraries of which a part does not run.
LIMITED = {"shap": "its deep and gradient explainers, which replace TensorFlow's gradient rules, do not run"}
# Libraries that do not run, with the reason.
UNSUPPORTED = {
    "tensorflow_decision_forests": _COMPILED,
    "tensorflow_io": _COMPILED,
    "tensorflow_privacy": "needs tf.estimator, which TensorFlow 2.21 does not have either",
    "tensorflow_quantum": _COMPILED,
    "tensorflow_ranking": "needs tf.estimator, which TensorFlow 2.21 does not have either",
    "tensorflow_text": _COMPILED,
}
FAMILIES = ("tensorflow_", "tf_")  # how the names of libraries that need TensorFlow begin


@cache
def compared_libraries() -> dict[str, tuple[str, str]]:
    """Returns the status and a note for each library that `make ecosystem` runs."""
    found = {}
    spec: Any = __spec__
    for line in text_beside(spec, "libraries.txt").splitlines():
        module, distribution, version, outcome, *needs = line.split()
        result = "has TensorFlow's results" if outcome == "same" else f"differs or fails{_page(', see ')}"
        keras = "; set TF_USE_LEGACY_KERAS=1 and install tf-keras" if needs else ""
        status = "supported" if outcome == "same" else "different"
        found[module] = status, f"{distribution} {version} {result}{keras}"
    return found


def judge_library(module: str) -> tuple[str, str] | None:
    """Returns the status of an imported third-party module and a note; None if it has nothing to do with TensorFlow.

    >>> judge_library("tensorflow_probability")
    ('supported', "tensorflow-probability 0.25.0 has TensorFlow's results")
    >>> judge_library("tensorflow_text")[0], judge_library("tensorflow_unheard_of")[0], judge_library("numpy")
    ('missing', 'different', None)
    """
    if module in UNSUPPORTED:
        return "missing", UNSUPPORTED[module]
    if module in LIMITED:
        return "different", LIMITED[module]
    if module in compared_libraries():
        return compared_libraries()[module]
    if module.startswith(FAMILIES) and module != "tf_keras":
        return "different", f"was not tried on gradtape{_page('; the libraries that were are in ')}"
    return None


def _page(words: str) -> str:
    """Returns these words and the page about libraries, which wheels do not contain; an empty string without it."""
    page = "docs/ecosystem.md"
    return f"{words}{page}" if find_shipped(page) else ""
