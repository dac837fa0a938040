"""Per-example gradients of convolutions, against one tape for each example.

Axes: one, two and three dimensions; plain, grouped, depthwise and transposed; window, stride, dilation and padding;
channels; zero to four examples; float64, float32 and float16; eager, in a function, under XLA; first derivatives, and
second ones through the gradients of all examples.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

TOLERANCE = {"float64": 1e-11, "float32": 1e-4, "float16": 2e-2}


class Layer:
    """A convolution with random attributes, as a function of images and filter."""

    def __init__(self, rng: np.random.Generator) -> None:
        rank = int(rng.choice([1, 2, 3], p=[0.3, 0.5, 0.2]))
        kind = str(rng.choice(["plain", "grouped", "depthwise", "transposed"]))
        rank = 2 if kind == "depthwise" else rank
        space = rng.integers(3, 6, rank).tolist()
        window = rng.integers(1, 4, rank).tolist()
        channels, outputs = (int(n) for n in rng.integers(1, 4, 2))
        self.padding = str(rng.choice(["SAME", "VALID"]))
        stride, dilation = ((int(rng.integers(1, 3)), 1), (1, int(rng.integers(1, 3))))[int(rng.integers(2))]
        self.dtype = str(rng.choice([*TOLERANCE]))
        count = int(rng.choice([0, 1, 2, 3, 4], p=[0.05, 0.15, 0.2, 0.3, 0.3]))
        if kind != "transposed" and self.padding == "VALID":  # the window fits
            space = [max(n, (w - 1) * dilation + 1) for n, w in zip(space, window, strict=True)]
        groups = int(rng.integers(2, 4)) if kind == "grouped" else 1
        shape = (*window, channels, outputs * groups)
        self.call = self._plain(stride, dilation)
        if kind == "depthwise":
            strides = (1, stride, stride, 1)
            self.call = lambda x, w: tf.nn.depthwise_conv2d(x, w, strides, self.padding, dilations=[dilation] * 2)
        elif kind == "transposed":
            shape = (*window, outputs, channels)
            self.call = self._transposed(outputs, stride)
        self.x = rng.normal(size=(count, *space, channels * groups)).astype(self.dtype)
        self.w = (0.5 * rng.normal(size=shape)).astype(self.dtype)
        self.title = (
            f"{kind} {self.x.shape} by {shape}, {self.padding}, stride {stride}, dilation {dilation}, {self.dtype}"
        )

    def _plain(self, stride: int, dilation: int) -> Callable[[Any, Any], Any]:
        return lambda x, w: tf.nn.convolution(x, w, stride, self.padding, dilations=dilation)

    def _transposed(self, outputs: int, stride: int) -> Callable[[Any, Any], Any]:
        def call(x: Any, w: Any) -> Any:
            grown = [n - 1 if self.padding == "VALID" else 0 for n in w.shape[:-2]]
            space = [n * stride + extra for n, extra in zip(x.shape[1:-1], grown, strict=True)]
            return tf.nn.conv_transpose(x, w, [x.shape[0], *space, outputs], stride, self.padding)

        return call


def disagreements(seed: int) -> list[str]:
    """Compares the gradients of all examples with those of one after the other."""
    rng = np.random.default_rng(seed)
    layer = Layer(rng)
    is_second = rng.random() < 0.3
    modes = ["eager", "function"] + ["xla"] * (importlib.util.find_spec("jax") is not None)
    mode = modes[seed % len(modes)]

    def losses(x: Any, w: Any) -> Any:
        y = layer.call(x, w)
        return tf.reduce_sum(tf.tanh(y) * 0.5, list(range(1, len(y.shape))))

    def gradient(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = losses(x, w)
        return tape.gradient(y, w, per="example")

    def one_by_one(x: Any, w: Any) -> Any:
        gradients = []
        for i in range(x.shape[0]):
            with tf.GradientTape() as tape:
                tape.watch(w)
                y = losses(x[i : i + 1], w)
            gradients.append(tape.gradient(y, w))
        return tf.stack(gradients) if gradients else tf.zeros([0, *w.shape], w.dtype)

    def second(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def derivatives(x: Any, w: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                total = tf.reduce_sum(tf.sin(f(x, w)))
            return tape.gradient(total, [x, w], unconnected_gradients="zero")

        return derivatives

    compute, reference = (second(gradient), second(one_by_one)) if is_second else (gradient, one_by_one)
    if mode != "eager":
        compute = tf.function(compute, jit_compile=mode == "xla" or None)
    x, w = tf.constant(layer.x), tf.constant(layer.w)
    got, expected = tf.nest.flatten(compute(x, w)), tf.nest.flatten(reference(x, w))
    title = f"{mode}, {'second' if is_second else 'first'}: {layer.title}"
    return [text for pair in zip(got, expected, strict=True) for text in _differs(title, *pair, layer.dtype)]


def _differs(title: str, got: Any, expected: Any, dtype: str) -> list[str]:
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return [f"{title}: {got.dtype!r} of {got.shape}, expected {expected.dtype!r} of {expected.shape}"]
    a, b = (np.asarray(y).astype(np.float64) for y in (got, expected))
    error = np.abs(a - b).max(initial=0) / np.abs(b).max(initial=1)
    return [] if error <= TOLERANCE[dtype] else [f"{title}: off by {error:.1e}"]
