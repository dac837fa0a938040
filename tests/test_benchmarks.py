"""The benchmark programs are correct: their first losses are those recorded from PyTorch."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape.core.extras import is_installed

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


# The first losses of PyTorch at tiny sizes, for those works of `gpu.py` that no other table has.
GPU_LOSSES = {
    "transformer_block": [4.028005, 3.050496, 4.616494, 4.47585, 3.782198],
    "gru": [2.416535, 2.442015, 2.632892, 2.354128, 2.398297],
    "dcgan": [1.688318, 1.473583, 1.442292, 1.334549, 1.68925],
}


@pytest.mark.parametrize("way", ["", "function"])
@pytest.mark.parametrize("name", GPU_LOSSES)
def test_a_work_for_gpus_has_the_recorded_losses(benchmarks: None, name: str, way: str) -> None:
    from check import agree
    from libraries import step_of
    from works.gpu_works import GPU_WORKS

    step = step_of(GPU_WORKS[name](tiny=True), "gradtape", way)
    assert agree([step() for _ in GPU_LOSSES[name]], GPU_LOSSES[name])


@pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")
def test_the_benchmark_for_gpus_runs_without_peers_and_gpu(tmp_path: Path) -> None:
    program = [sys.executable, str(BENCHMARKS / "gpu.py"), "--smoke", "--alone", "--json", str(tmp_path / "times.json")]
    only = "gpt,pinn,skip_gram,mlp,black_scholes,fit_float_labels"
    process = subprocess.run([*program, "--only", only], capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr
    times = json.loads((tmp_path / "times.json").read_text())
    assert [*times] == ["eager", "function", "keras"]
    assert [*times["eager"]] == [*times["function"]] == ["gpt", "pinn", "skip_gram", "mlp", "black_scholes"]
    assert all(seconds > 0 for rows in times.values() for row in rows.values() for seconds in row.values())
    assert all(title in process.stdout for title in ("Eager:", "tf.function:", "Keras:"))


def test_the_benchmark_for_gpus_says_which_losses_differ(benchmarks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import gpu

    losses = iter([[1.0, 2.0, 3.0], [1.0, 2.0, math.nan]])
    monkeypatch.setattr(gpu, "first_losses", lambda step: next(losses))
    failures = gpu.Failures()
    settings = gpu.Settings(tiny=True, rounds=1, seconds=0.0, peers=False)
    found = gpu.time_work("mlp", ["gradtape", "gradtape-function"], settings, gpu.Device(False), failures)
    assert found.keys() == {"gradtape", "gradtape-function"}
    assert len(failures) == 1 and "losses of gradtape-function" in failures[0]
