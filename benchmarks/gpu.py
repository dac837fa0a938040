"""Compares gradtape on a GPU with PyTorch and with Keras on JAX, in three tables.

    python benchmarks/gpu.py [--tables eager,function,keras] [--only gru,pinn] [--quick] [--compile] [--json FILE]
    python benchmarks/gpu.py --smoke [--alone]      tiny sizes, on any machine: whether everything runs

eager     steps of training, op by op, over the same steps in PyTorch: with its optimizer in single tensor operations,
          as in gradtape, and with `torch.optim`, whose updates are fused
function  the same steps in a plain `tf.function`, over the best of PyTorch's; `--compile` adds `torch.compile`
keras     an epoch of `fit`, per batch, over Keras on JAX; each backend runs in a process of its own

Before a work is timed, the losses of its first steps must agree. Libraries take turns; a turn is a number of steps
without reading a result, and ends when the device has finished. Times are the least of all turns. Matrix products and
convolutions have the precision that is each library's default. Libraries that are not installed are left out.
The exit code is 1 if a work fails or losses differ.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the libraries share the memory of the GPU

from keras_gpu_work import BATCHES
from libraries import step_of
from processes import Options, Workers
from works.gpu_works import GPU_WORKS

CHECKED_STEPS = 3
TOLERANCE = 1e-2  # relative, of losses: libraries differ in whether products are computed in TensorFloat-32
TABLES = ("eager", "function", "keras")

Step = Callable[[], Any]
Times = dict[str, float]  # seconds by worker, a library and the way it runs: `torch-compile`


@dataclass(frozen=True)
class Settings:
    """How to measure."""

    tiny: bool = False
    rounds: int = 5
    seconds: float = 0.15  # of a turn
    peers: bool = True
    compile: bool = False


class Device:
    """The device that this process measures on: the first GPU of PyTorch, or the host."""

    def __init__(self, peers: bool) -> None:
        self.has_torch = peers and importlib.util.find_spec("torch") is not None
        self.cuda: Any = None
        if self.has_torch:
            import torch

            self.cuda = torch.cuda if torch.cuda.is_available() else None

    def synchronize(self, loss: Any) -> None:
        """Waits for the last loss, then for the updates that follow it: all streams of all libraries."""
        float(loss)
        if self.cuda is not None:
            self.cuda.synchronize()

    def step(self, work: str, worker: str, settings: Settings) -> Step:
        """Returns the step of a work, which does not wait for its loss."""
        library, _, way = worker.partition("-")
        options = {"device": "cuda"} if library == "torch" and self.cuda is not None else {}
        return step_of(GPU_WORKS[work](tiny=settings.tiny), library, way, read=_unread, **options)


def _unread(loss: Any) -> Any:
    return loss.detach() if hasattr(loss, "detach") else loss


def turn(step: Step, calls: int, device: Device) -> float:
    """Returns the seconds of a step, over a number of them."""
    start = time.perf_counter()
    for _ in range(calls):
        loss = step()
    device.synchronize(loss)
    return (time.perf_counter() - start) / calls


def measure(steps: dict[str, Step], device: Device, settings: Settings) -> Times:
    """Returns the least time of each worker's step, measured in turns."""
    calls = {}
    for worker, step in steps.items():
        turn(step, 5, device)  # compiles what is compiled on use
        calls[worker] = max(3, int(settings.seconds / turn(step, 3, device)))
    turns: dict[str, list[float]] = {worker: [] for worker in steps}
    for _ in range(settings.rounds):
        for worker, step in steps.items():
            turns[worker].append(turn(step, calls[worker], device))
    return {worker: min(times) for worker, times in turns.items()}


def first_losses(step: Step) -> list[float]:
    """Returns the losses of the first steps."""
    return [float(step()) for _ in range(CHECKED_STEPS)]


def differ(found: list[float], expected: list[float]) -> bool:
    """Returns whether losses differ by more than the tolerance; NaN always does."""
    return not all(abs(a - b) <= TOLERANCE * (1e-2 + abs(b)) for a, b in zip(found, expected, strict=True))


class Failures(list[str]):
    """What went wrong, printed as it happens."""

    def add(self, what: str) -> None:
        """Adds and prints a failure."""
        self.append(what)
        print(f"  {what}", file=sys.stderr, flush=True)


