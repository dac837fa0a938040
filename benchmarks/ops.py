"""Compares single eager ops on host arrays with PyTorch's, forward and with gradient.

    python benchmarks/ops.py [--sizes 256,16384,524288] [--ops layer_norm,softmax] [--threads 2] [--busy] [--json FILE]
    python benchmarks/ops.py --sizes 256,2048,16384,131072,1048576 --page      for docs/performance.md and its picture

Both libraries run in this process, in turns, on identical float32 data. A cell is gradtape's time over PyTorch's: the
ratio of the medians over all rounds. The last rows are the geometric mean and the worst ratio. PyTorch must be
installed. A few ops need arrays of a least size, and ignore smaller ones.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import performance_page
import torch
import torch.nn.functional as F

import gradtape as tf

ROW = 256  # numbers in a row, along which softmax, norms and sums work
ROUNDS, SECONDS = 7, 0.02  # turns of each library, and the shortest duration of a turn

Function = Callable[..., Any]


@dataclass(frozen=True)
class Op:
    """An op in both libraries; `arrays(n)` returns its operands for about `n` numbers, floats being differentiated."""

    name: str
    gradtape: Function
    torch: Function
    arrays: Callable[[int], list[np.ndarray]]


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _positive(*shape: int) -> np.ndarray:
    return np.abs(_normal(*shape)) + np.float32(0.5)


def _rows(n: int) -> list[np.ndarray]:
    return [_normal(n // ROW, ROW)]


def _positive_rows(n: int) -> list[np.ndarray]:
    return [_positive(n // ROW, ROW)]


def _two(n: int) -> list[np.ndarray]:
    return [_normal(n // ROW, ROW), _positive(n // ROW, ROW)]


def _with_vector(n: int) -> list[np.ndarray]:
    return [_normal(n // ROW, ROW), _normal(ROW)]


def _norm(n: int) -> list[np.ndarray]:
    return [_normal(max(2, n // ROW), ROW), _positive(ROW), _normal(ROW)]  # one row has no variance


def _image(n: int) -> list[np.ndarray]:
    side = 32 if n >= 1 << 18 else 16
    return [_normal(max(1, n // (side * side * 16)), side, side, 16)]


def _convolution(n: int) -> list[np.ndarray]:
    return [*_image(n), _normal(3, 3, 16, 16)]


def _labels(n: int) -> list[np.ndarray]:
    labels = np.random.default_rng(0).integers(0, ROW, n // ROW)
    return [_normal(n // ROW, ROW), labels]


def _table(n: int) -> list[np.ndarray]:
    return [_normal(1000, 64), np.random.default_rng(0).integers(0, 1000, n // 64)]


def _square(n: int) -> list[np.ndarray]:
    side = math.isqrt(n)
    return [_normal(side, side), _normal(side, side)]


def _batch(n: int) -> list[np.ndarray]:
    count = max(1, n // 4096)
    return [_normal(count, 64, 64), _normal(count, 64, 64)]


def _definite(n: int) -> list[np.ndarray]:
    side = 64
    a = _normal(max(1, n // side**2), side, side)
    return [a @ a.swapaxes(1, 2) + side * np.eye(side, dtype=np.float32)]


def _channels_first(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 3, 1, 2)


def _channels_last(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 2, 3, 1)


def _layer_norm(x: Any, gain: Any, shift: Any) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, shift, gain, 1e-5)


def _batch_norm(x: Any, gain: Any, shift: Any) -> Any:
    mean, variance = tf.nn.moments(x, [0])
    return tf.nn.batch_normalization(x, mean, variance, shift, gain, 1e-5)


def _unary(name: str, of_gradtape: Function, of_torch: Function, arrays: Any = _rows) -> Op:
    return Op(name, of_gradtape, of_torch, arrays)


OPS = [
    Op("add", tf.add, torch.add, _two),
    Op("multiply", tf.multiply, torch.mul, _two),
    Op("divide", tf.divide, torch.div, _two),
    Op("maximum", tf.maximum, torch.maximum, _two),
    Op("pow", lambda x, y: tf.pow(y, x), lambda x, y: torch.pow(y, x), _two),
    Op("where", lambda x, y: tf.where(x > 0, x, y), lambda x, y: torch.where(x > 0, x, y), _two),
    Op("add bias", tf.add, torch.add, _with_vector),
    Op("scale rows", tf.multiply, torch.mul, _with_vector),
    _unary("negative", tf.negative, torch.neg),
    _unary("square", tf.square, torch.square),
    _unary("abs", tf.abs, torch.abs),
    _unary("exp", tf.exp, torch.exp),
    _unary("log", tf.math.log, torch.log, _positive_rows),
    _unary("sqrt", tf.sqrt, torch.sqrt, _positive_rows),
    _unary("rsqrt", tf.math.rsqrt, torch.rsqrt, _positive_rows),
    _unary("sin", tf.sin, torch.sin),
    _unary("tanh", tf.tanh, torch.tanh),
    _unary("sigmoid", tf.sigmoid, torch.sigmoid),
    _unary("erf", tf.math.erf, torch.erf),
    _unary("relu", tf.nn.relu, F.relu),
    _unary("gelu (erf)", tf.nn.gelu, F.gelu),
    _unary("silu", tf.nn.silu, F.silu),
    _unary("softplus", tf.math.softplus, F.softplus),
    _unary("clip", lambda x: tf.clip_by_value(x, -1.0, 1.0), lambda x: torch.clamp(x, -1.0, 1.0)),
    _unary("dropout", lambda x: tf.nn.dropout(x, 0.5), lambda x: F.dropout(x, 0.5)),
    _unary("sum", tf.reduce_sum, torch.sum),
    _unary("row sum", lambda x: tf.reduce_sum(x, -1), lambda x: torch.sum(x, -1)),
    _unary("column sum", lambda x: tf.reduce_sum(x, 0), lambda x: torch.sum(x, 0)),
    _unary("row mean", lambda x: tf.reduce_mean(x, -1), lambda x: torch.mean(x, -1)),
    _unary("row max", lambda x: tf.reduce_max(x, -1), lambda x: torch.amax(x, -1)),
    _unary("row variance", lambda x: tf.math.reduce_variance(x, -1), lambda x: torch.var(x, -1, correction=0)),
    _unary("logsumexp", lambda x: tf.reduce_logsumexp(x, -1), lambda x: torch.logsumexp(x, -1)),
    _unary("softmax", tf.nn.softmax, lambda x: F.softmax(x, -1)),
    _unary("log_softmax", tf.nn.log_softmax, lambda x: F.log_softmax(x, -1)),
    Op("cross entropy", lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x),
       lambda x, y: F.cross_entropy(x, y, reduction="none"), _labels),
    Op("layer_norm", _layer_norm, lambda x, g, b: F.layer_norm(x, (ROW,), g, b), _norm),
    Op("batch_norm", _batch_norm, lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True), _norm),
    Op("matmul", tf.matmul, torch.matmul, _square),
    Op("batched matmul", tf.matmul, torch.matmul, _batch),
    _unary("transpose", lambda x: tf.transpose(x) + 0.0, lambda x: x.T.contiguous()),
    Op("concat", lambda x, y: tf.concat([x, y], 0), lambda x, y: torch.cat([x, y]), _two),
    Op("gather", tf.gather, lambda x, at: F.embedding(at, x), _table),
    _unary("cumsum", lambda x: tf.cumsum(x, -1), lambda x: torch.cumsum(x, -1)),
    _unary("sort", lambda x: tf.sort(x, -1), lambda x: torch.sort(x, -1)[0]),
    _unary("top_k", lambda x: tf.math.top_k(x, 8)[0], lambda x: torch.topk(x, 8)[0]),
    Op("conv2d", lambda x, k: tf.nn.conv2d(x, k, 1, "SAME"),
       lambda x, k: _channels_last(F.conv2d(_channels_first(x), k.permute(3, 2, 0, 1), padding=1)), _convolution),
    Op("max_pool", lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"),
       lambda x: _channels_last(F.max_pool2d(_channels_first(x), 2)), _image),
    Op("avg_pool", lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID"),
       lambda x: _channels_last(F.avg_pool2d(_channels_first(x), 2)), _image),
    Op("cholesky", tf.linalg.cholesky, torch.linalg.cholesky, _definite),
]  # fmt: skip


def forward_of_gradtape(op: Op, arrays: list[np.ndarray]) -> Function:
    """Returns a call of the op on gradtape's tensors."""
    operands = [tf.constant(x) for x in arrays]
    return lambda: op.gradtape(*operands)


