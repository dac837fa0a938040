"""Compares gradtape with the peers that are installed, as ratios measured in one run.

    python benchmarks/run.py [--rounds 5] [--seconds 0.5] [--only mlp,cnn] [--python torch=PATH ...] [--json FILE]

Each library runs in a process of its own, with the Python of `.bench/LIBRARY` if there is one (`make bench-peers`),
else with this one. Rounds are interleaved, so that a busy machine slows all alike; the table shows medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

HERE = Path(__file__).parent
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


class Worker:
    """A library's process."""

    def __init__(self, library: str, python: str) -> None:
        self.library = library
        command = [python, str(HERE / "worker.py"), library]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        self.works: list[str] = json.loads(first) if first else []

    def ask(self, work: str, seconds: float) -> Any:
        """The answer of the worker: seconds, bytes, or a sentence that says what went wrong."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{work} {seconds}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()


def python_of(library: str, given: dict[str, str]) -> str:
    """The Python that has the library."""
    own = HERE.parent / ".bench" / library / "bin" / "python"
    return given.get(library) or (str(own) if own.exists() and library != "gradtape" else sys.executable)


def timed(workers: dict[str, Worker], works: list[str], rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """The median time of each work in each library."""
    results: dict[str, dict[str, float]] = {}
    for work in track(works, "measuring", console=Console(stderr=True)):
        samples: dict[str, list[float]] = {}
        for _ in range(rounds):
            for library, worker in workers.items():
                if work in worker.works:
                    answer = worker.ask(work, seconds)
                    if isinstance(answer, str):
                        print(f"{library} failed at {work}: {answer}", file=sys.stderr)
                    else:
                        samples.setdefault(library, []).append(answer)
        results[work] = {library: statistics.median(values) for library, values in samples.items()}
    return results


def memory(pythons: dict[str, str]) -> dict[str, float]:
    """Peak bytes of a deep MLP step, each in a fresh process."""
    found = {}
    for library in ("gradtape", "torch"):
        if library in pythons:
            worker = Worker(library, pythons[library])
            answer = worker.ask("peak_memory", 0)
            worker.close()
            if not isinstance(answer, str):
                found[library] = answer
    return found


def tape_costs() -> dict[str, float]:
    """Seconds an op, forward and backward, on tapes of growing length."""
    import gradtape as tf

    costs = {}
    for length in (10**3, 10**4, 10**5, 10**6):
        x = tf.constant(0.5)
        best = float("inf")
        for _ in range(max(2, min(20, 10**6 // length))):
            start = time.perf_counter()
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in range(length // 2):
                    y = tf.tanh(y * 1.01)
            tape.gradient(y, x)
            best = min(best, (time.perf_counter() - start) / length)
        costs[f"{length:,}"] = best
    return costs


def import_times(rounds: int = 7) -> dict[str, float]:
    """Seconds to import NumPy and gradtape, each in a fresh process, Python's own start taken off."""

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        return time.perf_counter() - start

    samples = {code: [] for code in ("pass", "import numpy", "import gradtape")}
    for _ in range(rounds):
        for code, values in samples.items():
            values.append(once(code))
    medians = {code: statistics.median(values) for code, values in samples.items()}
    return {code: medians[code] - medians["pass"] for code in ("import numpy", "import gradtape")}


def show(results: dict[str, dict[str, float]]) -> None:
    """The table: gradtape's time over each peer's, with the bar it must stay under."""
    table = Table(title="gradtape's time divided by the peer's (smaller is faster)")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each work, library and round")
    parser.add_argument("--only", default="", help="names of works, separated by commas")
    parser.add_argument("--python", action="append", default=[], metavar="LIBRARY=PATH")
    parser.add_argument("--json", type=Path, default=HERE / "results.json")
    options = parser.parse_args()

    given = dict(pair.split("=", 1) for pair in options.python)
    pythons, workers = {}, {}
    for library in ("gradtape", *PEERS):
        python = python_of(library, given)
        worker = Worker(library, python)
        if worker.works:
            pythons[library], workers[library] = python, worker
        else:
            print(f"{library} is not installed: left out", file=sys.stderr)
    works = [work for work in workers["gradtape"].works if not options.only or work in options.only.split(",")]
    results = timed(workers, works, options.rounds, options.seconds)
    for worker in workers.values():
        worker.close()
    if not options.only:
        results["peak_memory"] = memory(pythons)
    show(results)
    report: dict[str, Any] = {"seconds": results}
    if not options.only:
        costs = report["seconds_per_op_by_tape_length"] = tape_costs()
        flat = max(costs.values()) / min(costs.values())
        print("cost per op by length of tape:", ", ".join(f"{k} ops {v * 1e6:.2f} µs" for k, v in costs.items()))
        print(f"flat within {flat:.2f}x (must be 1.3)")
        times = report["import_seconds"] = import_times()
        print(f"import gradtape: {times['import gradtape']:.3f} s, import numpy: {times['import numpy']:.3f} s")
    options.json.write_text(json.dumps(report, indent=1))
    print(f"the numbers are in {options.json}")


if __name__ == "__main__":
    main()
