"""The table of Keras: the same models on gradtape and on the other backends."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from typing import Any

from compiled import Bar, shown
from processes import Times, Workers
from rich.console import Console
from rich.table import Table

# A worker's name and the title of its column; without XLA, TensorFlow is sometimes faster than it chooses to be.
COLUMNS = {
    "gradtape-keras": "gradtape", "tensorflow-keras": "TensorFlow", "tensorflow-keras_plain": "TF without XLA",
    "jax-keras": "JAX", "torch-keras": "PyTorch",
}  # fmt: skip
OWN = ("gradtape-keras",)
PEERS = tuple(name for name in COLUMNS if name not in OWN)
BARS = (
    Bar("keras_cnn", OWN, PEERS, 1.0),
    Bar("keras_mlp", OWN, PEERS, 0.9),
    Bar("keras_lstm", OWN, PEERS, 1.1),
    Bar("keras_gpt", OWN, PEERS, 1.0),
    Bar("keras_loop", OWN, PEERS, 0.6),
    Bar("keras_import", OWN, ("jax-keras",), 1.1),
)
WORKS = tuple(bar.work for bar in BARS[:-1])
_IMPORT = "import time; start = time.perf_counter(); import keras; print(time.perf_counter() - start)"


def import_times(rounds: int) -> dict[str, float]:
    """Seconds of `import keras` in fresh processes: on gradtape and on JAX, with the same packages installed."""
    names = {"gradtape-keras": "gradtape", "jax-keras": "jax"}
    samples: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name, backend in names.items():
            environment = {**os.environ, "KERAS_BACKEND": backend}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            command = [sys.executable, "-c", _IMPORT]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode == 0:
                samples[name].append(float(done.stdout))
    return {name: statistics.median(values) for name, values in samples.items() if values}


def show(results: Times) -> None:
    """The times, the best of the peers in bold, and gradtape's divided by it."""
    table = Table(title="Keras: an epoch of fit, a step of a loop by hand, an import")
    for title in ("work", *COLUMNS.values(), "ratio to the best", "must be"):
        table.add_column(title, justify="left" if title == "work" else "right")
    for bar in BARS:
        measured = bar.measured(results)
        if measured is None:
            continue
        _, own, best, other = measured
        cells = {name: shown(seconds) for name, seconds in results[bar.work].items()}
        cells[best] = f"[bold]{cells[best]}[/]"
        colour = "green" if own <= bar.times * other else "red"
        times = (cells.get(name, "") for name in COLUMNS)
        table.add_row(bar.work, *times, f"[{colour}]{own / other:.3g}[/]", f"≤ {bar.times:.2g}")
    Console(width=130).print(table)


def report(only: list[str], rounds: int, seconds: float, pythons: dict[str, str]) -> dict[str, Any]:
    """Measures, prints and returns what runs under Keras; `only` these works, if there are any."""
    works = [work for work in WORKS if not only or work in only]
    results: Times = {}
    if works:
        with Workers(COLUMNS, pythons) as workers:
            results = workers.time(works, rounds, seconds)
    if not only or "keras_import" in only:
        results["keras_import"] = import_times(rounds)
    show(results)
    return {"keras": {"seconds": results}}
