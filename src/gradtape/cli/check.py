"""`gradtape check`: lists the TensorFlow names that programs use, and whether gradtape supports them."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import os
import re
import tokenize
import types
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.markup import escape

from gradtape.api.compat.differences import DIFFERENCES
from gradtape.api.names import NAMES
from keras_gradtape.loader import load

from .output import console
from .stand_in import become_tensorflow
from .used_names import NameCollector

SKIPPED_FOLDERS = {"__pycache__", "node_modules", "site-packages", "build", "dist"}
PYTHON_CELLS = {"%%time", "%%timeit", "%%capture", "%%prun"}  # cell magics whose cells contain Python
COLOURS = {"missing": "red", "different": "yellow", "supported": "green"}


@dataclass
class Use:
    """A TensorFlow name used in a file."""

    name: str
    status: str  # supported, different or missing
    lines: list[str]
    note: str = ""


@dataclass
class Report:
    """The results for one file."""

    path: str
    names: list[Use] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def check(paths: Iterable[str], *, everything: bool = False, as_json: bool = False) -> int:
    """Checks programs; returns 1 if a name is missing, 2 if a file is not readable, else 0."""
    reports = [examine(file) for file in _files(paths)]
    uses = [use for report in reports for use in report.names]
    if as_json:
        summary = {status: len({use.name for use in uses if use.status == status}) for status in COLOURS}
        print(json.dumps({"files": [asdict(report) for report in reports], "summary": summary}, indent=1))
    else:
        _show(reports, everything)
    if any(report.errors for report in reports):
        return 2
    return int(any(use.status == "missing" for use in uses))


def examine(file: str) -> Report:
    """Reports the names used in `file`, a script or a notebook."""
    report = Report(file)
    reader = NameCollector()
    try:
        for piece, source in _pieces(file):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # about the source being parsed
                    tree = ast.parse(source, file)
            except (SyntaxError, ValueError) as error:
                report.errors.append(f"{piece}{getattr(error, 'lineno', None) or 0}: {getattr(error, 'msg', error)}")
            else:
                reader.read(tree, piece)
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError, KeyError) as error:
        report.errors.append(f"0: {error}")
    for name, lines in sorted(reader.finish().items()):
        status, note = judge(name)
        if status != "module":
            report.names.append(Use(name, status, lines, note))
    return report


@functools.cache
def judge(path: str) -> tuple[str, str]:
    """Returns the status of a name such as `tf.math.sin`, and a note; the status is `module` for namespaces."""
    package, *parts = path.split(".")
    if parts[-1:] == ["*"]:
        return "different", "names imported by * are not checked"
    try:
        value: Any = _root(package)
        for part in parts:
            if not isinstance(value, types.ModuleType | type):
                break  # attributes of values are not checked
            value = _member(value, part)
    except AttributeError:
        return "missing", ""
    except ImportError as error:
        return "missing", str(error)
    note = _differences().get(_place(path), "")
    if note:
        return "different", note
    return ("module" if isinstance(value, types.ModuleType) else "supported"), ""


@functools.cache
def _root(package: str) -> types.ModuleType:
    """Returns the module that `gradtape run` serves as TensorFlow or Keras."""
    if package == "keras":
        return load()
    root = types.ModuleType("tensorflow")
    become_tensorflow(root)
    return root


def _member(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError:
        if not isinstance(value, types.ModuleType) or not value.__name__.startswith("keras"):
            raise
    try:
        return importlib.import_module(f"{value.__name__}.{name}")
    except ModuleNotFoundError:
        raise AttributeError(name) from None


def _place(path: str) -> str:
    """Returns the canonical name, the same for all aliases."""
    name = path.removeprefix("tf.")
    owner, _, member = name.rpartition(".")
    return NAMES.get(name) or (f"{NAMES[owner]}.{member}" if owner in NAMES else name)


@functools.cache
def _differences() -> dict[str, str]:
    return {_place(name): note for name, note in DIFFERENCES.items()}


def _files(paths: Iterable[str]) -> Iterator[str]:
    """Yields the scripts and notebooks among `paths` and in folders among them."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED_FOLDERS)
            yield from (os.path.join(folder, f) for f in sorted(files) if f.endswith((".py", ".ipynb")))


def _pieces(file: str) -> Iterator[tuple[str, str]]:
    """Yields the Python sources of a script or of notebook cells, each with the prefix of its line numbers."""
    if not file.endswith(".ipynb"):
        with tokenize.open(file) as opened:
            yield "", opened.read()
        return
    cells = json.loads(Path(file).read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(cells, 1):
        source = "".join(cell["source"])
        magic = source.split(maxsplit=1)[0] if source.startswith("%%") else ""
        if cell["cell_type"] == "code" and (not magic or magic in PYTHON_CELLS):
            yield f"cell {number}:", _drop_commands(source)


def _drop_commands(source: str) -> str:
    """Returns a cell without IPython's magics, shell commands and questions (`tf.exp?`), if it has any."""
    try:
        compile(source, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return re.sub(r"^(\s*)([%!?].*|[\w.*]+\?{1,2}\s*)$", r"\1pass", source, flags=re.MULTILINE)
    return source


def _show(reports: list[Report], everything: bool) -> None:
    out = console()
    for report in reports:
        for error in report.errors:
            out.print(f"{report.path}:{error}", style="red", markup=False)
        for use in report.names:
            if everything or use.status != "supported":
                where = escape(f"{report.path}:{use.lines[0]}")
                more = f" (also {_format_lines(use.lines[1:])})" if len(use.lines) > 1 else ""
                note = f": {escape(use.note)}" if use.note else ""
                out.print(f"{where}: [{COLOURS[use.status]}]{use.status}[/] [bold]{use.name}[/]{note}{more}")
    counts = Counter({use.name: use.status for report in reports for use in report.names}.values())
    files = f"{len(reports)} file{'s' * (len(reports) != 1)}"
    broken = sum(bool(report.errors) for report in reports)
    summary = ", ".join(f"[{COLOURS[status]}]{counts[status]} {status}[/]" for status in reversed(COLOURS))
    out.print(f"{files}: {summary}" + (f", [red]{broken} not readable[/]" if broken else ""))


def _format_lines(lines: list[str], limit: int = 5) -> str:
    return ", ".join(lines[:limit]) + (f" and {len(lines) - limit} more" if len(lines) > limit else "")
