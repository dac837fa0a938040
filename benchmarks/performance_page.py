"""Writes measured numbers into docs/performance.md, between markers, and draws its picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import costs
from tables import EAGER, TABLES

PROJECT = Path(__file__).parents[1]


def write(found: dict[str, Any]) -> None:
    """Replaces what is between `<!-- bench NAME -->` and `<!-- end -->` by the numbers of that name."""
    path = PROJECT / "docs" / "performance.md"
    text = path.read_text()
    for name, numbers in found.items():
        lines = costs.sentences(numbers) if name == "costs" else TABLES[name].markdown(numbers)
        marked = re.compile(rf"(<!-- bench {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = marked.subn(lambda m, lines=lines: m[1] + "\n" + "\n".join(lines) + "\n\n" + m[2], text)
        if count != 1:
            raise ValueError(f"{path.name} has {count} places for {name!r}; it needs one '<!-- bench {name} -->'")
    path.write_text(text)
    if "eager" in found:
        means = EAGER.means(found["eager"])
        whole = {title: mean for title, (mean, count) in means.items() if count == means["PyTorch"][1]}
        (PROJECT / "docs" / "why.svg").write_text(picture(whole, len(found["eager"])))


def picture(means: dict[str, float], works: int) -> str:
    """A bar chart as SVG of how long the peers take, gradtape's time being one; for light and for dark pages."""
    lengths = {"gradtape": 1.0, **{title: 1 / mean for title, mean in means.items()}}
    longest = max(lengths.values())
    rows = []
    for i, (name, value) in enumerate(sorted(lengths.items(), key=lambda item: item[1])):
        y = 58 + 30 * i
        width = max(2.0, 400 * value / longest)
        colour = "#2f6fde" if name == "gradtape" else "#9aa5b5"
        times = "" if name == "gradtape" else f"{value:.2g} times as long"
        rows.append(
            f'<text x="118" y="{y + 15}" text-anchor="end">{name}</text>'
            f'<rect x="128" y="{y}" width="{width:.1f}" height="20" rx="3" fill="{colour}"/>'
            f'<text x="{136 + width:.1f}" y="{y + 15}">{times}</text>'
        )
    height = 70 + 30 * len(lengths)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {height}" font-family="sans-serif" font-size="14">'
        "<style>text{fill:#333}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>"
        '<text x="10" y="24" font-size="16" font-weight="bold">Eager training step</text>'
        f'<text x="10" y="44" font-size="12">geometric mean over {works} programs; shorter is better</text>'
        f"{''.join(rows)}</svg>\n"
    )
