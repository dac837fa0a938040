"""Random differentiable programs of a few small tensors, for generators that compare derivatives.

A program is a list of steps. Each step takes existing tensors by their indices and adds one. A program is drawn by
running it, so every step fits the shapes and dtypes; run again on other inputs, it performs the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf

ENTRIES_MAX = 24
TOLERANCES = {"float16": 0.06, "bfloat16": 0.3, "float32": 2e-3, "float64": 1e-8}


class Step(NamedTuple):
    """An operation and its input tensors."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[int, ...]


class Program:
    """A function from tensors to a vector of real numbers or, with `complex_end`, of complex ones if it has any."""

    def __init__(
        self,
        rng: np.random.Generator,
        inputs: Sequence[tf.Tensor],
        steps: int,
        without: Collection[str] = (),
        complex_end: bool = False,
    ) -> None:
        self._rng = rng
        self.dtype = inputs[0].dtype
        self.steps: list[Step] = []
        pool = [tf.identity(x) for x in inputs]
        self._inputs = len(pool)
        for _ in range(steps):
            step = self._drawn(pool, without)
            if step is not None:
                self.steps.append(step)
        last = [i for i, x in enumerate(pool) if x.dtype.is_complex == complex_end]
        dtype = pool[last[-1]].dtype if last else self.dtype
        ends = [i for i, x in enumerate(pool) if x.dtype == dtype]
        self._ends = sorted({int(rng.choice(ends)), ends[-1]})
        single = self.dtype in (tf.float64, tf.complex128) and any(step.name == "cast" for step in self.steps)
        self.precision = "float32" if single else self.dtype.real_dtype.name  # number of compared entries

    def __call__(self, *inputs: Any) -> Any:
        pool = [tf.identity(x) for x in inputs]
        for step in self.steps:
            pool.append(step.function(*[pool[i] for i in step.arguments]))
        return tf.concat([tf.reshape(pool[i], [-1]) for i in self._ends], 0)

    def __str__(self) -> str:
        return "; ".join(f"{step.name}{list(step.arguments)}" for step in self.steps) + f" -> {self._ends}"

    def _drawn(self, pool: list[Any], without: Collection[str]) -> Step | None:
        """Returns a step that works on the pool, to which its result is added; None if the one drawn does not."""
        rng = self._rng
        i = int(rng.integers(max(0, len(pool) - 4), len(pool))) if rng.random() < 0.7 else int(rng.integers(len(pool)))
        x = pool[i]
        if x.dtype.is_complex:
            name = rng.choice(sorted(OF_COMPLEX))
            function, arguments = OF_COMPLEX[name](rng, x), (i,)
        elif rng.random() < 0.25:
            others = [k for k, y in enumerate(pool) if y.dtype == x.dtype and _fits(x, y)]
            name = rng.choice(sorted(OF_TWO))
            function, arguments = OF_TWO[name], (i, int(rng.choice(others)))
        else:
            name = rng.choice([n for n in sorted(OF_REAL) if n not in without])
            function, arguments = OF_REAL[name](rng, x), (i,)
        if function is None:
            return None
        y = function(*[pool[k] for k in arguments])
        if int(np.prod(y.shape)) > ENTRIES_MAX or not np.all(np.isfinite(y.numpy())):
            return None
        pool.append(y)
        return Step(str(name), function, arguments)


def _fits(x: Any, y: Any) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(tuple(x.shape), tuple(y.shape)))) <= ENTRIES_MAX
    except ValueError:
        return False


def _axis(rng: np.random.Generator, x: Any) -> int | None:
    return int(rng.integers(len(x.shape))) if len(x.shape) else None


def _along(make: Callable[[np.random.Generator, Any, int], Any]) -> Callable[..., Any]:
    """Returns a step along an axis, if there is a nonempty one."""

    def drawn(rng: np.random.Generator, x: Any) -> Any:
        axis = _axis(rng, x)
        return None if axis is None or not x.shape[axis] else make(rng, x, axis)

    return drawn


