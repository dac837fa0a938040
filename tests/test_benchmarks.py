"""The benchmark programs are correct: their first losses are those recorded from PyTorch."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
LOSSES: dict[str, list[float]] = json.loads((BENCHMARKS / "losses.json").read_text())


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the benchmark's modules importable."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])


@pytest.mark.parametrize("way", ["", "function"])
@pytest.mark.parametrize("name", LOSSES)
def test_a_work_has_the_recorded_losses(benchmarks: None, name: str, way: str) -> None:
    from check import agree
    from libraries import step_of
    from works import WORKS

    step = step_of(WORKS[name](tiny=True), "gradtape", way)
    assert agree([step() for _ in LOSSES[name]], LOSSES[name])


def test_every_work_is_recorded_and_has_a_peer(benchmarks: None) -> None:
    from works import WORKS

    assert WORKS.keys() == LOSSES.keys()
    assert all({"torch", "jax"} <= set(work(tiny=True).libraries()) for work in WORKS.values())


def test_every_step_has_another_batch(benchmarks: None) -> None:
    from works import WORKS

    for work in WORKS.values():
        _, batches = work(tiny=True).numbers()
        assert len({tuple(array.tobytes() for array in batch) for batch in batches}) == len(batches) >= 4


def test_a_loss_that_is_wrong_or_nan_does_not_agree(benchmarks: None) -> None:
    from check import agree

    assert agree([1.0, 2.0], [1.0001, 2.0])
    assert not agree([1.0, 2.0], [1.01, 2.0])
    assert not agree([math.nan, 2.0], [1.0, 2.0])


def test_the_table_counts_the_faster_of_ours_and_the_geometric_mean(benchmarks: None) -> None:
    from tables import COMPILED

    results = {
        "lstm": {"gradtape-function": 4.0, "gradtape-xla": 2.0, "jax-jit": 1.0, "tensorflow-xla": 4.0},
        "crf": {"gradtape-function": 1.0, "jax-jit": 8.0},
    }
    means = COMPILED.means(results)
    assert means == {"JAX jit": (pytest.approx(0.5), 2), "TF with XLA": (pytest.approx(0.5), 1)}
    lines = COMPILED.markdown(results)
    assert lines[0] == "| Benchmark (compiled) | JAX jit | TF with XLA |"
    assert lines[2] == "| *geometric mean* | *0.50 (2 programs)* | *0.50 (1 program)* |"
    assert lines[3].endswith("| **2.00** | 0.50 |") and lines[4].endswith("| 0.12 |  |")
