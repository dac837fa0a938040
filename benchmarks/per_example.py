"""The gradient of each example of a Keras CNN, batch 64: gradtape's `per="example"` beside `torch.func.vmap(grad)`.

    python benchmarks/per_example.py [--torch .bench/torch/bin/python] [--rounds 40] [--threads N] [--busy]

Both compute the same network with the same weights, forward and backward, on as many cores, in processes of their own
that have turns in every round; medians are compared. First the gradients are compared with those of a loop over the
examples, and with PyTorch's. Last comes the memory that norms alone need, beside that of a plain step.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

BATCH, CLASSES = 64, 10
WARM_UP = 5  # rounds that are not counted
PAUSE = 0.1  # seconds before a turn, in which threads of the library before still wait busily for more to do
HERE = Path(__file__).parent
clock = time.process_time if os.environ.get("BENCHMARK_BUSY") == "1" else time.perf_counter


class Gradtape:
    """The step of Keras' model on gradtape's tape. Inputs and weights are written to a file, for the other to read."""

    def __init__(self, shared: Path) -> None:
        os.environ["KERAS_BACKEND"] = "gradtape"
        import numpy as np

        import gradtape as tf

        keras = tf.keras
        keras.utils.set_random_seed(0)
        layers = keras.layers
        self.model = keras.Sequential(
            [
                keras.Input((28, 28, 1)),
                layers.Conv2D(32, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(64, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(CLASSES),
            ]
        )
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)
        self.tape = tf.GradientTape
        rng = np.random.default_rng(0)
        self.x = tf.constant(rng.normal(size=(BATCH, 28, 28, 1)), tf.float32)
        self.y = tf.constant(rng.integers(0, CLASSES, BATCH))
        np.savez(shared, self.x, self.y, *[v.numpy() for v in self.model.trainable_variables])
        self.steps = {
            "example": lambda: self.gradients(per="example"),
            "function": tf.function(lambda: self.gradients(per="example")),
            "plain": self.gradients,
            "norms": lambda: self.gradients(per="example", norms=True),
        }

    def gradients(self, examples=slice(None), **question):
        """One way forward and back; without a question the gradient of the sum, as a plain step has it."""
        with self.tape() as tape:
            losses = self.loss(self.y[examples], self.model(self.x[examples]))
        return tape.gradient(losses, self.model.trainable_variables, **question)

    def looped(self):
        """The gradients of one example after the other, each alone in its batch."""
        import numpy as np

        alone = [self.gradients(slice(i, i + 1)) for i in range(BATCH)]
        return [np.stack([g.numpy() for g in column]) for column in zip(*alone, strict=True)]

    def answer(self, step):
        """The gradients of a step, as arrays."""
        return self.looped() if step == "looped" else [g.numpy() for g in self.steps[step]()]

    def memory(self, step) -> int:
        """The bytes that a step needs at its peak."""
        self.steps[step]()
        tracemalloc.start()
        self.steps[step]()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak


class Torch:
    """The same network in PyTorch, whose images have their channels first."""

    def __init__(self, shared: Path) -> None:
        import numpy as np
        import torch
        from torch.func import grad, vmap
        from torch.nn import functional as f

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        with np.load(shared) as file:
            x, y, first, b1, second, b2, dense, b3 = map(torch.tensor, file.values())
        # Keras flattens channels last: the rows of its matrix are put in the order that PyTorch flattens in.
        dense = dense.reshape(5, 5, 64, CLASSES).permute(3, 2, 0, 1).reshape(CLASSES, -1).contiguous()
        first, second = (w.permute(3, 2, 0, 1).contiguous() for w in (first, second))
        images = x.permute(0, 3, 1, 2).contiguous()

        def loss(weights, image, label):
            first, b1, second, b2, dense, b3 = weights
            h = f.max_pool2d(f.relu(f.conv2d(image[None], first, b1)), 2)
            h = f.max_pool2d(f.relu(f.conv2d(h, second, b2)), 2)
            return f.cross_entropy(f.linear(h.flatten(1), dense, b3), label[None])

        gradients = vmap(grad(loss), in_dims=(None, 0, 0))
        self.steps = {"example": lambda: gradients((first, b1, second, b2, dense, b3), images, y)}

    def answer(self, step):
        """The gradients, as Keras has its weights."""
        first, b1, second, b2, dense, b3 = (g.detach().numpy() for g in self.steps[step]())
        first, second = (g.transpose(0, 3, 4, 2, 1) for g in (first, second))
        dense = dense.reshape(-1, CLASSES, 64, 5, 5).transpose(0, 3, 4, 2, 1).reshape(len(dense), -1, CLASSES)
        return [first, b1, second, b2, dense, b3]


def serve(library: str, shared: str) -> None:
    """Reads lines `QUESTION STEP [FILE]`, and answers each with a line of JSON."""
    importlib.import_module(library)  # before NumPy, as a program that begins with it would
    peer = {"gradtape": Gradtape, "torch": Torch}[library](Path(shared))
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        question, step, *file = line.split()
        found = None
        if question == "answer":
            import numpy as np

            np.savez(file[0], *peer.answer(step))
        elif question == "time":
            time.sleep(PAUSE)
            peer.steps[step]()  # finds the caches as the other has left them, and is not counted
            start = clock()
            peer.steps[step]()
            found = clock() - start
        else:
            found = peer.memory(step)
        print(json.dumps(found), flush=True)


class Process:
    """One library in a process of its own."""

    def __init__(self, python: str, library: str, shared: Path) -> None:
        command = [python, __file__, "--serve", library, str(shared)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def ask(self, *question):
        """The answer to a question."""
        self.process.stdin.write(" ".join(map(str, question)) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def farthest(found: Path, expected: Path) -> float:
    """The largest difference between two files of arrays, relative to the largest number of each array."""
    import numpy as np

    with np.load(found) as a, np.load(expected) as b:
        return max(float(abs(a[key] - b[key]).max() / abs(b[key]).max()) for key in b)


def compare(ours: Process, theirs: Process, folder: Path, rounds: int) -> None:
    """Prints how far the numbers are apart, then times, then memory."""
    files = {name: folder / f"{name}.npz" for name in ("example", "looped", "torch")}
    for name in ("example", "looped"):
        ours.ask("answer", name, files[name])
    theirs.ask("answer", "example", files["torch"])
    apart = [farthest(files["example"], files[name]) for name in ("looped", "torch")]
    print("largest relative difference: to a loop {:.1e}, to PyTorch {:.1e}".format(*apart))

    turns = {"torch.func.vmap(grad)": (theirs, "example")}
    turns |= {f"gradtape, {step}": (ours, step) for step in ("example", "function", "plain", "norms")}
    times: dict[str, list[float]] = {name: [] for name in turns}
    for i in range(WARM_UP + rounds):
        for name, (process, step) in turns.items():
            taken = process.ask("time", step)
            if i >= WARM_UP:
                times[name].append(taken)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(f"{name:22} {1e3 * median:8.2f} ms   {median / medians['torch.func.vmap(grad)']:5.2f} of PyTorch's")
    plain, norms = (ours.ask("memory", step) / 2**20 for step in ("plain", "norms"))
    print(f"memory: a plain step {plain:.1f} MiB, norms alone {norms:.1f} MiB, {norms / plain:.2f} of it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default=str(HERE.parent / ".bench/torch/bin/python"), help="a Python with PyTorch")
    parser.add_argument("--rounds", type=int, default=40, help="in each, both have a turn")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of both")
    parser.add_argument("--busy", action="store_true", help="others use this machine: one core, processor time")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(*given.serve)
        return
    threads = 1 if given.busy else given.threads
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    os.environ["BENCHMARK_BUSY"] = "1" if given.busy else "0"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    with tempfile.TemporaryDirectory() as folder:
        shared = Path(folder) / "network.npz"
        ours = Process(sys.executable, "gradtape", shared)
        theirs = Process(given.torch, "torch", shared)
        compare(ours, theirs, Path(folder), given.rounds)
        ours.close()
        theirs.close()


if __name__ == "__main__":
    main()