def _plain(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda rng, x: function


def _gather(rng: np.random.Generator, x: Any, axis: int) -> Any:
    at = rng.integers(0, x.shape[axis], size=[(3,), (2, 2), (), (0,)][int(rng.integers(4))])
    return lambda x: tf.gather(x, tf.constant(at), axis=axis)


def _scatter(rng: np.random.Generator, x: Any) -> Any:
    at = rng.integers(0, 5, size=int(np.prod(x.shape)))
    return lambda x: tf.tensor_scatter_nd_add(tf.zeros(5, x.dtype), at[:, None], tf.reshape(x, [-1]))


def _segments(rng: np.random.Generator, x: Any) -> Any:
    at = np.sort(rng.integers(0, 4, size=int(np.prod(x.shape))))
    return lambda x: tf.math.unsorted_segment_sum(tf.reshape(x, [-1]), at, 4)


def _matmul(rng: np.random.Generator, x: Any) -> Any:
    rows = int(np.prod(x.shape[:-1])) if len(x.shape) > 1 else 1
    inner = int(np.prod(x.shape)) // rows if rows else 0
    matrix = rng.normal(size=(inner, 3)) * (rng.random((inner, 3)) < 0.6)
    return lambda x: tf.reshape(x, (rows, inner)) @ tf.cast(tf.constant(matrix), x.dtype)


def _sparse_product(rng: np.random.Generator, x: Any) -> Any:
    size = int(np.prod(x.shape))
    if not size:
        return None
    at = np.unique(rng.integers(0, [4, size], size=(6, 2)), axis=0)
    weights = rng.normal(size=len(at))

    def product(x: Any) -> Any:
        matrix = tf.SparseTensor(at, tf.cast(tf.constant(weights), x.dtype), (4, size))
        return tf.sparse.sparse_dense_matmul(matrix, tf.reshape(x, (size, 1)))

    return product


def _image(make: Callable[[np.random.Generator], Callable[[Any], Any]]) -> Callable[..., Any]:
    """Returns a step on an image of one channel, with half as many rows as entries."""

    def drawn(rng: np.random.Generator, x: Any) -> Any:
        size = int(np.prod(x.shape))
        if size < 4 or size % 2:
            return None
        function = make(rng)
        return lambda x: function(tf.reshape(x, (1, size // 2, 2, 1)))

    return drawn


def _conv(rng: np.random.Generator) -> Callable[[Any], Any]:
    kernel = rng.normal(size=(3, 2, 1, int(rng.integers(1, 3))))
    stride = int(rng.integers(1, 3))
    return lambda x: tf.nn.conv2d(x, tf.cast(tf.constant(kernel), x.dtype), stride, "SAME")


def _pool(rng: np.random.Generator) -> Callable[[Any], Any]:
    pool = [tf.nn.max_pool2d, tf.nn.avg_pool2d][int(rng.integers(2))]
    stride = int(rng.integers(1, 3))
    return lambda x: pool(x, 2, stride, "SAME")


def _views(rng: np.random.Generator, x: Any, axis: int) -> Any:
    choices = [slice(1, None), slice(None, None, 2), slice(None, None, -1), slice(0, 0), 0, slice(None, -1)]
    picked = choices[int(rng.integers(len(choices)))]
    at = (*[slice(None)] * axis, picked)
    again = choices[int(rng.integers(3))]

    def view(x: Any) -> Any:
        y = x[at]
        return y[again] if len(y.shape) and y.shape[0] > 1 else y

    return view


def _cond(rng: np.random.Generator, x: Any) -> Any:
    limit = float(rng.normal())

    def branches(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > limit, lambda: tf.sin(x) * x, lambda: tf.reverse(x[None], [0])[0] * 2)

    return branches if rng.random() < 0.5 else tf.function(branches, autograph=False)


def _while(rng: np.random.Generator, x: Any) -> Any:
    times = int(rng.integers(0, 4))

    def loop(x: Any) -> Any:
        return tf.while_loop(lambda i, y: i < times, lambda i, y: (i + 1, tf.sin(y) + x), (tf.constant(0), x))[1]

    return loop if rng.random() < 0.5 else tf.function(loop, autograph=False)


def _smooth(x: Any) -> Any:
    y = tf.reshape(x, [-1])
    return tf.reshape(tf.sin(y) * tf.reverse(y, [0]), x.shape)


def _clipped(rng: np.random.Generator, x: Any) -> Any:
    """A user-defined rule, which may be nonlinear and have an asymmetric second derivative."""
    rules = [
        lambda dy, x: 2 * dy,
        lambda dy, x: dy * tf.cos(x),
        lambda dy, x: tf.clip_by_value(3 * dy, -1.0, 1.0),
        lambda dy, x: tf.reverse(tf.reshape(dy, [1, -1]), [1])[0],
        lambda dy, x: tf.where(dy > 0, dy, 0.5 * dy),
        lambda dy, x: dy * tf.reduce_sum(dy),
    ]
    rule = rules[int(rng.integers(len(rules)))]
    return tf.custom_gradient(lambda x: (tf.tanh(x), lambda dy: tf.reshape(rule(dy, x), x.shape)))


def _with_offset(x: Any) -> Any:
    """A user-defined rule that is not zero for a zero cotangent."""
    return tf.custom_gradient(lambda x: (tf.tanh(x), lambda dy: dy + 0.5))(x)


def _inner_gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(_smooth(x) * x)
    return tape.gradient(y, x, unconnected_gradients="zero")


def _other_dtype(rng: np.random.Generator, x: Any) -> Any:
    other = [tf.float32, tf.float64][int(rng.integers(2))]
    return lambda x: tf.cast(tf.sin(tf.cast(x, other)), x.dtype)


def _complex(rng: np.random.Generator, x: Any) -> Any:
    if x.dtype not in (tf.float32, tf.float64):
        return None
    dtype = tf.complex64 if x.dtype == tf.float32 else tf.complex128
    return [
        lambda x: tf.complex(x, 2 * x),
        lambda x: tf.complex(tf.sin(x), x + 1),
        lambda x: tf.complex(x * 0, x),
        lambda x: tf.cast(x, dtype),
    ][int(rng.integers(4))]


OF_REAL: dict[str, Callable[..., Any]] = {
    "sin": _plain(tf.sin), "tanh": _plain(tf.tanh), "square": _plain(tf.square), "relu": _plain(tf.nn.relu),
    "abs": _plain(tf.abs), "exp": _plain(lambda x: tf.exp(tf.tanh(x))), "root": _plain(lambda x: tf.sqrt(x * x + 1)),
    "scaled": _plain(lambda x: x * 0.5 - 1), "leaky": _plain(tf.nn.leaky_relu), "pow": _plain(lambda x: x**3),
    "where": _plain(lambda x: tf.where(x > 0, x, x * x)), "stop": _plain(lambda x: x * tf.stop_gradient(x)),
    "flat": _plain(lambda x: tf.reshape(x, [-1])), "column": _plain(lambda x: tf.reshape(x, [-1, 1])),
    "transpose": _plain(tf.transpose), "view": _along(_views), "gather": _along(_gather),
    "roll": _along(lambda rng, x, axis: lambda x: tf.roll(x, 1, axis)),
    "sum": _along(lambda rng, x, axis: lambda x: tf.reduce_sum(x, axis)), "total": _plain(tf.reduce_sum),
    "mean": _along(lambda rng, x, axis: lambda x: tf.reduce_mean(x, axis, keepdims=True)),
    "max": _along(lambda rng, x, axis: lambda x: tf.reduce_max(x, axis)),
    "prod": _along(lambda rng, x, axis: lambda x: tf.reduce_prod(x, axis)),
    "logsumexp": _along(lambda rng, x, axis: lambda x: tf.reduce_logsumexp(x, axis)),
    "softmax": _along(lambda rng, x, axis: lambda x: tf.nn.softmax(x, axis)),
    "cumsum": _along(lambda rng, x, axis: lambda x: tf.cumsum(x, axis, exclusive=bool(axis), reverse=not axis)),
    "cumprod": _along(lambda rng, x, axis: lambda x: tf.math.cumprod(x, axis)),
    "sort": _along(lambda rng, x, axis: lambda x: tf.sort(x, axis)),
    "tile": _along(lambda rng, x, axis: lambda x: tf.repeat(x, 2, axis)),
    "pad": _plain(lambda x: tf.pad(tf.reshape(x, [-1]), [[1, 1]])), "stack": _plain(lambda x: tf.stack([x, x * x])),
    "scatter": _scatter, "segments": _segments, "matmul": _matmul, "sparse product": _sparse_product,
    "conv": _image(_conv), "pool": _image(_pool), "cond": _cond, "while": _while, "cast": _other_dtype,
    "custom": _clipped, "custom offset": _plain(_with_offset),
    "recompute": _plain(tf.recompute_grad(_smooth)), "function": _plain(tf.function(_smooth)),
    "compiled again": _plain(tf.recompute_grad(tf.function(_smooth))), "inner gradient": _plain(_inner_gradient),
    "complex": _complex, "to complex": _complex,
}  # fmt: skip
USERS_RULES = {"custom", "custom offset"}
OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "mul": lambda x, y: x * y, "sub": lambda x, y: x - y,
    "div": lambda x, y: x / (y * tf.math.conj(y) + 1),
    "pair": lambda x, y: tf.concat([tf.reshape(x, [-1]), tf.reshape(y, [-1])], 0),
    "outer": lambda x, y: tf.reshape(x, [-1, 1]) * tf.reshape(y, [1, -1]),
}  # fmt: skip


def _spectrum(transform: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda rng, z: (lambda z: transform(tf.reshape(z, [-1]))) if int(np.prod(z.shape)) else None


OF_COMPLEX: dict[str, Callable[..., Any]] = {
    "real": _plain(tf.math.real), "imag": _plain(tf.math.imag), "conj": _plain(lambda z: tf.math.conj(z) * (1 + 2j)),
    "magnitude": _plain(lambda z: tf.abs(z + (3 + 1j))), "angle": _plain(lambda z: tf.math.angle(z + (2 + 1j))),
    "square of magnitude": _plain(lambda z: tf.abs(z + 3) ** 2), "turned": _plain(lambda z: z * (0.5 - 1j)),
    "exp": _plain(lambda z: tf.exp(1j * tf.cast(tf.math.real(z), z.dtype))), "square of z": _plain(lambda z: z * z),
    "fft": _spectrum(tf.signal.fft), "ifft": _spectrum(tf.signal.ifft), "view of z": _along(_views),
    "real again": _plain(tf.math.real), "imag again": _plain(tf.math.imag),
}  # fmt: skip

SHAPES = [(), (1,), (3,), (5,), (2, 3), (4, 2), (0,), (2, 0), (2, 1, 3), (6,), (2, 2)]


def inputs(rng: np.random.Generator, dtype: str | None = None) -> list[np.ndarray]:
    """Returns one or two arrays of one dtype and random shapes; sometimes some values are zero."""
    name = dtype or str(rng.choice(["float64", "float64", "float32", "float16"]))
    found = []
    for _ in range(int(rng.integers(1, 3))):
        x = rng.normal(size=SHAPES[int(rng.integers(len(SHAPES)))])
        found.append(np.asarray(x * (rng.random(x.shape) < 0.8) if rng.random() < 0.3 else x).astype(name))
    return found


def gradients_by_rows(tape: Any, y: Any, sources: Sequence[Any], factor: complex = 1) -> list[Any]:
    """Returns the gradients of all entries of `y` for each source, one `gradient` call each; None without a path.

    Each has one row per entry of `y` and one column per entry of the source.
    """
    size = int(np.prod(y.shape))
    rows = []
    for at in range(size):
        seed = np.zeros(size, y.dtype.as_numpy_dtype)
        seed[at] = factor
        rows.append(tape.gradient(y, list(sources), output_gradients=tf.constant(seed.reshape(y.shape), y.dtype)))
    found = []
    for k, source in enumerate(sources):
        own = [row[k] for row in rows]
        if any(g is None for g in own):
            found.append(None)
        else:
            flat = [np.ravel(tf.convert_to_tensor(g).numpy()) for g in own]
            found.append(np.stack(flat) if flat else np.zeros((0, int(np.prod(source.shape)))))
    return found


def differs(name: str, found: Any, expected: Any, dtype: str) -> list[str]:
    """Returns a message if two arrays, or None, differ by more than rounding."""
    if expected is None or found is None:
        return [] if found is expected else [f"{name}: {found!r} instead of {expected!r}"]
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return [f"{name}: shape {found.shape} instead of {expected.shape}"]
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    found, expected = found.astype(wide), expected.astype(wide)
    if not np.all(np.isfinite(expected)) and TOLERANCES[dtype] > 1e-3:
        return []  # half precision overflows in a different order
    tolerance = TOLERANCES[dtype] * (1 + np.abs(expected[np.isfinite(expected)]).max(initial=0))
    if np.allclose(found, expected, rtol=0, atol=tolerance, equal_nan=True):
        return []
    return [f"{name}: {found.tolist()} instead of {expected.tolist()}"]
