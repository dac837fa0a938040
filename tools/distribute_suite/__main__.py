"""TensorFlow's own tests of `tf.distribute`, file by file, on TensorFlow and on gradtape.

    python tools/distribute_suite SOURCES --tensorflow path/of/tensorflow/bin/python --save results.json
    python tools/distribute_suite SOURCES --baseline results.json values tf_function    # TensorFlow's from before

SOURCES is a checkout of TensorFlow, or a git directory of it, of which `--revision` is taken: the version that is
installed. The tests are copied into a temporary folder; nothing of them is kept. `worker.py` runs each file with four
logical CPUs, on both in the same way:

- The lists of strategies and the base classes of tests are TensorFlow's own files, `strategy_combinations.py` and
  `strategy_test_lib.py`, as they are. What makes tests of them, `combinations` and the decorators of `test_util`, is
  replaced: each test is run with the default strategy, one device, mirrored ones of one and two CPUs (in the place of
  GPUs too), and several workers of which there is this one, with one CPU; combinations that come out the same are run
  once. Those with graphs of TensorFlow 1, TPUs, parameter servers, central storage and no `merge_call` are left out.
- On gradtape a private module has those of its names that are public in TensorFlow, as gradtape's, what `gradtape run`
  serves to libraries, and what `COUNTERPARTS` has. The rest fails when it is used.

A test that takes more than a minute has failed.

A test *relies on private APIs*, whatever came of it here, if the text of its method, or what it reaches in its file
or in `strategy_test_lib.py` by name (functions, classes, methods of `self`, `setUp`), has one of these:

- a name of a module of TensorFlow's that is not found in `tf` or `tf.compat.v1`, is not called like a function of their
  roots, is no part of the replaced machinery (`MACHINERY`), stands for nothing that a public name does as well
  (`COUNTERPARTS`), and is not only asked whether something is of that kind, in `isinstance` or `assertIsInstance`;
- an attribute with an underscore of anything but `self`, unless a `tf.TypeSpec` of one's own has to have it
  (`PROTOCOL`), or a method with an underscore of a class of TensorFlow's that a class of the file defines anew, as
  those of a strategy of one's own;
- TensorFlow 1's sessions, savers and graphs, or servers (`NOT_ASKED`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rule import Source, method_of
from worker import UNFINISHED

WORKER = Path(__file__).resolve().with_name("worker.py")
FOLDER = "tensorflow/python/distribute"
FILES = (
    "values", "vars", "distributed_variable", "strategy_common", "strategy_gather", "custom_training_loop_gradient",
    "custom_training_loop_input", "mirrored_strategy", "mirrored_variable", "distribute_lib", "per_replica",
    "one_device_strategy", "moving_averages", "tf_function", "input_lib", "input_lib_type_spec", "random_generator",
    "sharded_variable", "collective_util", "collective_all_reduce_strategy",
)  # the others are of TPUs, parameter servers, processes and the machinery itself, or all private  # fmt: skip


def extracted(sources: Path, revision: str, folder: Path) -> Path:
    """The tests, and what they are made with, in `folder`."""
    if (sources / FOLDER).is_dir():
        return sources
    archive = subprocess.run(
        ["git", "-C", str(sources), "archive", revision, FOLDER], stdout=subprocess.PIPE, check=True
    ).stdout
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive, check=True)
    return folder


def run(platform: str, python: str, sources: Path, file: str, scratch: Path) -> dict[str, list[str]]:
    """What came of each test of a file: passed, failed or skipped, and why."""
    outcomes = scratch / f"{file}.{platform}.json"
    path = sources / FOLDER / f"{file}_test.py"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "GRADTAPE_DEVICE": "cpu", "TMPDIR": str(scratch)}
    environment["PYTHONPATH"] = str(WORKER.parents[2] / "src") if platform == "gradtape" else ""
    code = UNFINISHED
    while code == UNFINISHED:
        files = [sources, path, scratch / f"{file}.names.json", outcomes]
        command = [python, str(WORKER), platform, *map(str, files)]
        ended = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True)
        code = ended.returncode
    if code:
        print(f"  {file} on {platform} ended with {code}: {ended.stderr.strip()[-300:]}", flush=True)
    return json.loads(outcomes.read_text()) if outcomes.exists() else {}


def measured(file: str, sources: Path, arguments: Any, scratch: Path, before: dict[str, Any]) -> dict[str, Any]:
    """For each test of a file what it gave on both, and what it needs that is private."""
    names_file = scratch / f"{file}.names.json"
    if file in before:
        theirs = {test: [found["tensorflow"], ""] for test, found in before[file]["tests"].items()}
        names_file.write_text(json.dumps(before[file]["names"]))
    elif arguments.tensorflow is None:
        raise SystemExit(f"nothing is known of {file} on TensorFlow: name a Python that has it by --tensorflow")
    else:
        theirs = run("tensorflow", os.path.abspath(arguments.tensorflow), sources, file, scratch)
    names = json.loads(names_file.read_text()) if names_file.exists() else {}
    ours = run("gradtape", sys.executable, sources, file, scratch)
    support = Source(sources / FOLDER / "strategy_test_lib.py", names)
    source = Source(sources / FOLDER / f"{file}_test.py", names, support)
    tests = {}
    for test, (outcome, reason) in theirs.items():
        here, why = ours.get(test, ["failed", "was not run"])
        private = source.private(*method_of(source, test))
        tests[test] = {"tensorflow": outcome, "gradtape": here, "private": private, "why": why, "on tensorflow": reason}
    return {"names": names, "tests": tests}


def row(name: str, tests: list[dict[str, Any]]) -> None:
    """Prints a line of the table."""
    passed = [test for test in tests if test["tensorflow"] == "passed"]
    asked = [test for test in passed if not test["private"]]
    here = [test for test in asked if test["gradtape"] == "passed"]
    print(f"{name:34}{len(passed):20}{len(asked):22}{len(here):12}", flush=True)


def main() -> None:
    """Runs the tests and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, help="a checkout of TensorFlow, or its git directory")
    parser.add_argument("files", nargs="*", help="tests, as values or tf_function")
    parser.add_argument("--revision", default="HEAD", help="which of the git directory")
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow")
    parser.add_argument("--baseline", type=Path, help="a file that was saved: TensorFlow's results are taken from it")
    parser.add_argument("--save", type=Path, help="write what came of each test into this JSON file")
    parser.add_argument("--show", action="store_true", help="print the tests that fail here, and why")
    arguments = parser.parse_args()
    before = json.loads(arguments.baseline.read_text()) if arguments.baseline else {}
    results: dict[str, Any] = {}
    print(f"{'':34}{'pass on TensorFlow':>20}{'use only public APIs':>22}{'pass here':>12}")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        sources = extracted(arguments.sources.resolve(), arguments.revision, scratch)
        for file in arguments.files or FILES:
            results[file] = measured(file, sources, arguments, scratch, before)
            tests = results[file]["tests"]
            row(file, list(tests.values()))
            for name, test in tests.items() if arguments.show else ():
                if test["tensorflow"] == "passed" and not test["private"] and test["gradtape"] != "passed":
                    print(f"  {name}: {(test['why'].strip() or '?').splitlines()[-1][:200]}")
            if arguments.save:
                arguments.save.write_text(json.dumps(results, indent=0))
    row("all", [test for found in results.values() for test in found["tests"].values()])


if __name__ == "__main__":
    main()
