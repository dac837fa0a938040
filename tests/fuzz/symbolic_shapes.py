"""Shapes of symbolic tensors, as Keras 2 builds models with them, against the shapes of computed tensors.

A seed determines a program of public functions that fits tensors of some sizes. Run on placeholders, for which some of
the sizes are unknown, it must find dtypes and shapes that agree with those of the values; without unknown sizes, it
must find every size. Some tensors are large enough to have no values, and some are complex or of half precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from gradtape_tensorflow.python.autograph.impl.api import tf_convert
from gradtape_tensorflow.python.framework.graphs import FuncGraph

# Unknown sizes are no smaller than those of the examples that a scratch graph computes with.
_BATCH = (4, 6, 9)
_SIZE = (64, 70, 130)
_ENTRIES_MAX = 1 << 17


class Step(NamedTuple):
    """A function of tensors of the pool."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[int, ...]


def _axis(rng: np.random.Generator, x: Any) -> int:
    axis = int(rng.integers(len(x.shape)))
    return axis if rng.random() < 0.5 else axis - len(x.shape)


_weight = tf.Variable(2.0)


def _gradients(x: Any) -> Any:
    """Returns a gradient for a tensor and one for a variable, as a layer may compute them."""

    def call(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.sin(x) * tf.cast(_weight, x.dtype)
        return tape.gradient(y, x) * tf.cast(tape.gradient(y, _weight), x.dtype)

    return tf_convert(call, None)(x)


def _of_any(rng: np.random.Generator, x: Any, columns: int | None) -> dict[str, Callable[[Any], Any]]:
    """Returns functions that fit a tensor, by name; `columns` is its last size, if that is known."""
    rank, dtype = len(x.shape), x.dtype
    found: dict[str, Callable[[Any], Any]] = {
        "square": tf.square, "scale": lambda x: x * 2 - 1, "is zero": lambda x: tf.equal(x, 0),
        "expand_dims": lambda x: tf.expand_dims(x, axis), "zeros_like": tf.zeros_like, "sum": tf.reduce_sum,
        "flat": lambda x: tf.reshape(x, [-1]), "shape": tf.shape, "size": tf.size,
        "stack": lambda x: tf.stack([x, x], axis), "ones of a shape": lambda x: tf.ones(tf.shape(x), dtype),
        "function": tf.function(lambda x: x + 1, autograph=False),
        "broadcast": lambda x: x + tf.ones([2] + [1] * rank, dtype),
        "cond": lambda x: tf.cond(tf.size(x) > 3, lambda: x + 1, lambda: x * 2),
        "while": lambda x: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * 2), (0, x))[1],
    }  # fmt: skip
    axis = int(rng.integers(rank + 1))
    if dtype.is_floating:
        found |= {"gradients": _gradients, "sin": tf.sin, "relu": tf.nn.relu, "leaky": tf.nn.leaky_relu,
                  "positive": lambda x: x > 0,
                  "where": lambda x: tf.where(x > 0, x, -x), "to int": lambda x: tf.cast(x, tf.int32),
                  "numerics": lambda x: tf.debugging.check_numerics(x, "x"), "gelu": tf.nn.gelu}  # fmt: skip
    if rank:
        axis, keeps = _axis(rng, x), bool(rng.integers(2))
        perm = rng.permutation(rank).tolist()
        found |= {
            "sum along": lambda x: tf.reduce_sum(x, axis, keeps), "cumsum": lambda x: tf.cumsum(x, axis),
            "concat": lambda x: tf.concat([x, x * 2], axis), "pad": lambda x: tf.pad(x, [[1, 2]] * rank),
            "tile": lambda x: tf.tile(x, [2] + [1] * (rank - 1)), "transpose": lambda x: tf.transpose(x, perm),
            "reverse": lambda x: tf.reverse(x, [axis]), "first": lambda x: x[0], "last": lambda x: x[..., -1],
            "middle": lambda x: x[1:-1], "odd": lambda x: x[..., ::2], "new axis": lambda x: x[:, tf.newaxis],
            "gather": lambda x: tf.gather(x, [0, 0, 0], axis=axis), "roll": lambda x: tf.roll(x, 1, 0),
            "repeat": lambda x: tf.repeat(x, 2, axis), "rows": lambda x: tf.reshape(x, [tf.shape(x)[0], -1]),
            "like": lambda x: tf.zeros([tf.shape(x)[0], 3], dtype), "unstack": lambda x: tf.stack(tf.unstack(x[:2])),
            "split": lambda x: x if x.shape[0] == 0 else tf.split(x, 2, 0)[0], "count": lambda x: tf.shape(x)[-1] * 2,
            "map_fn": lambda x: tf.map_fn(lambda row: row * 2, x), "range": lambda x: tf.range(tf.shape(x)[0]),
        }  # fmt: skip
        if x.shape[0] % 2:
            del found["split"]
        if dtype.is_floating:
            found |= {"softmax": lambda x: tf.nn.softmax(x, axis), "mean": lambda x: tf.reduce_mean(x, axis, keeps),
                      "max": lambda x: tf.reduce_max(x, axis, keeps), "argmax": lambda x: tf.argmax(x, axis),
                      "top_k": lambda x: tf.math.top_k(x, 2)[0], "sort": lambda x: tf.sort(x, axis),
                      "norm": lambda x: tf.norm(x, axis=axis), "moments": lambda x: tf.nn.moments(x, [axis])[1],
                      "normalized": lambda x: tf.math.l2_normalize(x, axis)}  # fmt: skip
        if dtype.is_integer:
            found["one_hot"] = lambda x: tf.one_hot(x, 3)
    if rank >= 2 and dtype.is_floating:
        found |= {"gram": lambda x: tf.matmul(x, x, transpose_b=True), "diagonal": tf.linalg.diag_part}
    if rank >= 2 and dtype.is_floating and columns is not None:
        matrix = tf.constant(rng.normal(size=(columns, 3)), dtype)
        found |= {"matmul": lambda x: tf.linalg.matmul(x, tf.broadcast_to(matrix, [*[1] * (rank - 2), columns, 3])),
                  "tensordot": lambda x: tf.tensordot(x, matrix, 1),
                  "einsum": lambda x: tf.einsum("...ij,jk->...ik", x, matrix),
                  "bias": lambda x: tf.nn.bias_add(x, matrix[:, 0])}  # fmt: skip
    if rank == 4 and dtype in (tf.float32, tf.float64) and columns is not None:
        kernel = tf.constant(rng.normal(size=(3, 2, columns, 2)), dtype)
        fits = min(x.shape[1:3]) >= 3  # graphs refuse a result without pixels, which eager kernels return
        padding, stride = str(rng.choice(["SAME", "VALID"])) if fits else "SAME", int(rng.integers(1, 3))
        found |= {"conv": lambda x: tf.nn.conv2d(x, kernel, stride, padding),
                  "pool": lambda x: tf.nn.max_pool2d(x, 2, stride, padding),
                  "average": lambda x: tf.nn.avg_pool2d(x, 2, stride, padding),
                  "resize": lambda x: tf.image.resize(x, [5, 7]), "flip": tf.image.flip_left_right,
                  "blocks": lambda x: tf.nn.depthwise_conv2d(x, kernel, [1, stride, stride, 1], padding)}  # fmt: skip
    return found


