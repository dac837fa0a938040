"""Trains a character-level LSTM to distinguish English from Python.

    python examples/text_lstm.py [--epochs 6] [--lines 20000]

The text is Python's own standard library: the lines of its docstrings are English, and the lines around them are code.
Prints the accuracy on unseen lines, and the predictions for a few lines that resemble both languages.
"""

from __future__ import annotations

import argparse
import ast
import sysconfig
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import gradtape as tf

LENGTH = 48
ALPHABET = "".join(map(chr, range(32, 127)))
NUMBER = {character: i for i, character in enumerate(ALPHABET, start=1)}  # 0 is the padding before a short line
BETWEEN = (
    "if it is not in the list, the default is returned",
    "if it is not in the_list: return default",
    "for each of the items, print its name",
    "for each in items: print(each.name)",
    "import what you need, and nothing else",
    "import what, you, need",
    "while waiting for the lock",
    "with lock as waiting:",
)


def lines_of(source: str) -> tuple[set[str], set[str]]:
    """Returns the English lines of a module, and its Python lines."""
    english: set[str] = set()
    rest = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str(docstring))):
                english.update(line.strip() for line in docstring.splitlines() if ">>>" not in line)
                rest[node.lineno - 1 : node.end_lineno] = [""] * len(rest[node.lineno - 1 : node.end_lineno])
    python = {line.strip() for line in rest if "#" not in line}
    return english, python


def encode(lines: list[str]) -> np.ndarray:
    """Returns lines as rows of token ids, right-aligned: the LSTM ends with their last character."""
    rows = np.zeros((len(lines), LENGTH), np.int32)
    for row, line in zip(rows, lines, strict=True):
        numbers = [NUMBER.get(character, 0) for character in line[:LENGTH]]
        row[LENGTH - len(numbers) :] = numbers
    return rows


def load(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns `count` lines in random order, half of each language, and labels that are 1 for Python."""
    languages: tuple[set[str], set[str]] = set(), set()
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        for lines, found in zip(languages, lines_of(file.read_text("utf-8")), strict=True):
            lines.update(line for line in found if len(line) >= 12)
    rng = np.random.default_rng(0)
    english, python = (rng.choice(sorted(lines), count // 2, replace=False) for lines in languages)
    order = rng.permutation(2 * (count // 2))
    labels = np.repeat(np.array([0, 1], np.float32), count // 2)
    return encode([*english, *python])[order], labels[order]


def network() -> tf.keras.Model:
    """Returns a model of the probability that a line is Python."""
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((LENGTH,), dtype="int32"),
            layers.Embedding(len(ALPHABET) + 1, 16),
            layers.LSTM(64),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss="binary_crossentropy", metrics=["accuracy"])
    return model


def train(epochs: int, count: int, batch: int = 64) -> tuple[tf.keras.Model, list[float]]:
    """Returns the trained model, and its accuracy on unseen lines after each epoch."""
    rows, labels = load(count)
    model = network()
    history = model.fit(rows, labels, batch_size=batch, epochs=epochs, validation_split=0.2, verbose=2)
    return model, history.history["val_accuracy"]


def verdicts(model: tf.keras.Model, lines: tuple[str, ...] = BETWEEN) -> dict[str, float]:
    """Returns the probability that each line is Python."""
    found = model.predict(encode(list(lines)), verbose=0)[:, 0]
    return dict(zip(lines, found.tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lines", type=int, default=20_000)
    options = parser.parse_args()
    console = Console()
    console.print(f"An LSTM learns {options.lines:,} lines of the standard library, on {tf.keras.config.backend()}.")
    model, accuracies = train(options.epochs, options.lines)
    console.print(f"Accuracy on {options.lines // 5:,} unseen lines: [bold]{accuracies[-1]:.1%}[/]")
    table = Table("line", "Python?", box=None)
    for line, probability in verdicts(model).items():
        table.add_row(line, f"{probability:.0%}")
    console.print(table)


if __name__ == "__main__":
    main()
