"""A table of functions, one a line, read: see `table.py` for what a line is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .table import TABLE

_ROW = re.compile(r"([\w.]+)\((.*?)\)(?: ->( [\w, ]*?)?)? = (.*)")


class Row(NamedTuple):
    """A function: its parameters, the names of its outputs where they are not one, and what computes it."""

    parameters: str
    outputs: list[str] | None
    function: str


def read(table: str) -> dict[str, Row]:
    """The rows of a table, by the names of the functions."""
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
    """The lines of the table, each with what continues it."""
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
    """The rows of the table of `tf.raw_ops`."""
    return read(TABLE)
