"""Makes the pictures of the gallery again, by running the examples: `make gallery`, or one by its name.

    python tools/make_gallery.py [digits keras_digits gan vae gpt text_lstm jacobian report pinn lbfgs …]

The examples that draw do it themselves. Those of `examples/` train for a shorter time where the picture does not ask
for all of it. Those of `examples/gallery` run as they are: each saves its picture beside itself, and what it prints is
put into its page, `docs/gallery/NAME.md`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import runpy
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image

import gradtape as tf

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parent.parent
GALLERY = ROOT / "docs" / "gallery"
PROGRAMS = {file.stem: file for file in sorted((ROOT / "examples" / "gallery").glob("*.py"))}
OUTPUT = re.compile(r"^```text\n.*?^```$", re.DOTALL | re.MULTILINE)  # what a program prints, on its page
LARGEST = 60_000  # bytes of a picture
sys.path.insert(0, str(ROOT / "examples"))


def digits(file: Path) -> None:
    import digits

    _, losses = digits.train(epochs=12)
    digits.draw(losses, file)


def keras_digits(file: Path) -> None:
    import keras_digits as example

    curves = {"fit": example.trained_by_fit(4)[1], "GradientTape": example.trained_by_hand(4)[1]}
    example.draw(curves, file)


def gan(file: Path) -> None:
    import gan

    _, shown = gan.train(1000)
    gan.draw(shown, file)


def vae(file: Path) -> None:
    import vae

    model, _ = vae.train(30)
    vae.draw(model, file)


def gpt(file: Path) -> None:
    import gpt

    model = gpt.network(depth=2, width=96, heads=4, time=64)
    losses = gpt.train(model, steps=300, epochs=15)
    text = gpt.written(model, 150).replace("\n", " ")
    figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axes.plot(np.linspace(0, 300, len(losses)), np.array(losses) / np.log(2))
    axes.set(xlabel="step", ylabel="bits a character", title="A small GPT reads Python's manual")
    axes.text(0.45, 0.94, wrapped(text), va="top", transform=axes.transAxes, family="monospace", size=8)
    figure.savefig(file, dpi=130)


def wrapped(text: str, width: int = 38) -> str:
    """The text in lines of `width`; a dollar sign would begin a formula."""
    return "\n".join(text[i : i + width].replace("$", r"\$") for i in range(0, len(text), width))


def text_lstm(file: Path) -> None:
    import text_lstm as example

    model, _ = example.train(epochs=6, count=8000)
    verdicts = example.verdicts(model)
    figure, axes = plt.subplots(figsize=(7, 0.5 * len(verdicts) + 1.2), layout="constrained")
    lines = [line.replace("$", r"\$") for line in verdicts]
    axes.barh(lines, list(verdicts.values()), color=plt.cm.coolwarm(np.array(list(verdicts.values()))))
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelfontfamily="monospace", labelsize=8)
    axes.set(xlim=(0, 1), title="English (0) or Python (1)?")
    figure.savefig(file, dpi=130)


def jacobian(file: Path) -> None:
    side = 24
    u = tf.Variable(np.random.default_rng(0).normal(size=(side, side)))
    with tf.GradientTape(persistent=True) as tape:
        inner = u[1:-1, 1:-1]
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner
        residual = laplacian - 0.1 * inner**3
        energy = tf.reduce_sum(tf.square(u[1:] - u[:-1]) ** 2) + tf.reduce_sum(tf.square(u[:, 1:] - u[:, :-1]) ** 2)
    shown = {
        "The Jacobian of a five-point stencil": tape.jacobian(residual, u, sparse=True),
        "The Hessian of an energy": tape.hessian(energy, u, sparse=True),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    for each, (title, matrix) in zip(axes, shown.items(), strict=True):
        each.spy(matrix, markersize=0.7, color="#1f6feb")
        rows, columns = matrix.shape
        each.set_title(f"{title}\n{matrix.nnz:,} of {rows * columns:,} entries", size=10)
    figure.savefig(file, dpi=130)


def report(file: Path) -> None:
    Image.open(ROOT / "docs" / "report.png").save(file)  # a browser's own picture of the page


def program(name: str, file: Path) -> None:
    """Runs a program of examples/gallery, moves its picture to `file`, and puts what it prints into its page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(PROGRAMS[name]), run_name="__main__")
    shutil.move(PROGRAMS[name].with_suffix(".png"), file)
    page = GALLERY / f"{name}.md"
    text, count = OUTPUT.subn(lambda _: f"```text\n{printed.getvalue()}```", page.read_text("utf-8"), count=1)
    if not count:
        raise ValueError(f"{page.name} has no block of text for what the program prints")
    page.write_text(text, "utf-8")


PICTURES: dict[str, Callable[[Path], Any]] = {
    "digits": digits, "keras_digits": keras_digits, "gan": gan, "vae": vae, "gpt": gpt, "text_lstm": text_lstm,
    "jacobian": jacobian, "report": report, **{name: partial(program, name) for name in PROGRAMS},
}  # fmt: skip


def shrunk(drawn: Path, file: Path) -> None:
    """Writes the picture in a width and with so many colors that it is small."""
    picture = Image.open(drawn).convert("RGB")
    for width, colors in ((640, 128), (640, 64), (560, 64), (480, 64), (400, 64)):
        size = (width, round(picture.height * width / picture.width))
        smaller = picture.resize(size, Image.Resampling.LANCZOS)
        smaller.quantize(colors, Image.Quantize.MAXCOVERAGE).save(file, optimize=True)
        if file.stat().st_size < LARGEST:
            return
    raise ValueError(f"{file.name} has {file.stat().st_size:,} bytes, more than {LARGEST:,}: draw less")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[], help="which pictures; all, if none is named")
    names = parser.parse_args().names or list(PICTURES)
    if unknown := sorted(set(names) - set(PICTURES)):
        parser.error(f"no picture {', '.join(unknown)}: there are {', '.join(PICTURES)}")
    GALLERY.mkdir(exist_ok=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            PICTURES[name](Path(folder) / "picture.png")
            shrunk(Path(folder) / "picture.png", GALLERY / f"{name}.png")
        plt.close("all")
        print(f"docs/gallery/{name}.png: {(GALLERY / f'{name}.png').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
