"""Terminal output: colors and frames on a terminal, plain lines in a pipe."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table


def console() -> Console:
    """Returns a console for standard output; piped lines are not wrapped."""
    out = Console(highlight=False, emoji=False)
    return out if out.is_terminal else Console(highlight=False, emoji=False, soft_wrap=True, width=1000)


def table(out: Console, title: str, *columns: str) -> Table:
    """Returns an empty table, framed only on a terminal."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.ROUNDED if out.is_terminal else None)
    made.show_header = any(columns)
    made.pad_edge = out.is_terminal
    for column in columns:
        made.add_column(column)
    return made
