"""Kills a rank of a training run at random moments, and checks how the others end and what a restart does.

    python tests/kill_ranks.py KILLS [RANKS]

Each round launches a training run with one restart, kills a rank (kill -9) at a random moment, and compares the final
weights with those of an undisturbed run.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRAINING = """
import os, sys, time
import numpy as np
import gradtape as tf

hvd, folder = tf.distribute, sys.argv[1]
w, step = tf.Variable(np.ones((40, 1), np.float32)), tf.Variable(0, dtype=tf.int64)
manager = tf.train.CheckpointManager(tf.train.Checkpoint(w=w, step=step), folder, max_to_keep=2)
manager.restore_or_initialize()
hvd.broadcast_variables([w, step])
if os.environ.get("GRADTAPE_RESTART", "0") == "0":
    print("process", os.getpid(), flush=True)
else:
    print("goes on at step", int(step), flush=True)
while int(step) < 60:
    rng = np.random.default_rng([int(step), hvd.rank()])
    x = rng.normal(size=(16, 40)).astype(np.float32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - x[:, :1] * 3) ** 2)
    w.assign_sub(0.02 * hvd.DistributedGradientTape(tape).gradient(loss, w))
    step.assign_add(1)
    if int(step) % 5 == 0 and hvd.rank() == 0:
        manager.save()
    time.sleep(0.02)
if hvd.rank() == 0:
    print("weights", float(np.sum(w.numpy() * np.arange(40)[:, None])), flush=True)
"""


def trained(folder: str, ranks: int, kill_after: float | None) -> dict[str, object]:
    """Runs a training in which a rank is killed some seconds after all have started; returns observations."""
    script = Path(folder) / "train.py"
    script.write_text(TRAINING)
    command = [sys.executable, "-m", "gradtape", "launch", "-n", str(ranks), "--restarts", "1", "--timeout", "60"]
    launcher = subprocess.Popen(
        [*command, str(script), folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert launcher.stdout is not None
    seen: dict[str, object] = {"said": [], "output": ""}
    pids: list[int] = []
    killed = 0.0
    for line in launcher.stdout:
        seen["output"] = str(seen["output"]) + line
        pids += [int(number) for number in re.findall(r"process (\d+)", line)]
        if len(pids) == ranks and kill_after is not None and not killed:
            time.sleep(kill_after)
            seen["rank"] = random.randrange(ranks)
            os.kill(pids[int(str(seen["rank"]))], signal.SIGKILL)
            killed = time.monotonic()
        if killed and "was killed by SIGKILL" in line:
            seen["noticed"] = time.monotonic() - killed
        if killed and "restart 1 of 1" in line:
            seen["ended"] = time.monotonic() - killed
        if found := re.search(r"goes on at step (\d+)", line):
            seen["step"] = int(found.group(1))
        if found := re.search(r"weights (\S+)", line):
            seen["weights"] = float(found.group(1))
    seen["code"] = launcher.wait()
    return seen


def main() -> None:
    kills, ranks = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as folder:
        expected = trained(folder, ranks, None)["weights"]
    for number in range(kills):
        with tempfile.TemporaryDirectory() as folder:
            after = random.uniform(0.0, 2.0)
            seen = trained(folder, ranks, after)
        right = seen.get("weights") == expected and seen["code"] == 0
        print(
            f"kill {number + 1}: a rank after {after:.2f} s; noticed after {seen.get('noticed', -1):.2f} s, all ended "
            f"after {seen.get('ended', -1):.2f} s, went on at step {seen.get('step')}: {'right' if right else 'WRONG'}",
            flush=True,
        )
        if not right:
            print(seen["output"])


if __name__ == "__main__":
    main()
