"""Small programs with one planted fault, or none: checks that `gradtape run --trace` names its cause and line.

A program is a chain of ops from the variable `w` to a loss, on matrices, scalars or empty tensors, in any floating
dtype. The fault replaces one link, or moves a part of the chain out of the tape's block; the generator knows its line.
It may be inside a function, compiled or not, a loop, a branch or a Keras layer, after the gradient of an inner tape, or
beside the fault of a second variable. Decoys next to the chain (comparisons, logged numbers, stopped baselines) break
nothing. A program without a fault must not be reported.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import logging
import re
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gradtape as tf

ROWS, COLUMNS = 9, 3  # a batch that is large enough for reporting a ReLU


class Fault(NamedTuple):
    """Lines for the chain on `h`, the line to be named, the causes and the kind of gradient."""

    lines: tuple[str, ...]
    causes: str
    kind: str = "None"
    at: int = 0
    eager: bool = False  # whether it needs values, and so cannot be traced
    float32: bool = False


_SMOOTH = (
    "h = tf.tanh(h)", "h = tf.sin(h) + 0.5 * h", "h = h * 0.7 + 0.1", "h = tf.nn.softplus(h)", "h = tf.exp(0.2 * h)",
    "h = h @ mix", "h = tf.transpose(tf.transpose(h))", "h = tf.reshape(tf.reshape(h, [-1]), [ROWS, COLUMNS])",
    "h = tf.concat([h[:1], h[1:]], 0)", "h = tf.where(h > 0.0, h, 0.3 * h)", "h = tf.gather(h, range(ROWS))",
    "h = h / (1.0 + h * h)", "h = tf.nn.leaky_relu(h)", "h = tf.stack(tf.unstack(h))", "h = 3.0 * tf.nn.softmax(h)",
    "h = 0.3 * tf.cumsum(h, 1)", "h = tf.cast(tf.cast(h, tf.float64), DTYPE)", "h = tf.math.log(1.0 + h ** 2) + 2 * h",
    "h = tf.cond(yes, lambda: 1.5 * h, lambda: 0.0 * h)", "h = tf.sqrt(0.1 + tf.square(h)) - 0.2 * h", "h = smooth(h)",
    "h = tf.math.l2_normalize(h, 1) + h", "h = tf.clip_by_value(h, -50.0, 50.0)", "h = tf.maximum(h, -40.0)",
    "h = tf.einsum('ij,jk->ik', h, mix)", "h = tf.pad(h, [[1, 0], [0, 0]])[1:]", "h = tf.split(h, 1, 1)[0]",
    "h = h - tf.reduce_mean(h, 1, keepdims=True) + 0.5 * h", "h = tf.identity(h)", "h = 2.0 * tf.sigmoid(h) - h",
    "h = tf.map_fn(tf.tanh, h) + 0.2 * h", "h = tf.tile(h, [2, 1])[:ROWS]", "h = tf.nn.elu(h) + 0.1 * h", "h += 0.3",
    "h = clipped_gradient(h)", "h = recomputed(h)",
)  # fmt: skip
_SHAPED = re.compile(
    r"mix|ROWS|COLUMNS|\[|softmax|, 1\b|map_fn|stack|range|reduce_std|categorical|numpy_function|top_k|tolist"
)
_COMPLEX = (
    "h = tf.math.real(tf.exp(tf.complex(0.1 * h, 0.3 * h)))", "h = tf.abs(tf.complex(h, 1.0 + h))",
    "h = tf.math.imag(tf.complex(h, 2.0 * h) * tf.complex(h, h)) + 0.3 * h",
    "h = tf.math.angle(tf.complex(2.0 + h * h, h)) + h",
    "h = tf.math.real(tf.math.conj(tf.complex(h, h)) * tf.complex(0.5 * h, h))",
)  # fmt: skip
_LOOPS = (
    ("for _ in range(2):", "    h = tf.tanh(h + 0.1)"),
    ("for row in range(2):", "    h = h + 0.1 * tf.sin(h)"),
    ("if yes:", "    h = 1.2 * h"),
)
_DECOYS = (
    "best = tf.argmax(h, 1)", "h = h - 0.5 * tf.stop_gradient(tf.reduce_mean(h))", "hits = tf.cast(h > 0.0, DTYPE)",
    "h = h + tf.stop_gradient(0.1 * tf.round(h))", "h = h * half + 0.1 * h", "count.assign_add(1)",
    "h = tf.where(tf.abs(h) > 1e-3, h, 2.0 * h)", "total.assign(tf.reduce_sum(h))", "h = tf.nn.relu(h) + 0.2 * h",
    "norm = tf.norm(h - h)", "words = tf.strings.as_string(h)", "indices = tf.math.top_k(h, 2)[1]", "h = h + zeros",
    "size = tf.shape(h)",
)  # fmt: skip
_EAGER_DECOYS = ("print(float(tf.reduce_mean(h)))", "logged = h.numpy().mean()", "kept = np.asarray(h) + 1.0")

_FAULTS: dict[str, Fault] = {
    "stop_gradient": Fault(("h = tf.stop_gradient(h)",), "stop_gradient"),
    "half stopped": Fault(("h = 2.0 * tf.stop_gradient(tf.tanh(h))",), "stop_gradient"),
    "round": Fault(("h = 0.3 + tf.round(4.0 * h)",), "not differentiable"),
    "floor": Fault(("h = tf.floor(4.0 * h) + 0.1",), "not differentiable"),
    "ceil": Fault(("h = 0.3 + tf.math.ceil(h)",), "not differentiable"),
    "floor division": Fault(("h = 0.3 + h // 0.3",), "not differentiable"),
    "comparison": Fault(("h = 0.3 + tf.cast(h > 0.1, DTYPE)",), "not differentiable"),
    "equality": Fault(("h = tf.where(tf.equal(h, 0.2), ones, 0.3 * ones)",), "not differentiable"),
    "integers": Fault(("h = 0.5 + tf.cast(tf.cast(9.0 * h, tf.int32), DTYPE)",), "integer|not differentiable"),
    "argmax": Fault(("h = tf.one_hot(tf.argmax(h, 1), COLUMNS, dtype=DTYPE)",), "not differentiable"),
    "argsort": Fault(("h = tf.cast(tf.argsort(h, 1), DTYPE)",), "not differentiable"),
    "indices": Fault(("h = tf.cast(tf.math.top_k(h, COLUMNS)[1], DTYPE)",), "integer"),
    "gathered": Fault(("h = tf.gather(ones, tf.cast(tf.abs(h[:, 0]) > 0.2, tf.int32)) * 0.5",), "not differentiable"),
    "text": Fault(("h = tf.strings.to_number(tf.strings.as_string(h))",), "not differentiable", float32=True),
    "bits": Fault(("h = tf.bitcast(tf.bitcast(h, tf.int32), tf.float32)",), "not differentiable|integer", float32=True),
    "ones_like": Fault(("h = tf.ones_like(h) * 0.3",), "not differentiable"),
    "categorical": Fault(("h = 0.1 * tf.cast(tf.random.categorical(h, COLUMNS), DTYPE)",), "not differentiable"),
    "numpy()": Fault(("h = tf.constant(h.numpy())",), "left for NumPy or Python", eager=True),
    "NumPy": Fault(("h = tf.constant(np.tanh(h))",), "left for NumPy or Python", eager=True),
    "asarray": Fault(("h = tf.convert_to_tensor(2.0 * np.asarray(h))",), "left for NumPy or Python", eager=True),
    "float": Fault(("h = ones * (0.02 * float(tf.reduce_sum(h)))",), "left for NumPy or Python", eager=True),
    "tolist": Fault(("h = tf.constant(h.numpy().tolist(), DTYPE)",), "left for NumPy or Python", eager=True),
    "rows": Fault(("h = tf.constant(np.stack([row for row in h]))",), "left for NumPy or Python", eager=True),
    "in place": Fault(("buffer[0] = h[0]", "h = ones * buffer"), "left for NumPy or Python", eager=True),
    "numpy_function": Fault(
        ("h = tf.ensure_shape(tf.numpy_function(np.tanh, [h], DTYPE), [ROWS, COLUMNS])",),
        "not differentiable|left for NumPy or Python",
    ),
    "assign": Fault(("total.assign(tf.reduce_sum(h))", "h = ones * total"), "assign"),
    "assign_add": Fault(("state.assign_add(h)", "h = 0.5 * state"), "assign"),
    "initial value": Fault(("h = 1.0 * tf.Variable(h)",), "assign", eager=True),
    "stopped": Fault(("with tape.stop_recording():", "    h = 2.0 * h"), "while recording was stopped", at=1),
    "dataset": Fault(("h = next(iter(tf.data.Dataset.from_tensors(h)))",), "dataset.map", eager=True),
    "no rule": Fault(("h = without_gradient(h)",), "the rule gives none"),
    "dead ReLU": Fault(("h = tf.nn.relu(h - 90.0)", "h = tf.tanh(h + 0.5)"), "zero", "zero"),
    "dead leaky": Fault(("h = tf.nn.leaky_relu(h - 90.0, 0.0)", "h = tf.tanh(h + 0.5)"), "zero", "zero"),
    "clipped": Fault(("h = tf.clip_by_value(h + 100.0, -1.0, 1.0)", "h = tf.tanh(h)"), "zero", "zero"),
    "maximum": Fault(("h = tf.maximum(h, 60.0) - 59.5", "h = tf.tanh(h)"), "zero", "zero"),
    "sigmoid": Fault(("h = tf.sigmoid(0.1 * h + 800.0)",), "zero", "zero"),
    "tanh": Fault(("h = tf.tanh(0.1 * h - 50.0)",), "zero", "zero"),
    "softmax of one": Fault(("h = 0.5 + tf.nn.softmax(h[:, :, None])[:, :, 0]",), "zero", "zero"),
    "sign": Fault(("h = tf.sign(h) + 0.5",), "zero|not differentiable", "zero"),
    "zeros": Fault(("h = h * zeros + 0.5",), "zero", "zero"),
    "other branch": Fault(("h = tf.where(never, h, 0.5 * ones)",), "zero", "zero"),
    "mask": Fault(("h = tf.where(h > 90.0, h, 0.6 * ones)",), "zero", "zero"),
    "zero rule": Fault(("h = zero_gradient(h)",), "zero", "zero"),
    "stopped number": Fault(("h = tf.math.real(tf.stop_gradient(tf.complex(h, h)))",), "stop_gradient", float32=True),
    "imaginary": Fault(("h = tf.math.imag(tf.cast(h, tf.complex64)) + 0.5",), "zero", "zero", float32=True),
    "log": Fault(("h = tf.math.log(h - h)",), "not finite", "not finite"),
    "sqrt": Fault(("h = 0.5 + tf.sqrt(0.0 * tf.abs(h))",), "not finite", "not finite"),
    "quotient": Fault(("h = h / (h - h)",), "not finite", "not finite"),
    "exp": Fault(("h = tf.exp(0.0 * h + 2000.0)",), "not finite", "not finite"),
    "norm": Fault(("h = h + tf.norm(h - h)",), "not finite", "not finite"),
    "power": Fault(("h = 0.5 + tf.pow(h - h, 0.5)",), "not finite", "not finite"),
    "acos": Fault(("h = 0.5 + tf.acos(0.0 * h + 1.0)",), "not finite", "not finite"),
    "where trap": Fault(("h = tf.where(h > 90.0, tf.math.log(h - h), h)",), "not finite", "not finite"),
    "masked quotient": Fault(("h = h + zeros * (1.0 / (h - h))",), "not finite", "not finite"),
    "deviation": Fault(("h = h / tf.math.reduce_std(h - h)",), "not finite", "not finite"),
}
# Faults of placement, not of an op.
_PLACES = (
    "after", "before", "never watched", "watched late", "not trainable", "unused", "not taken", "no rounds", "rebound",
    "reset", "data", "empty", "outside gradient", "piecewise linear",
)  # fmt: skip
_PIECES = (
    "nn.relu(h)", "abs(h)", "maximum(h, 0.1)", "minimum(h, 30.0)", "nn.leaky_relu(h)", "clip_by_value(h, 0.0, 30.0)",
    "where(h > 0.0, h, 0.3 * h)", "nn.relu6(h)", "maximum(0.0, 30.0 - h)",
)  # fmt: skip

_SETUP = """
import numpy as np
import gradtape as tf
DTYPE, ROWS, COLUMNS, SHAPE = tf.{dtype}, 9, 3, {shape}
rng = np.random.default_rng({seed})
w = {source}
v, u = (tf.Variable(rng.uniform(0.5, 1.0, SHAPE), dtype=DTYPE, name=name) for name in "vu")
x = tf.constant({data}, DTYPE)
mix = tf.constant(0.5 * np.eye(COLUMNS) + rng.uniform(-0.3, 0.3, [COLUMNS, COLUMNS]), DTYPE)
half = tf.constant(np.arange(int(np.prod(SHAPE))).reshape(SHAPE) % 2, DTYPE)
ones, zeros = tf.ones(SHAPE, DTYPE), tf.zeros(SHAPE, DTYPE)
never, yes = tf.constant(False), tf.constant(True)
count = tf.Variable(0, trainable=False, name="count")
total = tf.Variable(0.0, trainable=False, dtype=DTYPE, name="total")
state = tf.Variable(tf.zeros(SHAPE, DTYPE), trainable=False, name="state")
buffer = np.zeros(SHAPE, DTYPE.as_numpy_dtype)
def smooth(a):
    b = tf.tanh(a)
    return a + 0.5 * b