def gradient_of_gradtape(op: Op, arrays: list[np.ndarray]) -> Function:
    """Returns a call of the op and the gradients of its operands, in gradtape."""
    operands = [tf.constant(x) for x in arrays]
    sources = [x for x in operands if x.dtype.is_floating]

    def run() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = op.gradtape(*operands)
        return y, tape.gradient(y, sources)

    return run


def forward_of_torch(op: Op, arrays: list[np.ndarray]) -> Function:
    """Returns a call of the op on PyTorch's tensors."""
    operands = [torch.from_numpy(x) for x in arrays]
    return lambda: op.torch(*operands)


def gradient_of_torch(op: Op, arrays: list[np.ndarray]) -> Function:
    """Returns a call of the op and the gradients of its operands, in PyTorch."""
    operands = [torch.from_numpy(x) for x in arrays]
    sources = [x.requires_grad_() for x in operands if x.is_floating_point()]

    def run() -> Any:
        y = op.torch(*operands)
        return y, torch.autograd.grad(y, sources, torch.ones_like(y))

    return run


def seconds_per_call(run: Function, clock: Callable[[], float]) -> float:
    """Times one turn: as many calls as fill `SECONDS`."""
    calls, start = 0, clock()
    while (elapsed := clock() - start) < SECONDS:
        run()
        calls += 1
    return elapsed / calls


