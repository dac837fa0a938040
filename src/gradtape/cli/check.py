"""`gradtape check`: lists the TensorFlow names that programs use, and whether gradtape supports them."""

from __future__ import annotations

import ast
import json
import os
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from gradtape.core.extras import install_command
from gradtape.engine.run.progress import reporting

from .libraries import FAMILIES, judge_library
from .lookup import instance_made_by, judge, why_calls_raise
from .needs import JIT_COMPILE, Need, keras_backend, needs_of
from .output import console
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
    errors: list[str] = field(default_factory=list)  # "line: message"
    unreadable: str = ""  # why the whole file could not be read
    needs: list[Need] = field(default_factory=list)


def check(paths: Iterable[str], *, everything: bool = False, as_json: bool = False) -> int:
    """Checks programs; returns 1 if a name is missing, 2 if a file is not readable, else 0."""
    backend = keras_backend()  # before names are looked up in a Keras on gradtape
    files = list(_files(paths))
    reports = []
    with reporting("checking programs", len(files)) as progress:
        for file in files:
            reports.append(examine(file))
            progress.advance()
    uses = [use for report in reports for use in report.names]
    if as_json:
        summary = {status: len({use.name for use in uses if use.status == status}) for status in COLOURS}
        details = [asdict(report) for report in reports]
        print(json.dumps({"files": details, "summary": summary, "keras_backend": backend}, indent=1))
    else:
        _show(reports, everything, backend)
    if any(report.errors or report.unreadable for report in reports):
        return 2
    return int(any(use.status == "missing" for use in uses))


def examine(file: str) -> Report:
    """Reports the names used in `file`, a script or a notebook."""
    report = Report(file)
    reader = NameCollector(instance_made_by)
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
    except OSError as error:
        report.unreadable = error.strerror or str(error)
    except (KeyError, TypeError) as error:
        report.unreadable = f"not a notebook: {error!r}"
    except (SyntaxError, ValueError) as error:
        report.unreadable = str(error)
    found: dict[str, Use] = {}
    uses = reader.finish()
    raising = {path: why for path in reader.calls if (why := why_calls_raise(path, uses))}
    for path, lines in sorted(uses.items()):
        status, note = judge(path)
        owner = path.rpartition(".")[0].removesuffix("()")
        if status != "missing" and (path in raising or owner in raising):
            status, note = "missing", raising.get(path) or f"{owner} raises an error"
        name = path.replace("()", "")  # instances and their class have the same members
        if status != "module":
            lines = sorted({*lines, *(found[name].lines if name in found else ())}, key=_line_order)
            found[name] = Use(name, status, lines, note)
    for module, lines in reader.imports.items():
        known = None if _is_local(module, file) else judge_library(module)
        if known and (reader.uses or module.startswith(FAMILIES)):  # others have code without TensorFlow, too
            found[module] = Use(module, known[0], lines, known[1])
    report.names = [found[name] for name in sorted(found)]
    report.needs = needs_of(uses | ({JIT_COMPILE: reader.compiled} if reader.compiled else {}))
    return report


def _line_order(line: str) -> list[tuple[int, str]]:
    return [(int(word), "") if word.isdigit() else (0, word) for word in re.split(r"(\d+)", line)]


def _is_local(module: str, file: str) -> bool:
    """Whether `module` is a file or a folder beside `file`."""
    beside = os.path.join(os.path.dirname(file), module)
    return os.path.isdir(beside) or os.path.isfile(f"{beside}.py")


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


def _show(reports: list[Report], everything: bool, backend: str) -> None:
    out = console()
    for report in reports:
        if report.unreadable:
            out.print(f"{report.path}: cannot be read: {report.unreadable}", style="red", markup=False)
        for error in report.errors:
            out.print(f"{report.path}:{error}", style="red", markup=False)
        for use in report.names:
            if everything or use.status != "supported" or use.note:
                where = escape(f"{report.path}:{use.lines[0]}")
                more = f" (also {_format_lines(use.lines[1:])})" if len(use.lines) > 1 else ""
                note = f": {escape(use.note)}" if use.note else ""
                out.print(f"{where}: [{COLOURS[use.status]}]{use.status}[/] [bold]{use.name}[/]{note}{more}")
    counts = Counter({use.name: use.status for report in reports for use in report.names}.values())
    files = f"{len(reports)} file{'s' * (len(reports) != 1)}"
    broken = sum(bool(report.errors or report.unreadable) for report in reports)
    summary = ", ".join(f"[{COLOURS[status]}]{counts[status]} {status}[/]" for status in reversed(COLOURS))
    out.print(f"{files}: {summary}" + (f", [red]{broken} not readable[/]" if broken else ""))

    _show_needs(out, reports, backend)


def _show_needs(out: Console, reports: list[Report], backend: str) -> None:
    """Prints the extras that the programs need, with the first name that needs a missing one, and Keras' backend."""
    first: dict[str, tuple[Need, str]] = {}
    for report in reports:
        for need in report.needs:
            first.setdefault(need.extra, (need, f"{report.path}:{need.lines[0]}"))
    for need, where in first.values():
        if not need.installed:
            what = f"{escape(where)}: needs the extra [bold]{need.extra}[/] for {escape(need.names[0])}"
            out.print(f"{what}, which is [red]not installed[/]: {escape(install_command(need.extra))}")
    if installed := [need.extra for need, _ in first.values() if need.installed]:
        out.print(f"needs the installed extra{'s' * (len(installed) > 1)} {', '.join(installed)}")
    if {"keras", "legacy-keras"} & set(first):
        out.print(f"Keras runs on {backend}")


def _format_lines(lines: list[str], limit: int = 5) -> str:
    return ", ".join(lines[:limit]) + (f" and {len(lines) - limit} more" if len(lines) > limit else "")
