"""Other people's libraries on gradtape: runs the programs of this folder, and compares with TensorFlow's numbers.

    python tools/ecosystem/run.py [program ...]                  compares with what was recorded
    python tools/ecosystem/run.py --record PYTHON [program ...]  records, with a Python that has TensorFlow and them

A program is a file here with a function `numbers()` that returns numbers by name; `recorded/` has TensorFlow's. The
docstring of a program is `library, library: what it runs`. A comparison updates the rows of its programs in the table
of docs/ecosystem.md, and `libraries.txt`, from which `gradtape check` knows the outcome.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in HERE.glob("*_*.py") if path.stem != "numbers_of")
RECORDED = HERE / "recorded"
PAGE = HERE.parent.parent / "docs" / "ecosystem.md"
LIBRARIES = HERE.parent.parent / "src" / "gradtape" / "cli" / "libraries.txt"
MODULES = {  # names of imports
    "adversarial-robustness-toolbox": "art", "deel-lip": "deel", "dm-sonnet": "sonnet", "keras-tcn": "tcn",
    "sionna-no-rt": "sionna", "tensorcircuit-ng": "tensorcircuit",
}  # fmt: skip
MARKS = ("<!-- table of tools/ecosystem/run.py -->\n", "<!-- end of the table -->\n")
HEAD = "| library | status | what is run | numbers compared | program | date |\n| --- | --- | --- | --- | --- | --- |\n"
TOLERANCE = 2e-3  # of what many steps in single precision lead to; most numbers agree to 1e-6
TIME_LIMIT = 900


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--record", metavar="PYTHON", help="a Python with TensorFlow and the libraries")
    given = parser.parse_args()
    unknown = set(given.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there is {', '.join(PROGRAMS)}")
    failed = 0
    for program in given.programs:
        began = time.perf_counter()
        outcome = record(program, given.record) if given.record else compare(program)
        failed += outcome[0] != "same"
        print(f"{program:28} {outcome[0]:10} {outcome[1]}  ({time.perf_counter() - began:.0f} s)", flush=True)
        if not given.record:
            write_row(program, row(program, outcome))
    return 0 if given.record else failed


def numbers(program: str, command: list[str]) -> dict[str, list[float]] | str:
    """What the program finds, or the end of what it says."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "numbers.json"
        words = [*command, str(HERE / "numbers_of.py"), program, str(file)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=TIME_LIMIT, cwd=folder)
        except subprocess.TimeoutExpired:
            return f"not done after {TIME_LIMIT} s"
        if done.returncode or not file.exists():
            return (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
        return json.loads(file.read_text())


def record(program: str, python: str) -> tuple[str, str]:
    found = numbers(program, [python])
    if isinstance(found, str):
        return "failed", found
    RECORDED.mkdir(exist_ok=True)
    text = (
        json.dumps(found, indent=0).replace(",\n", ", ").replace("], ", "],\n").replace("[\n", "[").replace("\n]", "]")
    )
    (RECORDED / f"{program}.json").write_text(text + "\n")
    return "recorded", f"{len(found)} results"


def compare(program: str) -> tuple[str, str]:
    file = RECORDED / f"{program}.json"
    if not file.exists():
        return "unknown", "nothing was recorded on TensorFlow"
    expected = json.loads(file.read_text())
    found = numbers(program, [sys.executable, "-m", "gradtape", "run"])
    if isinstance(found, str):
        return "failed", found
    other = [name for name in expected if not agree(found.get(name), expected[name])]
    if other:
        return "different", f"{len(other)} of {len(expected)} results: {', '.join(other[:5])}"
    return "same", f"{len(expected)} results, {sum(map(len, expected.values()))} numbers"


def row(program: str, outcome: tuple[str, str]) -> str:
    """Returns the row of the table for the outcome of a program."""
    source = (HERE / f"{program}.py").read_text()
    names, _, what = (ast.get_docstring(ast.parse(source)) or "").partition(": ")
    libraries = ", ".join(with_version(name) for name in names.split(", "))
    keras = ", with Keras 2" if "TF_USE_LEGACY_KERAS" in source else ""
    status, details = outcome
    compared = details if status == "same" else details.replace("|", "\\|")
    cells = (libraries + keras, status, what.rstrip("."), compared, f"`{program}`", datetime.date.today().isoformat())
    return f"| {' | '.join(cells)} |\n"


def with_version(library: str) -> str:
    """Returns a library and its installed version."""
    try:
        return f"{library} {metadata.version(library)}"
    except metadata.PackageNotFoundError:
        return library


def write_row(program: str, text: str) -> None:
    """Replaces the row of a program in the page; the others stay as they are."""
    before, begin, rest = PAGE.read_text().partition(MARKS[0])
    table, end, after = rest.partition(MARKS[1])
    kept = {line.split("`")[-2]: f"{line}\n" for line in table.splitlines() if "`" in line}
    rows = {name: line for name, line in (kept | {program: text}).items() if name in PROGRAMS}
    lines = sorted(rows.values(), key=str.lower)
    PAGE.write_text(f"{before}{begin}\n{HEAD}{''.join(lines)}\n{end}{after}")
    LIBRARIES.write_text(library_lines(PAGE.read_text()))


def library_lines(page: str) -> str:
    """Returns `libraries.txt` from the table of the page: module, distribution, version, outcome, `keras2`."""
    table = page.partition(MARKS[0])[2].partition(MARKS[1])[0]
    found: dict[str, str] = {}
    for line in table.splitlines()[3:]:
        if "`" not in line:
            continue
        libraries, outcome, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        keras = " keras2" if libraries.endswith(", with Keras 2") else ""
        for library in libraries.removesuffix(", with Keras 2").split(", "):
            distribution, _, version = library.partition(" ")
            module = MODULES.get(distribution, distribution.replace("-", "_"))
            if module not in found or outcome != "same":  # the worst outcome of several programs
                found[module] = f"{module} {distribution} {version or 'unknown'} {outcome}{keras}\n"
    return "".join(found[module] for module in sorted(found))


def agree(found: list[float] | None, expected: list[float]) -> bool:
    """Whether all numbers are TensorFlow's, to the tolerance."""
    if found is None or len(found) != len(expected):
        return False
    return bool(np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE * 0.05, equal_nan=True))


if __name__ == "__main__":
    sys.exit(main())
