"""The eager table: gradtape's time divided by each peer's, nothing compiled."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from typing import Any

from processes import Times, Workers, steadied
from rich.console import Console
from rich.table import Table

PEERS = ("torch", "tensorflow", "jax", "autograd")
# What each work must show: at most this many times the peer's time.
BARS: dict[str, dict[str, float]] = {
    "chain_gradient": {"torch": 0.45, "tensorflow": 1 / 20, "autograd": 0.35},
    "chain_forward": {"torch": 0.8},
    "mlp": {"torch": 0.95, "tensorflow": 1 / 4},
    "cnn": {"torch": 1.0},
    "lstm": {"torch": 0.9},
    "small_jacobian": {"tensorflow": 1 / 50},
    "dense_jacobian": {"torch": 1.5},
    "elementwise": {"torch": 1.5},
    "peak_memory": {"torch": 1.0},
}


def tape_costs(rounds: int = 7) -> dict[str, float]:
    """Seconds an op, forward and backward, on tapes of growing length: in each round, a million ops on each."""
    import gradtape as tf

    x = tf.constant(0.5)
    lengths = (10**3, 10**4, 10**5, 10**6)
    costs: dict[str, list[float]] = {f"{length:,}": [] for length in lengths}
    for _ in range(rounds):
        for length, found in zip(lengths, costs.values(), strict=True):
            start = time.perf_counter()
            for _ in range(10**6 // length):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = x
                    for _ in range(length // 2):
                        y = tf.tanh(y * 1.0)  # other slopes make denormal gradients, whose arithmetic is slow
                tape.gradient(y, x)
            found.append((time.perf_counter() - start) / 10**6)
    return steadied(costs)


def import_times(rounds: int = 7) -> dict[str, float]:
    """Seconds to import NumPy and gradtape, each in a fresh process, Python's own start taken off."""

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        return time.perf_counter() - start

    samples: dict[str, list[float]] = {code: [] for code in ("pass", "import numpy", "import gradtape")}
    for _ in range(rounds):
        for code, values in samples.items():
            values.append(once(code))
    medians = {code: statistics.median(values) for code, values in samples.items()}
    return {code: medians[code] - medians["pass"] for code in ("import numpy", "import gradtape")}


def show(results: Times) -> None:
    """The table: gradtape's time over each peer's, with the bar it must stay under."""
    table = Table(title="eager: gradtape's time divided by the peer's (smaller is faster)")
    table.add_column("work")
    for peer in PEERS:
        table.add_column(peer, justify="right")
    for work, times in results.items():
        if "gradtape" not in times:
            continue
        cells = []
        for peer in PEERS:
            if peer not in times:
                cells.append("")
                continue
            ratio = times["gradtape"] / times[peer]
            bar = BARS.get(work, {}).get(peer)
            verdict = "" if bar is None else f" [green]≤ {bar:.2g}[/]" if ratio <= bar else f" [red]> {bar:.2g}[/]"
            cells.append(f"{ratio:.3g}{verdict}")
        table.add_row(work, *cells)
    Console(width=110).print(table)


def report(only: list[str], rounds: int, seconds: float, pythons: dict[str, str]) -> dict[str, Any]:
    """Measures, prints and returns what is eager; `only` these works, if there are any."""
    with Workers(("gradtape", *PEERS), pythons) as workers:
        works = [work for work in workers.running["gradtape"].works if not only or work in only]
        results = workers.time(works, rounds, seconds)
        if not only:
            results["peak_memory"] = workers.first_answers(("gradtape", "torch"), "peak_memory", 1)
    show(results)
    found: dict[str, Any] = {"seconds": results}
    if not only:
        costs = found["seconds_per_op_by_tape_length"] = tape_costs()
        flat = max(costs.values()) / min(costs.values())
        print("cost per op by length of tape:", ", ".join(f"{k} ops {v * 1e6:.2f} µs" for k, v in costs.items()))
        print(f"flat within {flat:.2f}x (must be 1.3)")
        times = found["import_seconds"] = import_times()
        print(f"import gradtape: {times['import gradtape']:.3f} s, import numpy: {times['import numpy']:.3f} s")
    return found
