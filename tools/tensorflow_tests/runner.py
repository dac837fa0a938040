"""Runs files of TensorFlow's tests on TensorFlow and on gradtape, and compares what came of each test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rule import Source, method_of
from worker import NO_TEST, UNFINISHED

WORKER = Path(__file__).resolve().with_name("worker.py")
PYTHON_FOLDER = "tensorflow/python"
STRATEGY_CPUS = 3  # `NamedDistribution` counts to /cpu:2


def extracted(sources: Path, revision: str, folder: Path) -> Path:
    """TensorFlow's sources, or those of its Python files that a git directory has in `revision`, in `folder`."""
    if (sources / PYTHON_FOLDER).is_dir():
        return sources
    archive = subprocess.run(
        ["git", "-C", str(sources), "archive", revision, PYTHON_FOLDER], stdout=subprocess.PIPE, check=True
    ).stdout
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive, check=True)
    return folder


@dataclass
class Suite:
    """How files of tests are run. A file is named by its path below `folder` of the sources, without `_test.py`."""

    sources: Path
    scratch: Path
    tensorflow: str | None = None  # a Python that has TensorFlow
    cpus: int = 1
    file_seconds: float | None = None  # that a file may take
    folder: str = PYTHON_FOLDER
    worker: Path = WORKER  # the program that runs a file
    source_class: type[Source] = Source  # has the rule

    def path(self, file: str) -> Path:
        """The test file."""
        return self.sources / self.folder / f"{file}_test.py"

    def cpus_of(self, file: str) -> int:
        """How many logical CPUs a file has: at least those that named strategies are made of, if it uses any."""
        uses_strategies = "strategy_combinations" in self.path(file).read_text()
        return max(self.cpus, STRATEGY_CPUS) if uses_strategies else self.cpus

    def names_path(self, file: str) -> Path:
        """Where the public names of what a file uses are written."""
        return self.scratch / f"{file.replace('/', '+')}.names.json"

    def run(self, platform: str, python: str, file: str) -> dict[str, list[str]]:
        """What came of each test of a file: passed, failed or skipped, and why."""
        outcomes = self.scratch / f"{file.replace('/', '+')}.{platform}.json"
        outcomes.unlink(missing_ok=True)
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "GRADTAPE_DEVICE": "cpu", "TMPDIR": str(self.scratch)}
        environment["PYTHONPATH"] = str(WORKER.parents[2] / "src") if platform == "gradtape" else ""
        files = [self.sources, self.path(file), self.names_path(file), outcomes]
        command = [python, str(self.worker), platform, *map(str, files), str(self.cpus_of(file))]
        end = None if self.file_seconds is None else time.monotonic() + self.file_seconds
        found: dict[str, list[str]] = {}
        while True:
            left = None if end is None else max(end - time.monotonic(), 1)
            try:
                ended = subprocess.run(
                    command, cwd=self.scratch, env=environment, capture_output=True, text=True, timeout=left
                )
            except subprocess.TimeoutExpired:
                print(f"  {file} on {platform} took more than {self.file_seconds:.0f} s", flush=True)
                break
            code = ended.returncode
            if code not in (0, UNFINISHED):
                reason = (ended.stderr.strip().splitlines() or ["?"])[-1][:300]
                print(f"  {file} on {platform} ended with {code}: {reason}", flush=True)
            started, found = len(found), json.loads(outcomes.read_text()) if outcomes.exists() else {}
            if (code >= 0 and code != UNFINISHED) or len(found) == started:
                break  # else a test has ended the process, by a signal or its limit, and the rest is run
        return json.loads(outcomes.read_text()) if outcomes.exists() else {}

    def on_tensorflow(self, file: str) -> dict[str, Any]:
        """What came of each test of a file on TensorFlow, and the public names of what the file uses."""
        if self.tensorflow is None:
            raise SystemExit(f"nothing is known of {file} on TensorFlow: name a Python that has it by --tensorflow")
        found = self.run("tensorflow", os.path.abspath(self.tensorflow), file)
        names = self.names_path(file)
        tests = {test: {"tensorflow": outcome, "on tensorflow": why} for test, (outcome, why) in found.items()}
        return {"names": json.loads(names.read_text()) if names.exists() else {}, "tests": tests}

    def compared(self, file: str, before: dict[str, Any]) -> dict[str, Any]:
        """What each test of a file gave here too, and what it needs that is private."""
        names = before["names"]
        self.names_path(file).write_text(json.dumps(names))
        ours = self.run("gradtape", sys.executable, file)
        source = self.source_class(self.path(file), names, self.sources)
        tests = {}
        for test, known in before["tests"].items():
            if test.endswith(f".{NO_TEST}"):
                continue
            outcome, why = ours.get(test, ["failed", "was not run"])
            private = source.private(*method_of(source, test))
            tests[test] = {**known, "gradtape": outcome, "private": private, "why": why}
        return {"names": names, "tests": tests}


def counts(tests: list[dict[str, Any]]) -> tuple[int, int, int]:
    """How many tests pass on TensorFlow, how many of these use only public APIs, and how many of those pass here."""
    passed = [test for test in tests if test["tensorflow"] == "passed"]
    asked = [test for test in passed if "gradtape" in test and not test["private"]]
    return len(passed), len(asked), sum(test["gradtape"] == "passed" for test in asked)


def print_row(name: str, tests: list[dict[str, Any]]) -> None:
    """Prints a line of the table."""
    passed, asked, here = counts(tests)
    print(f"{name:50}{passed:20}{asked:22}{here:12}", flush=True)


def print_header() -> None:
    """Prints the first line of the table."""
    print(f"{'':50}{'pass on TensorFlow':>20}{'use only public APIs':>22}{'pass here':>12}")


def print_failures(tests: dict[str, dict[str, Any]]) -> None:
    """Prints the tests that use only public APIs, pass on TensorFlow and fail here, and why."""
    for name, test in tests.items():
        if test["tensorflow"] == "passed" and not test["private"] and test["gradtape"] != "passed":
            print(f"  {name}: {(test['why'].strip() or '?').splitlines()[-1][:200]}")
