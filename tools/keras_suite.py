"""Keras' own tests on gradtape, folder by folder, beside what passes on JAX.

    python tools/keras_suite.py                            # all folders
    python tools/keras_suite.py losses layers/core         # some; files too
    python tools/keras_suite.py ops/nn_test.py --show -k relu    # with what pytest prints; it takes pytest's options
    python tools/keras_suite.py --slice --jobs 2           # what CI runs
    python tools/keras_suite.py --backend jax --record     # measures again what gradtape is compared with
    python tools/keras_suite.py --checkout ../keras --slice    # the installed Keras with the tests of a git checkout

The wheels of Keras' releases have its tests; those of its development versions have none, so a checkout has to bring
them. Keras' `conftest.py` is in its repository only: `keras_suite_plugin.py` does the same.
JAX's numbers are in `keras_baselines`, a file for each version of Keras and each checkout, with a line for each file of
tests; they were measured with TensorFlow installed, which many tests import. On gradtape those find gradtape instead.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
BASELINES = HERE / "keras_baselines"
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


class Keras(NamedTuple):
    """The Keras that is tested, with its tests."""

    package: Path
    version: str  # and the commit of the checkout that has the tests, where one has them


def installed() -> Keras:
    """Returns the installed Keras."""
    spec = importlib.util.find_spec("keras")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("Keras is not installed: run `make keras-suite`")
    package = Path(spec.submodule_search_locations[0])
    # The name of the distribution depends on the version: `keras` or `keras-nightly`.
    version = re.search(r'__version__ = "(.+)"', (package / "src" / "version.py").read_text())
    if version is None:
        raise SystemExit(f"{package} has no version")
    return Keras(package, version[1])


def with_tests_of(checkout: Path, keras: Keras, folder: Path) -> Keras:
    """Returns a copy of Keras in a folder, with the tests of a checkout for the modules that it has."""
    asked = ["git", "-C", str(checkout), "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True)
    sources = checkout / "keras" / "src"
    if commit.returncode or not sources.is_dir():
        raise SystemExit(f"{checkout} is no git checkout of Keras")
    package = folder / "keras"
    shutil.copytree(keras.package, package)
    for file in sources.rglob("*"):
        copy = package / "src" / file.relative_to(sources)
        if (file.name.endswith("_test.py") and copy.parent.is_dir()) or file.parent.name == "test_data":
            copy.parent.mkdir(exist_ok=True)
            shutil.copy2(file, copy)
    return Keras(package, f"{keras.version}+{commit.stdout.strip()}")


def run(keras: Keras, what: str, backend: str, options: list[str], show: bool) -> dict[str, list[str]]:
    """The outcome of each test of a folder or a file, and the reason if it did not pass."""
    tests = keras.package / "src"
    if not (tests / what).exists():
        raise SystemExit(f"Keras has no tests {what!r}; it has {', '.join((*HELD, *OTHERS))}, and what is in them")
    with tempfile.TemporaryDirectory() as scratch:
        outcomes = Path(scratch) / "outcomes.json"
        paths = [str(HERE), str(HERE.parent / "src"), str(keras.package.parent), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ, "KERAS_BACKEND": backend, "KERAS_SUITE_OUTCOMES": str(outcomes), "KERAS_HOME": scratch,
            "KERAS_SUITE_PROGRESS": "" if show else what, "TF_CPP_MIN_LOG_LEVEL": "3",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            **({"JAX_NUM_CPU_DEVICES": "8", "GRADTAPE_TIMEOUT": "5"} if "distribution" in what else {}),
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-p", "keras_suite_plugin", "-p", "no:cacheprovider", "-q",
            "--tb=short", "--rootdir", str(tests), "--config-file", os.devnull, "--noconftest",
            "--continue-on-collection-errors", str(tests / what), *options,
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


def recorded(keras: Keras, what: str = ".") -> Counts:
    """Returns what JAX's counts were, for the files of a folder or for a file; nothing if they were not measured."""
    baseline = BASELINES / f"{keras.version}.json"
    files = json.loads(baseline.read_text())["files"] if baseline.exists() else {}
    known = {file: Counter(dict(zip(PLACES, counts, strict=True))) for file, counts in files.items()}
    return {
        file: counts for file, counts in known.items()
        if what == "." or f"{file}/".startswith(f"{what}/") or f"{what}::" in file
    }  # fmt: skip


def record(keras: Keras, counts: Counts) -> None:
    """Writes the counts of these files down as JAX's."""
    files = recorded(keras) | counts
    lines = ",\n".join(
        f"  {json.dumps(file)}: {json.dumps([files[file][place] for place in PLACES])}" for file in sorted(files)
    )
    (BASELINES / f"{keras.version}.json").write_text(
        f'{{"keras": "{keras.version}", "jax": "{importlib.metadata.version("jax")}", "counts": {json.dumps(PLACES)}, '
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


def report(keras: Keras, what: str, outcomes: dict[str, list[str]], reasons: bool, whole: bool) -> bool:
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
    jax = {file: found for file, found in recorded(keras, what).items() if file not in left} if whole else {}
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
    parser.add_argument("--record", action="store_true", help=f"write the counts to {BASELINES.name}")
    parser.add_argument("--checkout", type=Path, help="a git checkout of Keras, which has the tests")
    parser.add_argument("--show", action="store_true", help="let pytest print")
    parser.add_argument("--reasons", action="store_true", help="say why tests were skipped")
    parser.add_argument("--slice", action="store_true", help="only what is soon done")
    parser.add_argument("--jobs", default="0", help="how many processes run tests")
    parser.add_argument("--save", type=Path, help="write the outcome of each test into this JSON file")
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        keras = installed()
        if arguments.checkout:
            keras = with_tests_of(arguments.checkout, keras, Path(folder))
        below = compare(keras, arguments, options)
    if below:
        raise SystemExit(f"less than {BAR:.0%} of what JAX passes: {', '.join(below)}")


def compare(keras: Keras, arguments: argparse.Namespace, options: list[str]) -> list[str]:
    """Runs the tests that the arguments name, folder by folder; returns the folders in which too few pass."""
    everything: dict[str, list[str]] = {}
    below: list[str] = []
    for what in SLICE if arguments.slice else arguments.what or (*HELD, *OTHERS):
        outcomes = run(keras, what, arguments.backend, ["-n", arguments.jobs, *options], arguments.show)
        everything |= outcomes
        if arguments.record:
            record(keras, by_file(outcomes))
        met = report(keras, what, outcomes, arguments.reasons, whole=not options)
        if not met and what not in OTHERS and not options:
            below.append(what)
        if arguments.save:
            arguments.save.write_text(json.dumps(everything, indent=0))
    return below


if __name__ == "__main__":
    main()
