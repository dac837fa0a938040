"""Ragged tensors in public functions, against the same computation on Python lists of dense tensors.

A seed determines a ragged tensor (one to three ragged dimensions, up to two uniform ones inside, empty rows, either
dtype of row splits, any constructor) and a chain of up to three functions. The reference has the rows as nested lists
with dense tensors as leaves, and implements every function with loops. Values, dtypes and shapes of the rows are
compared, and for floating dtypes the gradient of a weighted sum with respect to the flat values. With an interpreter
that has TensorFlow, the values are also compared with TensorFlow's.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int32", "int64", "uint8", "string"]
_LARGEST_ROW = 3


class Rows(NamedTuple):
    """Nested lists: `depth` levels, whose leaves are dense tensors of the uniform dimensions `inner`."""

    nest: Any
    depth: int
    inner: tuple[int, ...]


class Case(NamedTuple):
    """The context of a function: the API, the dtype, and a random generator."""

    tf: Any
    dtype: str
    splits: str  # the dtype of row splits: tensors that are combined must agree in it
    rng: random.Random

    @property
    def is_number(self) -> bool:
        return self.dtype != "string"

    @property
    def is_real(self) -> bool:
        return self.is_number and "complex" not in self.dtype


def leaves(nest: Any, depth: int) -> list[Any]:
    """Returns the leaves below `depth` levels of lists."""
    return list(nest) if depth == 1 else [leaf for part in nest for leaf in leaves(part, depth - 1)]


def mapped(function: Callable[..., Any], depth: int, *nests: Any) -> Any:
    """Applies a function to everything below `depth` levels of lists."""
    if not depth:
        return function(*nests)
    return [mapped(function, depth - 1, *parts) for parts in zip(*nests, strict=True)]


def random_lengths(rng: random.Random, depth: int) -> Any:
    """Returns nested indices that count the leaves of random rows."""
    counter = itertools.count()

    def rows(level: int) -> Any:
        if level == 0:
            return next(counter)
        return [rows(level - 1) for _ in range(rng.choice([0, 1, 2, _LARGEST_ROW]))]

    return [rows(depth - 1) for _ in range(rng.choice([0, 1, 2, 3, 4]))]


def flat_values(rng: random.Random, dtype: str, shape: tuple[int, ...]) -> Any:
    """Returns random values of any dtype that half precision represents and whose products it does not lose."""
    count = int(np.prod(shape))
    if dtype == "string":
        values = [rng.choice([b"", b"a", b"bc", "é".encode()]) for _ in range(count)]
        return np.array([*values, None], dtype=object)[:-1].reshape(shape)
    values = [rng.randrange(1, 8) if dtype == "uint8" else rng.randrange(-6, 7) / 2 for _ in range(count)]
    if "complex" in dtype:
        values = [v + 1j * rng.randrange(-4, 5) / 2 for v in values]
    return np.array(values).reshape(shape)


def splits_of(nest: Any, depth: int) -> list[list[int]]:
    """Returns the row splits of every ragged dimension, outermost first."""
    found, level = [], [nest]
    for _ in range(depth - 1):
        level = [part for row in level for part in row]
        found.append([0, *itertools.accumulate(len(part) for part in level)])
    return found


def make(case: Case, values: Any, nest: Any, depth: int) -> Any:
    """Creates the ragged tensor of these values with a random constructor."""
    tf, rng, kind = case.tf, case.rng, case.splits
    result = values
    for splits in reversed(splits_of(nest, depth)):
        lengths = np.diff(splits)
        match rng.randrange(5):
            case 0:
                result = tf.RaggedTensor.from_row_lengths(result, tf.constant(lengths, kind))
            case 1:
                ids = tf.constant(np.repeat(np.arange(len(lengths)), lengths), kind)
                result = tf.RaggedTensor.from_value_rowids(result, ids, tf.constant(len(lengths), kind))
            case 2:
                result = tf.RaggedTensor.from_row_starts(result, tf.constant(splits[:-1], kind))
            case 3:
                result = tf.RaggedTensor.from_row_limits(result, tf.constant(splits[1:], kind))
            case _:
                result = tf.RaggedTensor.from_row_splits(result, tf.constant(splits, kind))
    return result


# Functions: each takes the case and the rows of a ragged tensor, and returns a function of the ragged tensor and the
# expected rows, with depth 0 for a dense tensor; or None if it does not apply.


def _elementwise(case: Case, rows: Rows) -> Any:
    tf, rng = case.tf, case.rng
    if case.dtype == "string":
        function = rng.choice([tf.strings.upper, lambda x: tf.strings.join([x, x], "-")])
    elif case.is_real and case.dtype != "uint8":
        function = rng.choice([tf.abs, tf.square, lambda x: -x, lambda x: x * 2 + 1, lambda x: x * x - x])
    else:
        function = rng.choice([tf.square, lambda x: x * 2 + 1, lambda x: x + x])
    return function, rows._replace(nest=mapped(function, rows.depth, rows.nest))


def _with_a_column(case: Case, rows: Rows) -> Any:
    """Returns a dense tensor that is broadcast over the rows."""
    if not case.is_number or rows.inner or rows.depth != 2 or not rows.nest:
        return None
    factors = case.tf.constant(flat_values(case.rng, case.dtype, (len(rows.nest), 1)), case.dtype)
    nest = [[leaf * factors[i, 0] for leaf in row] for i, row in enumerate(rows.nest)]
    return lambda rt: rt * factors, rows._replace(nest=nest)


def _reduce(case: Case, rows: Rows) -> Any:
    if not case.is_number:
        return None
    tf = case.tf
    names = ["reduce_sum", "reduce_prod", *(["reduce_max", "reduce_min"] if case.is_real else [])]
    names += ["reduce_mean"] if "float" in case.dtype else []
    name = case.rng.choice(names)
    reduce = getattr(tf, name)
    axis = case.rng.randrange(rows.depth)
    dtype = getattr(tf, case.dtype)

    def along(nest: Any, level: int) -> Any:
        if level < axis:
            return [along(part, level + 1) for part in nest]
        return reduced(list(nest), rows.depth - level - 1)

    def reduced(parts: list[Any], below: int) -> Any:
        """Reduces the parts: leaves are stacked and reduced, lists leaf by leaf as far as they have one."""
        if below == 0 and not parts and reduce in (tf.reduce_max, tf.reduce_min):  # as for an empty segment: finite
            return tf.fill(rows.inner, tf.constant(dtype.min if reduce is tf.reduce_max else dtype.max, dtype))
        if below == 0:
            return reduce(tf.stack(parts) if parts else tf.zeros((0, *rows.inner), dtype), axis=0)
        longest = max(map(len, parts), default=0)
        return [reduced([part[j] for part in parts if len(part) > j], below - 1) for j in range(longest)]

    def function(rt: Any) -> Any:
        return reduce(rt, axis=axis)

    function.__name__ = name
    return function, Rows(along(rows.nest, 0), rows.depth - 1, rows.inner)


def _reduce_all(case: Case, rows: Rows) -> Any:
    if not case.is_number or case.dtype == "uint8":
        return None
    flat = leaves(rows.nest, rows.depth)
    total = sum((case.tf.reduce_sum(leaf) for leaf in flat), case.tf.zeros((), case.dtype))
    return lambda rt: case.tf.reduce_sum(rt), Rows(total, 0, ())


def _concat(case: Case, rows: Rows) -> Any:
    axis = case.rng.randrange(rows.depth)

    def joined(nest: Any, level: int) -> Any:
        return [*nest, *nest] if level == axis else [joined(part, level + 1) for part in nest]

    return lambda rt: case.tf.concat([rt, rt], axis=axis), rows._replace(nest=joined(rows.nest, 0))


def _stack(case: Case, rows: Rows) -> Any:
    return lambda rt: case.tf.stack([rt, rt], axis=0), Rows([rows.nest, rows.nest], rows.depth + 1, rows.inner)


def _gather(case: Case, rows: Rows) -> Any:
    if not rows.nest:
        return None
    chosen = [case.rng.randrange(len(rows.nest)) for _ in range(case.rng.randrange(4))]
    indices = case.tf.constant(chosen, case.rng.choice(["int32", "int64"]))
    return lambda rt: case.tf.gather(rt, indices), rows._replace(nest=[rows.nest[i] for i in chosen])


def _gather_in_rows(case: Case, rows: Rows) -> Any:
    chosen = [[case.rng.randrange(len(row)) for _ in range(case.rng.randrange(3))] if row else [] for row in rows.nest]
    flat = [i for row in chosen for i in row]
    lengths = case.tf.constant([len(row) for row in chosen], case.splits)
    indices = case.tf.RaggedTensor.from_row_lengths(case.tf.constant(flat, "int64"), lengths)
    nest = [[row[i] for i in picks] for row, picks in zip(rows.nest, chosen, strict=True)]
    return lambda rt: case.tf.gather(rt, indices, batch_dims=1), rows._replace(nest=nest)


def _mask(case: Case, rows: Rows) -> Any:
    depth = case.rng.randrange(1, rows.depth + 1)
    bits = mapped(lambda _: case.rng.random() < 0.5, depth, rows.nest)
    if depth == 1:
        mask: Any = case.tf.constant(bits, "bool")
    else:
        mask = case.tf.constant(np.array(leaves(bits, depth), bool))
        for splits in reversed(splits_of(bits, depth)):
            mask = case.tf.RaggedTensor.from_row_splits(mask, case.tf.constant(splits, case.splits))

    def kept(nest: Any, flags: Any, level: int) -> Any:
        if level == 1:
            return [part for part, flag in zip(nest, flags, strict=True) if flag]
        return [kept(part, flag, level - 1) for part, flag in zip(nest, flags, strict=True)]

    return lambda rt: case.tf.ragged.boolean_mask(rt, mask), rows._replace(nest=kept(rows.nest, bits, depth))


def _slice(case: Case, rows: Rows) -> Any:
    rng = case.rng
    ends = [None, -2, -1, 0, 1, 2]
    cuts = [slice(rng.choice(ends), rng.choice(ends), rng.choice([None, 1, 2, -1])) for _ in range(2)]
    match rng.randrange(4):
        case 0:
            return lambda rt: rt[cuts[0]], rows._replace(nest=rows.nest[cuts[0]])
        case 1:
            return lambda rt: rt[:, cuts[1]], rows._replace(nest=[row[cuts[1]] for row in rows.nest])
        case 2:
            return lambda rt: rt[cuts[0], cuts[1]], rows._replace(nest=[row[cuts[1]] for row in rows.nest[cuts[0]]])
        case _:
            if not rows.nest:
                return None
            i = rng.randrange(len(rows.nest))
            return lambda rt: rt[i], Rows(rows.nest[i], rows.depth - 1, rows.inner)


def _to_tensor(case: Case, rows: Rows) -> Any:
    default = case.tf.constant(flat_values(case.rng, case.dtype, ()), case.dtype)
    filler = case.tf.broadcast_to(default, rows.inner)
    sizes = [len(rows.nest)]
    level = [rows.nest]
    for _ in range(rows.depth - 1):
        level = [part for row in level for part in row]
        sizes.append(max(map(len, level), default=0))

    def padded(nest: Any, below: list[int]) -> Any:
        if not below:
            return nest
        parts = [padded(part, below[1:]) for part in nest]
        return parts + [filled(below[1:]) for _ in range(below[0] - len(parts))]

    def filled(below: list[int]) -> Any:
        return [filled(below[1:]) for _ in range(below[0])] if below else filler

    return lambda rt: rt.to_tensor(default), Rows(padded(rows.nest, sizes), rows.depth, rows.inner)


def _merge_dims(case: Case, rows: Rows) -> Any:
    return lambda rt: rt.merge_dims(0, 1), Rows(leaves(rows.nest, 2), rows.depth - 1, rows.inner)


def _expand_dims(case: Case, rows: Rows) -> Any:
    if case.rng.random() < 0.5:
        return lambda rt: case.tf.expand_dims(rt, 0), Rows([rows.nest], rows.depth + 1, rows.inner)
    return lambda rt: case.tf.expand_dims(rt, 1), Rows([[row] for row in rows.nest], rows.depth + 1, rows.inner)


def _where(case: Case, rows: Rows) -> Any:
    if not case.is_number or rows.inner:
        return None
    limit = case.tf.constant(0.5 if "int" not in case.dtype else 1, "float64")

    def condition(x: Any) -> Any:
        return case.tf.cast(case.tf.math.real(x) if "complex" in case.dtype else x, "float64") > limit

    chosen = mapped(lambda x: x * 3 if bool(condition(x)) else x + 1, rows.depth, rows.nest)

    def found(rt: Any) -> Any:
        return case.tf.where(case.tf.ragged.map_flat_values(condition, rt), rt * 3, rt + 1)

    return found, rows._replace(nest=chosen)


def _reverse(case: Case, rows: Rows) -> Any:
    axis = case.rng.randrange(2)
    nest = rows.nest[::-1] if axis == 0 else [row[::-1] for row in rows.nest]
    return lambda rt: case.tf.reverse(rt, [axis]), rows._replace(nest=nest)


def _tile(case: Case, rows: Rows) -> Any:
    counts = [case.rng.randrange(3) for _ in range(rows.depth)]

    def tiled(nest: Any, level: int) -> Any:
        return nest if level == rows.depth else [tiled(part, level + 1) for part in nest] * counts[level]

    return lambda rt: case.tf.tile(rt, [*counts, *[1] * len(rows.inner)]), rows._replace(nest=tiled(rows.nest, 0))


FUNCTIONS = [
    _elementwise, _with_a_column, _reduce, _reduce_all, _concat, _stack, _gather, _gather_in_rows, _mask, _slice,
    _to_tensor, _merge_dims, _expand_dims, _where, _reverse, _tile,
]  # fmt: skip


class Outcome(NamedTuple):
    """Actual and expected results of a case: nested lists, the result's dtype and flat gradients."""

    description: str
    found: Any
    expected: Any
    dtype: str
    gradient: Any
    expected_gradient: Any


