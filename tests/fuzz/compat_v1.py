"""Random calls of `tf.compat.v1` against NumPy, and against TensorFlow.

A seed determines one of: an optimizer with options, gradients that are dense or sparse with repeated rows, in a
function or not; a resizing by a method; a loss with weights and a reduction; draws of functions and data sets with
seeds of their own. The reference of an optimizer's sparse gradient is the dense step of each row by itself, that of a
nearest pixel a division of integers, and that of a loss its definition. With an interpreter that has TensorFlow, the
same program gives the same numbers there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from tensorflow_process import TensorFlow

import gradtape as tf

_OPTIMIZERS = {
    "GradientDescent": [{}], "Momentum": [{"momentum": 0.9}, {"momentum": 0.5, "use_nesterov": True}], "Adam": [{}],
    "Adagrad": [{}, {"initial_accumulator_value": 0.5}], "Adadelta": [{"epsilon": 0.01}, {"rho": 0.5}],
    "RMSProp": [{}, {"momentum": 0.5}, {"centered": True}],
    "Ftrl": [{}, {"l1_regularization_strength": 0.05}, {"l2_regularization_strength": 0.1}, {"beta": 0.2},
             {"l2_shrinkage_regularization_strength": 0.1}, {"learning_rate_power": -0.7}],
    "ProximalGradientDescent": [{}, {"l1_regularization_strength": 0.1}, {"l2_regularization_strength": 0.1}],
    "ProximalAdagrad": [{}, {"l1_regularization_strength": 0.1}, {"l2_regularization_strength": 0.1}],
}  # fmt: skip
_LOSSES = {
    "absolute_difference": lambda y, p: np.abs(y - p), "mean_squared_error": lambda y, p: (y - p) ** 2,
    "huber_loss": lambda y, p: np.where(np.abs(y - p) < 1, (y - p) ** 2 / 2, np.abs(y - p) - 0.5),
    "hinge_loss": lambda y, p: np.maximum(1 - (2 * y - 1) * p, 0),
    "log_loss": lambda y, p: -y * np.log(p + 1e-7) - (1 - y) * np.log(1 - p + 1e-7),
    "sigmoid_cross_entropy": lambda y, p: np.maximum(p, 0) - p * y + np.log1p(np.exp(-np.abs(p))),
}
_OPTIMIZE = """
def minimize(calls):
    optimizer = getattr(tf.compat.v1.train, {name!r} + "Optimizer")({rate}, **{options})
    variable = tf.Variable(np.array({start}, "float32"))
    def step(values, rows):
        gradient = values if {dense} else tf.IndexedSlices(values, rows, tf.constant({shape}))
        optimizer.apply_gradients([(gradient, variable)])
    run = tf.function(step) if {traced} else step
    for values, rows in calls:
        run(tf.constant(np.array(values, "float32")), tf.constant(np.array(rows, "int64")))
    return variable.numpy()
result = minimize({calls})
"""
_RESIZE = """
resize = tf.compat.v1.image.resize_{method}
result = np.asarray(resize(np.array({image}, {dtype!r}), {size}, {aligned}{half}))
"""
_LOSS = """
result = np.asarray(tf.compat.v1.losses.{name}(np.array({labels}, "float32"), np.array({predictions}, "float32"),
                                               np.array({weights}, "float32"), reduction={reduction!r}))
"""
_SEEDS = """
def draw(op_seed):
    return tf.random.uniform([], seed=op_seed)
def drawn():
    numbers = []
    @tf.function
    def traced():
        first = draw({op_seeds}[0])
        tf.compat.v1.set_random_seed({inner})
        inner = tf.function(lambda: draw({op_seeds}[1]))
        return [first, inner(), draw({op_seeds}[2])]
    tf.compat.v1.set_random_seed({outer})
    for _ in range(2):
        numbers.append(float(draw({op_seeds}[0])))
        numbers.extend(float(x) for x in traced())
    data = tf.data.Dataset.range(2).map(lambda i: (tf.compat.v1.set_random_seed({inner}), draw({op_seeds}[1]))[1])
    numbers.extend(float(x) for x in data)
    numbers.append(float(draw({op_seeds}[2])))
    return numbers
