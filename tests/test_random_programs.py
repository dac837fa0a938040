"""Random programs of loops, branches, variables and arrays: a function gives the results of eager execution.

So do its gradients, by a tape around the call and by tapes inside a function, and its second derivatives.
"""

import linecache
import random
from dataclasses import replace

import numpy as np
import pytest
from random_programs.comparison import WAYS, disagreements
from random_programs.generator import generate
from random_programs.program import Known, Statement
from random_programs.program import Program as Listed
from random_programs.shrinking import shrunk

import gradtape as tf

ZERO = tf.UnconnectedGradients.ZERO


class Program:
    """The source of a function f(x, y, k) of two vectors and an iteration count; `s` is a variable."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        lines = self.block(["x", "y"], 1)
        self.source = "\n".join(["def f(x, y, k):", *lines, "    return x, y, tf.reduce_sum(x * y)", ""])

    def new(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def expression(self, names, depth=0):
        pick = self.random.choice
        kind = self.random.random()
        if depth > 2 or kind < 0.35:
            return pick(names)
        if kind < 0.45:
            return pick(["0.5", "1.5", "-0.7"])
        if kind < 0.65:
            return f"({self.expression(names, depth + 1)} {pick('+-*')} {self.expression(names, depth + 1)})"
        if kind < 0.85:
            return f"tf.{pick(['sin', 'tanh', 'abs', 'square', 'sigmoid', 'nn.relu'])}({pick(names)})"
        if kind < 0.92:
            return f"tf.reduce_mean({pick(names)}) * {pick(names)}"
        return f"tf.where({pick(names)} > 0.1, {pick(names)}, {pick(names)})"

    def vector(self, names):
        return f"tf.broadcast_to({self.expression(names)}, [3])"

    def block(self, names, depth):
        names, lines = list(names), []
        for _ in range(self.random.randint(1, 3)):
            lines += [f"    {line}" for line in self.statement(names, depth)]
        return lines

    def statement(self, names, depth):
        """Returns the lines of one statement, which may define a name."""
        pick, kind = self.random.choice, self.random.random()
        if depth > 3 or kind < 0.45:
            name = pick(names) if self.random.random() < 0.6 else self.new("v")
            line = f"{name} = {self.vector(names)}"
            names += [name] * (name not in names)
            return [line]
        if kind < 0.6:
            lines = [f"if tf.reduce_sum({pick(names)}) > {pick([-1.0, 0.0, 0.5])}:", *self.block(names, depth + 1)]
            return lines + ["else:", *self.block(names, depth + 1)] * (self.random.random() < 0.7)
        if kind < 0.8:
            i = self.new("i")
            lines = [f"for {i} in tf.range({pick(['2', 'k', 'tf.shape(x)[0]'])}):", *self.block(names, depth + 1)]
            if self.random.random() < 0.5:
                lines += [f"    if tf.reduce_max({pick(names)}) > 0.8:", f"        {pick(['break', 'continue'])}"]
            return [*lines, f"    {pick(names)} = {pick(names)} * tf.cast({i} + 1, tf.float32) * 0.3"]
        if kind < 0.88:
            c = self.new("c")
            test = f"tf.reduce_sum(tf.abs({pick(names)})) > 0.3 and {c} < 4"
            return [f"{c} = tf.constant(0)", f"while {test}:", *self.block(names, depth + 1), f"    {c} += 1"]
        if kind < 0.94:
            return [f"s.assign({self.vector([*names, 's'])})", f"{pick(names)} = {pick(names)} + s * 0.5"]
        a, i = self.new("a"), self.new("i")
        return [
            f"{a} = tf.TensorArray(tf.float32, size=3)",
            f"for {i} in tf.range(3):",
            f"    {a} = {a}.write({i}, {pick(names)}[{i}] * 2.0)",
            f"{pick(names)} = {a}.stack()",
        ]

    def function(self, name, s):
        """Returns the Python function, whose source AutoGraph finds."""
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        names = {"tf": tf, "s": s}
        exec(compile(self.source, name, "exec"), names)
        return names["f"]


def results(f, s, inputs, staged):
    s.assign([0.1, -0.2, 0.3])
    out = []
    for x, y, k in inputs:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            found = f(x, y, k)
            loss = found[2] + tf.reduce_sum(found[0])
        out += [*found, *tape.gradient(loss, [x, y, s], unconnected_gradients=ZERO), s.value(), *f(x, y, k)]

    def twice(x, y, k):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                z = f(x, y, k)[2]
            slope = tape.gradient(z, x, unconnected_gradients=ZERO)
        return slope, outer.gradient(slope, x, unconnected_gradients=ZERO)

    out += (tf.function(twice) if staged else twice)(*inputs[0])
    return [np.asarray(y) for y in out]


@pytest.mark.parametrize("seed", range(40))
def test_function_and_eager_agree(seed):
    program = Program(seed)
    s = tf.Variable([0.1, -0.2, 0.3])
    f = program.function(f"<random program {seed}>", s)
    draw = np.random.default_rng(seed).normal
    vectors = [[tf.constant(draw(size=3).astype(np.float32)) for _ in range(2)] for _ in range(3)]
    inputs = [(x, y, tf.constant(k)) for k, (x, y) in enumerate(vectors, 1)]
    expected = results(f, s, inputs, staged=False)
    if not all(np.isfinite(y).all() and np.abs(y).max(initial=0.0) < 1e6 for y in expected):
        pytest.skip("its numbers are too large to compare")
    for got, want in zip(results(tf.function(f), s, inputs, staged=True), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-4, err_msg=program.source)


@pytest.mark.parametrize("seed", range(60))
def test_eager_function_and_xla_agree(seed):
    """Statements of a catalogue, on every kind of value: see `random_programs`. `make fuzz` runs more."""
    program = generate(seed)
    found = disagreements(program, ("function", "xla") if seed % 10 == 0 else ("function",))
    assert not found, "\n".join([*found, program.source(alone=True)])


def listed(*texts, mode="gradient around", calls=(0, 0, 1)):
    statements = [Statement(text, (text.split(" = ")[0],)) for text in texts]
    inputs, outputs = {"x0": Known((5,), "float32")}, statements[-1].defines
    return Listed(0, inputs, {}, tuple(statements), outputs, mode, calls=calls)


def test_a_wrong_function_is_caught_and_the_program_made_smaller(monkeypatch):
    """A function that is wrong only in the second call, by one part in ten thousand."""

    def wrong(f):
        calls = []

        def g(*xs):
            calls.append(xs)
            return [y * (1.0 if len(calls) == 1 else 1.0001) for y in f(*xs)]

        return g

    monkeypatch.setitem(WAYS, "function", wrong)
    program = listed("t1 = tf.sin(x0)", "t2 = tf.cos(x0)", "t3 = t1 * 2.0")
    assert disagreements(program, ("function",))[0].startswith("function: call 1, result 0 of 2: 5 of 5 entries")
    smaller = shrunk(program, lambda p: bool(disagreements(p, ("function",))))
    assert len(smaller.statements) == 1
    assert len(smaller.calls) == 2


def test_what_rounding_may_do_is_no_disagreement(monkeypatch):
    monkeypatch.setitem(WAYS, "function", lambda f: lambda x, k: f(x * (1 + 2**-23), k))
    assert not disagreements(listed("t1 = tf.sin(x0 * 1e5)"), ("function",))


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        (["t1 = x0 / (1.0 + tf.abs(x0))"], {"wild": 15}),  # two derivatives of `x0` cancel
        (["t1 = tf.nn.gelu(x0 * 0.0 - 13.3)", "t2 = tf.math.zero_fraction(t1)"], {}),  # XLA flushes subnormal numbers
        (  # without an iteration, the eager gradient is None and that of the function is 0
            ["t1 = tf.while_loop(lambda i, z: i < k, lambda i, z: (i + 1, z * x0), [0, tf.ones(5)])[1]"],
            {"mode": "second around", "calls": (0, 2)},
        ),
    ],
    ids=["cancellation", "subnormal numbers", "no iteration"],
)
def test_what_xla_may_do_is_no_disagreement(texts, options):
    program = replace(listed(*texts), **options)
    assert not disagreements(program)
