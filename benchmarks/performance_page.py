"""Writes measured numbers into docs/performance.md, between markers, and draws its pictures again."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import costs
import pictures
from tables import TABLES, shown

PROJECT = Path(__file__).parents[1]


def write(found: dict[str, Any]) -> None:
    """Replaces what is between `<!-- bench NAME -->` and `<!-- end -->` by the numbers of that name."""
    path = PROJECT / "docs" / "performance.md"
    text = path.read_text()
    for name, numbers in found.items():
        lines = OTHERS[name](numbers) if name in OTHERS else TABLES[name].markdown(numbers)
        marked = re.compile(rf"(<!-- bench {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = marked.subn(lambda m, lines=lines: m[1] + "\n" + "\n".join(lines) + "\n\n" + m[2], text)
        if count != 1:
            raise ValueError(f"{path.name} has {count} places for {name!r}; it needs one '<!-- bench {name} -->'")
    path.write_text(text)
    pictures.draw()


def ops_table(ratios: dict[str, dict[str, float]]) -> list[str]:
    """Returns the geometric means over all ops as lines of Markdown, a row for each size of the operands."""
    columns: dict[str, list[float]] = {}
    for row in ratios.values():
        for key, ratio in row.items():
            columns.setdefault(key, []).append(ratio)
    means = {key: shown(statistics.geometric_mean(column)) for key, column in columns.items()}
    sizes = sorted({int(key.partition(" ")[0]) for key in means})
    cells = [f"| {size:,} | {means[f'{size} forward']} | {means[f'{size} gradient']} |" for size in sizes]
    title = f"Numbers in an operand ({len(ratios)} ops)"
    return [f"| {title} | the op | the op and its gradient |", "| ---: | ---: | ---: |", *cells]


def startup_table(seconds: dict[str, float]) -> list[str]:
    """Returns the CPU times of imports as lines of Markdown."""
    rows = [f"| `{program}` | {shown(value)} |" for program, value in seconds.items()]
    return ["| Program | seconds of CPU time |", "| --- | ---: |", *rows]


OTHERS: dict[str, Callable[[Any], list[str]]] = {
    "costs": costs.sentences, "ops": ops_table, "startup": startup_table,
}  # fmt: skip
