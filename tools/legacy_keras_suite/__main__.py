"""tf-keras' own tests (Keras 2), on TensorFlow and on gradtape.

    python tools/legacy_keras_suite SOURCES --results results.json [layers engine/training ...]
    python tools/legacy_keras_suite SOURCES --results results.json layers/core --again --show
    python tools/legacy_keras_suite SOURCES --results results.json --write    # the table of the docs page
    python tools/legacy_keras_suite SOURCES --tensorflow path/of/tensorflow/bin/python --results results.json --record

SOURCES is a checkout of the tf-keras repository, of the version that is installed. `worker.py` runs each file, on both
in the same way. A test that takes more than a minute has failed, and a file has five minutes, or `--seconds`.

`--results` holds what came of each test, and is written after each file: files that it has are not run again, on
TensorFlow never, and on gradtape only with `--again`. What passes on TensorFlow is also in `baseline.json`, which
`--record` writes, so that TensorFlow is only needed for files which are not in it.

A test is not asked if it uses a private name of TensorFlow's modules by the rule of `tools/tensorflow_tests/rule.py`,
or sessions and graphs of TensorFlow 1. Attributes with an underscore are tf-keras' own, and are asked.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:1] = [str(HERE.parent / "tensorflow_tests")]  # in the place of this folder, whose `worker` is another

from rule import NOT_ASKED, Source  # noqa: E402
from runner import Suite, counts, print_failures, print_header, print_row  # noqa: E402

PACKAGE = "tf_keras"
FOLDERS = (
    "layers", "engine", "losses", "metrics", "optimizers", "callbacks", "saving", "mixed_precision", "preprocessing",
    "initializers", "activations", "constraints", "regularizers", "backend", "backend_config", "models", "utils",
    "feature_column", "premade_models", "export", "tests", "testing_infra", "distribute",
)  # folders and files; the others are of TensorFlow 1, DTensor, weights of applications, and benchmarks  # fmt: skip
BASELINE = HERE / "baseline.json"
PAGE = HERE.parents[1] / "docs" / "legacy-keras-suite.md"
BEGIN, END = "<!-- table -->\n", "<!-- end -->"
FILE_SECONDS = 300
ADDRESS = re.compile("at0x[0-9a-f]+")  # of a function that is a parameter, in the name of a test
GRAPH_MODE = ("get_session", "graph_mode", "disable_eager_execution", "disable_v2_behavior")


class KerasSource(Source):
    """The text of a test file of tf-keras."""

    def _look(self, node: ast.AST, classes: list[tuple[Source, str]], found: set[str], seen: set[int]) -> None:
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name.removeprefix("tf.") in NOT_ASKED or node.attr in GRAPH_MODE:
                found.add(name)
        if not self._is_of_keras(node):
            super()._look(node, classes, found, seen)
            return
        for child in ast.iter_child_nodes(node):
            self._look(child, classes, found, seen)

    def _is_of_keras(self, node: ast.AST) -> bool:
        """Whether it is an attribute with an underscore of no module."""
        named = isinstance(node, ast.Attribute) and node.attr.startswith("_")
        return named and getattr(node.value, "id", "") not in {"self", "cls", *self.aliases}  # type: ignore[attr-defined]


@dataclass
class KerasSuite(Suite):
    """Adds the time that a file takes, and devices where its tests use strategies."""

    def run(self, platform: str, python: str, file: str) -> dict[str, list[str]]:
        """What came of each test of a file.

        Names are without the parameters, whose text depends on NumPy's version, and without addresses of functions.
        """
        self.cpus = 4 if "distribute.combinations" in self.path(file).read_text() or "distribute/" in file else 1
        start = time.monotonic()
        found = super().run(platform, python, file)
        self.seconds = round(time.monotonic() - start, 1)
        return {ADDRESS.sub("", test.partition(" ")[0]): outcome for test, outcome in found.items()}

    def on_tensorflow(self, file: str) -> dict[str, Any]:
        """What came of each test of a file on TensorFlow."""
        found = super().on_tensorflow(file)
        return {**found, "seconds": {"tensorflow": self.seconds}}

    def compared(self, file: str, before: dict[str, Any]) -> dict[str, Any]:
        """What came of it here too."""
        found = super().compared(file, before)
        return {**found, "seconds": {**before.get("seconds", {}), "gradtape": self.seconds}}


def files_of(sources: Path) -> Iterator[str]:
    """All files of the folders."""
    root = sources / PACKAGE
    for name in FOLDERS:
        if (root / f"{name}_test.py").exists():
            yield name
        found = (path.relative_to(root).as_posix() for path in (root / name).rglob("*_test.py"))
        yield from sorted(path.removesuffix("_test.py") for path in found)


def baseline(results: dict[str, Any]) -> dict[str, Any]:
    """What of the results is of TensorFlow, by file: private names, seconds, and the tests of each class that pass."""
    kept = {}
    for file, known in sorted(results.items()):
        passed: dict[str, list[str]] = {}
        for test, outcome in known["tests"].items():
            owner, _, title = test.partition(".")
            if outcome["tensorflow"] == "passed":
                passed.setdefault(owner, []).append(title)
        kept[file] = {"seconds": known["seconds"]["tensorflow"], "names": known["names"], "passed": passed}
    return kept


def from_baseline(kept: dict[str, Any]) -> dict[str, Any]:
    """The results on TensorFlow of a file that the baseline has."""
    tests = [f"{owner}.{title}" for owner, titles in kept["passed"].items() for title in titles]
    return {
        "names": kept["names"], "seconds": {"tensorflow": kept["seconds"]},
        "tests": {test: {"tensorflow": "passed", "on tensorflow": ""} for test in tests},
    }  # fmt: skip


def table(results: dict[str, Any], files: list[str]) -> str:
    """The table of the docs page: a row for each folder of which some of the files were run."""
    titles = ("", "files", "pass on TensorFlow", "use only public APIs", "pass here", "%")
    lines = [f"| {' | '.join(titles)} |".replace("|  |", "| |"), "|---|" + "---:|" * (len(titles) - 1)]
    folders = {folder: [file for file in files if file.partition("/")[0] == folder] for folder in FOLDERS}
    run = {file: tests_of(known) for file, known in results.items()}
    for folder, own in (*folders.items(), ("all", files)):
        passed, asked, here = counts([test for file in own for test in run.get(file, [])])
        if asked:
            name, some = folder if folder == "all" else f"`{folder}`", sum(bool(run.get(file)) for file in own)
            lines.append(
                f"| {name} | {some} of {len(own)} | {passed:,} | {asked:,} | {here:,} | {100 * here / asked:.1f} |"
            )
    return "\n".join(lines) + "\n"


def tests_of(known: dict[str, Any]) -> list[dict[str, Any]]:
    """The tests of a file that was run on both."""
    return [test for test in known["tests"].values() if "gradtape" in test]


def main() -> None:
    """Runs the tests and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, help="a checkout of tf-keras")
    parser.add_argument("files", nargs="*", help="files or folders below tf_keras, as layers/core; else all")
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow and tf-keras")
    parser.add_argument("--results", type=Path, required=True, help="the JSON file of what came of each test")
    parser.add_argument("--seconds", type=float, default=FILE_SECONDS, help="that a file may take")
    parser.add_argument("--only-tensorflow", action="store_true", help="run nothing on gradtape")
    parser.add_argument("--record", action="store_true", help="write TensorFlow's results of these into the baseline")
    parser.add_argument("--again", action="store_true", help="run again on gradtape what was run before")
    parser.add_argument("--show", action="store_true", help="print the tests that fail here, and why")
    parser.add_argument("--write", action="store_true", help="write the table into the docs page, and run nothing")
    arguments = parser.parse_intermixed_args()
    results: dict[str, Any] = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    if arguments.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        rows = table(results, list(files_of(arguments.sources)))
        PAGE.write_text(f"{before}{BEGIN}{rows}{END}{rest.partition(END)[2]}")
        return
    asked = [
        file
        for file in files_of(arguments.sources)
        if not arguments.files or any(file == name or file.startswith(f"{name}/") for name in arguments.files)
    ]
    with tempfile.TemporaryDirectory() as folder:
        suite = KerasSuite(
            arguments.sources.resolve(), Path(folder), arguments.tensorflow, file_seconds=arguments.seconds,
            folder=PACKAGE, worker=HERE / "worker.py", source_class=KerasSource,
        )  # fmt: skip
        run(suite, asked, results, arguments)


def run(suite: KerasSuite, files: list[str], results: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Runs files, keeps what came of them and prints a row for each."""
    print_header()
    for file in files:
        recorded = json.loads(BASELINE.read_text())
        known = results.get(file) or (from_baseline(recorded[file]) if file in recorded else suite.on_tensorflow(file))
        if arguments.record:
            recorded = json.loads(BASELINE.read_text()) | baseline({file: known})  # another process may have written it
            lines = (f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in sorted(recorded))
            BASELINE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        passes = any(test["tensorflow"] == "passed" for test in known["tests"].values())
        new = arguments.again or not tests_of(known)
        if passes and new and not arguments.only_tensorflow:
            known = suite.compared(file, known)
        if results.get(file) is not known:
            results[file] = known
            arguments.results.write_text(json.dumps(results, indent=0))
        print_row(file, list(known["tests"].values()))
        if arguments.show and not arguments.only_tensorflow:
            print_failures(known["tests"])
    print_row("all", [test for file in files for test in results[file]["tests"].values()])


if __name__ == "__main__":
    main()
