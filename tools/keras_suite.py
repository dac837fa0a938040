"""Keras' own tests on gradtape, folder by folder, beside what passes on JAX.

    python tools/keras_suite.py                            # all folders
    python tools/keras_suite.py losses layers/core         # some; files too
    python tools/keras_suite.py ops/nn_test.py --show -k relu    # with what pytest prints; it takes pytest's options
    python tools/keras_suite.py --slice --jobs 2           # what CI runs
    python tools/keras_suite.py --backend jax --record     # measures again what gradtape is compared with

The wheel of Keras has its tests. Its `conftest.py` is in its repository only: `keras_suite_plugin.py` does the same.
JAX's numbers are in `keras_baseline.json`, a line for each file, of the version of Keras that is named there; they were
measured with TensorFlow installed, which many tests import. On gradtape those find gradtape instead of it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BASELINE = HERE / "keras_baseline.json"
BAR = 0.99
HELD = (
    "activations", "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models", "ops",
    "optimizers", "random", "regularizers", "saving", "trainers",
)  # the folders in which gradtape is to pass at least BAR of what JAX passes  # fmt: skip
OTHERS = (
    "applications/imagenet_utils_test.py", "backend", "datasets", "distillation", "distribution", "dtype_policies",
    "export", "legacy", "quantizers", "testing", "tree", "utils", "wrappers",
)  # fmt: skip
SLICE = (
    "losses", "activations", "models", "layers/core", "layers/merging", "layers/normalization", "layers/preprocessing",
    "layers/attention", "layers/rnn", "layers/convolutional", "ops/core_test.py", "ops/nn_test.py", "ops/math_test.py",
    "trainers", "optimizers/adam_test.py", "saving",
)  # what CI runs  # fmt: skip
# Not run: the rest of `applications` loads weights from the network.
PLACES = ("passed", "failed", "skipped")
SHOWN = (*PLACES, "told")
DTYPES = "ops/numpy_test.py::NumpyDtypeTest"  # 4,762 tests of one kind: counted by itself

Counts = dict[str, Counter[str]]


def tests() -> Path:
    """Where Keras' tests are."""
    spec = importlib.util.find_spec("keras")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("Keras is not installed: run `make keras-suite`")
    return Path(spec.submodule_search_locations[0]) / "src"


def run(what: str, backend: str, options: list[str], show: bool) -> dict[str, list[str]]:
    """The outcome of each test of a folder or a file, and the reason if it did not pass."""
    if not (tests() / what).exists():
        raise SystemExit(f"Keras has no tests {what!r}; it has {', '.join((*HELD, *OTHERS))}, and what is in them")
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = Path(scratch) / "outcomes.json"
        paths = [str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ, "KERAS_BACKEND": backend, "KERAS_SUITE_OUTCOMES": str(outcomes), "KERAS_HOME": scratch,
            "KERAS_SUITE_PROGRESS": "" if show else what, "TF_CPP_MIN_LOG_LEVEL": "3",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            **({"JAX_NUM_CPU_DEVICES": "8", "GRADTAPE_TIMEOUT": "5"} if "distribution" in what else {}),
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-p", "keras_suite_plugin", "-p", "no:cacheprovider", "-q",
            "--tb=short", "--rootdir", str(tests()), "--config-file", os.devnull, "--noconftest",
            "--continue-on-collection-errors", str(tests() / what), *options,
        ]  # fmt: skip
        ended = subprocess.run(command, cwd=scratch, env=environment, stdout=None if show else subprocess.DEVNULL)
        if not outcomes.exists():
            raise SystemExit(f"pytest ended with {ended.returncode} before it had run {what}")
        return json.loads(outcomes.read_text())


def by_file(outcomes: dict[str, list[str]]) -> Counts:
    """How many tests of each file passed, failed and were skipped."""
    counts: Counts = {}
    for test, (outcome, _) in outcomes.items():
        place = DTYPES if test.startswith(DTYPES) else test.partition("::")[0]
        counts.setdefault(place, Counter())[outcome] += 1
    return counts


def total(counts: Counts, files: Iterable[str]) -> Counter[str]:
    """The sum of the counts of some files."""
    return sum((counts.get(file, Counter()) for file in files), Counter())


def recorded(what: str) -> Counts:
    """What JAX's counts were, for the files of a folder or for a file; nothing for another version of Keras."""
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"keras": None}
    if baseline["keras"] != importlib.metadata.version("keras"):
        return {}
    known = {file: Counter(dict(zip(PLACES, counts, strict=True))) for file, counts in baseline["files"].items()}
    return {file: counts for file, counts in known.items() if f"{file}/".startswith(f"{what}/") or f"{what}::" in file}


