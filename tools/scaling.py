"""Estimates the time of a training step on 8 to 4,096 devices, and its first bottleneck.

    python tools/scaling.py                    # the table of docs/guides/scaling.md
    python tools/scaling.py --check 1,2,4      # the model beside what processes of this machine measure

The model. A step on N devices is a forward and a backward pass, the collectives that cannot hide behind them, and the
overhead of starting them. With D = N / M replicas of M devices each:

    compute  = 3 * forward flops of a replica's batch / (M * flops of a device * utilisation)
    gradient = all_reduce(bytes of gradients / M, D devices)          hidden as far as the backward pass lasts
    layers   = 4 * layers * all_reduce(bytes of a layer's output, M)  of tensor parallelism, never hidden
    all_reduce(b, n) = 2 (n - 1) / n * b / bandwidth + latency * 2 * ceil(log2 n)

where the bandwidth is that of the slowest link on the way: inside of a node, or between nodes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class Machine(NamedTuple):
    """Devices in nodes: numbers in flops, bytes and seconds."""

    flops: float = 400e12  # of a device, in bfloat16, as much as large products reach
    memory: float = 80e9
    in_node: int = 8
    link: float = 300e9  # bytes per second of a device to the others of its node
    node_link: float = 45e9  # and to those of other nodes
    latency: float = 12e-6  # of one message
    start: float = 40e-6  # of a program


class Model(NamedTuple):
    """A transformer."""

    layers: int
    width: int
    length: int = 2048
    vocabulary: int = 50_000

    @property
    def parameters(self) -> float:
        """How many there are."""
        return 12.0 * self.layers * self.width**2 + self.vocabulary * self.width

    @property
    def forward(self) -> float:
        """Flops of a sequence, forward."""
        return 2.0 * self.parameters * self.length + 4.0 * self.layers * self.length**2 * self.width

    def state(self, shards: int) -> float:
        """Bytes of weights and gradients in bfloat16, and Adam's in float32, of a device."""
        return (2 + 2 + 12) * self.parameters / shards

    def activations(self, shards: int) -> float:
        """Bytes kept for the backward pass of a sequence: with the layers' inputs kept, the rest computed again."""
        return 2.0 * self.length * self.width * (self.layers + 34.0 / shards)


class Step(NamedTuple):
    """What a step takes, in seconds and bytes."""

    compute: float
    gradient: float
    layers: float
    exposed: float
    memory: float
    sent: float

    @property
    def total(self) -> float:
        """Seconds of the step."""
        return self.compute + self.layers + self.exposed


def all_reduce(size: float, devices: int, bandwidth: float, latency: float) -> float:
    """Seconds of the sum of `size` bytes over devices."""
    if devices == 1:
        return 0.0
    return 2 * (devices - 1) / devices * size / bandwidth + 2 * math.ceil(math.log2(devices)) * latency


def step(machine: Machine, model: Model, devices: int, batch: float, model_parallel: int = 1) -> Step:
    """A step on `devices`, with `batch` sequences for each replica of `model_parallel` devices."""
    replicas = devices // model_parallel
    compute = 3 * model.forward * batch / (model_parallel * machine.flops) + machine.start
    size = 2 * model.parameters / model_parallel
    between = machine.node_link if devices > machine.in_node else machine.link
    gradient = all_reduce(size, replicas, between, machine.latency)
    inside = machine.link if model_parallel <= machine.in_node else machine.node_link
    one = 2.0 * batch * model.length * model.width
    layers = 4 * model.layers * all_reduce(one, model_parallel, inside, machine.latency)
    exposed = max(gradient - compute * 2 / 3, 0.1 * gradient)  # the last bucket has nothing to hide behind
    memory = model.state(model_parallel) + batch * model.activations(model_parallel)
    return Step(compute, gradient, layers, exposed, memory, 2 * size * (replicas - 1) / replicas if replicas > 1 else 0)


