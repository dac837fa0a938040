"""The tables: gradtape's time divided by each peer's, every work, and the geometric mean over all of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from keras_work import KERAS2 as KERAS2_WORKS
from keras_work import TITLES as KERAS_TITLES
from processes import Options, Times, Workers
from rich.console import Console
from rich.table import Table as Grid
from works import WORKS

# Op by op, JAX compiles every op for every shape before the first step is done, which takes a minute a work: a few show
# what it is like.
JAX_EAGER = ("pendulum", "classifier", "vae", "black_scholes", "recommender", "sinkhorn")
# Python loops that torch.compile unrolls, for minutes; and derivatives of derivatives, which it does not have.
NOT_FOR_TORCH_COMPILE = (
    "pendulum", "particles", "neural_ode", "lstm", "crf", "kalman", "sinkhorn", "gan", "pinn", "maml",
)  # fmt: skip
WORK_TITLES = {name: work.title for name, work in WORKS.items()}


@dataclass(frozen=True)
class Table:
    """One table; where several workers are named, the fastest counts, work by work."""

    name: str
    own: dict[str, str]  # gradtape's workers, and what they are called
    peers: dict[str, tuple[str, ...]]  # the title of a column, and the workers
    titles: dict[str, str]  # the works, and what a reader calls them
    rounds_of_a_process: int = 10**6  # where processes begin with minutes of compiling, they stay
    leave_out: frozenset[tuple[str, str]] = frozenset()

    def workers(self) -> list[str]:
        """All workers that are measured."""
        return [*self.own, *(worker for workers in self.peers.values() for worker in workers)]

    def measured(self, options: Options) -> Times:
        """The seconds of every work in every worker."""
        with Workers(self.workers(), options) as workers:
            return workers.time(self.titles, self.rounds_of_a_process, self.leave_out)

    def ratios(self, times: dict[str, float]) -> dict[str, float]:
        """For a work's times, by title of a peer: gradtape's time over the peer's."""
        own = best(times, self.own)
        found = {title: best(times, workers) for title, workers in self.peers.items()}
        return {} if own is None else {title: own / peer for title, peer in found.items() if peer is not None}

    def means(self, results: Times) -> dict[str, tuple[float, int]]:
        """By title of a peer: the geometric mean of the ratios, and of how many works."""
        rows = [self.ratios(times) for times in results.values()]
        columns = {title: [row[title] for row in rows if title in row] for title in self.peers}
        return {title: (statistics.geometric_mean(column), len(column)) for title, column in columns.items() if column}

    def show(self, results: Times) -> None:
        """Prints the ratios, those above 1 in red, and gradtape's time by itself."""
        means = self.means(results)
        grid = Grid(title=f"{self.name}: gradtape's time divided by the peer's (red: the peer is faster)")
        for title in ("work", *means, "gradtape"):
            grid.add_column(title, justify="left" if title == "work" else "right")
        cells = [f"{shown(mean)} ({programs(count)})" for mean, count in means.values()]
        grid.add_row("geometric mean", *cells, "", style="bold", end_section=True)
        for work, times in results.items():
            ratios, own = self.ratios(times), best(times, self.own)
            if own is None:
                continue
            by = next(title for worker, title in self.own.items() if times.get(worker) == own)
            time = seconds_shown(own) + (f", {by}" if len(self.own) > 1 else "")
            grid.add_row(work, *(coloured(ratios.get(title)) for title in means), time)
        Console(width=118).print(grid)

    def markdown(self, results: Times) -> list[str]:
        """The ratios as lines of Markdown; those above 1 are bold."""
        means = self.means(results)
        titles = [title for title in self.peers if title in means]
        lines = [f"| {' | '.join([f'Benchmark ({self.name})', *titles])} |", "| --- |" + " ---: |" * len(titles)]
        counts = {means[title][1] for title in titles}
        cells = [shown(means[t][0]) + ("" if len(counts) == 1 else f" ({programs(means[t][1])})") for t in titles]
        lines.append(f"| *geometric mean* | {' | '.join(f'*{cell}*' for cell in cells)} |")
        for work, times in results.items():
            ratios = self.ratios(times)
            if ratios:
                lines.append(f"| {self.titles[work]} | {' | '.join(emphasised(ratios.get(t)) for t in titles)} |")
        return lines


def best(times: dict[str, float], workers: Iterable[str]) -> float | None:
    """The least of the workers' times, None if none was measured."""
    return min((times[worker] for worker in workers if worker in times), default=None)


def coloured(ratio: float | None) -> str:
    """For the terminal: what is slower than the peer in red."""
    return "" if ratio is None else f"[{'red' if ratio > 1 else 'green'}]{shown(ratio)}[/]"


def emphasised(ratio: float | None) -> str:
    """For Markdown: what is slower than the peer in bold."""
    return "" if ratio is None else f"**{shown(ratio)}**" if ratio > 1 else shown(ratio)


def programs(count: int) -> str:
    """The number of programs, in words for the reader."""
    return "1 program" if count == 1 else f"{count} programs"


def shown(ratio: float) -> str:
    """Two decimals, or two digits of what is small."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def seconds_shown(seconds: float) -> str:
    """The time with three digits, in the unit that suits it."""
    unit, factor = ("µs", 1e6) if seconds < 1e-3 else ("ms", 1e3) if seconds < 1 else ("s", 1)
    return f"{seconds * factor:.3g} {unit}"


EAGER = Table(
    "eager",
    own={"gradtape": "eager"},
    peers={
        "PyTorch": ("torch",),
        "PyTorch, Adam in single ops": ("torch-tensors",),  # as gradtape's programs and TensorFlow's write it
        "TensorFlow": ("tensorflow",),
        "JAX": ("jax",),
        "HIPS autograd": ("autograd",),
    },
    titles=WORK_TITLES,
    rounds_of_a_process=4,
    leave_out=frozenset(("jax", work) for work in WORKS if work not in JAX_EAGER),
)
COMPILED = Table(
    "compiled",
    own={"gradtape-function": "NumPy", "gradtape-xla": "XLA"},
    peers={
        "JAX jit": ("jax-jit",),
        "TF function": ("tensorflow-function",),
        "TF with XLA": ("tensorflow-xla",),
        "torch.compile": ("torch-compile",),
    },
    titles=WORK_TITLES,
    leave_out=frozenset(("torch-compile", work) for work in NOT_FOR_TORCH_COMPILE),
)
KERAS = Table(
    "Keras",
    own={"gradtape-keras": "gradtape"},
    peers={
        "TensorFlow": ("tensorflow-keras", "tensorflow-keras_plain"),  # with and without XLA
        "JAX": ("jax-keras",),
        "PyTorch": ("torch-keras",),
    },
    titles=KERAS_TITLES,
)
KERAS2 = Table(
    "Keras 2",
    own={"gradtape-keras2": "gradtape"},
    peers={"TensorFlow": ("tensorflow-keras2",)},
    titles={name: KERAS_TITLES[name] for name in (f"keras_{work.__name__}" for work in KERAS2_WORKS)},
)
TABLES = {"eager": EAGER, "compiled": COMPILED, "keras": KERAS, "keras2": KERAS2}
