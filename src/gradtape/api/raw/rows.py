"""The table of `tf.raw_ops`, read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .table import TABLE

_ROW = re.compile(r"(\w+)\((.*?)\)(?: ->( [\w, ]*?)?)? = (.*)")


def _lines() -> Iterator[str]:
    """The lines of the table, each with what continues it."""
    line = ""
    for part in TABLE.splitlines():
        if part.startswith(" "):
            line += " " + part.strip()
        else:
            if line:
                yield line
            line = part
    if line:
        yield line


@cache
def rows() -> dict[str, tuple[str, list[str] | None, str]]:
    """By the name of an op its parameters, its outputs where they are not one, and what computes it."""
    found: dict[str, tuple[str, list[str] | None, str]] = {}
    for line in _lines():
        if line.startswith("("):
            parameters, _, entries = line[1:].partition(")")
            for entry in entries.split():
                name, _, function = entry.partition("=")
                found[name] = parameters, None, function if "(" not in function else f"tf.{function}"
        else:
            match = _ROW.fullmatch(line)
            assert match, f"not a row of the table: {line}"
            name, parameters, outputs, function = match.groups()
            several = None if " ->" not in line.partition(" = ")[0] else (outputs or "").replace(",", " ").split()
            found[name] = parameters, several, function
    return found