def table(machine: Machine, model: Model, total_batch: int | None, batch: float, parallel: int) -> list[str]:
    """Rows for 8 to 4,096 devices: with `batch` sequences a replica, or `total_batch` for all of them."""
    rows = [
        "| devices | step ms | compute | gradients | layers | exposed | efficiency | memory GB | sent MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for devices in (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        own = batch if total_batch is None else total_batch * parallel / devices
        if own < 1:
            rows.append(f"| {devices} | fewer than one sequence for each replica |||||||")
            continue
        found = step(machine, model, devices, own, parallel)
        ms = [1e3 * seconds for seconds in (found.total, found.compute, found.gradient, found.layers, found.exposed)]
        fits = "" if found.memory <= machine.memory else " (too much)"
        rows.append(
            f"| {devices} | {ms[0]:.0f} | {ms[1]:.0f} | {ms[2]:.0f} | {ms[3]:.0f} | {ms[4]:.0f} | "
            f"{found.compute / found.total:.0%} | {found.memory / 1e9:.0f}{fits} | {found.sent / 1e6:.0f} |"
        )
    return rows


def check(counts: list[int], rounds: int) -> list[str]:
    """The same formula with the numbers of this machine, beside what `benchmarks/ranks.py` measures.

    Compute is what one process takes, times how many processes share a core. Bandwidth and latency come from two
    all-reduces of two processes.
    """
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import ranks

    cores = len(os.sched_getaffinity(0))
    size = 6 * 4.0 * ranks.WIDTH**2
    steps = {}
    for count in counts:
        rows = statistics.median(ranks.launched("training", count, rounds)["rows per second"])
        steps[count] = count * ranks.ROWS / rows
    command = [sys.executable, "-m", "gradtape", "launch", "-n", "2", __file__, "--probe", str(int(size / 4))]
    probe = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    small, large = json.loads(probe[probe.index("[[") + 1 : probe.index("]]") + 1])
    bandwidth = size / max(large - small, 1e-6)
    rows = ["| processes | measured ms | model ms | model / measured |", "|---|---|---|---|"]
    for count in counts:
        compute = steps[counts[0]] / counts[0] * max(1.0, count / cores)
        expected = compute + all_reduce(size, count, bandwidth, small / 2) * max(1.0, count / cores)
        rows.append(f"| {count} | {steps[count] * 1e3:.0f} | {expected * 1e3:.0f} | {expected / steps[count]:.2f} |")
    rows.append(f"\nall-reduce of two processes: latency {small * 1e3:.1f} ms, {bandwidth / 1e9:.2f} GB/s")
    return rows


def probe(entries: int) -> None:
    """In each of two processes: seconds of an all-reduce of one number, and of `entries` float32."""
    import time

    import gradtape as tf

    found = []
    for count in (1, entries):
        x = tf.ones([count])
        times = []
        for _ in range(7):
            tf.distribute.barrier()
            began = time.perf_counter()
            tf.distribute.allreduce(x)
            times.append(time.perf_counter() - began)
        found.append(statistics.median(times))
    if tf.distribute.rank() == 0:
        print([found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", help="numbers of processes to measure, such as 1,2,4")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--probe", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        return probe(options.probe)
    if options.check:
        print(*check([int(count) for count in options.check.split(",")], options.rounds), sep="\n")
        return None
    machine, gpt = Machine(), Model(24, 2048)
    print("1.3 billion parameters, 4 sequences a device:\n", *table(machine, gpt, None, 4, 1), sep="\n")
    print("\nThe same, 4,096 sequences in all:\n", *table(machine, gpt, 4096, 0, 1), sep="\n")
    large = Model(48, 6144)
    print("\n22 billion parameters, replicas of 8 devices, 8 sequences each:\n",
          *table(machine, large, None, 8, 8), sep="\n")  # fmt: skip
    return None


if __name__ == "__main__":
    main()