@tf.custom_gradient
def without_gradient(a):
    return 2.0 * a, lambda g: None
@tf.custom_gradient
def zero_gradient(a):
    return 2.0 * a, lambda g: tf.zeros_like(g)
@tf.custom_gradient
def clipped_gradient(a):
    return 1.5 * a, lambda g: tf.clip_by_value(1.5 * g, -1.0, 1.0)
recomputed = tf.recompute_grad(lambda a: tf.tanh(a) + 0.2 * a)
"""
_LAYER = """
class Part(tf.keras.layers.Layer):
    def call(self, h):
"""


class _Program:
    """The source of a program, and the line of its fault."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.fault = str(rng.choice([*_FAULTS, *_PLACES, *["none"] * 15]))
        planted = _FAULTS.get(self.fault)
        is_float32 = planted is not None and planted.float32
        self.dtype = "float32"
        if not is_float32:
            self.dtype = str(rng.choice(["float32", "float64", "float16", "bfloat16"], p=[0.5, 0.3, 0.1, 0.1]))
        if self.dtype == "bfloat16" and planted is not None and planted.eager:
            self.dtype = "float16"  # NumPy promotes the other
        may_be_shaped = any(map(_SHAPED.search, planted.lines)) if planted is not None else self.fault == "data"
        self.shape = "matrix" if may_be_shaped else str(rng.choice(["matrix", "number", "empty"], p=[0.8, 0.15, 0.05]))
        is_of_numbers = self.fault == "piecewise linear" or (planted is not None and planted.kind != "None")
        if self.shape == "empty" and is_of_numbers:
            self.shape = "matrix"  # nothing is to be said of no numbers
        self.is_function = bool(rng.random() < 0.4) and not self.is_eager
        self.is_nested = bool(rng.random() < 0.15) and self.fault not in _PLACES  # whether it starts with a gradient
        self.second = self._second_fault() if rng.random() < 0.15 else None
        self.wanted: list[tuple[int, tuple[str, ...]]] = []  # the lines to be named, and their causes
        self.lines: list[str] = []
        self.write(seed)

    def _second_fault(self) -> str | None:
        """A fault of another variable, which is told apart from the first: neither makes numbers that spread."""
        known = [name for name, fault in _FAULTS.items() if not fault.eager and not fault.float32]
        known = [name for name in known if _FAULTS[name].kind != "not finite" and len(_FAULTS[name].lines) == 1]
        planted = _FAULTS.get(self.fault)
        is_alone = self.shape != "matrix" or planted is None or planted.kind == "not finite"
        return None if is_alone else str(self.rng.choice([name for name in known if name != self.fault]))

    @property
    def is_eager(self) -> bool:
        """Whether it cannot be a function."""
        planted = _FAULTS.get(self.fault)
        return self.fault in ("not taken", "no rounds", "rebound", "empty") or (planted is not None and planted.eager)

    def write(self, seed: int) -> None:
        """Writes the source."""
        rng, fault = self.rng, self.fault
        values = data = "rng.uniform(0.5, 1.0, SHAPE)"
        source = f'tf.Variable({values}, dtype=DTYPE, name="w")'
        if fault in ("never watched", "watched late"):
            source = f"tf.constant({values}, DTYPE)"
        if fault == "not trainable":
            source = f'tf.Variable({values}, dtype=DTYPE, trainable=False, name="w")'
        if fault == "data":
            data = f"np.where(np.arange(ROWS)[:, None] == 4, np.nan, {data})"
        shape = {"matrix": "(9, 3)", "number": "()", "empty": "(0, 3)"}[self.shape]
        setup = _SETUP.strip().format(dtype=self.dtype, seed=seed, source=source, data=data, shape=shape)
        self.lines = setup.splitlines()
        part = self.chain() if rng.random() < 0.3 else []
        may_be_in_part = fault in _FAULTS and not _FAULTS[fault].eager and fault != "stopped"
        part_fault = may_be_in_part and bool(part) and rng.random() < 0.6
        if part:
            self.part(part, part_fault)
        if self.is_function or (rng.random() < 0.3 and fault != "rebound"):
            compiled = "(jit_compile=True)" if rng.random() < 0.1 and not self._is_host_only else ""
            self.lines += [f"@tf.function{compiled}"] * self.is_function + ["def step():"]
            self.body("    ", bool(part), part_fault)
            self.lines += ["    return grads"]
            self.lines += ["for _ in range(12):", "    step()"]
        else:
            self.lines += ["for _ in range(12):"]
            self.body("    ", bool(part), part_fault)
            if fault == "rebound":
                self.lines += ["    if grads[0] is None: break"]
                self.mark()
                self.lines += ["    w = w - 0.0 * grads[0]"]  # any other step may make numbers overflow

    @property
    def _is_host_only(self) -> bool:
        """Whether XLA cannot compile it."""
        return self.fault in ("text", "numpy_function", "categorical") or self.dtype not in ("float32", "float64")

    def part(self, links: list[str], has_fault: bool) -> None:
        """A function, traced or not, or a Keras layer, with links of the chain and perhaps the fault."""
        kind, indent = self.rng.random(), "    "
        if kind < 0.15 and self.dtype in ("float32", "float64"):
            self.lines += _LAYER.strip("\n").splitlines()
            indent += "    "
        else:
            self.lines += ["@tf.function"] if kind < 0.5 and not self._needs_values(links) else []
            self.lines += ["def part(h):"]
        if self.rng.random() < 0.5:
            self.emit(links, indent)
        if has_fault:
            self.plant(indent)
        self.emit(self.chain() if has_fault else links, indent)
        self.lines += [f"{indent}return h"] + ["part = Part(dtype=DTYPE.name)"] * (len(indent) > 4)

    @staticmethod
    def _needs_values(lines: list[str]) -> bool:
        return any(line in _EAGER_DECOYS for line in lines)

    def chain(self) -> list[str]:
        """Adds a few links, some of them decoys."""
        found: list[str] = []
        for _ in range(self.rng.integers(1, 5)):
            kind = self.rng.random()
            if kind < 0.12:
                found += _LOOPS[self.rng.integers(len(_LOOPS))]
            elif kind < 0.3:
                is_traced = self.is_function or (self.fault in _FAULTS and not _FAULTS[self.fault].eager)
                found += self.pick(_DECOYS if is_traced else (*_DECOYS, *_EAGER_DECOYS))
            else:
                is_complex = self.dtype in ("float32", "float64") and self.rng.random() < 0.1
                found += self.pick(_COMPLEX if is_complex else _SMOOTH)
        return found

    def pick(self, links: tuple[str, ...]) -> list[str]:
        """One of the links, or none if it does not fit the shape."""
        link = links[self.rng.integers(len(links))]
        return [] if self.shape != "matrix" and _SHAPED.search(link) else [link]

    def emit(self, lines: list[str] | tuple[str, ...], indent: str) -> None:
        """Adds lines."""
        self.lines += [indent + line for line in lines]

    def mark(self) -> None:
        """Marks the next line as the one to be named."""
        self.wanted.append((len(self.lines) + 1, self.causes))

    def plant(self, indent: str) -> None:
        """Adds the fault, perhaps in a loop or a branch."""
        planted = _FAULTS[self.fault]
        # A loop in a function that draws numbers cannot run again, and so is not explained.
        is_replayable = self.fault not in ("stopped", "assign", "assign_add", "in place", "categorical")
        may_repeat = is_replayable and "16" not in self.dtype
        if may_repeat and self.rng.random() < 0.15:
            self.lines += [indent + str(self.rng.choice(["for _ in range(2):", "if yes:", "for _ in tf.range(2):"]))]
            indent += "    "
        self.wanted.append((len(self.lines) + 1 + planted.at, self.causes))
        self.emit(planted.lines, indent)

    def second_chain(self, indent: str) -> None:
        """A chain from another variable, with a fault of its own."""
        assert self.second is not None
        chain = ["h = u * x", "h = 0.5 * tf.tanh(h)", _FAULTS[self.second].lines[0], "h = 0.2 + tf.sin(h)"]
        self.wanted.append((len(self.lines) + 3, tuple(_FAULTS[self.second].causes.split("|"))))
        self.emit([re.sub(r"\bh\b", "k", link) for link in chain], indent)

    def body(self, indent: str, has_part: bool, is_in_part: bool) -> None:
        """Adds a step: the tape's block and the gradient."""
        rng, fault, inner = self.rng, self.fault, indent + "    "
        if fault == "before":
            self.mark()
            self.emit(["h = w * x"], indent)
        persistent = "persistent=True" if rng.random() < 0.2 else ""
        others = ", tf.GradientTape() as other" if rng.random() < 0.2 and fault not in ("stopped", "reset") else ""
        self.emit([f"with tf.GradientTape({persistent}) as tape{others}:"], indent)
        if fault == "not taken" or fault == "no rounds":
            self.emit(["h = v * x"], inner)
            self.mark()
            self.emit(["if never:" if fault == "not taken" else "for _ in range(0):", "    h = h * w"], inner)
        elif self.is_nested:
            self.inner_gradient(inner)
        elif fault == "piecewise linear":
            self.linear_in_pieces(inner)
        elif fault != "before":
            if fault in ("never watched", "watched late", "not trainable", "data"):
                self.mark()
            self.emit(["h = w * x"], inner)
        if fault == "watched late":
            self.emit(["tape.watch(w)"], inner)
        self.emit(self.chain(), inner)
        if fault in _FAULTS and not is_in_part:
            self.plant(inner)
        if fault == "reset":
            self.mark()
            self.emit(["tape.reset()"], inner)
        self.emit(self.chain(), inner)
        if has_part:
            self.emit(["h = part(h)"], inner)
        if fault == "outside gradient":
            self.outside_gradient(indent)
            return
        total = "sum" if self.shape == "empty" else "mean"
        if fault == "after":
            self.mark()
            self.emit(["h = h * v", "loss = tf.reduce_mean(h)"], indent)
        elif fault == "unused":
            self.mark()
            self.emit([f"loss = tf.reduce_{total}(tf.square(v * x))"], inner)
        elif self.second is not None:
            self.second_chain(inner)
            self.emit(["loss = tf.reduce_mean(tf.square(h * v) + h * v + k)"], inner)
        else:
            self.emit([f"loss = tf.reduce_{total}(tf.square(h * v) + h * v)"], inner)
        sources = "[w]" if rng.random() < 0.3 or fault == "after" else "[w, v]"
        sources = "[w, v, u]" if self.second is not None else sources
        if fault == "empty":
            self.mark()
            sources = "[]"
        self.emit([f"grads = tape.gradient(loss, {sources})"], indent)

    def inner_gradient(self, indent: str) -> None:
        """Starts the chain with the gradient of an inner tape, so that the whole is a second derivative."""
        self.emit(["with tf.GradientTape() as inside:", "    inside.watch(x)", "    h = tf.sin(w * x)"], indent)
        self.emit([link for link in self.chain() if link in _SMOOTH], indent + "    ")
        self.emit(["    y = tf.reduce_sum(tf.tanh(h))", "h = inside.gradient(y, x)"], indent)

    def linear_in_pieces(self, indent: str) -> None:
        """The chain begins with a gradient that is constant in pieces."""
        self.emit(["with tf.GradientTape() as inside:", "    h = w * x"], indent)
        self.mark()
        self.emit([f"    h = tf.{self.rng.choice(_PIECES)}", "    y = 2.0 * tf.reduce_sum(h)"], indent)
        self.emit(["h = inside.gradient(y, w)"], indent)

    def outside_gradient(self, indent: str) -> None:
        """Computes the first derivative after the outer tape has ended."""
        self.emit(["    with tf.GradientTape() as inside:", "        y = tf.reduce_sum(tf.sin(w) * x)"], indent)
        self.mark()
        self.emit(["slope = inside.gradient(y, w)", "grads = [tape.gradient(slope, w)]"], indent)

    @property
    def causes(self) -> tuple[str, ...]:
        """The correct causes."""
        if self.fault in _FAULTS:
            return tuple(_FAULTS[self.fault].causes.split("|"))
        return {
            "after": ("after the block",), "before": ("before the tape",), "never watched": ("never watched",),
            "watched late": ("watched after use",), "not trainable": ("not trainable",), "unused": ("no path",),
            "not taken": ("no path",), "no rounds": ("no path",), "rebound": ("rebound",), "reset": ("tape.reset",),
            "data": ("not finite",), "empty": ("no sources",), "outside gradient": ("gradient outside the block",),
            "piecewise linear": ("linear", "zero"), "none": (),
        }[self.fault]  # fmt: skip