def run_case(tf: Any, seed: int) -> Outcome:
    """Runs one case on the API `tf`, which may be TensorFlow's."""
    rng = random.Random(seed)
    case = Case(tf, rng.choice(DTYPES), rng.choice(["int32", "int64"]), rng)
    depth = rng.choice([2, 2, 2, 3, 4])
    inner = rng.choice([(), (), (2,), (1, 3), (0,)])
    nest = random_lengths(rng, depth)
    flat = tf.constant(flat_values(rng, case.dtype, (len(leaves(nest, depth)), *inner)), case.dtype)
    in_function = rng.random() < 0.3
    differentiable = "float" in case.dtype or "complex" in case.dtype
    names = [f"{case.dtype} {nest} of {inner}, row splits of {case.splits}", "function" if in_function else "eager"]
    with tf.GradientTape(persistent=True) as tape:
        if differentiable:
            tape.watch(flat)
        rt, rows = make(case, flat, nest, depth), Rows(mapped(lambda i: flat[i], depth, nest), depth, inner)
        for _ in range(rng.randrange(1, 4)):
            choice = rng.choice(FUNCTIONS)
            applied = choice(case, rows)
            if applied is None:
                continue
            function, rows = applied
            names.append(function.__name__ if choice is _reduce else choice.__name__)
            rt = (tf.function(function) if in_function else function)(rt)
            if rows.depth < 2 or not isinstance(rt, tf.RaggedTensor):
                break
        losses = [None, None]
        if differentiable:
            found = tf.reshape(rt.flat_values if isinstance(rt, tf.RaggedTensor) else rt, [-1])
            parts = [tf.reshape(leaf, [-1]) for leaf in (leaves(rows.nest, rows.depth) if rows.depth else [rows.nest])]
            expected = tf.concat(parts, 0) if parts else tf.zeros([0], case.dtype)
            weights = [rng.randrange(1, 4) for _ in range(max(found.shape[0], expected.shape[0]))]
            losses = [
                tf.reduce_sum(y * tf.constant(weights[: y.shape[0]], case.dtype)) for y in (found, expected)
            ]
    gradients = [None if y is None else tape.gradient(y, flat, unconnected_gradients="zero") for y in losses]
    plain = [None if g is None else _plain(tf.convert_to_tensor(g)) for g in gradients]
    return Outcome("; ".join(names), _listed(tf, rt), mapped(_plain, rows.depth, rows.nest), rt.dtype.name, *plain)


