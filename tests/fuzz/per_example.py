"""Per-example and per-loss gradients, their norms and cosines, against one tape for each of them.

Layers that combine examples make them refuse by default, and no others do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

from ._programs import differs


class Model:
    """Per-example losses of a batch, by random layers with their own variables."""

    def __init__(self, rng: np.random.Generator, dtype: str) -> None:
        self._rng, self._dtype = rng, dtype
        self.batch = int(rng.choice([0, 1, 2, 3, 4], p=[0.05, 0.15, 0.2, 0.3, 0.3]))
        self.x = rng.normal(size=(self.batch, 3)).astype(dtype)
        self.weights: list[Any] = []
        self._layers: list[tuple[str, Callable[[Any], Any]]] = []
        width = 3
        for _ in range(int(rng.integers(1, 5))):
            name = str(rng.choice(sorted(LAYERS)))
            layer, width = LAYERS[name](self, width)
            self._layers.append((name, layer))

    def variable(self, *shape: int) -> Any:
        """Creates a weight."""
        self.weights.append(tf.Variable((0.5 * self._rng.normal(size=shape)).astype(self._dtype)))
        return self.weights[-1]

    def integers(self, most: int) -> Any:
        """Returns an integer for each example."""
        return tf.constant(self._rng.integers(0, most, self.batch))

    def outputs(self, x: Any) -> Any:
        """Returns a row for each row of `x`."""
        for _, layer in self._layers:
            x = layer(x)
        return x

    def __call__(self) -> Any:
        h = self.outputs(tf.constant(self.x))
        return tf.reduce_sum(h * h + h, 1)

    def __str__(self) -> str:
        return f"{[name for name, _ in self._layers]}, {self.batch} examples of {self._dtype}"


Layer = tuple[Callable[[Any], Any], int]


def _dense(model: Model, width: int) -> Layer:
    w, b = model.variable(width, 2), model.variable(2)
    return lambda h: tf.tanh(h @ w + b), 2


def _function(model: Model, width: int) -> Layer:
    w = model.variable(width, 3)
    return tf.function(lambda h: tf.sin(h @ w)), 3


def _again(model: Model, width: int) -> Layer:
    w = model.variable(width, 2)
    return tf.recompute_grad(lambda h: tf.tanh(h @ w)), 2


def _scale(model: Model, width: int) -> Layer:
    s, t = model.variable(width), model.variable()
    return lambda h: h * s + t, width


def _embedding(model: Model, width: int) -> Layer:
    table, at = model.variable(4, width), model.integers(4)
    return lambda h: h + tf.gather(table, at), width


def _tables(model: Model, width: int) -> Layer:
    table, at = model.variable(4, width), model.integers(4)
    return lambda h: h * tf.one_hot(at, 4, dtype=h.dtype) @ table if h.shape[1] == 4 else h + table[1], width


def _convolution(model: Model, width: int) -> Layer:
    kernel = model.variable(2, 1, 2)
    return lambda h: tf.reshape(tf.nn.conv1d(h[:, :, None], kernel, 1, "SAME"), (h.shape[0], 2 * width)), 2 * width


def _normalized(model: Model, width: int) -> Layer:
    gamma = model.variable(width)

    def layer(h: Any) -> Any:
        mean, variance = tf.nn.moments(h, [1], keepdims=True)
        return (h - mean) / tf.sqrt(variance + 0.5) * gamma

    return layer, width


def _over_the_batch(model: Model, width: int) -> Layer:
    gamma = model.variable(width)
    return lambda h: (h - tf.reduce_mean(h, 0, keepdims=True)) * gamma, width


def _neighbours(model: Model, width: int) -> Layer:
    s = model.variable(width)
    return lambda h: h + tf.roll(h, 1, 0) * s, width


def _attention(model: Model, width: int) -> Layer:
    q = model.variable(width, width)
    return lambda h: tf.einsum("bi,bij->bj", h, tf.nn.softmax(h[:, :, None] * (h @ q)[:, None])), width


def _cond(model: Model, width: int) -> Layer:
    s = model.variable(width)
    return lambda h: tf.cond(tf.reduce_sum(s) > 0, lambda: h * s, lambda: tf.sin(h) + s), width


def _loop(model: Model, width: int) -> Layer:
    s = model.variable(width)

    def layer(h: Any) -> Any:
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.tanh(y * s)), (tf.constant(0), h))[1]

    return layer, width


def _custom(model: Model, width: int) -> Layer:
    double = tf.custom_gradient(lambda h: (h * 2, lambda dy: dy * 3))
    s = model.variable(width)
    return lambda h: double(h * s), width


def _fourier(model: Model, width: int) -> Layer:
    s = model.variable(width)

    def layer(h: Any) -> Any:
        z = tf.signal.fft(tf.cast(h * s, tf.complex128))
        return tf.cast(tf.abs(z + (2.0 + 1j)), h.dtype)

    return layer, width


def _gates(model: Model, width: int) -> Layer:
    s = model.variable(1, width)
    return lambda h: tf.where(h > 0, h * s, tf.cumsum(h, 1)) + tf.reduce_max(h, 1, keepdims=True) * s, width


def _inner_gradient(model: Model, width: int) -> Layer:
    s = model.variable(width)

    def layer(h: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(h)
            y = tf.reduce_sum(tf.sin(h * s))
        return h + tape.gradient(y, h)

    return layer, width


MIXING = {"over the batch", "neighbours"}  # these layers combine examples
LAYERS: dict[str, Callable[[Model, int], Layer]] = {
    "dense": _dense, "dense again": _dense, "function": _function, "recomputed": _again, "scale": _scale,
    "embedding": _embedding, "tables": _tables, "convolution": _convolution, "normalized": _normalized,
    "over the batch": _over_the_batch, "neighbours": _neighbours, "attention": _attention, "cond": _cond,
    "loop": _loop, "custom": _custom, "fourier": _fourier, "gates": _gates, "inner gradient": _inner_gradient,
}  # fmt: skip


def disagreements(seed: int) -> list[str]:
    """Compares `per="example"` and `per="loss"`, with norms and cosines, of one random model."""
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["float64", "float64", "float32", "float16"]))
    model = Model(rng, dtype)
    unused = tf.Variable(np.ones(2, dtype))
    sources = [*model.weights, unused]
    call = tf.function(model, autograph=False) if rng.random() < 0.2 else model
    with tf.GradientTape(persistent=True) as tape:
        losses = call()
        single = [losses[i] for i in range(model.batch)]
    if not np.all(np.isfinite(losses.numpy())):
        return []
    expected: list[list[Any]] = []
    for i in range(model.batch):
        with tf.GradientTape() as own:
            loss = model()[i]
        expected.append([None if g is None else tf.convert_to_tensor(g).numpy() for g in own.gradient(loss, sources)])
    names = [name for name, _ in model._layers]
    mixing = [i for i, name in enumerate(names) if name in MIXING]
    check_rows = not mixing
    found: list[str] = []
    if mixing and mixing[-1] and model.batch > 1:  # what is combined is on the tape
        try:
            tape.gradient(losses, sources, per="example")
            found.append("examples are combined, without an error")
        except ValueError:
            pass
    precision = dtype
    for per, target in (("example", losses), ("loss", single)):
        if not model.batch:
            if per == "example":
                shapes = [tuple(g.shape) for g in tape.gradient(losses, model.weights, per=per)]
                if shapes != [(0, *w.shape) for w in model.weights]:
                    found.append(f"no examples: gradients of shapes {shapes}")
            continue
        gradients = tape.gradient(target, sources, per=per, check_rows=check_rows)
        norms = tape.gradient(target, sources, per=per, norms=True, check_rows=check_rows)
        rows = []
        for k, source in enumerate(sources):
            own = [e[k] for e in expected]
            if all(g is None for g in own):
                found += differs(f"per={per} of source {k}", gradients[k], None, precision)
                continue
            stacked = np.stack([np.zeros(source.shape, dtype) if g is None else g for g in own])
            rows.append(stacked.reshape(model.batch, -1).astype(np.float64))
            found += differs(f"per={per} of source {k}", gradients[k], stacked, precision)
            found += differs(f"norms per={per} of source {k}", norms[k], np.linalg.norm(rows[-1], axis=1), precision)
        if rows and dtype != "float16":
            vectors = np.concatenate(rows, axis=1)
            lengths = np.linalg.norm(vectors, axis=1)
            if np.all(lengths > 1e-3):
                cosines = vectors @ vectors.T / np.outer(lengths, lengths)
                own = tape.cosines(target, sources, per=per, check_rows=check_rows)
                found += differs(f"cosines per={per}", own, cosines, precision)
    return [f"{message} in {model}" for message in found]
