"""Random modules to save, built from the names of gradtape or TensorFlow: this file imports neither.

The same seed gives the same program under both. `results` runs it and returns plain arrays, so that two processes can
compare; an exception is a result too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

_DTYPES = ("float32", "float32", "float64", "complex64", "complex128", "float16", "bfloat16")
_ROWS = 3
_OTHER_ROWS = (1, 2, 4, 6, 8, 9, 16, 100, 514, 1001)  # numbers of rows where the signature leaves it open


class Builder:
    """Draws the ops of a function: each maps tensors of shape [n, 3] to one."""

    def __init__(self, tf: Any, rng: random.Random, dtype: str, module: Any) -> None:
        self.tf, self.rng, self.dtype, self.module = tf, rng, tf.as_dtype(dtype), module
        self.is_complex, self.half = self.dtype.is_complex, dtype in ("float16", "bfloat16")

    def step(self, depth: int = 0) -> Callable[[Any, Any], Any]:
        """Applies one op to two tensors."""
        kinds = [self._unary, self._binary, self._shaped, self._variable, self._reduction, self._custom, self._constant,
                 self._sized]
        if depth < 2:
            kinds += [self._branch, self._loop, self._nested]
        if not self.is_complex:
            kinds.append(self._real)
        return self.rng.choice(kinds)(depth)

    def _number(self) -> Any:
        """Creates a constant where it is used: TensorFlow saves no gradient that captures an outer tensor."""
        value = self.rng.choice([0.5, -1.25, 2.0, 0.75])
        value = complex(value, self.rng.choice([0.5, -1.0])) if self.is_complex else value
        return lambda: self.tf.constant(value, self.dtype)

    def _unary(self, depth: int) -> Any:
        names = ["sin", "tanh", "square", "negative", "identity"] + ([] if self.half else ["cos", "exp"])
        op = getattr(self.tf, self.rng.choice(names))
        scale = self._number()() * self.tf.constant(0.25, self.dtype)
        return lambda x, y: op(x * scale)

    def _binary(self, depth: int) -> Any:
        op = self.rng.choice([self.tf.add, self.tf.subtract, self.tf.multiply])
        return lambda x, y: op(x, y)

    def _constant(self, depth: int) -> Any:
        row = self.tf.cast(self.tf.constant([[0.5, -1.0, 1.5]]), self.dtype) * self._number()()
        return lambda x, y: x * row + y

    def _shaped(self, depth: int) -> Any:
        tf, kind = self.tf, self.rng.randrange(6)
        return lambda x, y: [
            lambda: tf.reverse(x, [1]), lambda: tf.transpose(tf.transpose(x)),
            lambda: tf.concat([x[:, 1:], y[:, :1]], 1), lambda: tf.reshape(tf.reshape(x, [-1]), tf.shape(y)),
            lambda: tf.roll(x, 1, axis=0), lambda: tf.stack([x[:, 0], y[:, 1], x[:, 2]], axis=1),
        ][kind]()  # fmt: skip

    def _reduction(self, depth: int) -> Any:
        axis = self.rng.choice([0, 1])
        op = self.rng.choice([self.tf.reduce_sum, self.tf.reduce_mean])
        return lambda x, y: y + op(x, axis=axis, keepdims=True) * self.tf.constant(0.25, self.dtype)

    def _sized(self, depth: int) -> Any:
        """Applies an op whose size is computed from the number of rows."""
        tf, kind, limit = self.tf, self.rng.randrange(6), self.rng.choice([2, 3, 4, 5, 160, 512])
        expressions = [
            lambda n: n // limit,
            lambda n: (n + 1) // 2,
            lambda n: n % limit,
            lambda n: -n % limit,
            lambda n: n - n // limit,
            lambda n: tf.maximum(n - limit, 0),
            lambda n: tf.minimum(n, limit),
        ]
        expression = tf.autograph.experimental.do_not_convert(self.rng.choice(expressions))

        def call(x: Any, y: Any) -> Any:
            n = tf.shape(x)[0]
            size = expression(n)
            return [
                lambda: tf.concat([x[size:], x[:size]], 0), lambda: tf.concat([x[:size] * self._half(), x[size:]], 0),
                lambda: x * tf.cast(size, self.dtype) * self._half(), lambda: y + x[tf.minimum(size, n - 1)],
                lambda: tf.pad(x, [[0, size], [0, 0]])[:n], lambda: tf.roll(x, size, axis=0),
            ][kind]()  # fmt: skip

        return call

    def _variable(self, depth: int) -> Any:
        weights = [[0.5, 0.0, 1.0], [1.0, -0.5, 0.0], [0.0, 0.25, 0.5]]
        variable = self.tf.Variable(self.tf.cast(self.tf.constant(weights), self.dtype) * self._number()())
        self.module.weights.append(variable)
        if self.rng.random() < 0.5:
            return lambda x, y: x @ variable
        return lambda x, y: x * variable[1] + y

    def _real(self, depth: int) -> Any:
        tf = self.tf
        op = self.rng.choice([tf.nn.relu, tf.nn.softplus, tf.nn.softmax, tf.abs, tf.sign, tf.nn.sigmoid])
        if self.rng.random() < 0.3:
            return lambda x, y: tf.where(x > y, x, y * self._half())
        return lambda x, y: op(x)

    def _half(self) -> Any:
        return self.tf.constant(0.5, self.dtype)

    def _custom(self, depth: int) -> Any:
        factor = self._number()

        @self.tf.custom_gradient
        def call(x: Any, y: Any) -> Any:
            z = x * y
            return z + x, lambda dz: (dz * factor() * y, dz * z)

        return lambda x, y: call(x, y)

    def _nested(self, depth: int) -> Any:
        inner = self.tf.function(self.program(depth + 1, 2))
        return lambda x, y: inner(x, y)

    def _branch(self, depth: int) -> Any:
        tf = self.tf
        first, second = self.program(depth + 1, 2), self.program(depth + 1, 1)
        limit = self.rng.choice([-100.0, 0.0, 100.0])

        def call(x: Any, y: Any) -> Any:
            total = tf.cast(tf.math.real(tf.reduce_sum(x)), tf.float32)
            return tf.cond(total > limit, lambda: first(x, y), lambda: second(x, y))

        return call

    def _loop(self, depth: int) -> Any:
        tf = self.tf
        body, count = self.program(depth + 1, 1), self.rng.randint(0, 3)
        limit = self.rng.choice([None, None, 0.0, 4.0])  # of the sum, which also ends the loop

        def goes_on(i: Any, z: Any) -> Any:
            if limit is None:
                return i < count
            return tf.logical_and(i < count, tf.cast(tf.math.real(tf.reduce_sum(z)), tf.float32) < limit)

        def call(x: Any, y: Any) -> Any:
            state = tf.while_loop(goes_on, lambda i, z: (i + 1, body(z, y)), [tf.constant(0), x])
            return state[1] * self._half()

        return call

    def program(self, depth: int, length: int) -> Callable[[Any, Any], Any]:
        """Applies several ops in sequence."""
        steps = [(self.step(depth), self.rng.random() < 0.3) for _ in range(length)]

        def call(x: Any, y: Any) -> Any:
            for step, swaps in steps:
                x, y = (step(y, x), x) if swaps else (step(x, y), y)
            return x

        return call


def _function(tf: Any, rng: random.Random, module: Any, dtype: str) -> tuple[Any, list[list[Any]]]:
    """Returns a function with an input signature, and its arguments for several numbers of rows."""
    program = Builder(tf, rng, dtype, module).program(0, rng.randint(1, 5))
    kind = rng.choice(["plain", "plain", "dict", "counted", "ragged"])
    rows = rng.choice([None, None, _ROWS])
    columns = None if rng.random() < 0.3 else 3
    spec = tf.TensorSpec([rows, columns], dtype)
    counts = [_ROWS] if rows else [_ROWS, *rng.sample(_OTHER_ROWS, 2)]
    seeds = rng.randrange(99), rng.randrange(99)
    call, arguments = _with_arguments(tf, kind, program, module, spec)
    return call, [arguments(*(_matrix(tf, seed, count, dtype) for seed in seeds)) for count in counts]


def _matrix(tf: Any, seed: int, rows: int, dtype: str) -> Any:
    x = tf.cast(tf.constant(np.round(np.random.default_rng(seed).normal(size=[rows, 3]), 2)), dtype)
    return x * tf.constant(1 - 0.5j, dtype) if dtype.startswith("complex") else x


def _with_arguments(tf: Any, kind: str, program: Any, module: Any, spec: Any) -> tuple[Any, Callable[..., list[Any]]]:
    """Returns a function, and a function from two matrices to its arguments."""
    if kind == "dict":
        call = tf.function(lambda z: {"a": program(z["x"], z["y"]), "b": [z["x"], tf.shape(z["y"])]},
                           input_signature=[{"x": spec, "y": spec}])  # fmt: skip
        return call, lambda x, y: [{"x": x, "y": y}]
    if kind == "counted":
        count = module.count

        def counted(x: Any, y: Any) -> Any:
            count.assign_add(2)
            return program(x, y), count.read_value()

        return tf.function(counted, input_signature=[spec, spec]), lambda x, y: [x, y]
    if kind == "ragged" and not spec.dtype.is_complex:
        call = tf.function(lambda x, r: program(x, x) * tf.cast(tf.reduce_sum(r), spec.dtype),
                           input_signature=[spec, tf.RaggedTensorSpec([None, None], tf.float32)])  # fmt: skip
        return call, lambda x, y: [x, tf.ragged.constant([[1.0], [2.0, 3.0]])]
    return tf.function(program, input_signature=[spec, spec]), lambda x, y: [x, y]


def built(tf: Any, seed: int) -> tuple[Any, dict[str, list[Any]]]:
    """Returns a module, whose functions are attributes, and arguments by the name of the function and their number."""
    rng = random.Random(seed)
    module = tf.Module()
    module.weights = []
    module.count = tf.Variable(0, trainable=False)
    inputs = {}
    for i in range(rng.randint(1, 2)):
        function, arguments = _function(tf, rng, module, rng.choice(_DTYPES))
        inputs |= {f"f{i} at {n}" if n else f"f{i}": args for n, args in enumerate(arguments)}
        setattr(module, f"f{i}", function)
    return module, inputs


def results(tf: Any, module: Any, inputs: dict[str, list[Any]]) -> dict[str, Any]:
    """Returns the values of every function, and its gradients for arguments and variables, or an error each."""
    found: dict[str, Any] = {}
    for name, args in inputs.items():
        leaves = tf.nest.flatten(args, expand_composites=True)
        sources = [x for x in leaves if x.dtype.is_floating or x.dtype.is_complex]
        module.count.assign(0)
        try:
            with tf.GradientTape() as tape:
                tape.watch(sources)
                values = tf.nest.flatten(getattr(module, name.partition(" ")[0])(*args))
        except Exception as error:
            found[f"{name} values"] = _described(error)
            continue
        found[f"{name} values"] = [_plain(tf, value) for value in values]
        try:
            gradients = tape.gradient(values[0], [*sources, *module.weights])
        except Exception as error:
            found[f"{name} gradients"] = _described(error)
            continue
        found[f"{name} gradients"] = [_plain(tf, gradient) for gradient in gradients]
    module.count.assign(0)
    return found


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[-500:]}"


def _plain(tf: Any, value: Any) -> Any:
    """Returns a tensor as the name of its dtype and an array of complex128, float64 or integers; None stays None."""
    if value is None:
        return None
    value = tf.convert_to_tensor(value)
    wide = tf.complex128 if value.dtype.is_complex else tf.float64 if value.dtype.is_floating else value.dtype
    return value.dtype.name, np.asarray(tf.cast(value, wide))
