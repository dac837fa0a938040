"""`tf.vectorized_map` of random bodies against a Python loop over the rows.

A body is a program of `_programs` with branches and loops that depend on the values of a row, maps, scans and inner
tapes, on one or two tensors (empty, views, complex, of half precision), perhaps with a tensor that all rows share.
Compared are the stacked results and the gradients for the rows and the shared tensor, eagerly, in a function, and of
a map within a map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

from ._programs import TOLERANCES, USERS_RULES, Program, differs, inputs


def _loop_by_value(rng: np.random.Generator) -> Callable[[Any], Any]:
    """Returns a loop that runs for a different number of rounds in each row."""
    limit = float(rng.normal())

    def loop(x: Any) -> Any:
        return tf.while_loop(
            lambda i, y: tf.logical_and(i < 3, tf.reduce_sum(y) < limit), lambda i, y: (i + 1, y + 0.5), (0, x)
        )[1]

    return loop


def _cases(rng: np.random.Generator) -> Callable[[Any], Any]:
    first, second = np.sort(rng.normal(size=2)).tolist()

    def cases(x: Any) -> Any:
        total = tf.reduce_sum(x)
        index = tf.cast(total > first, tf.int32) + tf.cast(total > second, tf.int32)
        return tf.switch_case(index, [lambda: x * 2, lambda: tf.sin(x), lambda: -x])

    return cases


def _conditional(rng: np.random.Generator) -> Callable[[Any], Any]:
    limit, factor = float(rng.normal()), float(rng.normal())

    def choose(x: Any) -> Any:
        outer = tf.constant(factor, x.dtype)
        return tf.cond(tf.reduce_mean(x) > limit, lambda: x * outer, lambda: tf.cond(
            tf.reduce_max(x) > limit, lambda: x - outer, lambda: tf.zeros_like(x) + outer))  # fmt: skip

    return choose


def _mapped(rng: np.random.Generator) -> Callable[[Any], Any]:
    return [
        lambda x: tf.map_fn(lambda row: tf.sin(row) * row, tf.reshape(x, [-1])),
        lambda x: tf.scan(lambda a, row: a * 0.5 + row, tf.reshape(x, [-1])),
        lambda x: tf.vectorized_map(lambda row: row * tf.reduce_sum(x), tf.reshape(x, [-1])),
        lambda x: tf.foldl(lambda a, row: a * 0.5 + row, tf.reshape(x, [-1])),
        lambda x: tf.gather(tf.reshape(x, [-1]), tf.argmax(tf.reshape(x, [-1]))),
        lambda x: tf.tensor_scatter_nd_update(tf.reshape(x, [-1]), [[0]], [x.dtype.as_numpy_dtype(2)]),
    ][int(rng.integers(6))]


class Body:
    """A program, perhaps followed by a step that depends on values, and a product with a shared tensor."""

    def __init__(self, rng: np.random.Generator, rows: list[Any]) -> None:
        self.program = Program(
            rng, rows, int(rng.integers(1, 7)), without=USERS_RULES, complex_end=bool(rng.integers(2))
        )
        kinds = [None, _loop_by_value, _cases, _conditional, _mapped]
        y = self.program(*rows)
        kind = kinds[int(rng.integers(len(kinds)))] if y.shape[0] and not y.dtype.is_complex else None
        self.last = None if kind is None else kind(rng)
        self.kind = "" if kind is None else kind.__name__

    def __call__(self, shared: Any, *rows: Any) -> Any:
        y = self.program(*rows)
        y = y if self.last is None else self.last(y)
        return {"y": y * tf.cast(shared, y.dtype), "size": tf.size(y)}

    def __str__(self) -> str:
        return f"{self.program}{self.kind}"


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    count = int(rng.choice([1, 2, 3, 4]))
    arrays = [np.stack([rng.permutation(x.ravel()).reshape(x.shape) + k for k in range(count)]).astype(x.dtype)
              for x in inputs(rng)]  # fmt: skip
    stacked = [tf.constant(x[::-1])[::-1] if rng.random() < 0.3 else tf.constant(x) for x in arrays]
    body = Body(rng, [x[0] for x in stacked])
    shared = tf.constant(1.5, stacked[0].dtype)
    sources = [*stacked, shared]
    with np.errstate(all="ignore"), tf.GradientTape() as tape:
        tape.watch(sources)
        results = [body(shared, *(x[k] for x in stacked)) for k in range(count)]
        if len({tuple(r["y"].shape) for r in results}) > 1:
            return []  # a map needs results of one shape
        expected = {name: tf.stack([r[name] for r in results]) for name in ("y", "size")}
        loss = tf.reduce_sum(tf.abs(expected["y"]) ** 2)
    if not all(np.all(np.isfinite(np.abs(e.numpy()).astype(np.float64))) for e in expected.values()):
        return []
    # A function has a path through the branches that no row takes.
    gradients = tape.gradient(loss, sources, unconnected_gradients="zero")

    def call(shared: Any, *stacked: Any) -> Any:
        return tf.vectorized_map(lambda rows: body(shared, *rows), stacked, warn=False)

    def nested(shared: Any, *stacked: Any) -> Any:
        twice = tf.vectorized_map(lambda _: call(shared, *stacked), tf.range(2), warn=False)
        return tf.nest.map_structure(lambda y: y[1], twice)

    ways = {"eager": call, "function": tf.function(call, autograph=False)}
    if seed % 5 == 0:
        ways["nested"] = nested
    problems: list[str] = []
    for name, way in ways.items():
        with np.errstate(all="ignore"), tf.GradientTape() as tape:
            tape.watch(sources)
            found = way(shared, *stacked)
            loss = tf.reduce_sum(tf.abs(found["y"]) ** 2)
        if found["size"].numpy().tolist() != expected["size"].numpy().tolist():
            problems.append(f"{name}: sizes {found['size'].numpy()}")
        precision = body.program.precision
        problems += differs(f"{name} values", found["y"].numpy(), expected["y"].numpy(), precision)
        if problems or TOLERANCES[precision] > 1e-2:
            continue  # half precision rounds sums of gradients differently
        own = tape.gradient(loss, sources, unconnected_gradients="zero")
        for k, pair in enumerate(zip(own, gradients, strict=True)):
            problems += differs(f"{name} gradient {k}", *(tf.convert_to_tensor(g).numpy() for g in pair), precision)
    return [f"{problem} in {body} at {[x.tolist() for x in arrays]}" for problem in problems]
