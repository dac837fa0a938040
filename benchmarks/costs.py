"""Measures costs other than the time of a step: memory, imports, first calls, and ops on long tapes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from processes import Options, Workers, steadied

FIRST_CALLERS = ("gradtape", "gradtape-function", "gradtape-xla", "tensorflow-function", "jax-jit")


def tape_costs(rounds: int) -> dict[str, float]:
    """Returns the seconds per op, forward and backward, by tape length; each round runs a million ops per length."""
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


def import_times(rounds: int) -> dict[str, float]:
    """Returns import times in seconds, each in a fresh process and without Python's startup.

    The key `BACKEND: keras` is `import keras` on that backend.
    """
    codes = {"": "pass", "numpy": "import numpy", "gradtape": "import gradtape"}
    codes |= {f"{backend}: keras": "import keras" for backend in ("gradtape", "jax")}
    samples: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            environment = {**os.environ, "KERAS_BACKEND": name.partition(":")[0]}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            start = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
            if done.returncode == 0:
                samples[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in samples.items() if values}
    start = medians.pop("")
    return {name: value - start for name, value in medians.items()}


def measured(options: Options) -> dict[str, dict[str, float]]:
    """Measures the bytes of a step, the seconds of imports and first calls, and the seconds per op by tape length."""
    with Workers(("torch", *FIRST_CALLERS), options) as workers:
        memory = workers.first_answers(("gradtape", "torch"), "memory", times=1)
        first_calls = workers.first_answers(FIRST_CALLERS, "first_call", "classifier")
        if "gradtape" in first_calls:  # eagerly, a step like any other
            workers.running["gradtape"].renew()
            first_calls["gradtape"] = workers.running["gradtape"].ask("time", "classifier", 0.5)
    return {"memory": memory, "first_calls": first_calls, "imports": import_times(5), "by_length": tape_costs(3)}


def sentences(found: dict[str, dict[str, float]]) -> list[str]:
    """Formats the measurements as sentences for docs/performance.md."""
    lengths, imports, memory = found["by_length"], found["imports"], found["memory"]
    lines = []
    if len(memory) == 2:
        ratio = memory["gradtape"] / memory["torch"]
        amount = f"about as much memory as in PyTorch (ratio {ratio:.1f})"
        if not 0.95 < ratio < 1.05:
            amount = f"{ratio:.2g} times as much memory as in PyTorch"
        lines.append(f"A training step of a 50-layer network uses {amount}.")
    ratio = max(lengths.values()) / min(lengths.values())
    lines.append(f"The cost per op varies by at most {ratio - 1:.0%} between tapes of 1,000 and 1,000,000 ops.")
    ratio = imports["gradtape"] / imports["numpy"]
    lines.append(f"`import gradtape` takes {ratio:.2g} times as long as `import numpy`.")
    if {"gradtape: keras", "jax: keras"} <= imports.keys():
        ratio = imports["gradtape: keras"] / imports["jax: keras"]
        lines.append(f"`import keras` takes {ratio:.2g} times as long on gradtape as on JAX.")
    calls = found["first_calls"]
    if "gradtape" in calls:
        titles = {
            "gradtape-function": "`tf.function`", "gradtape-xla": "`tf.function(jit_compile=True)`",
            "tensorflow-function": "TensorFlow's `tf.function`", "jax-jit": "JAX's `jit`",
        }  # fmt: skip
        known = {title: calls[name] / calls["gradtape"] for name, title in titles.items() if name in calls}
        steps = [f"{count:.0f} with {title}" for title, count in known.items()]
        if len(steps) > 1:
            steps[-2:] = [" and ".join(steps[-2:])]
        listed = ", ".join(steps).replace(" with", " eager steps with", 1)
        lines.append(f"The first call to the compiled classifier takes as long as {listed}.")
    return lines
