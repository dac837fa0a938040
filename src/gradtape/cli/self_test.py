"""The self-tests of `gradtape doctor`: a few seconds, one test per subsystem, each against an independent result."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from gradtape.core.extras import install_command

from .gpus import why_no_gpu


class SelfTestOutcome(NamedTuple):
    """The result of a test."""

    name: str
    status: str  # passed, failed or skipped
    seconds: float
    note: str = ""


class NotInstalled(Exception):
    """The subject of a test is not installed."""


def perform(name: str) -> SelfTestOutcome:
    """Runs the test `name`."""
    start = time.perf_counter()
    try:
        TESTS[name]()
    except NotInstalled as missing:
        status, note = "skipped", str(missing)
    except Exception as error:
        status, note = "failed", f"{type(error).__name__}: {error}"
    else:
        status, note = "passed", ""
    return SelfTestOutcome(name, status, time.perf_counter() - start, note)


def _agree(f: Callable[[Any], Any], x: np.ndarray, step: float = 1e-6) -> None:
    """Raises unless the tape's gradient of sum(f(x)) agrees with central differences."""
    source = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(source)
        y = tf.reduce_sum(f(source))
    expected = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[index] = step
        difference = tf.reduce_sum(f(tf.constant(x + moved))) - tf.reduce_sum(f(tf.constant(x - moved)))
        expected[index] = float(difference) / (2 * step)
    np.testing.assert_allclose(np.asarray(tape.gradient(y, source)), expected, rtol=1e-5, atol=1e-7)


def _values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.2, 1.5, shape)


def _gradients() -> None:
    _agree(lambda x: tf.tanh(x) * tf.exp(x) / (1.0 + x**2), _values(7))
    _agree(lambda x: tf.nn.log_softmax(x)[:, 0] + tf.math.lgamma(x)[:, 1], _values(3, 4))
    _agree(lambda x: tf.linalg.inv(x @ tf.transpose(x) + tf.eye(3, dtype=x.dtype)), _values(3, 3))
    _agree(lambda x: tf.nn.conv2d(x, tf.ones((2, 2, 2, 3), x.dtype), 1, "SAME") ** 2, _values(1, 4, 4, 2))


def _on(kind: str) -> None:
    """Compares a product and its gradient on every device of this kind with NumPy."""
    x, w = _values(256, 128).astype("float32"), _values(128, 64).astype("float32")
    for device in tf.config.list_logical_devices(kind):
        with tf.device(device.name):
            variable: Any = tf.Variable(w)
            with tf.GradientTape() as tape:
                y = tf.matmul(tf.constant(x), variable)
                loss = tf.reduce_sum(y * y)
            gradient = tape.gradient(loss, variable)
        for made in (y, gradient):
            assert made.device.endswith(device.name), f"{device.name} was asked for, but a result is on {made.device}"
        np.testing.assert_allclose(y.numpy(), x @ w, rtol=5e-3)  # a GPU may round to TF32
        np.testing.assert_allclose(gradient.numpy(), 2 * x.T @ (x @ w), rtol=5e-3)


def _on_gpus() -> None:
    reason = why_no_gpu()
    if reason:
        raise NotInstalled(f"no GPU is used: {reason}")
    _on("GPU")


def _second_order() -> None:
    x: Any = tf.Variable([1.0, 2.0], dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**3) + x[0] * x[1]
        gradient = inner.gradient(y, x)
    np.testing.assert_allclose(outer.jacobian(gradient, x).numpy(), [[6, 1], [1, 12]])


def _test_function(**options: Any) -> None:
    w = tf.Variable(_values(4, 3))

    def loss(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(tf.tanh(x @ w) ** 2)
        return y, tape.gradient(y, w)

    x = tf.constant(_values(5, 4))
    traced = tf.function(loss, **options)
    for _ in range(3):  # traced, then run as a graph
        for ours, eager in zip(traced(x), loss(x), strict=True):
            np.testing.assert_allclose(ours.numpy(), eager.numpy(), rtol=1e-6)


def _autograph() -> None:
    assert int(tf.function(_halvings)(tf.constant(40.0))) == 6


def _halvings(x: Any) -> Any:
    count = tf.constant(0)
    while x > 1.0:
        x = x / 2.0
        count += 1
    return count


def _xla() -> None:
    _need("jax", "xla")
    _test_function(jit_compile=True)
    assert "jax" in sys.modules, "the function did not reach XLA"


def _keras() -> None:
    _need("keras", "keras")
    keras = tf.keras
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = _values(64, 2).astype("float32")
    y = x @ np.array([[1.0], [-2.0]], "float32")
    losses = model.fit(x, y, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0], f"the loss went from {losses[0]} to {losses[-1]}"


def _need(module: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise NotInstalled(f"needs {module}: {install_command(extra)}")


TESTS: dict[str, Callable[[], None]] = {
    "gradients against finite differences": _gradients,
    "second derivatives": _second_order,
    "a product and a gradient on the CPU": lambda: _on("CPU"),
    "a product and a gradient on each GPU": _on_gpus,
    "a traced function": _test_function,
    "AutoGraph": _autograph,
    "a function on XLA": _xla,
    "a Keras model learns": _keras,
}
