"""Random tapes, saved and loaded: gradients equal those of the live tape, replays those of the program.

A program is a list of instructions determined by the seed. It runs under a tape, is saved, loaded and differentiated;
then it runs again on other inputs, which the loaded tape gets through `replay`. Programs have values of one dtype,
real, complex or half, with several shapes, including empty ones and scalars.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

DTYPES = ["float32", "float64", "float64", "complex64", "complex128", "float16", "bfloat16"]
SHAPES = [(), (3,), (2, 3), (2, 2), (1,), (0,), (2, 0)]
TOLERANCES = {"float64": 1e-10, "complex128": 1e-10, "float32": 2e-4, "complex64": 2e-4}
TOLERANCES |= {"float16": 0.1, "bfloat16": 0.3}
HALF = ("float16", "bfloat16")
KINDS = ["unary"] * 6 + ["binary"] * 5 + ["function"] * 3
KINDS += ["assign", "assign_add", "hidden_assign", "loop", "scan", "cond", "custom", "inner_tape", "assigning_function"]
KINDS += ["silent_function", "maybe_assigning_function", "state", "chosen", "guarded", "loop_on_two_tapes"]
CONTROL = ("loop", "scan", "cond", "loop_on_two_tapes")
Instruction = tuple[Any, ...]

UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": tf.sin,
    "tanh": tf.tanh,
    "square": lambda x: tf.square(tf.sin(x)),
    "negative": lambda x: -x,
    "softened": lambda x: tf.exp(-tf.square(tf.sin(x))),
    "stopped": tf.stop_gradient,
    "conj": tf.math.conj,
    "parts": lambda x: tf.complex(tf.math.imag(x), 0.5 * tf.math.real(x)) if x.dtype.is_complex else tf.nn.relu(x),
    "length": lambda x: tf.cast(tf.abs(x + 1), x.dtype),
    "last_first": lambda x: x[..., ::-1] if x.shape.rank else x,
    "tail": lambda x: x[1:] if x.shape.rank else x,
    "view_of_view": lambda x: tf.reshape(x[::-1], [-1])[::2] if x.shape.rank else x,
    "column": lambda x: x[..., tf.newaxis] if x.shape.rank < 2 else tf.transpose(x),
    "flat": lambda x: tf.reshape(x, [-1]),
    "sum": tf.reduce_sum,
    "rows": lambda x: tf.reduce_mean(tf.concat([x, x[:1]], 0), axis=0, keepdims=True) if _has_rows(x) else 0.5 * x,
    "halves": lambda x: tf.split(tf.concat([x, x], -1), 2, axis=-1)[1] if x.shape.rank else x,
    "picked": lambda x: tf.gather(x, [0, 0]) if _has_rows(x) else x,
    "stacked": lambda x: tf.reduce_sum(tf.stack([x, 2 * x]), axis=0),
    "widened": lambda x: tf.cast(tf.cast(x, "complex128" if x.dtype.is_complex else "float64"), x.dtype),
    "stateless": lambda x: x * tf.cast(tf.random.stateless_uniform(x.shape, [3, 4]), x.dtype),
    "drawn": lambda x: x * tf.cast(tf.random.uniform(x.shape), x.dtype),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * tf.sin(y),
    "sub": lambda x, y: x - y,
    "div": lambda x, y: x / (2 + tf.sin(y)),
    "where": lambda x, y: tf.where(tf.math.real(x) > tf.math.real(y), x, 0.5 * y),
}


def _has_rows(x: Any) -> bool:
    return bool(x.shape.rank) and x.shape[0] > 0


@tf.custom_gradient
def twice_as_steep(x: Any) -> Any:
    """Has a rule that uses an intermediate result of the function."""
    y = tf.sin(x)
    return y, lambda g: 2 * g * y


class Program:
    """A random program. `leaves` are the shapes of its inputs by name: variables, watched tensors and a constant."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.dtype = rng.choice(DTYPES)
        shape = rng.choice(SHAPES)
        self.leaves = {name: rng.choice([shape, shape, ()]) for name in ("v", "w", "watched", "constant")}
        self.leaves["unused"] = rng.choice(SHAPES)
        self.instructions = [self._instruction(rng) for _ in range(rng.randint(2, 9))]
        self.target_count = rng.choice([1, 1, 1, 2])
        self.sources = rng.sample(["v", "w", "watched", "unused", "middle", "unread", "constant"], rng.randint(1, 4))
        self.sources += rng.choice([[], [], [self.sources[0]], ["ragged"]])
        self.weighted = rng.random() < 0.3
        self.seed = seed

    def _instruction(self, rng: random.Random) -> Instruction:
        at, other = rng.randrange(1 << 20), rng.randrange(1 << 20)
        kind = rng.choice(KINDS)
        # A file cannot represent a random draw in a branch or a loop of a function.
        allowed = sorted(set(UNARY) - {"drawn"}) if kind in CONTROL else sorted(UNARY)
        inner = [(rng.choice(allowed), rng.choice(sorted(BINARY))) for _ in range(rng.randint(1, 2))]
        return kind, at, other, rng.choice(sorted(UNARY)), rng.choice(sorted(BINARY)), inner, rng.choice("vw")

    def inputs(self, number: int) -> dict[str, Any]:
        """Returns the values of the leaves in run `number`."""
        rng = np.random.default_rng([self.seed, number])
        dtype = tf.as_dtype(self.dtype)
        found = {}
        for name, shape in self.leaves.items():
            x = rng.normal(size=shape)
            found[name] = (x + 1j * rng.normal(size=shape) if dtype.is_complex else x).astype(dtype.as_numpy_dtype)
        return found

    def run(self, inputs: dict[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:
        """Returns the tape, the targets, and the sources by name."""
        tf.random.set_seed(self.seed)
        variables = {name: tf.Variable(inputs[name], name=name, dtype=self.dtype) for name in ("v", "w")}
        known = {name: tf.constant(inputs[name], self.dtype) for name in ("watched", "constant", "unused")}
        known["unread"] = tf.Variable(inputs["unused"], name="unread", dtype=self.dtype)
        known["ragged"] = tf.RaggedTensor.from_row_lengths(tf.cast([1.0, 2.0, 3.0], self.dtype), [1, 2])
        with tf.GradientTape(trace=True, persistent=True) as tape:
            tape.watch([known["watched"], known["unused"], known["ragged"]])
            pool = [variables["v"], known["watched"] * known["constant"], variables["w"], known["ragged"].values]
            for instruction in self.instructions:
                self._step(instruction, pool, variables, tape)
            known["middle"] = pool[len(pool) // 2]
            results = [x for x in pool if isinstance(x, tf.Tensor)]
            targets = [tf.reduce_sum(tf.sin(x)) for x in results[-self.target_count :]]
            targets[0] = targets[0] + tf.reduce_sum(results[0]) + tf.reduce_sum(variables["v"] * variables["v"])
        return tape, targets, {**known, **variables}

    def _step(self, instruction: Instruction, pool: list[Any], variables: dict[str, Any], tape: Any) -> None:
        kind, at, other, unary, binary, inner, name = instruction
        x, y, v = pool[at % len(pool)], pool[other % len(pool)], variables[name]
        value = tf.convert_to_tensor(x)

        def body(z: Any) -> Any:
            for one, two in inner:
                z = _joined(BINARY[two], _kept_shape(UNARY[one], z), z)
            return z

        if kind == "unary":
            pool.append(UNARY[unary](value))
        elif kind == "binary":
            pool.append(_joined(BINARY[binary], value, tf.convert_to_tensor(y)))
        elif kind in ("assign", "assign_add", "hidden_assign"):
            new = tf.sin(value) if value.shape == v.shape else 0.5 * v + tf.cast(tf.reduce_sum(value), self.dtype)
            if kind == "hidden_assign":
                pool.append(v + 0)  # assigned unrecorded before the first read: the initial value
                with tape.stop_recording():
                    v.assign(0.25 * tf.ones_like(v))
            else:
                (v.assign if kind == "assign" else v.assign_add)(new)
            pool.append(BINARY[binary](v, tf.reduce_mean(v)) if v.shape.num_elements() else tf.sin(v))
        elif kind == "function":
            call = tf.function(lambda a, b: _joined(BINARY[binary], body(a), UNARY[unary](b)), autograph=False)
            pool.append(call(value, v))
        elif kind == "assigning_function":
            def update(a: Any) -> Any:
                v.assign(0.5 * v + tf.reduce_sum(tf.sin(a)))
                return v * v + tf.reduce_sum(a)

            pool.append(tf.function(update, autograph=False)(value))
            pool.append(v + 1)
        elif kind == "silent_function":  # a call that returns nothing

            def leave(a: Any) -> None:
                v.assign(0.5 * v - tf.reduce_sum(tf.sin(a)))

            tf.function(leave, autograph=False)(value)
            pool.append(v + 1)
        elif kind == "maybe_assigning_function":  # with some inputs, the value stays the same

            def settle(a: Any) -> Any:
                v.assign(tf.where(tf.math.real(tf.reduce_sum(a)) > 0, v, 0.5 * v))
                return tf.reduce_sum(a)

            pool.append(tf.function(settle, autograph=False)(value))
            pool.append(v + 1)
        elif kind == "state":  # a variable that no tape watches
            state = tf.Variable(tf.ones_like(v), trainable=False)
            assign = state.assign_add if at % 2 else tf.function(state.assign_add, autograph=False)
            assign(0.5 * v + tf.reduce_sum(tf.sin(value)))
            pool.append(v * state)
        elif kind == "chosen":  # by calls of functions that have no derivative

            def count(a: Any) -> Any:
                return tf.reduce_sum(tf.cast(tf.math.real(a) > 0, tf.int32))

            scale = tf.function(lambda n: 2 * n + 1, autograph=False)
            pool.append(v * tf.cast(scale(tf.function(count, autograph=False)(value)), self.dtype))
        elif kind == "guarded":  # a shape that depends on values

            def choose(a: Any, b: Any) -> Any:
                count = tf.reduce_sum(tf.cast(tf.math.real(b) > 0, tf.int32)) + 1
                return tf.sin(a) * tf.cast(tf.reduce_sum(tf.range(count)), self.dtype)

            pool.append(tf.function(choose, autograph=False)(value, v))
        elif kind == "loop_on_two_tapes":  # it is recorded op by op
            with tf.GradientTape() as inside:
                inside.watch(value)
                control = ("loop", "scan", "cond")[at % 3]
                z = tf.function(lambda a, b: self._control(control, body, a, b), autograph=False)(value, v)
                total = tf.reduce_sum(z * z)
            slope = inside.gradient(total, value)
            pool.append(z if slope is None else z + slope)
        elif kind in ("loop", "scan", "cond"):
            pool.append(tf.function(lambda a, b: self._control(kind, body, a, b), autograph=False)(value, v))
        elif kind == "custom":
            pool.append(twice_as_steep(value) * v if value.shape == v.shape else twice_as_steep(value))
        else:
            with tf.GradientTape() as inside:
                inside.watch(value)
                z = tf.reduce_sum(tf.sin(value) * value)
            pool.append(inside.gradient(z, value))

    def _control(self, kind: str, body: Callable[[Any], Any], a: Any, b: Any) -> Any:
        total = tf.math.real(tf.reduce_sum(b))
        if kind == "cond":
            return tf.cond(total > 0, lambda: body(a) * 2, lambda: tf.sin(a))
        if kind == "loop":
            steps = tf.cast(tf.abs(total) < 1, tf.int32) + 2
            return tf.while_loop(lambda i, z: i < steps, lambda i, z: (i + 1, tf.sin(body(z))), (0, a))[1]
        return tf.scan(lambda z, row: tf.sin(body(z)) + tf.reduce_sum(row), tf.stack([a, 2 * a]), a)


def _joined(f: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Returns `f(x, y)`, of their sums if the shapes do not broadcast."""
    try:
        tf.broadcast_static_shape(x.shape, y.shape)
    except ValueError:
        y = tf.reduce_sum(y)
    return f(x, y)


def _kept_shape(f: Callable[[Any], Any], x: Any) -> Any:
    """Returns `f(x)` reduced to a shape that broadcasts to that of x: in a loop, shapes stay the same."""
    y = f(x)
    return y if y.shape == x.shape else tf.reduce_sum(y) * tf.ones_like(x)


def flat(structure: Any) -> list[Any]:
    """Returns the gradients as arrays, or None."""
    found = structure if isinstance(structure, list) else [structure]
    parts: list[Any] = []
    for g in found:
        if isinstance(g, tf.IndexedSlices):
            g = tf.convert_to_tensor(g)
        tensors = [] if g is None else tf.nest.flatten(g, expand_composites=True)
        parts += [None] if g is None else [np.asarray(x) for x in tensors if not x.dtype.is_integer]
    return parts


def differ(expected: Any, found: Any, dtype: str) -> bool:
    """Returns whether two lists of arrays, or None, differ by more than rounding."""
    if len(expected) != len(found):
        return True
    for x, y in zip(expected, found, strict=True):
        if (x is None) != (y is None):
            return True
        if x is None:
            continue
        if x.shape != y.shape or x.dtype != y.dtype:
            return True
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        x, y = x.astype(wide), y.astype(wide)
        finite = np.isfinite(x) & np.isfinite(y)
        if dtype not in HALF and not np.array_equal(np.isfinite(x), np.isfinite(y)):
            return True
        scale = max(1.0, float(np.max(np.abs(x[finite]), initial=0.0)))
        if np.max(np.abs(x[finite] - y[finite]), initial=0.0) > TOLERANCES[dtype] * scale:
            return True
    return False


def disagreements(seed: int) -> list[str]:
    """Returns the differences between the loaded tape and the live one, or the program on other inputs."""
    with tempfile.TemporaryDirectory() as folder:
        return list(_disagreements(seed, os.path.join(folder, "step.tape")))


def _disagreements(seed: int, path: str) -> Any:
    program = Program(seed)
    inputs = program.inputs(0)
    tape, targets, known = program.run(inputs)
    sources = [known[name] for name in program.sources]
    target = targets[0] if len(targets) == 1 else targets
    weights = [tf.cast(0.5 + i, y.dtype) for i, y in enumerate(targets)] if program.weighted else None
    expected = flat(tape.gradient(targets, sources, output_gradients=weights))
    named = {"watched": known["watched"]}
    if program.dtype != "bfloat16":  # it is computed in float32: no op gets the constant itself
        named["constant"] = known["constant"]
    description = f"{program.dtype} {program.leaves} {program.sources} {program.instructions}"
    if program.weighted:
        tape.save(path, inputs=named)  # about the last gradient
    else:
        tape.save(path, target, sources, inputs=named)
    loaded = tf.load_tape(path)
    found = flat(loaded.gradient())
    if differ(expected, found, program.dtype):
        yield f"gradient: live {expected}, loaded {found}: {description}"
    if differ(flat(targets), flat(loaded.targets), program.dtype):
        yield f"targets: live {targets}, loaded {loaded.targets}: {description}"
    reasons = loaded.explain().reasons
    if len(reasons) != len(found):
        yield f"explain: {len(reasons)} reasons for {len(found)} gradients: {description}"
    for reason, g in zip(reasons, found, strict=False):
        connected = reason.cause.value in ("connected", "zero", "not finite", "linear")
        if connected != (g is not None):
            yield f"explain: {reason} for the gradient {g}: {description}"
    for question in ("diagnose", "profile", "flow", "memory"):
        str(getattr(loaded, question)())
    others = program.inputs(1)
    given = {name: others[name] for name in ("v", "w", "watched", "constant") if name in loaded.inputs}
    others |= {name: inputs[name] for name in inputs if name not in given}
    tape, targets, known = program.run(others)
    expected = flat(tape.gradient(targets, [known[name] for name in program.sources],
                                  output_gradients=weights))  # fmt: skip
    try:
        again = loaded.replay(given)
    except ValueError as error:
        if "traced for specific values" in str(error):
            return
        raise
    if differ(flat(targets), flat(again.targets), program.dtype):
        yield f"replay: the program gives {targets}, the tape {again.targets}: {description}"
    if differ(expected, flat(again.gradient()), program.dtype):
        yield f"gradient of a replay: the program's is {expected}, the tape's {flat(again.gradient())}: {description}"
