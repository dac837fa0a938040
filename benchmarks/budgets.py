"""Tapes with a memory budget: time, measured peak and gradients, beside a tape that keeps everything.

    python benchmarks/budgets.py [--rounds N] [--size small] [--models NAME ...] [--device] [--function | --jit]

For a 50-layer MLP, a residual CNN, four blocks of a GPT, a neural ODE, a U-Net and a recurrent net over the rows of its
input, in several sizes, at 50%, 25% and 10% of what the tape keeps, and with a budget that nothing exceeds. The peak is
what tracemalloc sees of a step (with --device, PyTorch's allocator), gradients included. The largest single op is the
one that takes most by itself, forward and backward: inputs, outputs, their cotangents, and what its kernels need.

With --function the step is a function, with --jit one compiled by XLA, and the fractions are of what it takes without a
budget. XLA says itself what that is: what is between ops, and the gradients.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.engine.run import dispatch

FRACTIONS = (0.5, 0.25, 0.1)
SIZES = ("small", "medium", "usual", "large")
Step = tuple[Callable[[], Any], list[Any]]  # the loss, and the variables


def variable(rng: np.random.Generator, *shape: int) -> Any:
    """Small random weights."""
    return tf.Variable((rng.normal(size=shape) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32))


def mlp(size: str) -> Step:
    """50 layers."""
    rng = np.random.default_rng(0)
    width, batch = {"small": (32, 64), "medium": (128, 512), "usual": (128, 4096), "large": (1024, 16384)}[size]
    layers = [(variable(rng, width, width), tf.Variable(tf.zeros([width]))) for _ in range(50)]
    x = tf.constant(rng.normal(size=(batch, width)), tf.float32)

    def loss() -> Any:
        h = x
        for w, b in layers:
            h = tf.nn.relu(tf.matmul(h, w) + b)
        return tf.reduce_mean(tf.square(h))

    return loss, [v for layer in layers for v in layer]


def cnn(size: str) -> Step:
    """A residual network of 16 blocks of two convolutions with batch normalisation."""
    rng = np.random.default_rng(0)
    sizes = {"small": (4, 8, 2), "medium": (16, 16, 8), "usual": (32, 32, 16), "large": (64, 64, 64)}
    channels, side, batch = sizes[size]
    first = variable(rng, 3, 3, 3, channels)
    blocks = []
    for _ in range(16):
        pair = [variable(rng, 3, 3, channels, channels) for _ in range(2)]
        blocks.append((*pair, *[tf.Variable(tf.fill([channels], float(i % 2 == 0))) for i in range(4)]))
    x = tf.constant(rng.normal(size=(batch, side, side, 3)), tf.float32)

    def normalised(h: Any, scale: Any, offset: Any) -> Any:
        mean, variance = tf.nn.moments(h, [0, 1, 2])
        return tf.nn.batch_normalization(h, mean, variance, offset, scale, 1e-3)

    def loss() -> Any:
        h = tf.nn.conv2d(x, first, 1, "SAME")
        for a, b, scale_a, offset_a, scale_b, offset_b in blocks:
            y = tf.nn.relu(normalised(tf.nn.conv2d(h, a, 1, "SAME"), scale_a, offset_a))
            y = normalised(tf.nn.conv2d(y, b, 1, "SAME"), scale_b, offset_b)
            h = tf.nn.relu(h + y)
        return tf.reduce_mean(tf.square(h))

    return loss, [first, *[v for block in blocks for v in block]]


def gpt(size: str) -> Step:
    """Four blocks of attention and a wide layer, with dropout."""
    rng = np.random.default_rng(0)
    sizes = {"small": (16, 2, 8, 2), "medium": (64, 4, 64, 4), "usual": (192, 6, 128, 12), "large": (768, 12, 512, 32)}
    width, heads, length, batch = sizes[size]
    vocabulary = 50 if size == "small" else 512
    embedding, places = variable(rng, vocabulary, width), variable(rng, length, width)
    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    blocks = [[variable(rng, *shape) for shape in shapes] for _ in range(4)]
    norms = [[tf.Variable(tf.fill([width], float(i % 2 == 0))) for i in range(4)] for _ in range(4)]
    tokens = tf.constant(rng.integers(0, vocabulary, (batch, length)))
    mask = tf.constant(np.triu(np.full((length, length), -1e9), 1), tf.float32)

    def normalised(h: Any, scale: Any, offset: Any) -> Any:
        mean, variance = tf.nn.moments(h, [-1], keepdims=True)
        return (h - mean) * tf.math.rsqrt(variance + 1e-5) * scale + offset

    def attention(h: Any, qkv: Any, out: Any) -> Any:
        parts = tf.reshape(tf.matmul(h, qkv), [batch, length, 3, heads, width // heads])
        q, k, v = tf.unstack(tf.transpose(parts, [2, 0, 3, 1, 4]))
        weights = tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5 + mask
        weights = tf.nn.softmax(weights)
        weights = tf.nn.dropout(weights, 0.1)
        mixed = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
        return tf.matmul(tf.reshape(mixed, [batch, length, width]), out)

    def loss() -> Any:
        h = tf.gather(embedding, tokens) + places
        for (qkv, out, up, down), (s1, o1, s2, o2) in zip(blocks, norms, strict=True):
            h = h + attention(normalised(h, s1, o1), qkv, out)
            wide = tf.nn.gelu(tf.matmul(normalised(h, s2, o2), up), approximate=True)
            h = h + tf.nn.dropout(tf.matmul(wide, down), 0.1)
        logits = tf.matmul(h[:, :-1], embedding, transpose_b=True)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits))

    return loss, [embedding, places, *[v for block in (*blocks, *norms) for v in block]]


def ode(size: str) -> Step:
    """A neural ODE: Runge-Kutta steps through one layer."""
    rng = np.random.default_rng(0)
    sizes = {"small": (16, 8, 60), "medium": (64, 256, 60), "usual": (128, 2048, 30), "large": (512, 8192, 60)}
    width, batch, steps = sizes[size]
    up, down = variable(rng, width, 2 * width), variable(rng, 2 * width, width)
    biases = tf.Variable(tf.zeros([2 * width])), tf.Variable(tf.zeros([width]))
    x = tf.constant(rng.normal(size=(batch, width)), tf.float32)

    def slope(h: Any) -> Any:
        return tf.matmul(tf.tanh(tf.matmul(h, up) + biases[0]), down) + biases[1]

    def loss() -> Any:
        h, dt = x, 0.1
        for _ in range(steps):
            k1 = slope(h)
            k2 = slope(h + dt / 2 * k1)
            k3 = slope(h + dt / 2 * k2)
            k4 = slope(h + dt * k3)
            h = h + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return tf.reduce_mean(tf.square(h))

    return loss, [up, down, *biases]


def unet(size: str) -> Step:
    """A U-Net of three levels."""
    rng = np.random.default_rng(0)
    sizes = {"small": (4, 16, 2), "medium": (8, 32, 8), "usual": (16, 64, 16), "large": (32, 128, 64)}
    channels, side, batch = sizes[size]
    levels = [channels * 2**i for i in range(3)]
    down = [(variable(rng, 3, 3, a, b), variable(rng, 3, 3, b, b)) for a, b in zip([3, *levels], levels, strict=False)]
    up = [(variable(rng, 3, 3, 3 * b, b), variable(rng, 3, 3, b, b)) for b in levels[1::-1]]
    x = tf.constant(rng.normal(size=(batch, side, side, 3)), tf.float32)

    def twice(h: Any, kernels: Any) -> Any:
        for kernel in kernels:
            h = tf.nn.relu(tf.nn.conv2d(h, kernel, 1, "SAME"))
        return h

    def loss() -> Any:
        h, skipped = x, []
        for kernels in down:
            h = twice(tf.nn.max_pool2d(h, 2, 2, "SAME") if skipped else h, kernels)
            skipped.append(h)
        for kernels, other in zip(up, skipped[1::-1], strict=True):
            h = tf.repeat(tf.repeat(h, 2, axis=1), 2, axis=2)
            h = twice(tf.concat([h, other], -1), kernels)
        return tf.reduce_mean(tf.square(h))

    return loss, [kernel for pair in (*down, *up) for kernel in pair]


def rnn(size: str) -> Step:
    """A recurrent net over the rows of one tensor: each row is a view of it."""
    rng = np.random.default_rng(0)
    sizes = {"small": (100, 16, 32), "medium": (100, 128, 128), "usual": (100, 512, 256), "large": (400, 2048, 512)}
    length, batch, width = sizes[size]
    w, u = variable(rng, width, width), variable(rng, width, width)
    x = tf.constant(rng.normal(size=(length, batch, width)), tf.float32)

    def loss() -> Any:
        h = tf.zeros([batch, width])
        for t in range(length):
            h = tf.tanh(tf.matmul(x[t], w) + tf.matmul(h, u))
        return tf.reduce_mean(tf.square(h))

    return loss, [w, u]


MODELS = {
    "MLP, 50 layers": mlp, "residual CNN": cnn, "4 GPT blocks": gpt, "neural ODE": ode, "U-Net": unet, "RNN": rnn,
}  # fmt: skip
ROOMY = 10**15  # bytes, with which nothing is let go: what the bookkeeping takes


class Tapes:
    """Steps on a tape with a budget, or without."""

    def __init__(self, step: Step, device: bool) -> None:
        self.step, self._device = step, device

    def gradients(self, budget: Any = None) -> list[Any]:
        """One step; the same random numbers each time."""
        tf.random.set_seed(1)
        return on_tape(self.step, budget)

    def peak(self, budget: Any = None) -> int:
        """The bytes that a step takes at most."""
        return peak_of(lambda: self.gradients(budget), self._device)


class Functions:
    """Steps that are functions with a budget, or without; compiled by XLA, or not."""

    def __init__(self, step: Step, device: bool, jit: bool) -> None:
        self.step, self._device, self._jit = step, device, jit
        self._functions: dict[Any, Any] = {}

    def gradients(self, budget: Any = None) -> list[Any]:
        """One step; the same random numbers each time."""
        if budget not in self._functions:
            step = self.step
            self._functions[budget] = tf.function(lambda: on_tape(step), jit_compile=self._jit, memory_budget=budget)
        tf.random.set_seed(1)
        found: list[Any] = self._functions[budget]()
        return found

    def peak(self, budget: Any = None) -> int:
        """The bytes that a step takes at most."""
        self.gradients(budget)
        if not self._jit:
            return peak_of(lambda: self.gradients(budget), self._device)
        (variant,) = next(iter(self._functions[budget].get_concrete_function()._concrete.variants()))
        peak: int = variant._program.peak
        return peak


Steps = Tapes | Functions


def on_tape(step: Step, budget: Any = None) -> list[Any]:
    """The gradients of a step."""
    loss, variables = step
    with tf.GradientTape(memory_budget=budget) as tape:
        target = loss()
    return [tf.convert_to_tensor(g) for g in tape.gradient(target, variables)]


def kept_and_largest(step: Step, device: bool) -> tuple[int, int]:
    """What a plain tape keeps, and the bytes that the largest op takes, forward and backward."""
    loss, variables = step
    with tf.GradientTape() as tape:
        loss()
    kept = tape.memory().total
    with tf.GradientTape(memory_budget="100TB") as tape:
        loss()
    store = tape._log.store
    weights = {id(v._as_tensor().buffer) for v in variables}
    largest = 0
    seen = set()
    for maker in dict.fromkeys(value.producer for value in store.values if value.producer is not None):
        op, attrs = maker.op, maker.attrs
        found = store.fetch(maker.inputs)
        inputs = [found[i] for i in maker.inputs]
        kind = (op.name, *[x.dims for x in inputs], *map(str, attrs.values()))
        if kind not in seen:
            seen.add(kind)
            given = {id(x.buffer): x.buffer.nbytes for x in inputs if id(x.buffer) not in weights}
            largest = max(largest, sum(given.values()) + peak_of(lambda: alone(op, inputs, attrs), device))  # noqa: B023
    return kept, largest


def alone(op: Any, inputs: Any, attrs: Any) -> Any:
    """An op's outputs, and the gradients of its inputs."""
    sources = [x for x in inputs if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = dispatch.run(op, inputs, attrs)
    return outputs, tape.gradient(outputs, sources) if sources and op.vjp is not None else None


def peak_of(work: Callable[[], Any], device: bool) -> int:
    """The bytes that some work takes at most, beyond what was there: NumPy's arrays, or those of the GPU."""
    if not device:
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        work()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most - before
    import torch  # type: ignore[import-not-found,unused-ignore]

    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    return int(torch.cuda.max_memory_allocated()) - before


def difference(found: list[Any], expected: list[Any]) -> float:
    """By how much gradients differ at most, as a part of the largest number in each; 0 if all are equal to the bit."""
    pairs = [(a.numpy(), b.numpy()) for a, b in zip(found, expected, strict=True)]
    if all(a.tobytes() == b.tobytes() for a, b in pairs):
        return 0.0
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs if b.any())


