"""Draws the pictures of the documentation from the tables of docs/performance.md.

    python benchmarks/pictures.py

A picture shows what a table of that page says, and nothing else, so that a number is written down once. The programs
`run.py`, `ops.py` and `startup.py` write the tables with `--page`, and draw the pictures again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLUE, GRAY, ORANGE, GREEN = "#2f6fde", "#9aa5b5", "#d9822b", "#009e73"
# A picture has a background of its own: a page that is dark while the system is light changes both or neither.
STYLE = (
    "text{fill:#26303c}.quiet{fill:#5b6675}.card{fill:#f5f7fa}.rule{stroke:#c9d1dc}"
    "@media(prefers-color-scheme:dark){text{fill:#e3e8ef}.quiet{fill:#a3afbf}.card{fill:#1f2530}.rule{stroke:#434d5c}}"
)

Rows = dict[str, dict[str, float]]  # by the first cell of a row: the numbers of the other columns


def read_table(name: str) -> Rows:
    """Returns the numbers of the table between `<!-- bench NAME -->` and `<!-- end -->`; empty cells are left out."""
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    match = re.search(rf"<!-- bench {name} -->\n(.*?)<!-- end -->", text, re.DOTALL)
    if match is None:
        raise ValueError(f"docs/performance.md has no table {name!r}: it needs '<!-- bench {name} -->'")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in match[1].split("\n") if line[:1] == "|"]
    (_, *columns), _, *rows = lines
    numbers = {label.strip("*`"): dict(zip(columns, map(first_number, cells), strict=True)) for label, *cells in rows}
    return {label: {c: x for c, x in cells.items() if x is not None} for label, cells in numbers.items()}


def first_number(cell: str) -> float | None:
    """Returns the number that a cell begins with.

    >>> first_number("*0.88 (26 programs)*"), first_number("**1.07**"), first_number("")
    (0.88, 1.07, None)
    """
    match = re.match(r"\**([\d.]+)", cell)
    return float(match[1]) if match else None


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis from `low` to `high`, in the pixels from `start` to `stop`."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.stop - self.start), 1)


def text(x: float, y: float, words: str, **attributes: object) -> str:
    """Returns a line of text; `_` in the name of an attribute stands for a hyphen, `class_` for `class`."""
    return f'<text x="{x:g}" y="{y:g}"{_written(attributes)}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    """Returns a rule."""
    return f'<line class="rule" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"{_written(attributes)}/>'


def dot(x: float, y: float, color: str, square: bool = False) -> str:
    """Returns a mark: a disk, or a square for who cannot tell the colors apart."""
    if square:
        return f'<rect x="{x - 4:g}" y="{y - 4:g}" width="8" height="8" fill="{color}"/>'
    return f'<circle cx="{x:g}" cy="{y:g}" r="4.5" fill="{color}"/>'


def _written(attributes: dict[str, object]) -> str:
    return "".join(f' {name.rstrip("_").replace("_", "-")}="{value}"' for name, value in attributes.items())


def picture(size: tuple[int, int], title: str, subtitle: str, parts: Sequence[str]) -> str:
    """Returns an SVG with a heading, for light and for dark pages."""
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="13"><style>{STYLE}</style>'
        f'<rect class="card" width="{width}" height="{height}" rx="6"/>'
        f"{text(16, 28, title, font_size=16, font_weight='bold')}{text(16, 48, subtitle, class_='quiet')}"
        f"{''.join(parts)}</svg>\n"
    )


def bars(title: str, subtitle: str, lengths: dict[str, float], labels: dict[str, str]) -> str:
    """Returns a bar chart; gradtape's own bar is blue, and `labels` stand at the ends of the bars."""
    longest, parts = max(lengths.values()), []
    left = 24 + 7.5 * max(map(len, lengths))
    for row, (name, value) in enumerate(sorted(lengths.items(), key=lambda item: item[1])):
        y, width = 62 + 28 * row, max(2.0, (410 - left) * value / longest)
        color = BLUE if "gradtape" in name else GRAY
        parts.append(text(left - 8, y + 15, name, text_anchor="end"))
        parts.append(f'<rect x="{left:g}" y="{y}" width="{width:.1f}" height="20" rx="3" fill="{color}"/>')
        parts.append(text(round(left + width + 8), y + 15, labels[name]))
    return picture((520, 72 + 28 * len(lengths)), title, subtitle, parts)


def times_as_long(title: str, subtitle: str, ratios: dict[str, float]) -> str:
    """Returns a bar chart of how long the peers take, gradtape's time being one."""
    lengths = {"gradtape": 1.0, **{peer: 1 / ratio for peer, ratio in ratios.items()}}
    labels = {name: "" if name == "gradtape" else f"{value:.2g} times as long" for name, value in lengths.items()}
    return bars(title, subtitle, lengths, labels)