result = drawn()
"""


def disagreements(seed: int, tensorflow: str | None) -> list[str]:
    rng = np.random.default_rng(seed)
    source, expected = [_optimizer, _resizing, _loss, _seeds][seed % 4](rng)
    found = _run(source)
    problems = [] if expected is None or _same(found, expected) else [f"{found} instead of {expected}"]
    if tensorflow is not None:
        theirs = _tensorflow(tensorflow).result(source)
        if not _same(found, theirs):
            problems.append(f"{found}, in TensorFlow {theirs}")
    return [f"{problem} by {source}" for problem in problems]


def _optimizer(rng: np.random.Generator) -> tuple[str, Any]:
    name = str(rng.choice(list(_OPTIMIZERS)))
    options = _OPTIMIZERS[name][int(rng.integers(len(_OPTIMIZERS[name])))]
    height, width, rate = int(rng.integers(1, 5)), int(rng.integers(1, 3)), float(rng.choice([0.1, 0.5]))
    dense, traced = bool(rng.random() < 0.2), bool(rng.random() < 0.4)
    calls = []
    for _ in range(int(rng.integers(1, 4))):
        count = height if dense else int(rng.integers(1, 6))
        rows = rng.integers(0, height, count).tolist()
        calls.append((rng.normal(size=(count, width)).round(2).tolist(), rows))
    start = rng.normal(size=(height, width)).round(2).tolist()

    def source(start: Any, shape: Any, dense: bool, traced: bool, calls: Any) -> str:
        return _OPTIMIZE.format(name=name, rate=rate, options=options, start=start, dense=dense, shape=shape,
                                traced=traced, calls=calls)  # fmt: skip

    program = source(start, [height, width], dense, traced, calls)
    if dense or name == "Adam":  # Adam changes every row in every step
        return program, None
    expected = []
    for row in range(height):
        own = [(np.sum([v for v, k in zip(*call, strict=True) if k == row], axis=0).tolist(), [0])
               for call in calls if row in call[1]]  # fmt: skip
        expected.append(_run(source(start[row], None, True, False, own)) if own else np.array(start[row], "float32"))
    return program, np.array(expected)


def _resizing(rng: np.random.Generator) -> tuple[str, Any]:
    method = str(rng.choice(["nearest_neighbor", "bilinear", "bicubic", "area"], p=[0.55, 0.15, 0.15, 0.15]))
    height, width, *size = (int(n) for n in rng.integers(1, 13, 4))
    aligned, half = bool(rng.random() < 0.6), bool(rng.random() < 0.3) and method != "area"
    half &= not aligned
    dtype = str(rng.choice(["float32", "uint8", "int32", "float64"]))
    image = rng.integers(0, 9, (1, height, width, 1))
    source = _RESIZE.format(method=method, image=image.tolist(), dtype=dtype, size=size, aligned=aligned,
                            half=", half_pixel_centers=True" if half else "")  # fmt: skip
    if method != "nearest_neighbor":
        return source, None

    def nearest(source_size: int, target: int) -> list[int]:
        if aligned and target > 1:  # k (n - 1) / (m - 1), rounded: halves go up
            return [(2 * k * (source_size - 1) + target - 1) // (2 * (target - 1)) for k in range(target)]
        if half:
            return [(2 * k + 1) * source_size // (2 * target) for k in range(target)]
        return [k * source_size // target for k in range(target)]

    sizes = (height, size[0]), (width, size[1])
    if all(_is_exact(n, m, aligned, half) for n, m in sizes):
        rows, columns = (nearest(n, m) for n, m in sizes)
        return source, image[:, rows][:, :, columns].astype(dtype)
    return source, None


def _is_exact(size: int, target: int, aligned: bool, half: bool) -> bool:
    """Returns whether the scale is exact in float32, so that no position is rounded to the other side of a limit."""
    divisor = target - 1 if aligned and target > 1 else target
    return divisor & (divisor - 1) == 0


def _loss(rng: np.random.Generator) -> tuple[str, Any]:
    name = str(rng.choice(list(_LOSSES)))
    shape = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    binary = name in ("hinge_loss", "log_loss", "sigmoid_cross_entropy")
    labels = rng.integers(0, 2, shape) if binary else rng.normal(size=shape).round(2)
    predictions = rng.uniform(0.1, 0.9, shape).round(2) if name == "log_loss" else rng.normal(size=shape).round(2)
    weights = rng.integers(0, 3, [(), (shape[0], 1), shape][int(rng.integers(3))]) / 2
    reductions = ["none", "weighted_sum", "weighted_mean", "weighted_sum_over_batch_size",
                  "weighted_sum_by_nonzero_weights"]  # fmt: skip
    reduction = str(rng.choice(reductions))
    source = _LOSS.format(name=name, labels=labels.tolist(), predictions=predictions.tolist(),
                          weights=weights.tolist(), reduction=reduction)  # fmt: skip
    every = np.broadcast_to(weights, shape)
    each = _LOSSES[name](labels, predictions) * every
    count = {"weighted_mean": every.sum(), "weighted_sum_over_batch_size": each.size, "weighted_sum": 1,
             "weighted_sum_by_nonzero_weights": np.count_nonzero(every)}.get(reduction, 1)  # fmt: skip
    return source, each if reduction == "none" else each.sum() / count if count else 0.0


def _seeds(rng: np.random.Generator) -> tuple[str, Any]:
    op_seeds = [None if rng.random() < 0.5 else int(rng.integers(4)) for _ in range(3)]
    outer, inner = (int(n) for n in rng.integers(0, 9, 2))
    source = _SEEDS.format(op_seeds=op_seeds, inner=inner, outer=outer)
    again = _run(source)  # a seed gives the same numbers again: nothing that was drawn before matters
    _run(_SEEDS.format(op_seeds=[None] * 3, inner=outer, outer=inner))
    return source, again


def _run(source: str) -> Any:
    scope: dict[str, Any] = {"tf": tf, "np": np}
    exec(source, scope)
    return scope["result"]


def _same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype != object != b.dtype and bool(np.allclose(a, b, 1e-4, 1e-5, equal_nan=True))


@cache
def _tensorflow(interpreter: str) -> TensorFlow:
    return TensorFlow(interpreter)
