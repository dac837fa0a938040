"""TensorFlow's own tests, a sample of all files, on TensorFlow and on gradtape.

    python tools/tensorflow_suite SOURCES --results results.json
    python tools/tensorflow_suite SOURCES --results results.json ops data/kernel_tests/batch --again --show
    python tools/tensorflow_suite SOURCES --results results.json --write    # the table of the docs page
    python tools/tensorflow_suite SOURCES --results new.json --tensorflow path/of/tensorflow/bin/python
    python tools/tensorflow_suite SOURCES --results new.json --record       # the baselines

SOURCES is a checkout of TensorFlow, or a git directory of it, of which `--revision` is taken: the version that is
installed. The sample is in `files.txt`, which `--choose` writes: of each of `FOLDERS`, every third test file in
alphabetical order, without those of names that gradtape lacks. `tools/tensorflow_tests` runs each file on both in the
same way. A test that takes more than a minute has failed, and a file has five minutes.

`--results` holds what came of each test, and is written after each file: files that it has are not run again, on
TensorFlow never, and on gradtape only with `--again`. What TensorFlow makes of the files is in `baselines`, so that
only `--tensorflow` runs it. `tools/tensorflow_tests/rule.py` has the rule by which a test *relies on private APIs*.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tensorflow_tests"))

from baseline import read_baselines, write_baselines  # noqa: E402
from runner import PYTHON_FOLDER, Suite, counts, extracted, print_failures, print_header, print_row  # noqa: E402

FOLDERS = ("ops", "kernel_tests", "data", "eager", "module", "checkpoint", "saved_model", "framework")
EVERY = 3
OF_MISSING_NAMES = (
    "data/experimental/kernel_tests/make_saveable_from_iterator", "data/experimental/kernel_tests/service/",
    "data/experimental/ops/data_service_ops", "kernel_tests/data_structures/priority_queue",
    "kernel_tests/distributions/", "ops/quantized_conv_ops",
)  # fmt: skip
FILES = HERE / "files.txt"
PAGE = HERE.parents[1] / "docs" / "tensorflow-suite.md"
BEGIN, END = "<!-- table -->\n", "<!-- end -->"
FILE_SECONDS = 300


def sample(sources: Path) -> Iterator[str]:
    """Every third file of each folder, but no tests of names that gradtape lacks."""
    root = sources / PYTHON_FOLDER
    for folder in FOLDERS:
        found = sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("*_test.py"))
        yield from (path.removesuffix("_test.py") for path in found[::EVERY] if not path.startswith(OF_MISSING_NAMES))


def table(results: dict[str, Any]) -> str:
    """The table of the docs page: a row for each folder."""
    lines = ["| folder | pass on TensorFlow | use only public APIs | pass here | % |", "|---|---:|---:|---:|---:|"]
    every: list[dict[str, Any]] = []
    for folder in (*FOLDERS, "all"):
        found = [tests_of(known) for file, known in results.items() if file.startswith(f"{folder}/")]
        tests = every if folder == "all" else [test for each in found for test in each]
        if folder != "all":
            every += tests
        passed, asked, here = counts(tests)
        share = f"{100 * here / asked:.1f}" if asked else ""
        name = folder if folder == "all" else f"`{folder}`"
        lines.append(f"| {name} | {passed:,} | {asked:,} | {here:,} | {share} |")
    return "\n".join(lines) + "\n"


def tests_of(known: dict[str, Any]) -> list[dict[str, Any]]:
    """The tests of a file that was run on both."""
    return [test for test in known["tests"].values() if "gradtape" in test]


def main() -> None:
    """Runs the tests and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, help="a checkout of TensorFlow, or its git directory")
    parser.add_argument("files", nargs="*", help="files or folders below tensorflow/python, as ops/ragged; else all")
    parser.add_argument("--revision", default="HEAD", help="which of the git directory")
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow")
    parser.add_argument("--results", type=Path, required=True, help="the JSON file of what came of each test")
    parser.add_argument("--record", action="store_true", help="write the baselines from the results, and run nothing")
    parser.add_argument("--only-tensorflow", action="store_true", help="run nothing on gradtape")
    parser.add_argument("--again", action="store_true", help="run again on gradtape what was run before")
    parser.add_argument("--show", action="store_true", help="print the tests that fail here, and why")
    parser.add_argument("--choose", action="store_true", help="write the sample of files")
    parser.add_argument("--write", action="store_true", help="write the table into the docs page, and run nothing")
    arguments = parser.parse_intermixed_args()
    results: dict[str, Any] = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        if arguments.write:
            before, _, rest = PAGE.read_text().partition(BEGIN)
            PAGE.write_text(f"{before}{BEGIN}{table(results)}{END}{rest.partition(END)[2]}")
            return
        sources = extracted(arguments.sources.resolve(), arguments.revision, Path(folder))
        if arguments.record:
            write_baselines(results, sources, FOLDERS)
            return
        if arguments.choose:
            FILES.write_text("".join(f"{file}\n" for file in sample(sources)))
        suite = Suite(sources, Path(folder), arguments.tensorflow, file_seconds=FILE_SECONDS)
        listed = FILES.read_text().split()
        chosen = [
            file
            for file in listed
            if not arguments.files or any(file == name or file.startswith(f"{name}/") for name in arguments.files)
        ]
        run(suite, [*chosen, *(name for name in arguments.files if suite.path(name).exists())], results, arguments)


def run(suite: Suite, files: list[str], results: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Runs files, keeps what came of them and prints a row for each."""
    baseline = {} if arguments.tensorflow else read_baselines(FOLDERS)
    print_header()
    for file in dict.fromkeys(files):
        if not (arguments.tensorflow or file in results or file in baseline):
            print(f"{file:50} was not run on TensorFlow yet: name a Python that has it by --tensorflow")
            continue
        known = results.get(file) or baseline.get(file) or suite.on_tensorflow(file)
        there = any(test["tensorflow"] == "passed" for test in known["tests"].values())
        new = arguments.again or not tests_of(known)
        if there and new and not arguments.only_tensorflow:
            known = suite.compared(file, known)
        if results.get(file) is not known:
            results[file] = known
            arguments.results.write_text(json.dumps(results, indent=0))
        print_row(file, list(known["tests"].values()))
        if arguments.show and not arguments.only_tensorflow:
            print_failures(known["tests"])
    run_files = [file for file in dict.fromkeys(files) if file in results]
    print_row("all", [test for file in run_files for test in results[file]["tests"].values()])


if __name__ == "__main__":
    main()
