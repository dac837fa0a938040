"""Runs test files of one folder with pytest, in one process, on TensorFlow or on gradtape.

    python worker.py PLATFORM SOURCES FOLDER NAMES OUTCOMES CPUS

The files are those of the folder that `files.txt` lists. What came of each test is written into OUTCOMES before the
next one starts. Tests that OUTCOMES has are not run again, so a process that a test ended can be followed by another.
The other arguments are those of `tools/tensorflow_tests/worker.py`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

SHARED = Path(__file__).resolve().parents[1] / "tensorflow_tests"
LIST = Path(__file__).resolve().with_name("files.txt")
sys.path[:1] = [str(SHARED)]  # in the place of this folder, whose `worker` is another

import pytest  # noqa: E402
from absl import flags  # noqa: E402
from worker import NO_TEST, UNFINISHED, configure_cpus  # noqa: E402

TEST_SECONDS = 180  # that a test may take


class Outcomes:
    """A pytest plugin: passed, failed or skipped, and why, of each test; a file that cannot be imported has failed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
        self._limit = threading.Timer(0, lambda: None)

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leaves out what was run before, and what is only called like a test."""
        left = [item for item in items if item.nodeid not in self.outcomes and item.originalname != NO_TEST]
        items[:] = left

    def pytest_collectreport(self, report: Any) -> None:
        """Notes a file that cannot be imported, or skips itself."""
        if report.outcome != "passed":
            self._note(report.nodeid, report.outcome, str(report.longrepr))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """The test has failed if nothing more is heard of it: the process ends, and the next one runs the rest."""
        self._note(nodeid, "failed", f"did not end within {TEST_SECONDS} s")
        self._write()
        self._limit = threading.Timer(TEST_SECONDS, os._exit, (UNFINISHED,))
        self._limit.start()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test passes if its call does, and what is set up before it and torn down after it."""
        if report.when == "call" or report.outcome != "passed":
            self._note(report.nodeid, report.outcome, str(report.longrepr or ""))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """The limit ends."""
        self._limit.cancel()

    def pytest_sessionfinish(self) -> None:
        """Writes what came of the last test."""
        self._write()

    def _write(self) -> None:
        self.path.write_text(json.dumps(self.outcomes, indent=0))

    def _note(self, test: str, outcome: str, reason: str) -> None:
        self.outcomes[test] = [outcome, reason[-4000:]]


def listed_files() -> list[str]:
    """The test files that are run, by their paths in the checkouts."""
    return [line for line in LIST.read_text().split("\n") if line and not line.startswith("#")]


def folder_of(file: str) -> str:
    """The folder that a file is reported under: Addons has its tests one folder deeper than what they test."""
    return file.rpartition("/")[0].removesuffix("/tests")


def main() -> None:
    """Runs the tests of a folder."""
    platform, sources, folder, outcomes = sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[5])
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    if platform == "gradtape":
        from gradtape_tensorflow import stand_in

        stand_in.serve()
    configure_cpus(int(sys.argv[6]))
    flags.FLAGS.mark_as_parsed()
    sys.path.insert(0, str(sources))
    inside = Path(folder).relative_to(sources).as_posix()
    files = [str(sources / file) for file in listed_files() if folder_of(file) == inside]
    options = ["-q", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
    place = ["-c", os.devnull, "--rootdir", str(sources)]
    pytest.main([*options, *place, *files], plugins=[Outcomes(outcomes)])
    sys.stdout.flush()
    os._exit(0)  # threads of a test that has failed are not waited for


if __name__ == "__main__":
    main()