def _plain(x: Any) -> Any:
    """Returns a dense tensor as nested lists of text, or of numbers as pairs of floats."""
    array = np.asarray(x.numpy())
    if array.dtype.kind in "OS":
        return np.array([*(text.decode() for text in array.ravel()), None], object)[:-1].reshape(array.shape).tolist()
    wide = array.astype(np.complex128)
    return np.stack([wide.real, wide.imag], axis=-1).tolist()


def _listed(tf: Any, x: Any) -> Any:
    return [_listed(tf, row) for row in x] if isinstance(x, tf.RaggedTensor) else _plain(x)


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
    return type(a) is type(b) and a == b


_TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "complex64": 1e-4}


def disagreements(seed: int, tensorflow: str | None = None) -> list[str]:
    """Runs one chain of functions; compares with TensorFlow's values if there is an interpreter."""
    import gradtape

    with np.errstate(all="ignore"):
        outcome = run_case(gradtape, seed)
    tolerance = _TOLERANCE.get(outcome.dtype, 1e-9)
    found = []
    if not _same(outcome.found, outcome.expected, tolerance):
        found.append(f"{outcome.description}: {outcome.found}, expected {outcome.expected}")
    if not _same(outcome.gradient, outcome.expected_gradient, tolerance):
        found.append(f"{outcome.description}: gradient {outcome.gradient}, expected {outcome.expected_gradient}")
    if tensorflow is not None:
        theirs = _ask(_worker(tensorflow), seed)
        ours = json.loads(json.dumps([outcome.found, outcome.gradient]))
        # TensorFlow's gradient of a product of segments, unlike that of reduce_prod, lacks the conjugate.
        compared = 1 if "complex" in outcome.dtype and "reduce_prod" in outcome.description else 2
        if "error" in theirs:
            found.append(f"{outcome.description}: TensorFlow raises {theirs['error']}")
        elif not _same(ours[:compared], theirs["values"][:compared], tolerance):
            found.append(f"{outcome.description}: {ours}, TensorFlow has {theirs['values']}")
    return found


@functools.cache
def _worker(interpreter: str) -> subprocess.Popen[str]:
    """Returns a process that runs cases on TensorFlow, one seed per line."""
    command = [interpreter, "-m", f"{__package__}.ragged"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip


def _ask(worker: subprocess.Popen[str], seed: int) -> Any:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(f"{seed}\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


def _serve() -> None:
    """Answers seeds from standard input with TensorFlow's values."""
    import tensorflow

    for line in sys.stdin:
        try:
            outcome = run_case(tensorflow, int(line))
            answer: Any = {"values": [outcome.found, outcome.gradient]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
