"""Small charts: SVG without scripts for notebooks, Unicode characters for terminals.

Each chart is drawn with a bounded number of marks, whatever the size of its data: neighboring values share one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BLUE, ORANGE = "#2f6fde", "#d9822b"
# After those of Okabe and Ito, which readers with a color vision deficiency tell apart.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7500", "#7a7a7a")
_WIDTH, _HEIGHT = 480, 120  # of a chart of values, in pixels
_MOST_POINTS = 240
_BLOCKS = "▁▂▃▄▅▆▇█"
_MOST_CELLS = 120  # along a side of a drawn matrix
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a Braille character, by row and column


def sparkline(values: Sequence[float], top: float, width: int = 40) -> str:
    """Returns one character for each stretch of `values`, as high as its maximum relative to `top`.

    >>> sparkline([0, 1, 2, 3, 7], 7)
    '▁▂▃▄█'
    """
    last = len(_BLOCKS) - 1
    return "".join(_BLOCKS[min(last, round(last * max(0.0, x) / (top or 1)))] for x in maxima(values, width))


def maxima(values: Sequence[float], count: int) -> list[float]:
    """Returns the maximum of each of at most `count` stretches of equal length."""
    array = np.asarray(values, float)
    if len(array) <= count:
        return [float(x) for x in array]
    return [float(part.max()) for part in np.array_split(array, count)]


def render_lines(
    series: Sequence[tuple[str, str, Sequence[float]]],
    marks: Sequence[tuple[str, float]],
    title: str,
    shown: Callable[[float], str],
    split: tuple[str, float] | None = None,
) -> str:
    """Returns lines over time as SVG: `series` has labels, colors and values, `marks` labels of horizontal lines.

    `shown` formats a value. Series start together, and a shorter one ends earlier. A vertical line, with the
    label in `split`, marks a share of the width.
    """
    values = [maxima(points, _MOST_POINTS) for _, _, points in series]
    longest = max([len(points) for _, _, points in series] + [1])
    top = max([y for _, y in marks] + [max(points, default=0.0) for points in values]) or 1.0

    def height(y: float) -> float:
        return round(_HEIGHT - 4 - (_HEIGHT - 24) * y / top, 1)

    drawn = []
    for (_, color, given), points in zip(series, values, strict=True):
        step = _WIDTH * len(given) / longest / max(1, len(points) - 1)
        path = " ".join(f"{round(i * step, 1):g},{height(y):g}" for i, y in enumerate(points))
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    for label, y in marks:
        drawn.append(
            f'<line x1="0" x2="{_WIDTH}" y1="{height(y):g}" y2="{height(y):g}" stroke="currentColor" '
            f'stroke-dasharray="4 3" opacity=".6"/>'
            f'<text x="2" y="{height(y) - 4:g}" font-size="11" fill="currentColor">{escape(label)} {shown(y)}</text>'
        )
    if split is not None:
        label, share = split
        x = round(share * _WIDTH, 1)
        drawn.append(
            f'<line x1="{x:g}" x2="{x:g}" y1="0" y2="{_HEIGHT}" stroke="currentColor" opacity=".35"/>'
            f'<text x="{x + 4:g}" y="{_HEIGHT - 4}" font-size="11" fill="currentColor">{escape(label)}</text>'
        )
    legend = " ".join(f'<span style="color:{color}">━ {escape(label)}</span>' for label, color, _ in series)
    return f"{_svg(_WIDTH, _HEIGHT, title, drawn)}<p>{legend}</p>"


def render_bars(heights: Sequence[float], labels: tuple[str, str], title: str) -> str:
    """Returns a histogram as SVG, with a label at each end of its axis."""
    top, width = max([*heights, 1]), _WIDTH / max(1, len(heights))
    bars = [
        f'<rect x="{i * width + 1:g}" width="{width - 2:g}" y="{_HEIGHT - 18 - 96 * y / top:g}" '
        f'height="{96 * y / top:g}" fill="{BLUE}"/>'
        for i, y in enumerate(heights)
    ]
    for x, anchor, label in ((0, "start", labels[0]), (_WIDTH, "end", labels[1])):
        bars.append(
            f'<text x="{x}" y="{_HEIGHT - 4}" font-size="11" text-anchor="{anchor}" fill="currentColor">'
            f"{escape(label)}</text>"
        )
    return _svg(_WIDTH, _HEIGHT, title, bars)


def render_pattern(pattern: csr_array, colors: Any, by_columns: bool, title: str) -> str:
    """Returns the nonzero entries of a matrix as SVG, in the colors of their rows or, if `by_columns`, columns.

    Of more colors than can be told apart, some look alike.
    """
    rows, columns, cells = _cells(pattern, _MOST_CELLS, _MOST_CELLS)
    hue = np.full(cells, -1)
    hue[rows, columns] = (colors[pattern.nonzero()[1 if by_columns else 0]]) % len(COLORS)
    size = max(2, round(300 / max(cells)))
    drawn = []
    for at, color in enumerate(COLORS):
        runs = "".join(
            f"M{start * size} {y * size}h{(stop - start) * size}v{size}h-{(stop - start) * size}z"
            for y, row in enumerate(hue)
            for start, stop in _runs(row == at)
        )
        if runs:
            drawn.append(f'<path d="{runs}" fill="{color}"/>')
    width, height = cells[1] * size, cells[0] * size
    drawn.append(f'<rect width="{width}" height="{height}" fill="none" stroke="currentColor" opacity=".4"/>')
    return _svg(width, height, title, drawn)


def draw_pattern(pattern: csr_array, width: int = 40, height: int = 16) -> list[str]:
    """Returns the nonzero entries of a matrix as lines of Braille characters.

    >>> from scipy import sparse
    >>> draw_pattern(sparse.eye_array(8, format="csr"))
    ['⠑⢄⠀⠀', '⠀⠀⠑⢄']
    """
    rows, columns, cells = _cells(pattern, 4 * height, 2 * width)
    codes = np.zeros((-(-cells[0] // 4), -(-cells[1] // 2)), int)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        codes[row // 4, column // 2] |= _DOTS[row % 4][column % 2]
    return ["".join(chr(_BRAILLE + code) for code in line) for line in codes.tolist()]


def _cells(pattern: csr_array, most_rows: int, most_columns: int) -> tuple[Any, Any, tuple[int, int]]:
    """Returns the row and column of each entry on a grid that is at most so large, and the size of the grid."""
    scale = max(pattern.shape[0] / most_rows, pattern.shape[1] / most_columns, 1.0)
    cells = (max(1, int(np.ceil(pattern.shape[0] / scale))), max(1, int(np.ceil(pattern.shape[1] / scale))))
    rows, columns = pattern.nonzero()
    return (rows / scale).astype(int), (columns / scale).astype(int), cells


def _runs(row: Any) -> Iterator[tuple[int, int]]:
    """Yields the first index of each run of true values, and the index after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
    yield from list(pairwise(edges.tolist()))[::2]


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'style="max-width:100%;height:auto;display:block"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )
