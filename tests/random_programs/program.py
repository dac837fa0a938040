"""A program: inputs, statements, outputs; and its self-contained source."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field, replace

_NAME = re.compile(r"\b[a-z]+\d+\b|\bk\b")

PREAMBLE = '''\
import numpy as np


def values(case, number, shape, dtype, wild):
    """Input `number` of a call: two draws, all negative, many zeros; wild ones are of any magnitude."""
    rng = np.random.default_rng([case, number])
    if dtype == "bool":
        return rng.random(shape) < (0.5, 0.6, 0.0, 1.0)[case]
    if dtype.startswith("int"):
        return rng.integers(-3, 4, shape).astype(dtype)
    x = rng.normal(size=shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.normal(size=shape)
    elif case == 2:
        x = -np.abs(x) - 0.2
    if case == 3:
        x = x * (rng.random(shape) < 0.5)
    if wild:
        x = x * 10.0 ** rng.uniform(-wild, wild, shape if rng.random() < 0.5 else ())
    return x


def build(tf, compiled, jitter=None):
    """The program as a function of its inputs, and its variables; `compiled` makes functions of Python functions."""

    def dense(x):
        return tf.zeros([]) if x is None else tf.convert_to_tensor(x)

    def weighed(ys):
        """A number that depends on every entry of the floats among `ys`."""
        total = tf.zeros([], tf.float64)
        for y in ys:
            if y.dtype.is_complex:
                y = tf.math.real(y) + 2.0 * tf.math.imag(y)
            if y.dtype.is_floating:
                w = tf.cos(tf.cast(tf.range(tf.size(y)), tf.float64))
                total += tf.cast(tf.reduce_sum(tf.reshape(y, [-1]) * tf.cast(w, y.dtype)), tf.float64)
        return total

    def tangents(xs):
        flat = [tf.cos(tf.cast(tf.range(tf.size(x)), tf.float64)) for x in xs]
        return [tf.cast(tf.reshape(t, tf.shape(x)), x.dtype) for t, x in zip(flat, xs)]

'''

_TAPE = """\
with tf.GradientTape(persistent=PERSISTENT) as tape:
    tape.watch(sources)
    ys = f(*xs)
    loss = weighed(ys)
"""
_GRADIENT = _TAPE.replace("PERSISTENT", "False") + "return [*ys, *tape.gradient(loss, sources)]"
_PERSISTENT = (
    _TAPE.replace("PERSISTENT", "True").replace(
        "loss = weighed(ys)", "losses = [weighed(ys), weighed(ys[::-1]), weighed(ys) ** 2]"
    )
    + "return [*ys, *[g for loss in losses for g in tape.gradient(loss, sources)]]"
)
_SECOND = """\
with tf.GradientTape() as outer:
    outer.watch(sources)
    with tf.GradientTape() as tape:
        tape.watch(sources)
        ys = f(*xs)
        loss = weighed(ys)
    slopes = [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(loss, sources)]
    total = weighed([g for g in slopes if g is not None])
return [*ys, *slopes, *outer.gradient(total, sources)]"""
_MIXED = """\
with tf.GradientTape() as outer:
    outer.watch(sources)
    ys = inner(*xs)
    total = weighed([y for y in ys if y is not None])
return [*ys, *outer.gradient(total, sources)]"""
_FORWARD = """\
with tf.autodiff.ForwardAccumulator(sources, tangents(sources)) as accumulator:
    ys = f(*xs)
return [*ys, *[accumulator.jvp(y) for y in ys]]"""
_JACOBIAN = """\
with tf.GradientTape() as tape:
    tape.watch(sources)
    ys = f(*xs)
    few = [tf.cast(tf.math.real(tf.reshape(y, [-1])[:3]), tf.float64) for y in ys if y.dtype.is_floating]
    few = tf.concat([*few, [0.0]], 0)
