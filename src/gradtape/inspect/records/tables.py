"""Text tables: plain by default, colored in a terminal if rich is installed, HTML in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO


@dataclass
class Table:
    """A title, columns (a leading `>` right-aligns), rows of text, and notes below."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        names = [c.removeprefix(">") for c in self.columns]
        widths = [max(map(len, cells)) for cells in zip(names, *self.rows, strict=True)]

        def text(cells: Sequence[str]) -> str:
            aligned = [
                cell.rjust(width) if column.startswith(">") else cell.ljust(width)
                for cell, width, column in zip(cells, widths, self.columns, strict=True)
            ]
            return "  ".join(aligned).rstrip()

        body = [text(names), "  ".join("─" * width for width in widths), *map(text, self.rows)] if self.rows else []
        return "\n".join([self.title, *body, *self.notes])


class Printable:
    """Base class of reports made of tables: `str` is plain text, `show` is colored in a terminal."""

    def tables(self) -> list[Table]:
        """Returns the tables of the report."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Returns what notebooks show."""
        from .html import render_table

        return "".join(map(render_table, self.tables()))

    def show(self, file: TextIO | None = None) -> None:
        """Prints the tables, colored if `file` (standard output by default) is a terminal and rich is installed."""
        out = file or sys.stdout
        if not out.isatty():
            print(self, file=out)
            return
        try:
            from rich.console import Console
            from rich.text import Text
        except ImportError:
            print(self, file=out)
            return
        console = Console(file=out)
        for table in self.tables():
            console.print(_rich(table))
            for note in table.notes:
                console.print(Text(note), style="dim")


def _rich(table: Table) -> Any:
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(title=Text(table.title), title_justify="left", title_style="bold", header_style="cyan")
    for column in table.columns:
        made.add_column(column.removeprefix(">"), justify="right" if column.startswith(">") else "left")
    for row in table.rows:
        made.add_row(*map(Text, row))
    return made
