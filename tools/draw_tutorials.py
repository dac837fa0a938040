"""Draws the pictures of the tutorials, by running their pages: all, or those that are named.

    python tools/draw_tutorials.py [tensors-and-tapes training-loop keras]

The data of a picture are the variables that the page's own code has left. Each picture is drawn twice, for light and
for dark pages, as SVG whose text is text.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent.parent / "docs" / "tutorials"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLUE, ORANGE, GREEN = "#2f6fde", "#d9822b", "#009e73"
COLORS = {"light": ("#26303c", "#c9d1dc"), "dark": ("#e3e8ef", "#434d5c")}  # of text, and of lines
LARGEST = 60_000  # bytes of a picture

Variables = dict[str, Any]


def variables_of(page: str, blocks: int | None = None) -> Variables:
    """Runs the code of a page, or only its first blocks, and returns its global variables."""
    variables: Variables = {"__name__": page}
    for source in BLOCK.findall((FOLDER / f"{page}.md").read_text(encoding="utf-8"))[:blocks]:
        linecache.cache["train.py"] = (len(source), None, source.splitlines(keepends=True), "train.py")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "train.py", "exec"), variables)
    return variables


def draw_derivatives(page: Variables) -> Figure:
    figure, axes = plt.subplots(figsize=(6.4, 3.0))
    for name, color, label in (
        ("y", BLUE, "y = x sin(x)"), ("slope", ORANGE, "slope"), ("curvature", GREEN, "curvature"),
    ):  # fmt: skip
        axes.plot(page["x"], page[name], color=color, label=label)
    axes.axhline(0.0, linewidth=0.8, color=plt.rcParams["grid.color"])
    axes.set(xlabel="x")
    axes.legend()
    return figure


def draw_training(page: Variables) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.9))
    left.plot(page["losses"], color=BLUE)
    left.set(xlabel="step", title="loss", yscale="log")
    left.set_yticks([0.02, 0.05, 0.1, 0.2], ["0.02", "0.05", "0.1", "0.2"])
    left.minorticks_off()
    x = page["x"].numpy()
    right.plot(x, page["y"], color=ORANGE, linestyle="--", label="sin(x)")
    right.plot(x, page["predict"](x), color=BLUE, label="predict(x)")
    right.set(xlabel="x", title="after 500 steps")
    right.legend(loc="upper left")
    return figure


def draw_classifier(page: Variables) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.9))
    for name, color in (("loss", BLUE), ("accuracy", ORANGE)):
        left.plot(range(1, 31), page["history"][name], color=color, label=name)
    left.set(xlabel="epoch", title="training")
    left.legend()
    across, up = np.meshgrid(np.linspace(-3.0, 3.0, 60), np.linspace(-3.0, 3.0, 60))
    logits = page["model"](np.stack([across, up], -1).reshape(-1, 2).astype("float32")).numpy().reshape(60, 60)
    right.contour(across, up, logits, levels=[0.0], colors=[plt.rcParams["text.color"]], linewidths=1.5)
    points, outside = page["x"].numpy(), page["y"].numpy() > 0
    for chosen, color, label in ((outside, BLUE, "outside"), (~outside, ORANGE, "inside")):
        right.scatter(*points[chosen].T, s=7, color=color, label=label)
    right.set(title="points, and the learned border", xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
    return figure


PICTURES: dict[str, Callable[[Variables], Figure]] = {
    "tensors-and-tapes": draw_derivatives,
    "training-loop": draw_training,
    "keras": draw_classifier,
}


def style(text: str, lines: str) -> dict[str, Any]:
    """Returns Matplotlib's settings for a page with such colors."""
    return {
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), text),
        **dict.fromkeys(("axes.edgecolor", "grid.color", "xtick.color", "ytick.color", "legend.edgecolor"), lines),
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 11, "font.size": 10,
        "legend.facecolor": "none", "legend.frameon": False, "figure.constrained_layout.use": True,
        "svg.fonttype": "none", "svg.hashsalt": "gradtape", "font.family": "sans-serif",
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=[], help=f"pages; all, if none is named: {', '.join(PICTURES)}")
    names = parser.parse_args().names or list(PICTURES)
    if unknown := sorted(set(names) - set(PICTURES)):
        parser.error(f"no picture for {', '.join(unknown)}: there are {', '.join(PICTURES)}")
    for name in names:
        variables = variables_of(name)
        for scheme, colors in COLORS.items():
            file = FOLDER / f"{name}-{scheme}.svg"
            with plt.rc_context(style(*colors)):
                figure = PICTURES[name](variables)
                figure.savefig(file, transparent=True, metadata={"Date": None})
                plt.close(figure)
            if (size := file.stat().st_size) > LARGEST:
                raise ValueError(f"{file.name} has {size:,} bytes, more than {LARGEST:,}: draw less")
            print(f"docs/tutorials/{file.name}: {size:,} bytes")


if __name__ == "__main__":
    main()
