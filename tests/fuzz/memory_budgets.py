"""Memory budgets: random programs on a tape with a budget, compared with a plain tape.

Gradients must be bitwise equal (with XLA, up to rounding); the reported memory must equal that of the arrays held and
respect the documented bound; and nothing may remain after the tape is gone. The programs consist of views and views of
views, reductions, products, random draws, assignments, function calls, control flow, custom gradients, inner tapes and
pauses of the recording, on real, complex and half-precision tensors, empty ones and scalars.
"""

from __future__ import annotations

import random
import tempfile
import threading
import weakref
from collections.abc import Callable
from importlib.util import find_spec
from os import listdir
from typing import Any
from unittest import mock

import numpy as np

import gradtape as tf
from gradtape.core.budgets import SMALLEST_BYTES
from gradtape.engine.memory.spilling import memory_of
from gradtape.engine.memory.store import Store

HAS_XLA = find_spec("jax") is not None
DTYPES = [tf.float32, tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.complex64, tf.complex128]
SHAPES = [(4, 3), (4, 3), (3, 4, 2), (6,), (), (0, 3), (16, 8), (1, 5)]
BUDGETS = [0.9, 0.5, 0.2, 0.05, SMALLEST_BYTES, 2000, 6000, "20KB", "1MB"]
CALLED_SHAPE = (4, 3)  # number of functions to call: tracing takes longer than everything else


def disagreements(seed: int) -> list[str]:
    """Runs one program on a plain tape and with a budget."""
    rng = random.Random(seed)
    kind = rng.choices(["tape", "function", "xla", "threads"], [80, 8, 1, 3])[0]
    budget = rng.choice(BUDGETS)
    least = rng.choice([0, 0, 0, 300, Store.least_limit])  # bytes: the tensors are small
    said = f"seed {seed}, {kind}, memory_budget={budget!r}, least_limit={least}: "
    with mock.patch.object(Store, "least_limit", least):
        return [said + text for text in _disagreements(seed, kind, budget)]


def _disagreements(seed: int, kind: str, budget: Any) -> list[str]:
    if kind in ("function", "xla"):
        return _functions_disagree(seed, budget, kind == "xla" and HAS_XLA)
    if kind == "threads":
        return _threads_disagree(seed, budget)
    return _tapes_disagree(seed, budget, drawn=True)


def _tapes_disagree(seed: int, budget: Any, drawn: bool) -> list[str]:
    spills = random.Random(~seed).random() < 0.1
    expected = Program(seed, drawn).answers()
    with tempfile.TemporaryDirectory() as folder:
        options = {"memory_budget": budget, **({"spill": folder} if spills else {})}
        program = Program(seed, drawn, options)
        answers = program.answers()
        found = _differences(answers, expected) + program.complaints
        if program.is_alive():
            found.append("the log or the store is still alive after the tape has gone")
        if listdir(folder):
            found.append(f"files are left: {listdir(folder)}")
    return found


def _threads_disagree(seed: int, budget: Any) -> list[str]:
    found: list[str] = []

    def work(own: int) -> None:
        try:
            found.extend(_tapes_disagree(own, budget, drawn=False))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(own,)) for own in (seed, seed + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _functions_disagree(seed: int, budget: Any, jit: bool) -> list[str]:
    program = Program(seed, drawn=True, traced=True)
    results = []
    for options in ({}, {"memory_budget": budget}):
        tf.random.set_seed(seed)
        program.restart()
        function = tf.function(program.step, autograph=False, jit_compile=jit, **options)
        results.append([_array(y) for y in [*function(), *function()]])
    return _differences(results[1], results[0], rounded=jit)


def _array(y: Any) -> Any:
    return None if y is None else np.asarray(tf.convert_to_tensor(y))


def _differences(found: list[Any], expected: list[Any], rounded: bool = False) -> list[str]:
    if len(found) != len(expected):
        return [f"{len(found)} answers instead of {len(expected)}"]
    said = []
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        if (a is None) != (b is None):
            said.append(f"answer {i} is {a!r} instead of {b!r}")
        elif a is not None and (a.dtype, a.shape, a.tobytes()) != (b.dtype, b.shape, b.tobytes()):
            if rounded and a.shape == b.shape:
                wide = np.complex128 if a.dtype.kind == "c" else np.float64
                x, y = a.astype(wide), b.astype(wide)
                bound = 1e-4 if a.dtype.itemsize >= 4 else 5e-2
                finite = np.isfinite(y)
                scale = np.abs(y[finite]).max(initial=1.0)
                if np.abs((x - y)[finite]).max(initial=0.0) <= bound * scale:
                    continue
            said.append(f"answer {i} is {a.ravel()[:4]} instead of {b.ravel()[:4]}, {a.dtype} {a.shape}")
    return said


@tf.function
def _two_results(x: Any) -> Any:
    return tf.tanh(x) * x, tf.reduce_sum(x, 0)


@tf.function
def _with_dropout(x: Any) -> Any:
    return tf.nn.dropout(tf.sin(x) * x, 0.5)


@tf.function
def _with_loop(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), [tf.constant(0), x])[1]


