"""Random functions, saved and loaded: values, gradients and assignments are those of the live function.

With an interpreter that has TensorFlow, that loads the same folder, and must give the same values and gradients.
"""

from __future__ import annotations

import atexit
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf

_DTYPES = ("float32", "float32", "float64", "complex64", "complex128", "float16", "bfloat16")
_ROWS = 3  # of the inputs, where the signature leaves their number open


class _Module(tf.Module):
    """What is saved; its functions are attributes."""

    customizes_inside = False  # whether there is a custom gradient inside of a branch, a loop or another function


class _Builder:
    """Draws the ops of a function: each takes tensors of shape [n, 3] and gives one."""

    def __init__(self, rng: random.Random, dtype: str, module: _Module) -> None:
        self.rng, self.dtype, self.module = rng, tf.as_dtype(dtype), module
        self.is_complex, self.half = self.dtype.is_complex, dtype in ("float16", "bfloat16")

    def step(self, depth: int = 0) -> Callable[[Any, Any], Any]:
        """One op of two tensors."""
        kinds = [self._unary, self._binary, self._shaped, self._variable, self._reduction, self._custom, self._constant]
        if depth < 2:
            kinds += [self._branch, self._loop, self._nested]
        if not self.is_complex:
            kinds.append(self._real)
        return self.rng.choice(kinds)(depth)

    def _number(self) -> Any:
        value = self.rng.choice([0.5, -1.25, 2.0, 0.75])
        return tf.constant(complex(value, self.rng.choice([0.5, -1.0])) if self.is_complex else value, self.dtype)

    def _unary(self, depth: int) -> Any:
        names = ["sin", "tanh", "square", "negative", "identity"] + ([] if self.half else ["cos", "exp"])
        op = getattr(tf, self.rng.choice(names))
        scale = self._number() * tf.constant(0.25, self.dtype)
        return lambda x, y: op(x * scale)

    def _binary(self, depth: int) -> Any:
        op = self.rng.choice([tf.add, tf.subtract, tf.multiply])
        return lambda x, y: op(x, y)

    def _constant(self, depth: int) -> Any:
        row = tf.cast(tf.constant([[0.5, -1.0, 1.5]]), self.dtype) * self._number()
        return lambda x, y: x * row + y

    def _shaped(self, depth: int) -> Any:
        kind = self.rng.randrange(6)
        return lambda x, y: [
            lambda: tf.reverse(x, [1]), lambda: tf.transpose(tf.transpose(x)),
            lambda: tf.concat([x[:, 1:], y[:, :1]], 1), lambda: tf.reshape(tf.reshape(x, [-1]), tf.shape(y)),
            lambda: tf.roll(x, 1, axis=0), lambda: tf.stack([x[:, 0], y[:, 1], x[:, 2]], axis=1),
        ][kind]()  # fmt: skip

    def _reduction(self, depth: int) -> Any:
        axis = self.rng.choice([0, 1])
        op = self.rng.choice([tf.reduce_sum, tf.reduce_mean])
        return lambda x, y: y + op(x, axis=axis, keepdims=True) * tf.constant(0.25, self.dtype)

    def _variable(self, depth: int) -> Any:
        weights = [[0.5, 0.0, 1.0], [1.0, -0.5, 0.0], [0.0, 0.25, 0.5]]
        variable = tf.Variable(tf.cast(tf.constant(weights), self.dtype) * self._number())
        self.module.weights.append(variable)
        if self.rng.random() < 0.5:
            return lambda x, y: x @ variable
        return lambda x, y: x * variable[1] + y

    def _real(self, depth: int) -> Any:
        op = self.rng.choice([tf.nn.relu, tf.nn.softplus, tf.nn.softmax, tf.abs, tf.sign, tf.nn.sigmoid])
        if self.rng.random() < 0.3:
            return lambda x, y: tf.where(x > y, x, y * self._half())
        return lambda x, y: op(x)

    def _half(self) -> Any:
        return tf.constant(0.5, self.dtype)

    def _custom(self, depth: int) -> Any:
        factor = self._number()
        self.module.customizes_inside |= depth > 0

        @tf.custom_gradient
        def call(x: Any, y: Any) -> Any:
            z = x * y
            return z + x, lambda dz: (dz * factor * y, dz * z)

        return lambda x, y: call(x, y)

    def _nested(self, depth: int) -> Any:
        inner = tf.function(self.program(depth + 1, 2))
        return lambda x, y: inner(x, y)

    def _branch(self, depth: int) -> Any:
        first, second = self.program(depth + 1, 2), self.program(depth + 1, 1)
        limit = self.rng.choice([-100.0, 0.0, 100.0])

        def call(x: Any, y: Any) -> Any:
            total = tf.cast(tf.math.real(tf.reduce_sum(x)), tf.float32)
            return tf.cond(total > limit, lambda: first(x, y), lambda: second(x, y))

        return call

    def _loop(self, depth: int) -> Any:
        body, count = self.program(depth + 1, 1), self.rng.randint(0, 3)

        def call(x: Any, y: Any) -> Any:
            state = tf.while_loop(lambda i, z: i < count, lambda i, z: (i + 1, body(z, y)), [tf.constant(0), x])
            return state[1] * self._half()

        return call

    def program(self, depth: int, length: int) -> Callable[[Any, Any], Any]:
        """Several ops one after another."""
        steps = [(self.step(depth), self.rng.random() < 0.3) for _ in range(length)]

        def call(x: Any, y: Any) -> Any:
            for step, swaps in steps:
                x, y = (step(y, x), x) if swaps else (step(x, y), y)
            return x

        return call


