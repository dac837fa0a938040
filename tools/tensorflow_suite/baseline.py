"""What TensorFlow makes of the tests, a file for each folder, so that comparing needs no TensorFlow.

`baselines/FOLDER.json` lists the tests that pass on TensorFlow, by file and class, apart by whether they use only
public APIs, and the public name of each thing that the files import.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rule import Source, method_of
from runner import PYTHON_FOLDER
from worker import NO_TEST

BASELINES = Path(__file__).resolve().with_name("baselines")


def read_baselines(folders: tuple[str, ...]) -> dict[str, Any]:
    """What is known of each file of the folders, as the results of a run on TensorFlow."""
    found: dict[str, Any] = {}
    for folder in folders:
        path = BASELINES / f"{folder}.json"
        baseline = json.loads(path.read_text()) if path.exists() else {"names": {}, "files": {}}
        for file, tests in baseline["files"].items():
            passed = [f"{owner}.{test}" for kind in tests.values() for owner in kind for test in kind[owner]]
            known = {test: {"tensorflow": "passed", "on tensorflow": ""} for test in passed}
            found[file] = {"names": baseline["names"], "tests": known}
    return found


def write_baselines(results: dict[str, Any], sources: Path, folders: tuple[str, ...]) -> None:
    """Writes the baselines of the folders that results are of."""
    for folder in folders:
        files = {file: known for file, known in results.items() if file.startswith(f"{folder}/")}
        if files:
            names = {name: public for known in files.values() for name, public in known["names"].items()}
            lines = [f"{json.dumps(file)}: {_written(tests_by_class(sources, file, files[file]))}" for file in files]
            texts = [f"{json.dumps(name)}: {json.dumps(public)}" for name, public in sorted(names.items())]
            text = f'{{"names": {{\n{_lines(texts)}\n}}, "files": {{\n{_lines(lines)}\n}}}}\n'
            BASELINES.mkdir(exist_ok=True)
            (BASELINES / f"{folder}.json").write_text(text)


def tests_by_class(sources: Path, file: str, known: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The tests of a file that pass on TensorFlow: for "public" and "private", the methods of each class."""
    found: dict[str, dict[str, list[str]]] = {"public": {}, "private": {}}
    passed = [test for test, outcome in known["tests"].items() if outcome["tensorflow"] == "passed"]
    passed = [test.partition(" (")[0] for test in passed if not test.endswith(f".{NO_TEST}")]
    source = Source(sources / PYTHON_FOLDER / f"{file}_test.py", known["names"], sources) if passed else None
    for test in passed:
        assert source is not None
        if test.partition(".")[0] not in source.defined:  # of a class that the file imports
            continue
        kind = "private" if source.private(*method_of(source, test)) else "public"
        owner, _, method = test.partition(".")
        found[kind].setdefault(owner, []).append(method)
    return found


def _written(tests: dict[str, dict[str, list[str]]]) -> str:
    kinds = []
    for kind, classes in tests.items():
        texts = [f"{json.dumps(owner)}: {json.dumps(methods)}" for owner, methods in classes.items()]
        kinds.append(f'"{kind}": {{\n{_lines(texts)}}}' if texts else f'"{kind}": {{}}')
    return f"{{{', '.join(kinds)}}}"


def _lines(texts: list[str]) -> str:
    return ",\n".join(texts)
