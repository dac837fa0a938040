"""Kills processes that write checkpoints at random moments, and checks what remains.

    python tests/kill_writers.py FOLDER KILLS HOW

HOW is `manager` for numbered checkpoints, or `tf` or `npz` for one that is overwritten in that format.
test_checkpoint.py runs this in a separate process, which imports gradtape once and forks the writers.
"""

import os
import random
import signal
import sys
import time

import numpy as np

import gradtape as tf

SIZE = 300_000


def objects():
    return {"weights": tf.Variable(np.zeros(SIZE, np.float32)), "step": tf.Variable(0, dtype=tf.int64)}


def writing(folder, how):
    """Writes checkpoints one by one, whenever the next one is requested."""
    mine = objects()
    checkpoint = tf.train.Checkpoint(**mine)
    if how == "manager":
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
        manager.restore_or_initialize()
    else:
        prefix, options = os.path.join(folder, "one"), tf.train.CheckpointOptions(save_format=how)
        if os.listdir(folder):
            checkpoint.read(prefix)
    while True:
        mine["step"].assign_add(1)
        mine["weights"].assign(np.full(SIZE, int(mine["step"]), np.float32))
        yield manager.save() if how == "manager" else checkpoint.write(prefix, options)


def newest_step(folder, how):
    """Returns the step of the newest checkpoint, which must be complete, or 0 if there is none yet."""
    path = tf.train.latest_checkpoint(folder) if how == "manager" else os.path.join(folder, "one")
    if path is None:
        assert not os.path.exists(os.path.join(folder, "checkpoint"))
        return 0
    mine = objects()
    tf.train.Checkpoint(**mine).read(path).assert_existing_objects_matched()
    step = int(mine["step"])
    assert np.all(mine["weights"].numpy() == step), path
    return step


def main(folder, kills, how):
    chance, before, died_writing = random.Random(0), 0, 0
    began = time.perf_counter()
    next(writing(folder, how))
    duration = min(time.perf_counter() - began, 0.2)
    for _ in range(kills):
        read, write = os.pipe()
        writer = os.fork()
        if writer == 0:
            os.write(write, b".")
            for _ in writing(folder, how):
                pass
        os.read(read, 1)
        time.sleep(chance.uniform(0, 4 * duration))
        os.kill(writer, signal.SIGKILL)
        os.close(read)
        os.close(write)
        os.waitpid(writer, 0)
        died_writing += any(name.endswith(".part") for name in os.listdir(folder))
        step = newest_step(folder, how)
        assert step >= before
        before = step
    tf.train.CheckpointManager(tf.train.Checkpoint(**objects()), folder, max_to_keep=2)
    if how != "manager":  # a manager removes drafts of its own checkpoints only
        print(kills, before, died_writing)
        return
    drafts = [name for name in os.listdir(folder) if name.endswith(".part")]
    assert not drafts, drafts
    print(kills, before, died_writing)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
