"""Tests of TensorFlow's Model Garden and of TensorFlow Addons, on TensorFlow and on gradtape.

    python tools/garden_suite --models MODELS --addons ADDONS --results results.json [tensorflow_addons/layers ...]
    python tools/garden_suite --models MODELS --addons ADDONS --results results.json official/core --again --show
    python tools/garden_suite --results results.json --write    # the table of docs/ecosystem.md
    python tools/garden_suite ... --tensorflow path/of/tensorflow/bin/python --record

MODELS and ADDONS are checkouts, of which `files.txt` lists test files. `worker.py` runs them as they are, with pytest
and Keras 2, in a process for each folder, on both sides in the same way. `requirements.txt` has what they import, for
the environments of both sides: `pip install --no-deps --requirement tools/garden_suite/requirements.txt`.

`--results` holds what came of each test, and is written after each folder: folders that it has are run again only with
`--again`, and then only on gradtape. The tests that pass on TensorFlow are also in `baseline.json`, which `--record`
writes, so that TensorFlow is only needed for folders that are not in it.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:1] = [str(HERE.parent / "tensorflow_tests"), str(HERE.parent)]  # not this folder, whose `worker` is another

from garden_suite.worker import folder_of, listed_files  # noqa: E402
from runner import Suite  # noqa: E402

CHECKOUTS = {
    "models": ("https://github.com/tensorflow/models", "official", "e006f5f0d534913e49c1f1dae87364039fa607e2"),
    "addons": ("https://github.com/tensorflow/addons", "tensorflow_addons", "d208d752e98c310280938efa939117bf635a60a8"),
}  # the repository, the package in it, and the revision of the baseline  # fmt: skip
BASELINE = HERE / "baseline.json"
PAGE = HERE.parents[1] / "docs" / "ecosystem.md"
BEGIN, END = "<!-- table of tools/garden_suite -->\n", "<!-- end of the table of tools/garden_suite -->"
FOLDER_SECONDS = 3600


@dataclass
class GardenSuite(Suite):
    """Runs a folder's files in one process, and adds the CPU seconds that they take."""

    def path(self, file: str) -> Path:
        """The folder."""
        return self.sources / file

    def cpus_of(self, file: str) -> int:
        """One CPU: no test asks for more."""
        return self.cpus

    def run(self, platform: str, python: str, file: str) -> dict[str, list[str]]:
        """What came of each test of a folder."""
        start = _child_seconds()
        outcomes = super().run(platform, python, file)
        self.seconds = round(_child_seconds() - start, 1)
        return outcomes

    def on_tensorflow(self, file: str) -> dict[str, Any]:
        """What came of each test of a folder on TensorFlow."""
        tests = super().on_tensorflow(file)["tests"]
        return {"seconds": {"tensorflow": self.seconds}, "tests": tests}

    def compared(self, file: str, before: dict[str, Any]) -> dict[str, Any]:
        """What each test gave here too; tests of clients use public names, so all are asked."""
        ours = self.run("gradtape", sys.executable, file)
        tests = {}
        for test, known in before["tests"].items():
            outcome, why = ours.get(test) or ours.get(test.partition("::")[0]) or ["failed", "was not run"]
            tests[test] = {**known, "gradtape": outcome, "why": why}
        return {"seconds": {**before["seconds"], "gradtape": self.seconds}, "tests": tests}


def _child_seconds() -> float:
    """CPU seconds of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def folders() -> list[str]:
    """The folders of the listed files, in their order."""
    return list(dict.fromkeys(map(folder_of, listed_files())))


def baseline() -> dict[str, Any]:
    """The recorded seconds of each folder on TensorFlow, and its tests that pass there, by file."""
    return json.loads(BASELINE.read_text()) if BASELINE.exists() else {}


def record(folder: str, known: dict[str, Any]) -> None:
    """Writes a folder's results on TensorFlow into the baseline."""
    passed: dict[str, list[str]] = {}
    for test, outcome in known["tests"].items():
        file, _, name = test.partition("::")
        if outcome["tensorflow"] == "passed":
            passed.setdefault(file, []).append(name)
    recorded = baseline() | {folder: {"seconds": known["seconds"]["tensorflow"], "passed": passed}}
    lines = (f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in sorted(recorded))
    BASELINE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def from_baseline(recorded: dict[str, Any]) -> dict[str, Any]:
    """The results on TensorFlow of a folder that the baseline has."""
    tests = [f"{file}::{name}" for file, names in recorded["passed"].items() for name in names]
    return {
        "seconds": {"tensorflow": recorded["seconds"]},
        "tests": {test: {"tensorflow": "passed", "on tensorflow": ""} for test in tests},
    }