def time_work(work: str, workers: list[str], settings: Settings, device: Device, failures: Failures) -> Times:
    """Returns the times of a work in the workers that run it and agree with the first one about the losses."""
    steps: dict[str, Step] = {}
    expected: list[float] | None = None
    for worker in workers:
        try:
            step = device.step(work, worker, settings)
            found = first_losses(step)
        except Exception as error:  # a library that fails at a work is no reason to stop
            failures.add(f"{work}: {worker} fails: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
            continue
        expected = expected or found
        if differ(found, expected):
            failures.add(f"{work}: losses of {worker} are {found}, those of {workers[0]} are {expected}")
        steps[worker] = step
    return measure(steps, device, settings)


def show(title: str, columns: list[str], rows: dict[str, list[float | None]], unit: float = 1e3) -> None:
    """Prints a table: milliseconds in columns that end in "ms", otherwise ratios, with mean and worst below."""
    print(f"\n{title}\n{'':28}" + "".join(f"{column:>22}" for column in columns))
    for name, cells in rows.items():
        shown = [
            "-" if x is None else f"{x * unit:.3f}" if column.endswith("ms") else f"{x:.2f}"
            for x, column in zip(cells, columns, strict=True)
        ]
        print(f"{name:28}" + "".join(f"{cell:>22}" for cell in shown))
    for summary, of in (("geometric mean", statistics.geometric_mean), ("worst", max)):
        cells_of = [[row[i] for row in rows.values() if row[i] is not None] for i in range(len(columns))]
        shown = [
            "" if column.endswith("ms") or not cells else f"{of(cells):.2f}"
            for cells, column in zip(cells_of, columns, strict=True)
        ]
        print(f"{summary:28}" + "".join(f"{cell:>22}" for cell in shown), flush=True)


def over(times: Times, own: str, *peers: str) -> float | None:
    """Returns the time of `own` over the least of the peers that were measured."""
    others = [times[peer] for peer in peers if peer in times]
    return times[own] / min(others) if own in times and others else None


def time_works(works: list[str], workers: list[str], settings: Settings, failures: Failures) -> dict[str, Times]:
    """Returns the times of the works; peers that are not installed are left out."""
    device = Device(settings.peers)
    installed = [worker for worker in workers if device.has_torch or not worker.startswith("torch")]
    results = {}
    for work in works:
        begin = time.perf_counter()
        results[work] = time_work(work, installed, settings, device, failures)
        print(f"  {work}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
    return results


def eager(works: list[str], settings: Settings, failures: Failures) -> dict[str, Times]:
    """Measures and prints the table of eager steps."""
    results = time_works(works, ["gradtape", "torch-tensors", "torch"], settings, failures)
    rows = {
        work: [t.get("gradtape"), t.get("torch-tensors"), over(t, "gradtape", "torch-tensors"),
               t.get("torch"), over(t, "gradtape", "torch")]
        for work, t in results.items()
    }  # fmt: skip
    columns = ["gradtape ms", "PyTorch ms", "ratio", "torch.optim ms", "over torch.optim"]
    show("Eager: gradtape's time over PyTorch's", columns, rows)
    return results


def function(works: list[str], settings: Settings, failures: Failures) -> dict[str, Times]:
    """Measures and prints the table of plain `tf.function`."""
    peers = ["torch-tensors", "torch", *(["torch-compile"] if settings.compile else [])]
    results = time_works(works, ["gradtape-function", *peers], settings, failures)
    rows = {
        work: [t.get("gradtape-function"), *(t.get(peer) for peer in peers), over(t, "gradtape-function", *peers)]
        for work, t in results.items()
    }
    columns = ["gradtape ms", *(f"{peer} ms" for peer in peers), "over the best"]
    show("tf.function: gradtape's time over the best of PyTorch's", columns, rows)
    return results


def keras(works: list[str], settings: Settings, failures: Failures) -> dict[str, Times]:
    """Measures and prints the table of `fit`: milliseconds per batch."""
    way = "keras_smoke" if settings.tiny else "keras_gpu"
    names = [f"{library}-{way}" for library in ("gradtape", *(["jax"] if settings.peers else []))]
    results: dict[str, Times] = {}
    with Workers(names, Options()) as workers:
        ours = workers.running[names[0]].works if names[0] in workers.running else []
        if not ours:
            failures.add("keras: the process of gradtape does not start")
        for work in [work for work in ours if not works or work in works]:
            begin = time.perf_counter()
            turns: dict[str, list[float]] = {}
            for _ in range(settings.rounds):
                for name, worker in workers.running.items():
                    answer = worker.ask("time", work, max(4 * settings.seconds, 0.01))
                    if isinstance(answer, str):
                        failures.add(f"{work}: {name} fails: {' '.join(answer.split())[:300]}")
                    else:
                        turns.setdefault(name.partition("-")[0], []).append(answer / BATCHES)
            results[work] = {library: min(times) for library, times in turns.items()}
            print(f"  {work}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
    rows = {work: [t.get("gradtape"), t.get("jax"), over(t, "gradtape", "jax")] for work, t in results.items()}
    show("Keras: `fit`, per batch, over Keras on JAX", ["gradtape ms", "JAX ms", "ratio"], rows)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES), help="which, separated by commas")
    parser.add_argument("--only", default="", metavar="NAME", help="works, separated by commas (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, one turn")
    parser.add_argument("--alone", action="store_true", help="gradtape without its peers")
    parser.add_argument("--compile", action="store_true", help="measure torch.compile too, which compiles for minutes")
    parser.add_argument("--json", type=Path, help="writes the seconds of every step to this file")
    given = parser.parse_args()
    tables, only = ([word for word in words.split(",") if word] for words in (given.tables, given.only))
    for word in {*tables} - {*TABLES}:
        parser.error(f"there is no table {word!r}; there are {', '.join(TABLES)}")
    turns = {"rounds": 1, "seconds": 0.0} if given.smoke else {"rounds": 3, "seconds": 0.05} if given.quick else {}
    settings = Settings(tiny=given.smoke, peers=not given.alone, compile=given.compile, **turns)
    works = [work for work in GPU_WORKS if not only or work in only]
    failures, found = Failures(), {}
    for name in tables:
        begin = time.perf_counter()
        if name == "keras":
            found[name] = keras(only, settings, failures)
        elif works:
            found[name] = {"eager": eager, "function": function}[name](works, settings, failures)
        print(f"{name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
        if given.json:
            given.json.write_text(json.dumps(found, indent=1))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
