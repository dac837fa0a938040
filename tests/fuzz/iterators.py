"""Functions that take or iterate iterators and datasets, against the same Python code on a list.

A seed determines elements (scalars, vectors, pairs, batches of different sizes, of any numeric dtype) and the steps of
a function: `next`, optional elements, loops of all kinds that take elements, branches that may take one, assignments,
tapes and nested functions. The function is called several times, with the same iterator until it ends and with another
one. Compared are results, gradients, variables, and which elements are left, also after the end of the data.

Every other seed mixes the calls of a function of two iterators: how many elements it takes depends on Python arguments,
flags, sizes, tensors, variables, elements and their sizes; it breaks out of loops, tries, calls functions and replicas.
Between the calls, eager code and another function read the iterators, which are saved, restored and replaced. Compared
are also the random numbers, with one stream for each op of each trace, and some functions are compiled by XLA.
"""

from __future__ import annotations

import functools
import importlib.util
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf

_CALLS = 3
_DTYPES = ["float32", "float64", "float16", "int32", "int64", "complex64"]


class Items:
    """An iterator over a list, with the methods of a dataset's iterator."""

    def __init__(self, elements: list[Any]) -> None:
        self._elements = iter(elements)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    get_next = __next__

    def get_next_as_optional(self) -> Any:
        for element in self._elements:
            return tf.experimental.Optional.from_value(element)
        return None


def number(x: Any) -> Any:
    """Returns the sum of the parts of an element, as float64."""
    found = tf.constant(0.0, tf.float64)
    for part in tf.nest.flatten(x):
        total = tf.reduce_sum(part)
        found += tf.cast(tf.math.real(total) if part.dtype.is_complex else total, tf.float64)
    return found


# Steps: each takes a total, an iterator and a variable, and returns the new total. `n` is 0 to 3, `limit` any number.