def ratio(ours: Function, theirs: Function, clock: Callable[[], float]) -> float:
    """Returns the median time of `ours` over that of `theirs`, measured in turns."""
    for run in (ours, theirs) * 3:
        run()
    turns = [(seconds_per_call(ours, clock), seconds_per_call(theirs, clock)) for _ in range(ROUNDS)]
    mine, others = (statistics.median(times) for times in zip(*turns, strict=True))
    return mine / others


def check(op: Op, arrays: list[np.ndarray]) -> None:
    """Raises if the libraries disagree about the result or a gradient; dropout draws other numbers."""
    if op.name == "dropout":
        return
    ours, theirs = gradient_of_gradtape(op, arrays)(), gradient_of_torch(op, arrays)()
    pairs = [(ours[0], theirs[0]), *zip(ours[1], theirs[1], strict=True)]
    for mine, other in pairs:
        mine = tf.convert_to_tensor(mine).numpy()
        scale = max(1.0, float(np.abs(mine).max()))
        np.testing.assert_allclose(mine / scale, other.detach().numpy() / scale, atol=5e-4, err_msg=op.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="16384,524288", help="numbers in an operand, separated by commas")
    parser.add_argument("--ops", default="", help="names, separated by commas (default: all)")
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch (default: 2)")
    parser.add_argument("--busy", action="store_true", help="others use this machine: one thread, processor time")
    parser.add_argument("--json", type=Path, help="writes the ratios to this file")
    parser.add_argument("--page", action="store_true", help="writes the geometric means into docs/performance.md")
    given = parser.parse_args()
    threads = 1 if given.busy else given.threads
    torch.set_num_threads(threads)
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    clock = time.process_time if given.busy else time.perf_counter
    sizes = [int(size) for size in given.sizes.split(",")]
    chosen = [op for op in OPS if not given.ops or op.name in given.ops.split(",")]
    found: dict[str, dict[str, float]] = {}
    print(f"{'op':16}" + "".join(f"{f'{n} forward':>18}{'gradient':>10}" for n in sizes), flush=True)
    for op in chosen:
        row = found[op.name] = {}
        for n in sizes:
            arrays = op.arrays(n)
            check(op, arrays)
            row[f"{n} forward"] = ratio(forward_of_gradtape(op, arrays), forward_of_torch(op, arrays), clock)
            row[f"{n} gradient"] = ratio(gradient_of_gradtape(op, arrays), gradient_of_torch(op, arrays), clock)
        values = list(row.values())
        cells = zip(values[::2], values[1::2], strict=True)
        print(f"{op.name:16}" + "".join(f"{a:18.2f}{b:10.2f}" for a, b in cells), flush=True)
    for title, summary in (("geometric mean", statistics.geometric_mean), ("worst", max)):
        columns = [summary([row[key] for row in found.values()]) for key in next(iter(found.values()))]
        cells = zip(columns[::2], columns[1::2], strict=True)
        print(f"{title:16}" + "".join(f"{a:18.2f}{b:10.2f}" for a, b in cells))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    if given.page:
        performance_page.write({"ops": found})


if __name__ == "__main__":
    main()
