"""Tapes that track assignments: random programs that update variables, compared with a functional version.

A program is written once in terms of cells. In one run a cell is a variable, which is read, assigned, scattered to and
updated by optimizers under `GradientTape(track_assign=True)`. In the other, a cell is a name for the latest tensor, and
every update creates a new one, which a plain tape differentiates. Values and gradients must agree.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import metadata
from typing import Any
from unittest import mock

import numpy as np

import gradtape as tf
from gradtape.engine.memory.store import Store

HAS_KERAS = any(True for _ in metadata.distributions(name="keras"))
DTYPES = [tf.float64, tf.float64, tf.float32, tf.complex128, tf.complex64, tf.float16, tf.bfloat16]
TOLERANCES = {tf.float64: 1e-9, tf.complex128: 1e-9, tf.float32: 2e-4, tf.complex64: 2e-4, tf.float16: 0.05,
              tf.bfloat16: 0.3}  # fmt: skip
SHAPES = [(3, 2), (4,), (2, 3, 2), (), (0, 2)]


def disagreements(seed: int) -> list[str]:
    """Runs one program with variables and with tensors."""
    expected, dtype = Program(seed, functional=True).answers()
    with mock.patch.object(Store, "least_limit", 0):  # the tensors here are small
        found, _ = Program(seed, functional=False).answers()
    said = []
    for (name, a), (_, b) in zip(found, expected, strict=True):
        if (a is None) != (b is None):
            said.append(f"{name} is {a} instead of {b}")
        elif a is not None and not _close(a, b, TOLERANCES[dtype]):
            said.append(f"{name} is {a.ravel()[:6]} instead of {b.ravel()[:6]}")
    return [f"seed {seed}, {dtype.name}: {text}" for text in said]


def _close(a: Any, b: Any, tolerance: float) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    known = np.isfinite(a) & np.isfinite(b)
    scale = max(1.0, np.abs(b[known]).max(initial=0.0))
    alike = np.array_equal(np.isfinite(a), np.isfinite(b))
    return bool(alike and np.abs(a[known] - b[known]).max(initial=0.0) <= tolerance * scale)


class VariableCell:
    """A variable."""

    def __init__(self, value: Any, trainable: bool) -> None:
        self.variable = tf.Variable(value, trainable=trainable)
        self.source = self.variable
        self.trainable = trainable

    def read(self, how: int) -> Any:
        """Reads the value in one of the possible ways."""
        v = self.variable
        return [lambda: v * 1, v.read_value, v.value, lambda: tf.identity(v), lambda: tf.convert_to_tensor(v)][how]()

    def update(self, kind: str, x: Any, at: Any = None) -> None:
        """Assigns to the variable, or to a part of it."""
        v = self.variable
        if kind in ("assign", "assign_add", "assign_sub"):
            getattr(v, kind)(x)
        elif kind == "slice":
            v[at].assign(x)
        elif kind.startswith("scatter_nd"):
            getattr(v, kind)(at, x)
        else:
            getattr(v, kind)(tf.IndexedSlices(x, tf.constant(at)))


class TensorCell:
    """A name for the latest tensor."""

    def __init__(self, value: Any, trainable: bool) -> None:
        self.tensor = self.source = tf.identity(value)
        self.trainable = trainable

    def read(self, how: int) -> Any:
        """Returns the latest tensor."""
        return self.tensor * 1

    def update(self, kind: str, x: Any, at: Any = None) -> None:
        """Replaces the latest tensor."""
        t = self.tensor
        if kind == "slice":
            numbers = tf.reshape(tf.range(tf.size(t)), t.shape)[at]
            flat = tf.tensor_scatter_nd_update(
                tf.reshape(t, [-1]), tf.reshape(numbers, [-1, 1]), tf.reshape(tf.broadcast_to(x, numbers.shape), [-1])
            )
            self.tensor = tf.reshape(flat, t.shape)
        elif kind.startswith("assign"):
            self.tensor = tf.identity(x) if kind == "assign" else t + x if kind == "assign_add" else t - x
        elif kind in ("scatter_min", "scatter_max"):  # whose gradient of equal numbers tensor_scatter_nd_min divides
            choose = tf.minimum if kind == "scatter_min" else tf.maximum
            self.tensor = tf.tensor_scatter_nd_update(t, [[i] for i in at], choose(tf.gather(t, at), x))
        else:
            at = at if kind.startswith("scatter_nd") else [[i] for i in at]
            self.tensor = getattr(tf, f"tensor_scatter_nd_{kind.rpartition('_')[2]}")(t, at, x)


class Program:
    """The program of a seed, with variables or with tensors."""

    def __init__(self, seed: int, functional: bool) -> None:
        self._rng = rng = random.Random(seed)
        self._functional = functional
        self._dtype = rng.choice(DTYPES)
        numbers = np.random.default_rng(seed)

        def tensor(shape: tuple[int, ...]) -> Any:
            array = numbers.normal(size=shape) * 0.6
            return tf.cast(array + 1j * array[::-1] if self._dtype.is_complex and shape else array, self._dtype)

        self._shape = rng.choice(SHAPES)
        cell = TensorCell if functional else VariableCell
        self._cells: list[Any] = [cell(tensor(self._shape), rng.random() < 0.75) for _ in range(rng.randint(1, 3))]
        self._inputs = [tensor(self._shape) for _ in range(2)]
        self._budget = {"memory_budget": rng.choice([1000, 0.3])} if rng.random() < 0.15 else {}
        self._in_function = rng.random() < 0.12
        self._optimizes = self._dtype in (tf.float32, tf.float64) and 0 not in self._shape and rng.random() < 0.1
        self._optimizes &= HAS_KERAS
        self._statements = rng.randint(1, 10)

    def answers(self) -> tuple[list[tuple[str, Any]], Any]:
        """Returns the loss, the cells' latest values and all gradients, each with a name; and the dtype."""
        rng = self._rng
        sources = [(f"gradient of cell {i}", c.source) for i, c in enumerate(self._cells) if c.trainable]
        sources += [(f"gradient of input {i}", x) for i, x in enumerate(self._inputs)]
        persistent = rng.random() < 0.3
        options = {} if self._functional else {"track_assign": True, **self._budget}
        with tf.GradientTape(persistent=persistent, **options) as tape:
            tape.watch([x for _, x in sources if isinstance(x, tf.Tensor)])
            self._pool = list(self._inputs)
            for _ in range(self._statements):
                self._statement()
            loss = tf.add_n([tf.reduce_sum(c.read(0) * c.read(rng.randrange(5))) for c in self._cells])
            loss += tf.reduce_sum(tf.sin(self._pool[-1]))
        found: list[tuple[str, Any]] = [("loss", loss)]
        if persistent:
            target = self._cells[0].tensor if self._functional else self._cells[0].variable
            gradients = tape.gradient(target, [x for _, x in sources])
            found += [(f"{name}, of a cell", g) for (name, _), g in zip(sources, gradients, strict=True)]
        gradients = tape.gradient(loss, [x for _, x in sources])
        found += [(name, g) for (name, _), g in zip(sources, gradients, strict=True)]
        found += [(f"cell {i}", c.read(0)) for i, c in enumerate(self._cells)]
        return [(name, None if g is None else np.asarray(tf.convert_to_tensor(g))) for name, g in found], self._dtype

    def _statement(self) -> None:
        rng = self._rng
        kinds: list[Callable[[], None]] = [self._update, self._update, self._part, self._part, self._read, self._loop]
        kinds += [self._slope, self._tracked_slope, self._paused]
        if self._optimizes:
            kinds += [self._optimized] * 3
        if self._in_function:
            kinds += [self._function] * 2
        rng.choice(kinds)()

    def _value(self) -> Any:
        """Returns a tensor of the cells' shape, computed from existing values."""
        rng = self._rng
        x = rng.choice(self._pool) if rng.random() < 0.5 else rng.choice(self._cells).read(rng.randrange(5))
        y = rng.choice(self._cells).read(rng.randrange(5))
        ops: list[Callable[[], Any]] = [
            lambda: tf.sin(x) * y, lambda: x + 0.5 * y, lambda: tf.tanh(x), lambda: x * x - y, lambda: tf.ones_like(x),
            lambda: tf.stop_gradient(x) * y, lambda: tf.math.conj(x) * y, lambda: tf.identity(x),
        ]  # fmt: skip
        return rng.choice(ops)()

    def _read(self) -> None:
        self._pool.append(self._value())

    def _update(self) -> None:
        rng = self._rng
        cell, x = rng.choice(self._cells), self._value()
        if rng.random() < 0.15:
            x = tf.ones_like(tf.stop_gradient(x)) * 0.5  # not on the tape
        cell.update(rng.choice(["assign", "assign", "assign_add", "assign_sub"]), tf.tanh(x))

    def _part(self) -> None:
        """Updates a part of a cell."""
        rng = self._rng
        cell, x = rng.choice(self._cells), tf.tanh(self._value())
        if not self._shape or 0 in self._shape:
            cell.update("assign", x)
            return
        rows = self._shape[0]
        if rng.random() < 0.5:
            i = rng.randrange(rows)
            slices: list[Any] = [i, slice(i, None), slice(None, None, 2), (Ellipsis, 0), slice(None)]
            at = rng.choice(slices)
            part = x[at]
            if rng.random() < 0.2:
                part = tf.reduce_sum(part) * 0.3  # which is broadcast
            cell.update("slice", part, at)
            return
        chosen = sorted(rng.sample(range(rows), rng.randint(1, rows)))
        kind = rng.choice(["add", "sub", "update", *([] if self._dtype.is_complex else ["min", "max"])])
        if rng.random() < 0.5 and kind in ("add", "sub", "update"):
            chosen = chosen if kind == "update" else [*chosen, chosen[0]]
            cell.update(f"scatter_nd_{kind}", tf.gather(x, chosen), [[i] for i in chosen])
        else:
            cell.update(f"scatter_{kind}", tf.gather(x, chosen), chosen)

    def _loop(self) -> None:
        cell = self._rng.choice(self._cells)
        x = self._value()
        for _ in range(self._rng.randint(0, 3)):
            cell.update("assign", tf.sin(cell.read(0)) + 0.1 * x)

    def _slope(self) -> None:
        """A plain inner tape: later assignments may depend on its gradient."""
        rng = self._rng
        cell, x = rng.choice([c for c in self._cells if c.trainable] or [None]), self._value()
        if cell is None:
            return
        with tf.GradientTape() as tape:
            start = cell.tensor if self._functional else cell.variable
            if self._functional:
                start = tf.identity(start)
                tape.watch(start)
            y = tf.sin(start) * x
        slope = tape.gradient(y, start)
        cell.update(rng.choice(["assign_sub", "assign"]), 0.3 * slope)

    def _tracked_slope(self) -> None:
        """An inner tape that tracks assignments too."""
        rng = self._rng
        cell, x = rng.choice([c for c in self._cells if c.trainable] or [None]), self._value()
        if cell is None:
            return
        options = {} if self._functional else {"track_assign": True}
        with tf.GradientTape(**options) as tape:
            if self._functional:
                start = cell.tensor = tf.identity(cell.tensor)
                tape.watch(start)
            else:
                start = cell.variable
            y = cell.read(0) * x
            cell.update("assign", tf.sin(y))
            y = cell.read(0) * y
        slope = tape.gradient(y, start)
        self._pool.append(tf.tanh(slope))

    def _paused(self) -> None:
        """A value computed without a derivative."""
        rng = self._rng
        x = self._value()
        cell = rng.choice(self._cells)
        cell.update(rng.choice(["assign", "assign_add"]), tf.stop_gradient(tf.tanh(x)))

    def _function(self) -> None:
        """A function that reads and updates a cell, called twice."""
        rng = self._rng
        cell, other = rng.choice(self._cells), rng.choice(self._cells)
        how, kind = rng.randrange(5), rng.choice(["assign", "assign_add"])
        branches = rng.random() < 0.2

        def step(x: Any) -> Any:
            seen = cell.read(how) * x
            if branches:
                flag = tf.reduce_sum(tf.abs(x)) > 1.0
                cell.update(kind, tf.cond(flag, lambda: tf.tanh(seen), lambda: tf.sin(seen)))
            else:
                cell.update(kind, tf.tanh(seen))
            other.update("assign_sub", 0.1 * cell.read(how))
            return cell.read(how) + seen

        called = step if self._functional else tf.function(step, autograph=False)
        x = self._value()
        self._pool.append(tf.tanh(called(x)) + called(0.5 * x))

    def _optimized(self) -> None:
        """One or two steps of an optimizer on a cell."""
        rng = self._rng
        cell = next((c for c in self._cells if c.trainable), None)
        if cell is None:
            return
        x, name = self._value(), rng.choice(["sgd", "momentum", "adam"])
        steps = rng.randint(1, 2)
        apply = self._functional_step(name, cell) if self._functional else _keras_step(name, cell)
        for t in range(1, steps + 1):
            with tf.GradientTape() as tape:
                start = tf.identity(cell.tensor) if self._functional else cell.variable
                tape.watch(start)
                loss = tf.reduce_sum(tf.sin(start) * x + start * start)
            apply(tape.gradient(loss, start), t)

    def _functional_step(self, name: str, cell: Any) -> Callable[[Any, int], None]:
        # Keras, as on TensorFlow, has a float32 learning rate, and casts momenta and the powers of betas through it.
        rate, beta, other = (float(np.float32(x)) for x in (0.1, 0.9, 0.999))
        first = second = tf.zeros_like(cell.tensor)

        def apply(g: Any, t: int) -> None:
            nonlocal first, second
            if name == "sgd":
                cell.tensor = cell.tensor - rate * g
            elif name == "momentum":
                first = beta * first - rate * g
                cell.tensor = cell.tensor + first
            else:
                first = first + (g - first) * (1 - 0.9)
                second = second + (g * g - second) * (1 - 0.999)
                alpha = rate * (1 - other**t) ** 0.5 / (1 - beta**t)
                cell.tensor = cell.tensor - first * alpha / (tf.sqrt(second) + 1e-7)

        return apply


def _keras_step(name: str, cell: Any) -> Callable[[Any, int], None]:
    optimizers = {
        "sgd": lambda: tf.keras.optimizers.SGD(0.1), "momentum": lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
        "adam": lambda: tf.keras.optimizers.Adam(0.1),
    }  # fmt: skip
    optimizer = optimizers[name]()
    return lambda g, t: optimizer.apply_gradients([(g, cell.variable)])
