"""What is no step: memory, imports, first calls, and what an op costs on a long tape."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from processes import Options, Workers, steadied

FIRST_CALLERS = ("gradtape", "gradtape-function", "gradtape-xla", "tensorflow-function", "jax-jit")


def tape_costs(rounds: int) -> dict[str, float]:
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


def import_times(rounds: int) -> dict[str, float]:
    """Seconds of imports, each in a fresh process, Python's own start taken off; `BACKEND: keras` is Keras on it."""
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
    """Bytes of a step, seconds of imports and of first calls, seconds an op by the length of the tape."""
    with Workers(("torch", *FIRST_CALLERS), options) as workers:
        memory = workers.first_answers(("gradtape", "torch"), "memory", times=1)
        first_calls = workers.first_answers(FIRST_CALLERS, "first_call", "classifier")
        if "gradtape" in first_calls:  # eagerly, a step like any other
            workers.running["gradtape"].renew()
            first_calls["gradtape"] = workers.running["gradtape"].ask("time", "classifier", 0.5)
    return {"memory": memory, "first_calls": first_calls, "imports": import_times(5), "by_length": tape_costs(3)}


def sentences(found: dict[str, dict[str, float]]) -> list[str]:
    """The same in words."""
    lengths, imports, memory = found["by_length"], found["imports"], found["memory"]
    lines = []
    if len(memory) == 2:
        ratio = memory["gradtape"] / memory["torch"]
        lines.append(f"The memory of a step of a 50-layer network is {ratio:.2g} times PyTorch's.")
    ratio = max(lengths.values()) / min(lengths.values())
    lines.append(f"The cost per op varies by at most {ratio - 1:.0%} between tapes of 1,000 and 1,000,000 ops.")
    ratio = imports["gradtape"] / imports["numpy"]
    lines.append(f"`import gradtape` takes {ratio:.2g} times as long as `import numpy`.")
    if {"gradtape: keras", "jax: keras"} <= imports.keys():
        ratio = imports["gradtape: keras"] / imports["jax: keras"]
        lines.append(f"`import keras` on gradtape takes {ratio:.2g} times as long as on JAX.")
    calls = found["first_calls"]
    if "gradtape" in calls:
        titles = {"gradtape-function": "`tf.function`", "gradtape-xla": "XLA", "tensorflow-function": "TensorFlow"}
        titles["jax-jit"] = "JAX `jit`"
        parts = [f"{calls[name] / calls['gradtape']:.0f} ({title})" for name, title in titles.items() if name in calls]
        lines.append(f"Measured in eager steps, the first call of the classifier's step costs {', '.join(parts)}.")
    return lines
