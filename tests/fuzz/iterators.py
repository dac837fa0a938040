"""Functions that take or iterate iterators and datasets, against the same Python code on a list.

A seed determines elements (scalars, vectors, pairs, batches of different sizes, of any numeric dtype) and the steps of
a function: `next`, optional elements, loops of all kinds that take elements, branches that may take one, assignments,
tapes and nested functions. The function is called several times, with the same iterator until it ends and with another
one. Compared are results, gradients, variables, and which elements are left, also after the end of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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


def _elements(rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """Returns a dataset and its elements."""
    dtype = str(rng.choice(_DTYPES))
    count = int(rng.integers(0, 9))
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


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
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


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(np.isclose(a, b, rtol=1e-6)) if isinstance(a, float) and isinstance(b, float) else a == b