def seconds(steps: Steps, budgets: list[Any], rounds: int, clock: Callable[[], float]) -> list[float]:
    """The least time of a step with each budget; they take turns."""
    best = [float("inf")] * len(budgets)
    for _ in range(rounds):
        for i, budget in enumerate(budgets):
            began = clock()
            steps.gradients(budget)[-1].numpy()
            best[i] = min(best[i], clock() - began)
    return best


def measure(name: str, steps: Steps, device: bool, rounds: int, clock: Callable[[], float]) -> None:
    """Prints a table for a model."""
    plain = steps.gradients()
    noise = difference(steps.gradients(), plain)  # of sums whose order a GPU does not fix
    kept, largest = kept_and_largest(steps.step, device)
    whole = steps.peak()
    if isinstance(steps, Functions):
        kept = whole
        print(f"{name}: the step takes {whole / 1e6:.1f} MB at most, ", end="")
    else:
        print(f"{name}: the tape keeps {kept / 1e6:.1f} MB, its step takes {whole / 1e6:.1f} MB at most, ", end="")
    print(f"the largest op {largest / 1e6:.1f} MB", flush=True)
    budgets = [int(kept * f) for f in FRACTIONS]
    for budget in budgets:
        steps.gradients(budget)
    times = seconds(steps, [None, ROOMY, *budgets], rounds, clock)
    print(f"  plain {1000 * times[0]:.1f} ms; with a budget that nothing exceeds: time {times[1] / times[0]:.2f}")
    for fraction, budget, taken in zip(FRACTIONS, budgets, times[2:], strict=True):
        most = steps.peak(budget)
        apart = difference(steps.gradients(budget), plain)
        said = "bit-equal" if apart == 0 else f"differ by {apart:.0e}"
        said += f", those of two plain steps by {noise:.0e}" if noise else ""
        print(
            f"  {fraction:4.0%}  budget {budget / 1e6:7.1f} MB  peak {most / 1e6:7.1f} MB "
            f"(1.05 budget + {max(0.0, most - 1.05 * budget) / largest:4.2f} largest op)  "
            f"time {taken / times[0]:.2f}  gradients {said}",
            flush=True,
        )


def main() -> None:
    """Measures all models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", choices=SIZES, default="usual", help="of the models; small ones show that it works")
    names = [model.__name__ for model in MODELS.values()]
    parser.add_argument("--models", nargs="+", choices=names, default=names, help="all of them unless given")
    parser.add_argument("--device", action="store_true", help="on the GPU")
    parser.add_argument("--function", action="store_true", help="as a function")
    parser.add_argument("--jit", action="store_true", help="as a function compiled by XLA")
    parser.add_argument("--cpu-time", action="store_true", help="count CPU time, on a machine that does other work too")
    options = parser.parse_args()
    clock = time.process_time if options.cpu_time else time.perf_counter
    with tf.device("/GPU:0" if options.device else "/CPU:0"):
        for name, model in MODELS.items():
            if model.__name__ not in options.models:
                continue
            step = model(options.size)
            steps: Steps = Tapes(step, options.device)
            if options.function or options.jit:
                steps = Functions(step, options.device, options.jit)
            measure(name, steps, options.device, options.rounds, clock)


if __name__ == "__main__":
    main()
