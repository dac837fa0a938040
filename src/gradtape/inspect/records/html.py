"""HTML that notebooks show: tables and paragraphs, with styles inline and without scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tables import Table

_BAR = "rgba(47,111,222,.28)"
_PERCENT = re.compile(r"^(\d+(?:\.\d+)?)%$")


def render_table(table: Table) -> str:
    """Returns a table as HTML; a cell with a percentage has a bar of that length."""
    right = [column.startswith(">") for column in table.columns]
    head = "".join(_cell("th", column.removeprefix(">"), at) for column, at in zip(table.columns, right, strict=True))
    rows = ["".join(_cell("td", text, at) for text, at in zip(row, right, strict=True)) for row in table.rows]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    grid = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return f"<p><b>{escape(table.title)}</b></p>{grid}{render_notes(table.notes)}"


def render_notes(notes: Sequence[str]) -> str:
    """Returns small paragraphs."""
    return "".join(f'<p style="opacity:.7;font-size:.9em">{escape(note)}</p>' for note in notes)


def render_text(text: str) -> str:
    """Returns a sentence; what is between backquotes becomes code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def render_list(items: Sequence[str]) -> str:
    """Returns sentences as a list."""
    return f"<ul>{''.join(f'<li>{render_text(item)}</li>' for item in items)}</ul>"


def _cell(tag: str, text: str, is_number: bool) -> str:
    style = f"text-align:{'right' if is_number else 'left'};white-space:nowrap"
    if tag == "td" and (found := _PERCENT.match(text)):
        share = min(float(found[1]), 100.0)
        style += f";background:linear-gradient(90deg,{_BAR} {share:g}%,transparent {share:g}%)"
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'