def record(counts: Counts) -> None:
    """Writes the counts of these files down as JAX's."""
    version = importlib.metadata.version("keras")
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    files = baseline["files"] if baseline.get("keras") == version else {}
    files |= {file: [found[place] for place in PLACES] for file, found in counts.items()}
    lines = ",\n".join(f"  {json.dumps(file)}: {json.dumps(files[file])}" for file in sorted(files))
    BASELINE.write_text(
        f'{{"keras": "{version}", "jax": "{importlib.metadata.version("jax")}", "counts": {json.dumps(PLACES)}, '
        f'"files": {{\n{lines}\n}}}}\n'
    )


def row(name: str, found: Counter[str], jax: Counter[str], alone: int) -> str:
    """A line of the table.

    `alone` tests are no part of the comparison: they left themselves out, for JAX alone or in need of what is not
    installed, or know only backends by name, and passed when they were told one.
    """
    ours = "".join(f"{found[place]:6} {place}" for place in SHOWN if place in PLACES or found[place])
    theirs = "".join(f"{jax[place]:6} {place}" for place in PLACES)
    line = f"{name:34}{ours}   JAX:{theirs if jax else ' nothing to compare'}"
    if not jax["passed"]:
        return line
    line += f"  {found['passed'] / (jax['passed'] - alone):8.2%}"
    with_them = f"{found['passed'] / jax['passed']:.2%} with {alone} tests for JAX alone, told or not installed"
    return f"{line} ({with_them})" if alone else line


def report(what: str, outcomes: dict[str, list[str]], reasons: bool, whole: bool) -> bool:
    """Prints the failures and the row of a folder, or a part of it; returns whether the bar is met."""
    for test, (outcome, reason) in outcomes.items():
        if outcome == "failed":
            print(f"  FAILED {test}: {reason[:160]}")
    skipped = Counter(reason for outcome, reason in outcomes.values() if outcome == "skipped")
    if reasons:
        for reason, times in skipped.most_common():
            print(f"  {times} skipped: {reason[:160]}")
    apart = ("jax", "no module named")
    alone = sum(times for reason, times in skipped.items() if any(words in reason.lower() for words in apart))
    left = {test for test, (outcome, _) in outcomes.items() if outcome == "skipped" and "::" not in test}  # whole files
    counts = by_file({test: found for test, found in outcomes.items() if test not in left})
    jax = {file: found for file, found in recorded(what).items() if file not in left} if whole else {}
    found = total(counts, counts)
    known = total(jax, jax) if counts.keys() <= jax.keys() else Counter()  # a part of them is nothing to compare with
    if known:  # what JAX skips as well is not among what it passes
        alone = max(0, min(alone, found["skipped"] - known["skipped"])) + found["told"]
    print(row(what, found, known, alone), flush=True)
    if DTYPES in counts and len(counts) > 1:
        name = f"{what} without {DTYPES.rpartition('::')[2]}"
        print(row(name, found - counts[DTYPES], known - jax.get(DTYPES, Counter()), alone), flush=True)
    return found["passed"] >= BAR * (known["passed"] - alone if known else found["passed"] + found["failed"])


def main() -> None:
    """Runs the tests and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="folders and files below keras/src")
    parser.add_argument("--backend", default="gradtape")
    parser.add_argument("--record", action="store_true", help=f"write the counts to {BASELINE.name}")
    parser.add_argument("--show", action="store_true", help="let pytest print")
    parser.add_argument("--reasons", action="store_true", help="say why tests were skipped")
    parser.add_argument("--slice", action="store_true", help="only what is soon done")
    parser.add_argument("--jobs", default="0", help="how many processes run tests")
    parser.add_argument("--save", type=Path, help="write the outcome of each test into this JSON file")
    arguments, options = parser.parse_known_args()
    everything: dict[str, list[str]] = {}
    below: list[Any] = []
    for what in SLICE if arguments.slice else arguments.what or (*HELD, *OTHERS):
        outcomes = run(what, arguments.backend, ["-n", arguments.jobs, *options], arguments.show)
        everything |= outcomes
        if arguments.record:
            record(by_file(outcomes))
        met = report(what, outcomes, arguments.reasons, whole=not options)
        if not met and what not in OTHERS and not options:
            below.append(what)
        if arguments.save:
            arguments.save.write_text(json.dumps(everything, indent=0))
    if below:
        raise SystemExit(f"less than {BAR:.0%} of what JAX passes: {', '.join(below)}")


if __name__ == "__main__":
    main()