def counts(known: dict[str, Any]) -> tuple[int, int]:
    """How many tests pass on TensorFlow, and how many of these on gradtape."""
    passed = [test for test in known["tests"].values() if test["tensorflow"] == "passed"]
    return len(passed), sum(test.get("gradtape") == "passed" for test in passed)


def table(results: dict[str, Any]) -> str:
    """The table of the docs page: a row for each folder that was run on both sides, and one for all."""
    lines = [
        "| | files | pass on TensorFlow | of these, on gradtape | CPU seconds: TensorFlow | gradtape |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows = list(_rows(results))
    for name, numbers in (*rows, ("all", [sum(column) for column in zip(*(row[1] for row in rows), strict=True)])):
        files, passed, here, theirs, ours = numbers
        lines.append(
            f"| {name} | {files:.0f} | {passed:,.0f} | {here:,.0f} ({100 * here / passed:.1f}%) "
            f"| {theirs:,.0f} | {ours:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def _rows(results: dict[str, Any]) -> Iterator[tuple[str, list[float]]]:
    for folder in folders():
        known = results.get(folder, {"seconds": {}})
        if "gradtape" in known["seconds"]:
            files = sum(folder_of(file) == folder for file in listed_files())
            seconds = known["seconds"]
            yield f"`{folder}`", [files, *counts(known), seconds["tensorflow"], seconds["gradtape"]]


def print_failures(known: dict[str, Any]) -> None:
    """Prints the tests that pass on TensorFlow and fail here, and why."""
    for name, test in known["tests"].items():
        if test["tensorflow"] == "passed" and test["gradtape"] != "passed":
            print(f"  {name}: {(test['why'].strip() or '?').splitlines()[-1][:200]}")


def checkout_of(folder: str, arguments: argparse.Namespace) -> Path:
    """The checkout that has a folder; without one, the command ends and says what to clone."""
    for name, (address, package, revision) in CHECKOUTS.items():
        if folder.partition("/")[0] == package:
            checkout: Path | None = getattr(arguments, name)
            if checkout is not None and (checkout / package).is_dir():
                return checkout.resolve()
            raise SystemExit(
                f"{folder} is in {address}, and --{name} is {checkout or 'not given'}. Clone it and name it:\n"
                f"  git clone {address} && git -C {name} checkout {revision}\n"
                f"  python tools/garden_suite --{name} {name} ..."
            )
    raise SystemExit(f"{folder} is in none of the repositories {', '.join(CHECKOUTS)}")


def run(asked: list[str], results: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Runs folders, keeps what came of them and prints a row for each."""
    print(f"{'':45}{'pass on TensorFlow':>20}{'on gradtape':>13}{'CPU seconds':>20}")
    for folder in asked:
        with tempfile.TemporaryDirectory() as scratch:
            suite = GardenSuite(
                checkout_of(folder, arguments), Path(scratch), arguments.tensorflow, file_seconds=FOLDER_SECONDS,
                worker=HERE / "worker.py",
            )  # fmt: skip
            recorded = {} if arguments.record else baseline()
            known = results.get(folder) or (
                from_baseline(recorded[folder]) if folder in recorded else suite.on_tensorflow(folder)
            )
            if arguments.record:
                record(folder, known)
            if not arguments.only_tensorflow and (arguments.again or "gradtape" not in known["seconds"]):
                known = suite.compared(folder, known)
        results[folder] = known
        arguments.results.write_text(json.dumps(results, indent=0))
        passed, here = counts(known)
        print(f"{folder:45}{passed:20}{here:13}    {known['seconds']}", flush=True)
        if arguments.show and not arguments.only_tensorflow:
            print_failures(known)


def main() -> None:
    """Runs the tests and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", help="of files.txt, as tensorflow_addons/layers; else all")
    for name, (address, _, _) in CHECKOUTS.items():
        parser.add_argument(f"--{name}", type=Path, help=f"a checkout of {address}")
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow and tf-keras")
    parser.add_argument("--results", type=Path, required=True, help="the JSON file of what came of each test")
    parser.add_argument("--only-tensorflow", action="store_true", help="run nothing on gradtape")
    parser.add_argument("--record", action="store_true", help="write TensorFlow's results of these into the baseline")
    parser.add_argument("--again", action="store_true", help="run again on gradtape what was run before")
    parser.add_argument("--show", action="store_true", help="print the tests that fail here, and why")
    parser.add_argument("--write", action="store_true", help="write the table into the docs page, and run nothing")
    arguments = parser.parse_intermixed_args()
    results: dict[str, Any] = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    if arguments.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table(results)}\n{END}{rest.partition(END)[2]}")
        return
    unknown = set(arguments.folders) - set(folders())
    if unknown:
        raise SystemExit(f"files.txt has no file in {', '.join(sorted(unknown))}; it has {', '.join(folders())}")
    run(arguments.folders or folders(), results, arguments)


if __name__ == "__main__":
    main()
