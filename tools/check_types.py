"""Checks the types of the public API with pyright and mypy.

    python tools/check_types.py [names] [programs] [mistakes] [inferred] [library]

- `names`: the type of every public name is known, at most 3% of the results are `Any`, and each of those is listed
  with its reason in `tests/types/any_results.txt`.
- `programs`: the examples, the realistic programs of `tests/programs` with gradtape in TensorFlow's place, and the code
  of README and of the documentation page by page have no errors.
- `mistakes`: each line marked `# mistake` of `tests/types/mistakes.py` is reported, and no other.
- `inferred`: the types of `tests/types/inferred.py` are inferred.
- `library`: mypy's strict mode accepts `tests/types/library.py`, and pyright does.

Programs are checked without the types that pyright guesses for Keras, which has no annotations: from a default such as
`verbose="auto"` pyright concludes that the parameter is a `str`, and rejects `verbose=2`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import write_stubs

ROOT = Path(__file__).parent.parent
TYPES = ROOT / "tests" / "types"
MOST_ANY = 0.03
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
IMPORTS = {  # how programs for TensorFlow import gradtape; pyright does not see what a stub takes from untyped Keras
    re.compile(r"^from tensorflow\.keras import", re.MULTILINE): "from keras import",
    re.compile(r"^(import|from) tensorflow\b", re.MULTILINE): r"\1 gradtape",
}
# Programs of `tests/programs` with errors that are right: they use a gradient, the `logs` of a callback or a path that
# may be None, the values of an `IndexedSlices` gradient, or a tensor for a parameter whose default is an `int`.
ERRONEOUS = frozenset(
    "clipping_and_accumulation custom_train_step deep_dream documented_patterns forecasting hessian_products "
    "linear_regression maml_step module_and_checkpoint ocr_ctc saliency_map word_embeddings".split()
)
SHOWN = {"docs/coming-from-tensorflow.md": "decode_proto"}  # errors that a page shows
NO_PROGRAM = ("CONTRIBUTING.md",)  # its code is an excerpt of gradtape's source


class Report(NamedTuple):
    """What a checker says about a line, counted from 1, of a file."""

    file: str
    line: int
    severity: str  # "error", "warning" or "information"
    message: str


def pyright(folder: Path, **settings: Any) -> list[Report]:
    """Checks the programs in a folder with pyright in basic mode."""
    paths = [str(ROOT / "src"), str(ROOT / "examples")]  # examples import each other
    settings = {"extraPaths": paths, "pythonVersion": "3.11", "typeCheckingMode": "basic", **settings}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if not done.stdout.startswith("{"):
        raise RuntimeError(f"pyright failed: {done.stdout}{done.stderr}")
    return [
        Report(Path(found["file"]).name, found["range"]["start"]["line"] + 1, found["severity"], found["message"])
        for found in json.loads(done.stdout)["generalDiagnostics"]
    ]


def mypy(folder: Path, *options: str) -> list[Report]:
    """Checks the programs in a folder with mypy."""
    (folder / "mypy.ini").write_text(
        "[mypy]\npython_version = 3.11\nignore_missing_imports = True\n"
        f"cache_dir = {ROOT / '.mypy_cache' / 'types'}\nfollow_imports = silent\n"
        "allow_redefinition_new = True\nlocal_partial_types = True\n"  # the blocks of a page assign names again
        "disable_error_code = no-redef\n"
    )
    files = sorted(path.name for path in folder.glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *options, *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.stderr:
        raise RuntimeError(f"mypy failed: {done.stdout}{done.stderr}")
    found = re.findall(r"^(.+?\.py):(\d+): (error|note): (.*)$", done.stdout, re.MULTILINE)
    return [Report(file, int(line), {"note": "information"}.get(kind, kind), text) for file, line, kind, text in found]


def check_names() -> Iterator[str]:
    """Yields the public names whose type is unknown, and the `Any` results that are not listed with a reason."""
    names = [
        f"tf.{space}.{name}".replace("..", ".")
        for space in ("", *write_stubs.spaces())
        for name in write_stubs.members(space)
    ]
    listed = dict(
        line.split(": ", 1)
        for line in (TYPES / "any_results.txt").read_text().splitlines()
        if line and not line.startswith("#")
    )
    text = "import gradtape as tf\nimport gradtape.compat.v1\n" + "".join(f"reveal_type({name})\n" for name in names)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "every_name.py").write_text(text)
        checked = {"pyright": pyright(Path(folder)), "mypy": mypy(Path(folder))}
    stale = set(listed)
    for checker, reports in checked.items():
        vague = set()
        for report in reports:
            if report.severity == "error":
                yield f"{checker}: {names[report.line - 3]}: {report.message}"
            elif is_any(report.message):
                vague.add(names[report.line - 3])
        print(f"{checker}: {len(names)} names, {len(vague)} Any results ({len(vague) / len(names):.1%})")
        if len(vague) > MOST_ANY * len(names):
            yield f"{checker}: more than {MOST_ANY:.0%} of the results are Any"
        for name in sorted(vague - listed.keys()):
            yield f"{checker}: {name} returns Any: give it a type, or a reason in tests/types/any_results.txt"
        stale -= vague
    for name in sorted(stale):
        yield f"{name} has a type: remove it from tests/types/any_results.txt"


def is_any(message: str) -> bool:
    """Returns whether a revealed type is `Any`, a class that is `Any`, or a function that returns `Any`."""
    kind = message.partition(' is "')[2].removesuffix('"')
    if "-> def " in kind:  # mypy's spelling of a function that returns a function
        return False
    return kind in ("Any", "Unknown", "type[Any]") or re.search(r"-> (Any|Unknown)$", kind) is not None


def programs() -> Iterator[tuple[str, str]]:
    """Yields the name and the code of each example, program and page; lines keep their numbers."""
    for path in sorted((ROOT / "examples").glob("*.py")) + sorted((ROOT / "tests" / "programs").glob("*.py")):
        code = path.read_text("utf-8")
        for pattern, replacement in IMPORTS.items():
            code = pattern.sub(replacement, code)
        yield str(path.relative_to(ROOT)), code
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text("utf-8")
        lines_of_page = [""] * (text.count("\n") + 1)
        for block in BLOCK.finditer(text):
            first = text.count("\n", 0, block.start(1))
            lines = block[1].splitlines()
            lines_of_page[first : first + len(lines)] = lines
        if any(lines_of_page) and path.name not in NO_PROGRAM:
            yield str(path.relative_to(ROOT)), "\n".join(lines_of_page).rstrip() + "\n"


def check_programs() -> Iterator[str]:
    """Yields the errors in the examples, programs and pages, and the programs of `ERRONEOUS` without one."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, code in programs():
            file = re.sub(r"\W", "_", name.rpartition(".")[0]) + ".py"
            files[file] = name
            Path(folder, file).write_text(code, "utf-8")
        settings = {"useLibraryCodeForTypes": False, "reportRedeclaration": False}
        checked = {"pyright": pyright(Path(folder), **settings), "mypy": mypy(Path(folder))}
    print(f"{len(files) - len(ERRONEOUS)} programs")
    rejected = set()
    for checker, reports in checked.items():
        for report in reports:
            name, message = files[report.file], report.message.splitlines()[0]
            if report.severity != "error" or (name in SHOWN and SHOWN[name] in message):
                continue
            if Path(name).stem in ERRONEOUS:
                rejected.add(Path(name).stem)
            else:
                yield f"{checker}: {name}:{report.line}: {message}"
    for name in sorted(ERRONEOUS - rejected):
        yield f"tests/programs/{name}.py has no errors: remove it from ERRONEOUS"