def disagreements(seed: int) -> list[str]:
    """Runs one program under tracing, and compares the report with the planted fault."""
    program = _Program(seed)
    text = "\n".join(program.lines) + "\n"
    stream, silent = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"program_{seed}.py"  # AutoGraph reads the source
        file.write_text(text)
        code = compile(text, str(file), "exec", dont_inherit=True)
        level = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            with warnings.catch_warnings(action="ignore"), contextlib.redirect_stdout(silent):
                with tf.inspect.tracing(stream) as reasons:
                    exec(code, {"__name__": "__main__"})
        except Exception as error:
            return [f"{program.fault}: {type(error).__name__}: {error}\n{_numbered(text)}"]
        finally:
            logging.disable(level)
            linecache.checkcache(str(file))
    found = sorted((reason.line and reason.line[1], str(reason.cause.value)) for reason in reasons)
    wanted = sorted(program.wanted)
    is_right = [line for line, _ in found] == [line for line, _ in wanted]
    is_right = is_right and all(cause in causes for (_, cause), (_, causes) in zip(found, wanted, strict=True))
    names = ("`w`", "`v`", "`u`")
    is_right = is_right and all(program.fault == "empty" or any(n in r.source for n in names) for r in reasons)
    if is_right:
        return []
    return [f"{program.fault}, wanted {wanted}, found {found}\n{stream.getvalue()}{_numbered(text)}"]


def _numbered(text: str) -> str:
    lines = enumerate(text.splitlines(), 1)
    return "\n".join(f"{n:3} {line}" for n, line in lines if n > _SETUP.count("\n") - 2)
