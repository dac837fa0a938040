"""The table of compiled functions: `gradtape.function`, with either executor, against the peers' compilers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from processes import Times, Workers
from rich.console import Console
from rich.table import Table

# A worker's name and the title of its column.
COLUMNS = {
    "gradtape": "eager", "gradtape-function": "function", "gradtape-xla": "XLA",
    "jax-jit": "JAX jit", "tensorflow-function": "TF function", "tensorflow-xla": "TF XLA",
    "torch-compile": "torch.compile", "torch": "torch eager",
}  # fmt: skip
OWN = ("gradtape-function", "gradtape-xla")
COMPILERS = ("jax-jit", "tensorflow-function", "tensorflow-xla", "torch-compile")


@dataclass(frozen=True)
class Bar:
    """What a work must show: the best of `own` takes at most `times` the best of `peers`, and `plus` seconds."""

    work: str
    own: tuple[str, ...]
    peers: tuple[str, ...]
    times: float = 1.0
    plus: float = 0.0

    def measured(self, results: Times) -> tuple[str, float, str, float] | None:
        """The faster of our own and its time, the fastest peer and its time; None if either was not measured."""
        times = results.get(self.work, {})
        own, peers = ([name for name in names if name in times] for names in (self.own, self.peers))
        if not own or not peers:
            return None
        ours, best = min(own, key=times.__getitem__), min(peers, key=times.__getitem__)
        return ours, times[ours], best, times[best]


BARS = (
    Bar("mlp", ("gradtape-function",), COMPILERS, 0.9),
    Bar("cnn", OWN, COMPILERS, 1.0),
    Bar("elementwise", ("gradtape-xla",), ("jax-jit",), 1.1),
    Bar("elementwise", ("gradtape-function",), ("torch",), 1.0),
    Bar("chain_forward", ("gradtape-function",), ("gradtape",), 0.5),
    Bar("chain_gradient", ("gradtape-function",), ("gradtape",), 0.5),
    Bar("chain_forward", ("gradtape-xla",), ("jax-jit",), 1.3),
    Bar("chain_gradient", ("gradtape-xla",), ("jax-jit",), 1.3),
    Bar("lstm", ("gradtape-xla",), ("jax-jit",), 1.1),
    Bar("transformer", OWN, COMPILERS, 1.0),
    Bar("first_call", ("gradtape-function",), ("gradtape",), 3.0),
    Bar("first_call_again", ("gradtape-function",), ("gradtape",), 3.0),
    Bar("add", ("gradtape-function",), ("gradtape",), plus=10e-6),
)
WORKS = ("mlp", "cnn", "lstm", "transformer", "elementwise", "chain_forward", "chain_gradient", "add")
# The first call of the MLP step converts its source, traces it and runs it once, without XLA; `again` is the first call
# of another function made of the same source, which need not be converted. Eagerly it is a step like any other.
FIRST_CALLS = ("first_call", "first_call_again")
FIRST_CALLERS = ("gradtape", "gradtape-function", "tensorflow-function")


def shown(seconds: float) -> str:
    """The time with three digits, in the unit that suits it."""
    unit, factor = ("µs", 1e6) if abs(seconds) < 1e-3 else ("ms", 1e3) if abs(seconds) < 1 else ("s", 1)
    return f"{seconds * factor:.3g} {unit}"


def show(results: Times) -> None:
    """Two tables: the time of each step, the best of the peers' compilers in bold; and what is asked, with verdicts."""
    table = Table(title="compiled: time of a step")
    table.add_column("work")
    for title in COLUMNS.values():
        table.add_column(title, justify="right")
    for work, times in results.items():
        cells = {name: shown(seconds) for name, seconds in times.items()}
        if peers := [name for name in COMPILERS if name in times]:
            best = min(peers, key=times.__getitem__)
            cells[best] = f"[bold]{cells[best]}[/]"
        table.add_row(work, *(cells.get(name, "") for name in COLUMNS))
    verdicts = Table(title="compiled: gradtape's time divided by the other's (smaller is faster)")
    for title in ("work", "gradtape's", "against", "ratio", "must be"):
        verdicts.add_column(title, justify="right" if title in ("ratio", "must be") else "left")
    for bar in BARS:
        measured = bar.measured(results)
        if measured is None:
            continue
        ours, own, best, other = measured
        colour = "green" if own <= bar.times * other + bar.plus else "red"
        ratio = f"{shown(own - other)} more" if bar.plus else f"{own / other:.3g}"
        limit = f"≤ {shown(bar.plus)} more" if bar.plus else f"≤ {bar.times:.2g}"
        verdicts.add_row(bar.work, COLUMNS[ours], COLUMNS[best], f"[{colour}]{ratio}[/]", limit)
    console = Console(width=130)
    console.print(table)
    console.print(verdicts)


def report(only: list[str], rounds: int, seconds: float, pythons: dict[str, str]) -> dict[str, Any]:
    """Measures, prints and returns what is compiled; `only` these works, if there are any."""
    works = [work for work in WORKS if not only or work in only]
    with Workers(COLUMNS, pythons) as workers:
        results = workers.time(works, rounds, seconds)
        for work in (work for work in FIRST_CALLS if not only or work in only):
            results[work] = workers.first_answers(FIRST_CALLERS, work, rounds)
    show(results)
    return {"compiled": {"seconds": results}}
