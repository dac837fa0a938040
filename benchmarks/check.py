"""Do all libraries compute the same? The losses of the first steps, at tiny sizes, against recorded ones of PyTorch."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from processes import Options, Workers
from works import WORKS

RECORDED = Path(__file__).parent / "losses.json"
TOLERANCE = 1e-3  # relative; Adam divides by small gradients, where float32 shows
CHECKED = (
    "gradtape", "gradtape-function", "gradtape-xla",
    "torch", "tensorflow", "tensorflow-function", "jax-jit", "autograd",
)  # fmt: skip


def losses(name: str, options: Options) -> dict[str, list[float] | str]:
    """The losses of a worker, by work, or a sentence about what went wrong."""
    with Workers((name,), options) as workers:
        works = options.chosen(WORKS)
        return {work: w.ask("losses", work) for w in workers.running.values() for work in works if work in w.works}


def record(options: Options) -> None:
    """Writes down what PyTorch computes, eagerly."""
    RECORDED.write_text(json.dumps(losses("torch", options), indent=1) + "\n")


def agree(found: list[float], expected: list[float]) -> bool:
    """Whether two series of losses are the same up to rounding; NaN never is."""
    return all(abs(a - b) <= TOLERANCE * (1e-2 + abs(b)) for a, b in zip(found, expected, strict=True))


def check(options: Options) -> bool:
    """Compares every library that is installed with the record, and prints what differs."""
    recorded, right = json.loads(RECORDED.read_text()), True
    for name in CHECKED:
        found = losses(name, options)
        wrong = {w: x for w, x in found.items() if isinstance(x, str) or not agree(x, recorded[w])}
        if found:
            print(f"{name}: {len(found) - len(wrong)} of {len(found)} works agree", flush=True)
        for work, answer in wrong.items():
            print(f"  {work}: {answer}, recorded are {recorded[work]}", file=sys.stderr)
        right = right and not wrong
    return right