def eager_means() -> str:
    """Returns the geometric means over all programs, of the peers that run them all."""
    (means, *rows) = read_table("eager").values()
    peers = {peer: ratio for peer, ratio in means.items() if all(peer in row for row in rows)}
    return times_as_long("Eager training step", f"geometric mean over {len(rows)} programs; shorter is better", peers)


def python_loop() -> str:
    """Returns the times of the program that the home page shows."""
    (ratios,) = (row for title, row in read_table("eager").items() if title.startswith("damped pendulum"))
    return times_as_long("A pendulum and its gradient, op by op", "60 steps on scalars; shorter is better", ratios)


def startup() -> str:
    """Returns the CPU time of imports."""
    seconds = {program: row["seconds of CPU time"] for program, row in read_table("startup").items()}
    labels = {program: f"{value:.2f} s" if value < 1 else f"{value:.2g} s" for program, value in seconds.items()}
    return bars("Start-up", "seconds of CPU time, Python's own start included; shorter is better", seconds, labels)


def eager_ops() -> str:
    """Returns how the ratio to PyTorch changes with the size of the operands."""
    table = read_table("ops")
    sizes = {int(label.replace(",", "")): row for label, row in table.items()}
    values = [value for row in sizes.values() for value in row.values()]
    across = Axis(min(sizes), max(sizes), 70, 470)
    up = Axis(min(0.75, *values) / 1.1, max(1.25, *values) * 1.1, 270, 80)
    parts = [
        part
        for tick in (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
        if up.low < tick < up.high
        for part in (
            line(60, up(tick), 480, up(tick), stroke_width=2 if tick == 1 else 1),
            text(52, up(tick) + 4, f"{tick:g}", text_anchor="end", class_="quiet"),
        )
    ]
    parts.append(text(270, up(1.0) + 16, "1: as long as PyTorch", text_anchor="middle", class_="quiet"))
    for color, square, column in zip((BLUE, ORANGE), (False, True), next(iter(sizes.values())), strict=True):
        points = [(across(size), up(row[column])) for size, row in sizes.items()]
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [dot(x, y, color, square) for x, y in points]
        at = 16 + 190 * square
        parts += [dot(at + 5, 323, color, square), text(at + 16, 328, column)]
    parts += [text(across(size), 292, f"{size:,}", text_anchor="middle", class_="quiet") for size in sizes]
    subtitle = "gradtape's time / PyTorch's, by the numbers in an operand; lower is better"
    return picture((520, 344), "Eager ops by size", subtitle, parts)


def works() -> str:
    """Returns the ratios of all programs, one in a line."""
    _, *rows = sorted(read_table("eager").items(), key=lambda row: (row[0] != "geometric mean", row[1]["PyTorch"]))
    peers = {"PyTorch": (ORANGE, True), "TensorFlow": (GREEN, False)}
    values = [row[peer] for _, row in rows for peer in peers]
    left, bottom = 186, 100 + 20 * len(rows)
    across = Axis(min(values) / 1.2, max(values) * 1.2, left, 504)
    parts = []
    for tick in (0.01, 0.03, 0.1, 0.3, 1.0):
        parts.append(line(across(tick), 82, across(tick), bottom - 16, stroke_width=2 if tick == 1 else 1))
        parts.append(text(across(tick), 76, f"{tick:g}", text_anchor="middle", class_="quiet"))
    for row, (title, ratios) in enumerate(rows):
        y = 96 + 20 * row
        parts.append(text(left - 12, y + 4, short_title(title), text_anchor="end", font_size=12))
        parts += [dot(across(ratios[peer]), y, color, square) for peer, (color, square) in peers.items()]
    for at, (peer, (color, square)) in zip((left, left + 130), peers.items(), strict=True):
        parts += [dot(at + 5, bottom + 4, color, square), text(at + 16, bottom + 9, f"than {peer}")]
    parts.append(text(left - 12, bottom + 9, "times as long", text_anchor="end"))
    subtitle = "gradtape's time / the other's; left of 1, gradtape is faster"
    return picture((520, bottom + 26), "Eager steps of the benchmark programs", subtitle, parts)


def short_title(title: str) -> str:
    """Returns the beginning of a program's title.

    >>> short_title("style transfer with Gram matrices"), short_title("classifier 784-256-128-10, batch 64")
    ('style transfer', 'classifier')
    """
    return re.split(r",| (?:by|of|on|with|learned|\d)", title)[0]


PICTURES: dict[str, Callable[[], str]] = {
    "why.svg": eager_means,
    "performance/loop.svg": python_loop,
    "performance/ops.svg": eager_ops,
    "performance/works.svg": works,
    "performance/startup.svg": startup,
}


def draw() -> None:
    """Draws all pictures."""
    for name, drawn in PICTURES.items():
        file = DOCS / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(drawn(), encoding="utf-8")
        print(f"docs/{name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    draw()