_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "mul": lambda x, y: x * y, "maximum": lambda x, y: tf.where(tf.equal(x, y), x, y),
    "outer": lambda x, y: tf.reshape(x, [-1, 1])[:5] * tf.reshape(y, [1, -1])[:, :7],
}  # fmt: skip


def _broadcasts(x: Any, y: Any) -> bool:
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        return False
    return x.dtype == y.dtype


def _drawn(rng: np.random.Generator, pool: list[Any], symbols: list[Any]) -> Step:
    """Draws a function of tensors of the pool."""
    i = int(rng.integers(max(0, len(pool) - 3), len(pool)))
    if pool[i].dtype.is_bool:
        return Step("from bool", lambda x: tf.cast(x, tf.float32), (i,))
    if rng.random() < 0.2:
        others = [k for k, y in enumerate(pool) if _broadcasts(pool[i], y)]
        name = str(rng.choice(sorted(_OF_TWO)))
        return Step(name, _OF_TWO[name], (i, int(rng.choice(others))))
    shape = symbols[i].shape
    functions = _of_any(rng, pool[i], shape[-1] if shape.rank else None)
    name = str(rng.choice(sorted(functions)))
    return Step(name, functions[name], (i,))


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    dtype = tf.as_dtype(str(rng.choice(["float32", "float32", "float64", "float16", "int32", "complex64"])))
    pool, shapes = [], []
    for _ in range(int(rng.integers(1, 3))):
        rank = int(rng.integers(0, 5))
        unknown = [rng.random() < (0.7 if axis == 0 else 0.2) for axis in range(rank)]
        sizes = [int(rng.choice(_SIZE if axis else _BATCH)) if is_open else int(rng.integers(0, 5) or 1)
                 for axis, is_open in enumerate(unknown)]  # fmt: skip
        if math.prod(sizes) > _ENTRIES_MAX // 4:
            sizes, unknown = sizes[:2], unknown[:2]
        pool.append(tf.cast(tf.constant(rng.integers(-3, 4, sizes)), dtype))
        shapes.append([None if is_open else n for n, is_open in zip(sizes, unknown, strict=True)])
    graph, problems, names = FuncGraph("scratch"), [], []
    with graph.as_default():
        symbols = [tf.compat.v1.placeholder(dtype, shape) for shape in shapes]
    for _ in range(int(rng.integers(1, 6))):
        step = _drawn(rng, pool, symbols)
        try:
            with np.errstate(all="ignore"):
                value = step.function(*(pool[k] for k in step.arguments))
        except (ValueError, TypeError, tf.errors.OpError):
            continue  # it does not fit these sizes
        if math.prod(value.shape) > _ENTRIES_MAX:
            continue
        names.append(f"{step.name}{list(step.arguments)}")
        try:
            with graph.as_default():
                found = step.function(*(symbols[k] for k in step.arguments))
        except Exception as error:
            problems.append(f"{step.name} raised {type(error).__name__}: {str(error)[:300]}")
            break
        if found is None or found.dtype != value.dtype or not found.shape.is_compatible_with(value.shape):
            problems.append(f"{step.name} gives {found}, not {value.dtype} {value.shape}")
            break
        if not any(None in shape for shape in shapes) and not found.shape.is_fully_defined():
            problems.append(f"{step.name} gives {found.shape} instead of {value.shape}")
        pool.append(value)
        symbols.append(found)
    sizes = [x.shape for x in pool[: len(shapes)]]
    return [f"{message} in {'; '.join(names)} of {dtype.name} {shapes}, {sizes}" for message in problems]
