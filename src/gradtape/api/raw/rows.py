"""Parser of a table of functions, one per line; `table.py` documents the format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .table import TABLE

_ROW = re.compile(r"([\w.]+)\((.*?)\)(?: ->( [\w, ]*?)?)? = (.*)")


class Row(NamedTuple):
    """A function: its parameters, the names of several outputs, and its implementation."""

    parameters: str
    outputs: list[str] | None
    function: str


def read(table: str) -> dict[str, Row]:
    """Returns the rows of a table by function name."""
    found: dict[str, Row] = {}
    for line in _lines(table):
        if line.startswith("("):
            parameters, _, entries = line[1:].partition(")")
            for entry in entries.split():
                name, _, function = entry.partition("=")
                found[name] = Row(parameters, None, function)
        else:
            match = _ROW.fullmatch(line)
            assert match, f"not a row of the table: {line}"
            name, parameters, outputs, function = match.groups()
            several = None if " ->" not in line.partition(" = ")[0] else (outputs or "").replace(",", " ").split()
            found[name] = Row(parameters, several, function)
    return found


def _lines(table: str) -> Iterator[str]:
    """Yields the lines of the table, joined with their continuations."""
    line = ""
    for part in table.splitlines():
        if part.startswith(" "):
            line += " " + part.strip()
        else:
            if line:
                yield line
            line = part
    if line:
        yield line


@cache
def rows() -> dict[str, Row]:
    """Returns the rows of the table of `tf.raw_ops`."""
    return read(TABLE)