def check_mistakes() -> Iterator[str]:
    """Yields the planted mistakes that are not reported, and the lines that are reported without one."""
    text = (TYPES / "mistakes.py").read_text("utf-8")
    planted = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# mistake")}
    for checker, reports in _checked("mistakes.py"):
        found = {report.line for report in reports if report.severity == "error"}
        print(f"{checker}: {len(planted & found)} of {len(planted)} mistakes reported")
        for line in sorted(planted ^ found):
            yield f"{checker}: tests/types/mistakes.py:{line}: {'not ' * (line in planted)}reported"


def check_inferred() -> Iterator[str]:
    """Yields the types that are not inferred."""
    for checker, reports in _checked("inferred.py"):
        for report in reports:
            if report.severity == "error":
                yield f"{checker}: tests/types/inferred.py:{report.line}: {report.message}"


def check_library() -> Iterator[str]:
    """Yields the errors that strict checkers report about the code of a library."""
    for checker, reports in _checked("library.py", "--strict"):
        for report in reports:
            if report.severity == "error":
                yield f"{checker}: tests/types/library.py:{report.line}: {report.message}"


def _checked(name: str, *options: str) -> list[tuple[str, list[Report]]]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_text((TYPES / name).read_text("utf-8"), "utf-8")
        return [("pyright", pyright(Path(folder))), ("mypy", mypy(Path(folder), *options))]


CHECKS = {
    "names": check_names, "programs": check_programs, "mistakes": check_mistakes, "inferred": check_inferred,
    "library": check_library,
}  # fmt: skip


def main() -> None:
    """Runs the checks named on the command line, or all of them."""
    problems = [problem for name in sys.argv[1:] or CHECKS for problem in CHECKS[name]()]
    print(*problems, sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