def _take(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    return 0.5 * total + number(next(items))


def _get_next(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    return total - number(items.get_next())


def _assign(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    v.assign_add(number(next(items)))
    v.assign(v * 0.5)
    return total + v


def _python_loop(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for _ in range(n):
        total += number(next(items)) * v
    return total


def _range_loop(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for _ in tf.range(n):
        total += number(next(items))
    return total


def _while_loop(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    i = tf.constant(0)
    while i < n:
        total = 0.5 * total + number(items.get_next())
        i += 1
    return total


def _branch(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    if total > limit:
        total += number(next(items))
    else:
        total -= 1.0
    return total


def _optional(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    found = items.get_next_as_optional()
    if found is None:
        return total - 3.0
    if found.has_value():
        total += number(found.get_value())
    else:
        total -= 3.0
    return total


def _rest(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for x in items:
        total = 0.5 * total + number(x)
        if total > limit:
            break
    return total


def _gradient(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    with tf.GradientTape() as tape:
        y = v * v * number(next(items))
    return total + tape.gradient(y, v)


_OF_ITERATORS = [_take, _get_next, _assign, _python_loop, _range_loop, _while_loop, _branch, _optional, _rest,
                 _gradient]  # fmt: skip


def _each(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for x in items:
        total = 0.5 * total + number(x) * v
    return total


def _each_until(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for x in items:
        if number(x) < 0:
            continue
        total = 0.5 * total + number(x)
        if total > limit:
            break
    return total


def _counted(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for i, x in enumerate(items):
        total += tf.cast(i, tf.float64) * number(x)
    return total


def _pairs(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for x, y in zip(items, items, strict=False):
        total += number(x) * number(y)
    return total


def _assign_each(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    for x in items:
        v.assign(0.5 * v + number(x))
    return total + v


def _first(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    return total + number(next(iter(items)))


def _reduce(total: Any, items: Any, v: Any, n: int, limit: float) -> Any:
    if isinstance(items, list):
        for x in items:
            total = total * 0.5 + number(x)
        return tf.stop_gradient(total)  # nor has TensorFlow a gradient
    return items.reduce(total, lambda total, x: total * 0.5 + number(x))


_OF_DATASETS = [_each, _each_until, _counted, _pairs, _assign_each, _first, _reduce]


def _elements(rng: np.random.Generator, most: int = 8) -> tuple[Any, list[Any]]:
    """Returns a dataset and its elements."""
    dtype = str(rng.choice(_DTYPES))
    count = int(rng.integers(0, most + 1))
    rows = rng.integers(-3, 5, (count, 2)).astype(dtype)
    match int(rng.integers(4)):
        case 0:
            return tf.data.Dataset.from_tensor_slices(rows[:, 0]), [tf.constant(x) for x in rows[:, 0]]
        case 1:
            parts = [rows[i : i + 3] for i in range(0, count, 3)]
            return tf.data.Dataset.from_tensor_slices(rows).batch(3), [tf.constant(x) for x in parts]
        case 2:
            data = tf.data.Dataset.from_tensor_slices({"a": rows, "b": rows[:, 1]}).prefetch(1)
            return data, [{"a": tf.constant(x), "b": tf.constant(x[1])} for x in rows]
        case _:
            data = tf.data.Dataset.from_tensor_slices((rows[:, 0], rows)).map(lambda a, b: (a + a, b))
            return data, [(tf.constant(x[0] + x[0]), tf.constant(x)) for x in rows]


def _body(steps: list[tuple[Callable[..., Any], int, float]]) -> Callable[..., Any]:
    def body(total: Any, items: Any, v: Any) -> Any:
        for step, n, limit in steps:
            total = step(total, items, v, n, limit)
        return total

    return body


class _Run:
    """Calls a function with an iterator or a dataset until its data end, and describes what happens."""

    def __init__(self, call: Callable[..., Any], start: Callable[[], Any], is_iterator: bool) -> None:
        self.call, self.start, self.is_iterator = call, start, is_iterator
        self.v = tf.Variable(1.0, dtype=tf.float64)

    def describe(self) -> list[Any]:
        found: list[Any] = []
        for _ in range(2):
            items = self.start()
            for _ in range(_CALLS):
                total = tf.constant(0.5, tf.float64)
                try:
                    with tf.GradientTape() as tape:
                        tape.watch(total)
                        y = self.call(total, items, self.v)
                    gradients = tape.gradient(y, [total, self.v])
                    found.append([float(y), *(None if g is None else float(g) for g in gradients)])
                except (StopIteration, tf.errors.OutOfRangeError):
                    found.append("the end")
                found.append(float(self.v))
            if self.is_iterator:
                found.append([float(number(x)) for x in items])
        return found


def _like_calls(seed: int, rng: np.random.Generator) -> list[str]:
    data, elements = _elements(rng)
    is_iterator = rng.random() < 0.7
    choices = _OF_ITERATORS if is_iterator else _OF_DATASETS
    steps = [(choices[int(rng.integers(len(choices)))], int(rng.integers(4)), float(rng.integers(-4, 12)))
             for _ in range(int(rng.integers(1, 4)))]  # fmt: skip
    body = _body(steps)
    inner = tf.function(body)
    call = tf.function(lambda total, items, v: inner(total * 2, items, v) + 1) if rng.random() < 0.2 else None
    expected = _Run(
        body if call is None else lambda total, items, v: body(total * 2, items, v) + 1,
        (lambda: Items(elements)) if is_iterator else lambda: elements, is_iterator,
    ).describe()  # fmt: skip
    start = (lambda: iter(data)) if is_iterator else lambda: data
    found = {"function": _Run(call or inner, start, is_iterator).describe()}
    if call is None:
        found["eager"] = _Run(body, start, is_iterator).describe()
    if seed % 4 == 0:
        with ThreadPoolExecutor(2) as threads:
            runs = [threads.submit(_Run(call or inner, start, is_iterator).describe) for _ in range(2)]
            found |= {f"thread {k}": run.result() for k, run in enumerate(runs)}
    text = f"{[(step.__name__, n, limit) for step, n, limit in steps]}, nested {call is not None}, of {elements}"
    return [f"{name}: {own} instead of {expected} by {text}" for name, own in found.items() if not _same(own, expected)]


# Mixed calls: the steps take elements and draw random numbers depending on what the call is given.


class _End(BaseException):
    """The end of the data, which the code of a function in a graph cannot catch."""


class Places:
    """Elements in a list, read like a dataset's iterator; its place can be saved and restored."""

    def __init__(self, elements: list[Any]) -> None:
        self._elements, self.place = elements, 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.place == len(self._elements):
            raise _End
        self.place += 1
        return self._elements[self.place - 1]

    get_next = __next__

    def get_next_as_optional(self) -> Any:
        return None if self.place == len(self._elements) else tf.experimental.Optional.from_value(next(self))


class Given(NamedTuple):
    """What a call gets besides a total: Python values, tensors, variables, iterators, and how to draw a number."""

    n: int
    flag: bool
    x: Any
    count: Any
    a: Any
    b: Any
    v: Any
    limit: Any
    draw: Callable[..., Any]
    call: Callable[..., Any]  # calls a nested function
    strategy: Any


@functools.cache
def _numbers(seed: int) -> list[float]:
    """Returns the first numbers of the stream of one op."""
    draw = tf.function(lambda: tf.random.uniform([], seed=seed, dtype=tf.float64))
    return [float(draw()) for _ in range(100)]


class Draws:
    """The streams of a function: one for each op of each of its traces."""

    def __init__(self) -> None:
        self._positions: dict[Any, int] = {}
        self.trace: Any = None

    def __call__(self, step: int, *iteration: int) -> Any:
        key = self.trace, step, iteration
        position = self._positions.get(key, 0)
        self._positions[key] = position + 1
        return tf.constant(_numbers(step + 1)[position], tf.float64)


def _random(step: int, *iteration: int) -> Any:
    return tf.random.uniform([], seed=step + 1, dtype=tf.float64)


def _mixed_take(total: Any, given: Given, step: int) -> Any:
    return 0.5 * total + number(next(given.a)) + given.draw(step)


def _mixed_two(total: Any, given: Given, step: int) -> Any:
    return total + number(given.a.get_next()) - 0.5 * number(next(given.b))


def _by_argument(total: Any, given: Given, step: int) -> Any:
    for i in range(given.n):
        total += number(next(given.a)) * given.draw(step, i)
    return total


def _by_flag(total: Any, given: Given, step: int) -> Any:
    if given.flag:
        total -= number(next(given.b)) + given.draw(step)
    return total


def _by_size(total: Any, given: Given, step: int) -> Any:
    for _ in range(given.x.shape[0]):
        total = 0.5 * total + number(next(given.a))
    return total + given.draw(step)


def _by_value(total: Any, given: Given, step: int) -> Any:
    for _ in tf.range(given.count):
        total += number(next(given.a)) + given.draw(step)
    return total


def _by_variable(total: Any, given: Given, step: int) -> Any:
    for _ in tf.range(given.limit):
        total = 0.5 * total - number(next(given.a))
    return total + given.draw(step)


def _until(total: Any, given: Given, step: int) -> Any:
    while total < 3.0:
        total += 1.0 + tf.abs(number(next(given.a)))
    return total


def _until_break(total: Any, given: Given, step: int) -> Any:
    for _ in tf.range(given.count):
        total += tf.abs(number(next(given.a))) + given.draw(step)
        if total > 6.0:
            break
    return total


def _until_argument(total: Any, given: Given, step: int) -> Any:
    for i in range(3):
        if i >= given.n:
            break
        total += number(next(given.a))
    return total


def _by_condition(total: Any, given: Given, step: int) -> Any:
    if given.count > 1:
        total += number(next(given.a)) * given.draw(step)
    else:
        total -= 1.0
    return total


def _by_element(total: Any, given: Given, step: int) -> Any:
    x = number(next(given.a))
    if x > 0.0:
        x += number(next(given.a))
    return total + x


def _by_size_of_element(total: Any, given: Given, step: int) -> Any:
    x = next(given.a)
    if tf.size(tf.nest.flatten(x)[0]) > 2:
        total += number(next(given.a))
    return total + number(x) + given.draw(step)


def _try(total: Any, given: Given, step: int) -> Any:
    try:
        total += number(next(given.a))
    except (StopIteration, tf.errors.OutOfRangeError):
        total -= 100.0
    return total


def _inner(total: Any, given: Given, step: int) -> Any:
    return given.call(total, given.a, given.n, step)


def _on_replicas(total: Any, given: Given, step: int) -> Any:
    one = given.strategy.run(lambda x: 2.0 * number(x), args=(next(given.a),))
    return total + given.strategy.reduce("SUM", one, axis=None)


def _assign_before(total: Any, given: Given, step: int) -> Any:
    given.v.assign_add(1.0 + given.draw(step))
    return total + number(next(given.a)) * given.v


def _mixed_optional(total: Any, given: Given, step: int) -> Any:
    return _optional(total, given.a, given.v, 0, 0.0)


def _mixed_gradient(total: Any, given: Given, step: int) -> Any:
    return _gradient(total, given.a, given.v, 0, 0.0)


_OF_GIVEN = [
    _mixed_take, _mixed_two, _by_argument, _by_flag, _by_size, _by_value, _by_variable, _until, _until_break,
    _until_argument, _by_size_of_element, _try, _inner, _on_replicas, _assign_before, _mixed_gradient,
]  # fmt: skip
# These make the whole function run eagerly; the functions that it calls then have streams of their own.
_EAGER = [_by_condition, _by_element, _mixed_optional]


class _Calls:
    """One function, called with changing arguments; between the calls, others read the iterators, or they move."""

    def __init__(self, steps: list[Callable[..., Any]], starts: Sequence[Callable[[], Any]]) -> None:
        self._steps, self._starts = steps, starts
        self._iterators: list[Any] = [start() for start in starts]
        self._v, self._limit = tf.Variable(0.5, dtype=tf.float64), tf.Variable(0)
        self._strategy = tf.distribute.get_strategy()

    def body(self, draw: Any, call: Any) -> Callable[..., Any]:
        steps, v, limit, strategy = self._steps, self._v, self._limit, self._strategy

        def body(total: Any, n: int, flag: bool, x: Any, count: Any, a: Any, b: Any) -> Any:
            given = Given(n, flag, x, count, a, b, v, limit, draw, call, strategy)
            for i, step in enumerate(steps):
                total = step(total, given, i)
            return total

        return body

    def run(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        results: list[Any] = []
        for action, n, flag, size, count, limit in calls:
            self._limit.assign(limit)
            try:
                results.append(self.act(action))
                x, at = tf.zeros([size], tf.float64), tf.constant(count)
                results.append(float(self.call(tf.constant(0.5, tf.float64), n, flag, x, at, *self._iterators)))
            except (_End, tf.errors.OutOfRangeError, StopIteration):
                results.append("the end")
            results.append(float(self._v))
        for iterator in self._iterators:
            results.append([])
            try:
                while True:
                    results[-1].append(float(number(next(iterator))))
            except (_End, StopIteration):
                pass
        return results

    def act(self, action: str) -> Any:
        match action:
            case "next":
                return float(number(next(self._iterators[0])))
            case "other":
                return float(self.other(self._iterators[0]))
            case "new":
                self._iterators = [start() for start in self._starts]
            case "save":
                self.save()
            case "restore":
                self.restore()

    def call(self, *args: Any) -> Any:
        raise NotImplementedError

    def other(self, iterator: Any) -> Any:
        return number(next(iterator)) - number(next(iterator))

    def save(self) -> None:
        raise NotImplementedError

    def restore(self) -> None:
        raise NotImplementedError


def _nested(draw: Any) -> Callable[..., Any]:
    def nested(total: Any, items: Any, n: int, step: int) -> Any:
        for i in range(n):
            total += number(next(items)) * draw(step, i)
        return total - 1.0

    return nested


class _Plain(_Calls):
    """Calls of the Python function, on lists."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._draws = Draws()
        self._body = self.body(self._draws, _nested(self._draws))

    def call(self, total: Any, n: int, flag: bool, x: Any, *args: Any) -> Any:
        self._draws.trace = n, flag, x.shape[0]
        return self._body(total, n, flag, x, *args)

    def save(self) -> None:
        self._saved = [iterator.place for iterator in self._iterators]

    def restore(self) -> None:
        for iterator, place in zip(self._iterators, self._saved, strict=True):
            iterator.place = place


class _Functions(_Calls):
    """Calls of a `tf.function`, on iterators of datasets."""

    def __init__(self, jit_compile: bool, is_one: bool, folder: str, *args: Any) -> None:
        super().__init__(*args)
        self._folder = folder
        if is_one:
            self._strategy = tf.distribute.OneDeviceStrategy("CPU:0")
        self.call = tf.function(self.body(_random, tf.function(_nested(_random))), jit_compile=jit_compile)
        self.other = tf.function(super().other)

    def save(self) -> None:
        self._path = tf.train.Checkpoint(items=self._iterators).write(f"{self._folder}/items")

    def restore(self) -> None:
        tf.train.Checkpoint(items=self._iterators).read(self._path)


def _mixed_calls(seed: int, rng: np.random.Generator) -> list[str]:
    tf.random.set_seed(7)
    sources = [_elements(rng, 25) for _ in range(2)]
    choices = [*(step for step in _OF_GIVEN if step is not _inner), *_EAGER] if rng.random() < 0.3 else _OF_GIVEN
    steps = [choices[int(rng.integers(len(choices)))] for _ in range(int(rng.integers(1, 4)))]
    calls, is_saved = [], False
    for _ in range(int(rng.integers(3, 8))):
        action = str(rng.choice(["call"] * 6 + ["next", "other", "new", "restore" if is_saved else "save"]))
        is_saved = action == "save" or (is_saved and action not in ("restore", "new"))
        calls.append((action, *(int(rng.integers(3)), bool(rng.integers(2)), *map(int, rng.integers(0, 4, 3)))))
    jit_compile = seed % 50 == 1 and importlib.util.find_spec("jax") is not None
    starts = [lambda data=data: iter(data) for data, _ in sources]
    with tempfile.TemporaryDirectory() as folder:
        own = _Functions(jit_compile, bool(rng.integers(2)), folder, steps, starts).run(calls)
    plain = _Plain(steps, [lambda elements=elements: Places(elements) for _, elements in sources]).run(calls)
    if _same(own, plain):
        return []
    text = f"{[step.__name__ for step in steps]} called with {calls}, of {[elements for _, elements in sources]}"
    return [f"{own} instead of {plain} by {text}"]


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return _mixed_calls(seed, rng) if seed % 2 else _like_calls(seed, rng)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(np.isclose(a, b, rtol=1e-6)) if isinstance(a, float) and isinstance(b, float) else a == b