@tf.function
def _with_a_view(x: Any) -> Any:
    return x, tf.transpose(x) * 2.0, tf.exp(-x[0])


@tf.function(jit_compile=True)
def _by_xla(x: Any) -> Any:
    return tf.tanh(tf.exp(-x * x)) * x


@tf.custom_gradient
def _halved(x: Any) -> Any:
    y = x * x
    return y, lambda g: g * x


class Program:
    """The program of a seed; every run makes the same choices."""

    def __init__(
        self, seed: int, drawn: bool, options: dict[str, Any] | None = None, traced: bool = False
    ) -> None:
        self._seed = seed
        self._drawn = drawn  # whether it may draw from the global generator, which threads share
        self._options = options or {}
        self._traced = traced  # whether it is for a function
        self._alive: list[Any] = []
        self.complaints: list[str] = []
        self.restart()

    def restart(self) -> None:
        """Creates the inputs and variables in their initial state."""
        rng = self._rng = random.Random(self._seed)
        numbers = np.random.default_rng(self._seed)
        self._dtype = rng.choice(DTYPES)

        def tensor(shape: tuple[int, ...]) -> Any:
            array = numbers.normal(size=shape) * 0.7
            if self._dtype.is_complex:
                array = array + 1j * numbers.normal(size=shape)
            return tf.cast(tf.constant(array), self._dtype)

        self._shape = rng.choice(SHAPES)
        self._inputs = [tensor(rng.choice([self._shape, *SHAPES])) for _ in range(rng.randint(1, 3))]
        self._variables = [tf.Variable(tensor(self._shape)) for _ in range(rng.randint(1, 3))]
        self._variables.append(tf.Variable(tensor(CALLED_SHAPE), trainable=rng.random() < 0.8))
        self._watched = [rng.random() < 0.5 for _ in self._inputs]
        self._persistent = rng.random() < 0.3
        self._steps = rng.randint(2, 25)
        self._state = rng.getstate()

    def answers(self) -> list[Any]:
        """Returns the gradients, and the next number of the global generator."""
        if self._drawn:
            tf.random.set_seed(self._seed)
        found = [_array(y) for y in self.step()]
        return [*found, _array(tf.random.uniform([2]))] if self._drawn else found

    def step(self) -> list[Any]:
        """Runs it on a tape and computes gradients."""
        rng = self._rng
        rng.setstate(self._state)
        with tf.GradientTape(persistent=self._persistent, **self._options) as tape:
            self._tape = tape
            for x, flag in zip(self._inputs, self._watched, strict=True):
                if flag:
                    tape.watch(x)
            pool = [*self._inputs, *[v * 1 for v in self._variables]]
            for _ in range(self._steps):
                pool += self._made(pool)
                if rng.random() < 0.5:
                    pool.pop(rng.randrange(len(pool)))
            last = [y for y in pool[-4:] if y.dtype.is_floating or y.dtype.is_complex]
            total = tf.add_n([self._scalar(y) for y in last]) if last else tf.reduce_sum(pool[0])
        sources = [*self._inputs, *self._variables]
        self._check_held()
        found = list(tape.gradient(total, sources))
        if self._persistent:
            found += tape.gradient(last[0] if last else total, sources)
            self._check_held()
            found += tape.gradient(total, sources)
        if self._options:
            self._alive += [weakref.ref(log) for log in (tape._log,) if log is not None]
        del tape, self._tape
        return [total, *last, *found]

    def is_alive(self) -> bool:
        """Returns whether any part of a tape with a budget is still alive."""
        return any(what() is not None for what in self._alive)

    def _scalar(self, y: Any) -> Any:
        y = tf.reduce_sum(y)
        return y if y.dtype is self._dtype else tf.cast(tf.math.real(y) if y.dtype.is_complex else y, self._dtype)

    def _check_held(self) -> None:
        if not self._options or self._tape._log is None:
            return
        self._alive += [weakref.ref(self._tape._log), weakref.ref(self._tape._log.store)]
        self.complaints += complaints(self._tape._log.store)

    def _made(self, pool: list[Any]) -> list[Any]:
        """Returns the results of a random op on some of the pool."""
        rng = self._rng
        x = rng.choice(pool[-6:] if rng.random() < 0.7 else pool)
        makers = [
            self._elementwise, self._elementwise, self._pair, self._pair, self._view, self._view, self._view,
            self._reduction, self._product, self._random, self._structured, self._cast,
        ]  # fmt: skip
        if not self._traced:
            makers += [self._assignment, self._call, self._call, self._paused, self._custom, self._inner, self._control]
        y = rng.choice(makers)(x, pool)
        return [y for y in (y if isinstance(y, list | tuple) else [y]) if y.shape.rank <= 4]

    def _elementwise(self, x: Any, pool: list[Any]) -> Any:
        ops: list[Callable[[Any], Any]] = [tf.tanh, tf.sin, tf.square, tf.negative, tf.identity]
        ops.append(lambda y: tf.exp(-y * y))
        ops += [tf.math.conj, tf.abs, tf.math.real, tf.math.imag] if x.dtype.is_complex else [tf.nn.relu, tf.sigmoid]
        return self._rng.choice(ops)(x)

    def _pair(self, x: Any, pool: list[Any]) -> Any:
        alike = [y for y in pool if y.dtype is x.dtype and (y.shape == x.shape or y.shape.rank == 0)]
        y = self._rng.choice(alike)
        return self._rng.choice([tf.add, tf.subtract, tf.multiply, lambda a, b: a * tf.sin(b)])(x, y)

    def _view(self, x: Any, pool: list[Any]) -> Any:
        rng = self._rng
        rank = x.shape.rank
        if not rank or 0 in x.shape:
            return tf.reshape(x, [*x.shape, 1])
        axis = rng.randrange(rank)
        at = rng.randrange(x.shape[axis])
        views: list[Callable[[], Any]] = [
            lambda: x[(slice(None),) * axis + (at,)], lambda: x[(slice(None),) * axis + (slice(at, None),)],
            lambda: x[..., ::-1], lambda: tf.reshape(x, [-1]), lambda: tf.expand_dims(x, axis),
            lambda: tf.transpose(x), lambda: tf.unstack(x, axis=axis)[:3], lambda: tf.split(x, x.shape[axis], axis)[:2],
            lambda: tf.squeeze(x), lambda: tf.broadcast_to(x, [2, *x.shape]), lambda: x[at][None] if axis == 0 else x,
        ]  # fmt: skip
        return rng.choice(views)()

    def _reduction(self, x: Any, pool: list[Any]) -> Any:
        axis = self._rng.choice([None, *range(x.shape.rank)])
        reduced = self._rng.choice([tf.reduce_sum, tf.reduce_mean])(x, axis)
        return reduced if self._rng.random() < 0.5 else x - tf.reduce_sum(x, axis, keepdims=True)

    def _product(self, x: Any, pool: list[Any]) -> Any:
        if x.shape.rank == 2:
            return tf.matmul(x, self._rng.choice([y for y in pool if y.dtype is x.dtype and y.shape == x.shape]),
                             transpose_b=True)  # fmt: skip
        return tf.tensordot(x, x, x.shape.rank)

    def _random(self, x: Any, pool: list[Any]) -> Any:
        if not self._drawn or not x.dtype.is_floating:
            return x * 2
        if self._rng.random() < 0.5:
            return tf.nn.dropout(x, 0.4)
        return x + tf.cast(tf.random.normal(x.shape), x.dtype)

    def _structured(self, x: Any, pool: list[Any]) -> Any:
        alike = [y for y in pool if y.dtype is x.dtype and y.shape == x.shape]
        y = self._rng.choice(alike)
        if not x.shape.rank or 0 in x.shape:
            return tf.stack([x, y])
        ops: list[Callable[[], Any]] = [
            lambda: tf.concat([x, y], 0), lambda: tf.stack([x, y]),
            lambda: tf.gather(x, [0, x.shape[0] - 1, 0]), lambda: tf.stop_gradient(y) * x,
            lambda: tf.where(tf.math.real(x) > tf.math.real(y) if x.dtype.is_complex else x > y, x, y * 2),
        ]  # fmt: skip
        return self._rng.choice(ops)()

    def _cast(self, x: Any, pool: list[Any]) -> Any:
        if x.dtype.is_complex:
            return tf.complex(tf.math.real(x), tf.math.imag(x) * 2)
        if x.dtype in (tf.float32, tf.float64) and self._rng.random() < 0.3:
            return tf.math.imag(tf.complex(x, tf.sin(x)))
        return tf.cast(tf.cast(x, self._rng.choice([tf.float32, tf.float64])), x.dtype)

    def _assignment(self, x: Any, pool: list[Any]) -> Any:
        v = self._rng.choice(self._variables)
        before = v * v
        with self._tape.stop_recording() if self._rng.random() < 0.3 else _nothing():
            self._rng.choice([v.assign, v.assign_add])(v.read_value() * 0.5)
        return [before, v * 1, tf.sin(v)]

    def _call(self, x: Any, pool: list[Any]) -> Any:
        v = self._variables[-1]
        if self._dtype not in (tf.float32, tf.complex64):
            return v * 1
        near = [y for y in pool if tuple(y.shape) == CALLED_SHAPE and y.dtype is self._dtype]
        y = self._rng.choice(near or [v * 1])
        functions = [_two_results, _with_loop, _with_a_view]
        if self._dtype is tf.float32:
            functions += [_by_xla] if self._rng.random() < 0.1 and HAS_XLA else [_with_dropout] if self._drawn else []
        return self._rng.choice(functions)(y)

    def _paused(self, x: Any, pool: list[Any]) -> Any:
        with self._tape.stop_recording():
            y = tf.sin(x)
            parts = self._view(y, pool)
        parts = parts if isinstance(parts, list | tuple) else [parts]
        return [part * part for part in parts]

    def _custom(self, x: Any, pool: list[Any]) -> Any:
        return _halved(x) if self._rng.random() < 0.6 else tf.recompute_grad(lambda y: tf.sin(y) * y)(x)

    def _inner(self, x: Any, pool: list[Any]) -> Any:
        options = self._options if self._rng.random() < 0.5 else {}
        with tf.GradientTape(**options) as tape:
            tape.watch(x)
            y = tf.sin(x) * x
            y = tf.tanh(self._elementwise(y, pool))
        slope = tape.gradient(y, x)
        return [y, x * 1 if slope is None else slope]

    def _control(self, x: Any, pool: list[Any]) -> Any:
        if self._rng.random() < 0.5:
            flag = self._rng.random() < 0.5
            return tf.cond(tf.constant(flag), lambda: tf.sin(x) * x, lambda: x * 2)
        rounds = self._rng.randint(0, 4)
        return tf.while_loop(lambda i, y: i < rounds, lambda i, y: (i + 1, tf.tanh(y) * x), [tf.constant(0), x])[1]


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def complaints(store: Store) -> list[str]:
    """Returns errors in what a store reports to hold, compared with its arrays and its bound."""
    account = store.account
    owners = {}
    for value in store.values:
        if value.tensor is not None and value.block.bytes:
            memory = memory_of(value.tensor.buffer)
            # Two tensors may share a NumPy scalar, which has no views: each counts.
            owners[id(value.block if isinstance(memory, np.generic) else memory)] = int(memory.nbytes)
    found = []
    if sum(owners.values()) != account.held:
        found.append(f"the store holds {sum(owners.values())} bytes and says {account.held}")
    budget = store.budget
    allowed = max(budget if isinstance(budget, int) else budget * account.wanted, store.least_limit)
    makers = {id(value.producer): value.producer for value in store.values if value.producer is not None}
    largest = max([store.bytes_of((*maker.inputs, *maker.outputs)) for maker in makers.values()], default=0)
    fixed = sum(block.bytes for block in {value.block for value in store.values} if block.fixed)  # also those let go
    if account.peak > allowed + fixed + 2 * largest:  # the op that needs a value, and one that computes it
        found.append(
            f"the peak of {account.peak} bytes is more than {allowed:.0f}, {fixed} that cannot be let go "
            f"and twice {largest} of the largest op"
        )
    return found