def _function(rng: random.Random, module: _Module, dtype: str) -> tuple[Any, list[Any]]:
    """A function with an input signature, and its arguments."""
    program = _Builder(rng, dtype, module).program(0, rng.randint(1, 5))
    kind = rng.choice(["plain", "plain", "dict", "counted", "ragged"])
    rows = rng.choice([None, None, _ROWS])
    columns = None if rng.random() < 0.3 else 3
    spec = tf.TensorSpec([rows, columns], dtype)
    x, y = (tf.cast(tf.constant(np.round(np.random.default_rng(rng.randrange(99)).normal(size=[_ROWS, 3]), 2)), dtype)
            for _ in range(2))  # fmt: skip
    if dtype.startswith("complex"):
        x = x * tf.constant(1 - 0.5j, dtype)
    if kind == "dict":
        call = tf.function(lambda z: {"a": program(z["x"], z["y"]), "b": [z["x"], tf.shape(z["y"])]},
                           input_signature=[{"x": spec, "y": spec}])  # fmt: skip
        return call, [{"x": x, "y": y}]
    if kind == "counted":
        count = module.count

        def counted(x: Any, y: Any) -> Any:
            count.assign_add(2)
            return program(x, y), count.read_value()

        return tf.function(counted, input_signature=[spec, spec]), [x, y]
    if kind == "ragged" and not dtype.startswith("complex"):
        call = tf.function(lambda x, r: program(x, x) * tf.cast(tf.reduce_sum(r), dtype),
                           input_signature=[spec, tf.RaggedTensorSpec([None, None], tf.float32)])  # fmt: skip
        return call, [x, tf.ragged.constant([[1.0], [2.0, 3.0]])]
    return tf.function(program, input_signature=[spec, spec]), [x, y]


def _built(seed: int) -> tuple[_Module, dict[str, list[Any]]]:
    rng = random.Random(seed)
    module = _Module()
    module.weights = []
    module.count = tf.Variable(0, trainable=False)
    inputs = {}
    for i in range(rng.randint(1, 2)):
        function, inputs[f"f{i}"] = _function(rng, module, rng.choice(_DTYPES))
        setattr(module, f"f{i}", function)
    return module, inputs


