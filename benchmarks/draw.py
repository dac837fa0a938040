"""Draws the picture in the README from the numbers of the last run: `python benchmarks/draw.py`."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
NAMES = {"gradtape": "gradtape", "torch": "PyTorch", "autograd": "HIPS autograd", "tensorflow": "TensorFlow"}


def picture(seconds: dict[str, float]) -> str:
    """A bar chart as SVG, readable on light and on dark pages."""
    times_of = {name: seconds[key] for key, name in NAMES.items() if key in seconds}
    own, longest = times_of["gradtape"], max(times_of.values())
    rows = []
    for i, (name, value) in enumerate(sorted(times_of.items(), key=lambda item: item[1])):
        y = 58 + 30 * i
        width = max(2.0, 400 * value / longest)
        colour = "#2f6fde" if name == "gradtape" else "#9aa5b5"
        times = "" if name == "gradtape" else f"{value / own:.1f} times as long"
        rows.append(
            f'<text x="118" y="{y + 15}" text-anchor="end">{name}</text>'
            f'<rect x="128" y="{y}" width="{width:.1f}" height="20" rx="3" fill="{colour}"/>'
            f'<text x="{136 + width:.1f}" y="{y + 15}">{times}</text>'
        )
    height = 70 + 30 * len(times_of)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {height}" font-family="sans-serif" font-size="14">'
        "<style>text{fill:#333}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>"
        '<text x="10" y="24" font-size="16" font-weight="bold">Eager, forward and backward: one small op</text>'
        '<text x="10" y="44" font-size="12">a chain of 100 scalar ops and its gradient; shorter is better</text>'
        f"{''.join(rows)}</svg>\n"
    )


def main() -> None:
    results = json.loads((HERE / "results.json").read_text())
    (HERE.parent / "docs" / "why.svg").write_text(picture(results["seconds"]["chain_gradient"]))


if __name__ == "__main__":
    main()