return [*ys, *tape.jacobian(few, sources)]"""

# How a program is run: what is compiled, and the step around it.
MODES = {
    "value": ("step", "return f(*xs)"),
    "gradient around": ("f", _GRADIENT),
    "gradient inside": ("step", _GRADIENT),
    "gradient of a call inside": ("f step", _GRADIENT),
    "persistent around": ("f", _PERSISTENT),
    "persistent inside": ("step", _PERSISTENT),
    "second around": ("f", _SECOND),
    "second inside": ("step", _SECOND),
    "second mixed": ("inner", _MIXED),
    "forward around": ("f", _FORWARD),
    "forward inside": ("step", _FORWARD),
    "jacobian around": ("f", _JACOBIAN),
    "jacobian inside": ("step", _JACOBIAN),
}


@dataclass(frozen=True)
class Known:
    """What is known of a name: shape and dtype in the first call, and whether the shape may differ in the next."""

    shape: tuple[int, ...]
    dtype: str
    dynamic: bool = False


@dataclass(frozen=True)
class Statement:
    """Lines of code that define names."""

    text: str
    defines: tuple[str, ...]

    @property
    def uses(self) -> set[str]:
        """The names that it uses but does not define."""
        return set(_NAME.findall(self.text)) - set(self.defines)


@dataclass(frozen=True)
class Program:
    """A function `f` of inputs and a number `k`, with variables, differentiated in a given mode."""

    seed: int
    inputs: dict[str, Known]
    variables: dict[str, Known]
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    mode: str
    wild: int = 0
    calls: tuple[int, ...] = (0, 0, 0, 1, 2, 3, 0)
    known: dict[str, Known] = field(default_factory=dict, compare=False)

    def with_statements(self, statements: list[Statement]) -> Program:
        """Returns the program with these statements, without those that miss a name."""
        defined = {*self.inputs, *self.variables, "k"}
        kept = []
        for s in statements:
            if s.uses <= defined:
                kept.append(s)
                defined.update(s.defines)
        return replace(self, statements=tuple(kept), outputs=tuple(y for y in self.outputs if y in defined))

    def source(self, jitter: bool = False, alone: bool = False) -> str:
        """Returns Python code that defines `build` and `calls`; with `alone`, it also runs the program."""
        lines = []
        for i, (name, known) in enumerate(self.variables.items()):
            given = f"values(0, {100 + i}, {known.shape}, {known.dtype!r}, 0)"
            lines.append(f"{name} = tf.Variable({given}, dtype=tf.{known.dtype})")
        names = [*self.inputs, "k"]
        compiled, step = MODES[self.mode]
        lines += ["", *["@compiled"] * ("f" in compiled.split()), f"def f({', '.join(names)}):"]
        body = [f"{x} = jitter({x})" for x in self.inputs] if jitter else []
        for s in self.statements:
            text = s.text
            if jitter:  # the derivatives of two uses may cancel, so each use has its own rounding errors
                tensors = "|".join(name for name in s.uses if name[0] in "tx")
                text = re.sub(rf"\b({tensors})\b", r"jitter.gradient(\1)", text) if tensors else text
                text += f"\n{s.defines[-1]} = jitter({s.defines[-1]})"
            body += text.split("\n")
        lines += [f"    {line}" for line in [*body, f"return [{', '.join(self.outputs)}]"]]
        sources = [x for x, known in self.inputs.items() if known.dtype[0] in "fbc" and known.dtype != "bool"]
        lines += ["", "def sources_of(xs):", f"    {', '.join(names)}, = xs"]
        lines += [f"    return [{', '.join([*sources, *self.variables])}]"]
        if compiled == "inner":
            lines += ["", "@compiled", "def inner(*xs):", "    sources = sources_of(xs)"]
            lines += [textwrap.indent(_GRADIENT, "    ")]
        lines += ["", *["@compiled"] * ("step" in compiled.split()), "def step(*xs):", "    sources = sources_of(xs)"]
        lines += [textwrap.indent(step, "    "), "", f"return step, [{', '.join(self.variables)}]"]
        given = ", ".join(
            f"tf.constant(values(case, {i}, {known.shape}, {known.dtype!r}, {self.wild}), tf.{known.dtype})"
            for i, known in enumerate(self.inputs.values())
        )
        source = PREAMBLE + textwrap.indent("\n".join(lines), "    ") + "\n\n\n"
        source += f"def calls(tf):\n    for case in {self.calls}:\n"
        source += f"        yield [{given}{', ' if given else ''}tf.constant((2, 3, 0, 1)[case])]\n"
        return f"# Random program {self.seed}: {self.mode}\n" + source + (_ALONE if alone else "")


_ALONE = """

if __name__ == "__main__":
    import gradtape as tf

    ways = {"eager": lambda f: f, "function": tf.function, "xla": lambda f: tf.function(f, jit_compile=True)}
    for way, compiled in ways.items():
        step, variables = build(tf, compiled)
        for number, xs in enumerate(calls(tf)):
            print(f"--- {way}, call {number}")
            try:
                for y in [*step(*xs), *variables]:
                    print(None if y is None else tf.convert_to_tensor(y).numpy())
            except Exception as error:
                print(type(error).__name__, str(error)[:300])
                break
"""
