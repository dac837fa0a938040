"""Several processes: what a second one gains, and what an all-reduce costs beside XLA's own.

    python benchmarks/ranks.py [--rounds 3]

Training: steps of an MLP on 1024 rows a process, by a compiled function and `all_reduce`, with 1, 2 and 4 processes of
one core each. Throughput is rows per second; the gain is that over one process. On a machine that others use too, rows
per second of processor time say more: twice their ratio is what two free cores would gain. All-reduce: 100 MB by
`gradtape.distribute.allreduce` and by `jax.lax.psum` alone, in turn, in the same two processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

ROWS, WIDTH, STEPS = 1024, 512, 10


def training(rounds: int) -> dict[str, Any]:
    """In each process: rows per second of all, by rounds."""
    import gradtape as tf

    hvd = tf.distribute
    tf.random.set_seed(1)
    layers = [tf.Variable(tf.random.normal([WIDTH, WIDTH]) / WIDTH**0.5) for _ in range(6)]
    x = tf.random.normal([ROWS, WIDTH])

    @tf.function
    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            h = x
            for w in layers:
                h = tf.nn.relu(h @ w)
            loss = tf.reduce_mean(h * h)
        return tape.gradient(loss, layers)

    def step() -> None:
        for w, g in zip(layers, hvd.all_reduce(gradients(x)), strict=True):
            w.assign_sub(0.01 * g)

    for _ in range(4):
        step()
    found, busy = [], []
    for _ in range(rounds):
        hvd.barrier()
        began, used = time.perf_counter(), time.process_time()
        for _ in range(STEPS):
            step()
        hvd.barrier()
        found.append(hvd.size() * ROWS * STEPS / (time.perf_counter() - began))
        busy.append(ROWS * STEPS / (time.process_time() - used))
    return {"rows per second": found, "per processor second": busy}


def all_reduce(rounds: int) -> dict[str, Any]:
    """In each of two processes: seconds for 100 MB, by gradtape and by XLA alone, in turn."""
    import jax
    import numpy as np

    import gradtape as tf

    hvd = tf.distribute
    x = np.ones(25_000_000, np.float32)
    tensor = tf.constant(x)
    hvd.allreduce(tensor, op="sum")
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rank",))
    spec = jax.sharding.PartitionSpec
    psum = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "rank"), mesh=mesh, in_specs=spec("rank"), out_specs=spec()))
    split = jax.sharding.NamedSharding(mesh, spec("rank"))
    on_mesh = jax.make_array_from_process_local_data(split, x)
    psum(on_mesh).block_until_ready()
    times: dict[str, list[float]] = {"gradtape": [], "xla": []}
    for _ in range(rounds):
        for name, run in (
            ("gradtape", lambda: hvd.allreduce(tensor, op="sum")),
            ("xla", lambda: psum(on_mesh).block_until_ready()),
        ):
            hvd.barrier()
            began = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - began)
    return times


def launched(work: str, count: int, rounds: int) -> Any:
    """What rank 0 of `count` processes measures."""
    command = [sys.executable, "-m", "gradtape", "launch", "-n", str(count), "--no-bind", __file__, "--work", work,
               "--rounds", str(rounds)]  # fmt: skip
    one_core = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")} | {"PJRT_NPROC": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **one_core})
    line = next(line for line in done.stdout.splitlines() if "{" in line and not line.startswith("[1]"))
    return json.loads(line[line.index("{") :])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--counts", default="1,2,4", help="how many processes train")
    parser.add_argument("--work", choices=["training", "all_reduce"], help="what one process does")
    options = parser.parse_args()
    if options.work:
        import gradtape as tf

        own = tf.distribute.rank() % len(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[own]})
        found = globals()[options.work](options.rounds)
        if tf.distribute.rank() == 0:
            print(json.dumps(found))
        return
    base = None
    for count in map(int, options.counts.split(",")):
        found = launched("training", count, options.rounds)
        rows, busy = (statistics.median(found[name]) for name in ("rows per second", "per processor second"))
        base = base or (rows, busy)
        print(
            f"training, {count} processes: {rows:6.0f} rows/s, {rows / base[0]:.2f} x; of processor time "
            f"{count * busy / base[1]:.2f} x",
            flush=True,
        )
    times = launched("all_reduce", 2, options.rounds)
    ours, theirs = (statistics.median(times[name]) for name in ("gradtape", "xla"))
    print(
        f"all-reduce of 100 MB: {ours * 1e3:.0f} ms, XLA alone {theirs * 1e3:.0f} ms, {theirs / ours:.0%} of its speed"
    )


if __name__ == "__main__":
    main()
