"""Which definitions of gradtape programs use: a trace of calls, by definition, of commands and all their processes.

    python tools/used_definitions record FOLDER make ecosystem     # adds to what FOLDER has
    python tools/used_definitions record FOLDER python -m pytest tests/test_programs.py
    python tools/used_definitions report FOLDER                    # lines of each module that nothing has used
    python tools/used_definitions report FOLDER src/gradtape_tensorflow/tpu            # the definitions of some

A function counts as used if it has run, a class without functions if it was created. The lines of modules outside of
definitions are not counted.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "src"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Definition(NamedTuple):
    """A function or a class without functions."""

    name: str
    first: int  # the line of the first decorator, as in `co_firstlineno`
    lines: int


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[Definition]:
    """Yields the functions and methods of a module, without the functions inside of them, and the plain classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            here = Definition(prefix + node.name, first, (node.end_lineno or first) - first + 1)
            inside = [] if isinstance(node, FUNCTIONS) else list(definitions(node, f"{here.name}."))
            if not any(getattr(decorator, "id", "") == "overload" for decorator in node.decorator_list):
                yield from inside or [here]
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from definitions(node, prefix)


def record(folder: Path, command: list[str]) -> int:
    """Runs a command and notes what it uses."""
    folder.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    environment = {"GRADTAPE_USED": str(folder.resolve()), "GRADTAPE_SOURCES": f"{SOURCES}/", "PYTHONPATH": path}
    return subprocess.run(command, env={**os.environ, **environment}).returncode


def used(folder: Path) -> set[str]:
    """Returns `file:line` of every definition that has run."""
    return {line for file in folder.glob("*.txt") for line in file.read_text().split()}


def report(folder: Path, parts: list[str]) -> None:
    """Prints the lines of each module that were not used, most first, and the unused definitions of some modules."""
    seen, unused, total = used(folder), Counter[str](), Counter[str]()
    for file in sorted(SOURCES.rglob("*.py")):
        name = str(file.relative_to(SOURCES))
        for definition in definitions(ast.parse(file.read_text())):
            total[name] += definition.lines
            if f"{name}:{definition.first}" not in seen:
                unused[name] += definition.lines
                if any(part in name for part in parts):
                    print(f"{definition.lines:6} {name}:{definition.first} {definition.name}")
    if not parts:
        for name, lines in unused.most_common():
            print(f"{lines:6} of {total[name]:5} {name}")
    print(f"{unused.total():,} of {total.total():,} lines of definitions are not used")


def main() -> None:
    """Runs a subcommand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "report"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="the command, or parts of the names of modules")
    arguments = parser.parse_args()
    if arguments.action == "record":
        sys.exit(record(arguments.folder, arguments.rest))
    report(arguments.folder, arguments.rest)


if __name__ == "__main__":
    main()
