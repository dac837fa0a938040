"""The terminal: colours and frames where there is one, plain lines where output is piped."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table


def console() -> Console:
    """Standard output; piped lines are not folded, so that each stays one line."""
    out = Console(highlight=False, emoji=False)
    return out if out.is_terminal else Console(highlight=False, emoji=False, soft_wrap=True, width=1000)


def table(out: Console, title: str, *columns: str) -> Table:
    """An empty table, with a frame on a terminal only."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.ROUNDED if out.is_terminal else None)
    made.show_header = any(columns)
    made.pad_edge = out.is_terminal
    for column in columns:
        made.add_column(column)
    return made