def _answers(module: Any, inputs: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The values of every function, and the gradients by its arguments and by variables."""
    found = {}
    for name, args in inputs.items():
        leaves = tf.nest.flatten(args, expand_composites=True)
        sources = [x for x in leaves if x.dtype.is_floating or x.dtype.is_complex]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            result = getattr(module, name)(*args)
            values = tf.nest.flatten(result)
            target = values[0]
        gradients = tape.gradient(target, [*sources, *module.weights])
        dense = [None if g is None else tf.convert_to_tensor(g) for g in gradients]
        found[name] = [*values, *dense]
    return found


def _numbers(value: Any) -> Any:
    if value is None:
        return None
    array = np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _compare(who: str, wanted: dict[str, list[Any]], found: dict[str, list[Any]], dtypes: dict[str, Any]) -> list[str]:
    problems = []
    for name, values in wanted.items():
        tolerance = {2: 3e-2, 4: 2e-4, 8: 2e-4 if dtypes[name].is_complex else 1e-9, 16: 1e-9}[dtypes[name].size]
        for i, (a, b) in enumerate(zip(values, found[name], strict=True)):
            a, b = _numbers(a), _numbers(b)
            if (a is None) != (b is None):  # of a branch that is not taken the gradient may be None or zeros
                if np.any(b if a is None else a):
                    problems.append(f"{who} {name}[{i}] is {b}, and live {a}")
            elif a is not None and a.shape != b.shape:
                problems.append(f"{who} {name}[{i}] has shape {b.shape}, and live {a.shape}")
            elif a is not None and a.size:
                scale = max(1.0, float(np.nanmax(np.abs(np.where(np.isfinite(a), a, 0)))))
                if not np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
                    problems.append(f"{who} {name}[{i}] is {b.tolist()}, and live {a.tolist()}")
    return problems


def disagreements(seed: int, tensorflow: str | None) -> list[str]:
    module, inputs = _built(seed)
    try:
        wanted = _answers(module, inputs)
    except (tf.errors.OpError, ValueError) as error:
        return [f"the live function raised {type(error).__name__}: {error}"]
    dtypes = {name: values[0].dtype for name, values in wanted.items()}
    with tempfile.TemporaryDirectory() as place:
        module.count.assign(0)
        tf.saved_model.save(module, place)
        loaded = tf.saved_model.load(place)
        problems = _compare("loaded", wanted, _answers(loaded, inputs), dtypes)
        if len(loaded.weights) != len(module.weights):
            problems.append(f"{len(module.weights)} variables were saved, and {len(loaded.weights)} loaded")
        if tensorflow is not None and not problems:
            answer = _tensorflow(tensorflow).ask(place, inputs)
            if isinstance(answer, str):
                # TensorFlow cannot differentiate custom gradients in branches and loops of its own SavedModels either.
                if not (module.customizes_inside and answer.startswith(("AssertionError", "TypeError", "ValueError"))):
                    problems.append(f"TensorFlow: {answer}")
            else:
                problems += _compare("TensorFlow's", wanted, answer, dtypes)
    return problems


class _TensorFlow:
    """A process of another interpreter, which loads SavedModels with TensorFlow and calls their functions."""

    def __init__(self, interpreter: str) -> None:
        program = Path(__file__).with_name("_tensorflow_loader.py")
        self._process = subprocess.Popen([interpreter, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        atexit.register(self._process.terminate)

    def ask(self, folder: str, inputs: dict[str, list[Any]]) -> Any:
        """The values and gradients that TensorFlow gives, or what it raised."""
        assert self._process.stdin is not None and self._process.stdout is not None
        described = {name: [_described(x) for x in args] for name, args in inputs.items()}
        self._process.stdin.write(json.dumps([folder, described]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else "the process has ended"
        if isinstance(answer, str):
            return answer
        return {name: [None if v is None else np.array(v[0]) + 1j * np.array(v[1]) if len(v) == 2 else np.array(v[0])
                       for v in values] for name, values in answer.items()}  # fmt: skip


@cache
def _tensorflow(interpreter: str) -> _TensorFlow:
    return _TensorFlow(interpreter)


def _described(value: Any) -> Any:
    """An argument as JSON."""
    if isinstance(value, dict):
        return {"dict": {key: _described(part) for key, part in value.items()}}
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": value.to_list()}
    array = _numbers(value)
    return {"dtype": value.dtype.name, "real": array.real.tolist(), "imag": array.imag.tolist()}


if __name__ == "__main__":
    sys.exit("\n".join(disagreements(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)))
