"""Feature columns against loops over the rows of Python lists.

A seed determines features (dense with values to ignore, of rank 1, or sparse; int32, int64 or strings; negative and
unknown ids; empty batches and empty rows), a categorical column of any kind (identity, hash, vocabulary, buckets;
crossings of strings, integers and buckets with any hash key), perhaps with weights of any sign, and what makes vectors
of it: an indicator, an embedding with any combiner, trained or not, or a sequence. (TensorFlow has shared embeddings in
graphs only.) The reference has a list of pairs of an id and a weight for each row. Compared are the vectors, eagerly or
in a function, the gradient of the embedding's table, and the columns that are read from their configurations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from gradtape_tensorflow.feature_column.columns import FeatureTransformationCache, StateManager

fc = tf.feature_column
_WORDS = ["red", "green", "blue", "grün", "a b", "x"]
_LEAST_WEIGHT = 0.25


class Layer:
    """As much of a Keras layer as a state manager uses."""

    def add_weight(
        self, name: str, shape: Any, initializer: Any, dtype: Any = None, trainable: bool = True, **_: Any
    ) -> Any:
        return tf.Variable(initializer(shape, dtype=dtype or tf.float32), name=name, trainable=trainable)

    def _track_trackable(self, value: Any, name: str) -> None: ...


class Categories(NamedTuple):
    """A categorical column, its features, and the ids of each row, negative where there is none."""

    column: Any
    features: dict[str, Any]
    rows: list[list[int]]


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0 if rng.random() < 0.1 else 1, 5))
    if rng.random() < 0.15 and count:  # TensorFlow infers no number of steps without rows either
        return _numeric(rng, count)
    sequence = rng.random() < 0.2
    found = _categorical(rng, count, "f", sequence)
    column, rows, features = found.column, found.rows, dict(found.features)
    weights = [[1.0] * len(row) for row in rows]
    is_weighted = not sequence and isinstance(features.get("f"), tf.SparseTensor) and rng.random() < 0.4
    if is_weighted:
        lowest = -3 if rng.random() < 0.3 else 0
        weights = [[float(rng.integers(lowest, 8)) * _LEAST_WEIGHT for _ in row] for row in rows]
        flat = np.array([w for row in weights for w in row], "float32")
        features["w"] = tf.SparseTensor(features["f"].indices, flat, features["f"].dense_shape)
        column = fc.weighted_categorical_column(column, "w")
    size = int(column.num_buckets)
    dimension = int(rng.integers(1, 4))
    combiner = str(rng.choice(["mean", "sum", "sqrtn"]))
    max_norm = float(rng.choice([0.5, 1.5])) if rng.random() < 0.3 else None
    table = np.round(rng.normal(size=(size, dimension)), 2).astype("float32")
    embeds = rng.random() < 0.6
    is_trained = rng.random() < 0.8
    if embeds:
        made = fc.embedding_column(column, dimension, combiner, lambda shape, dtype, **_: tf.constant(table),
                                   max_norm=max_norm, trainable=is_trained)  # fmt: skip
    else:
        made = fc.indicator_column(column)
    state = StateManager(Layer(), True)
    made.create_state(state)

    def call() -> Any:
        cache = FeatureTransformationCache(features)
        if sequence:
            return tuple(made.get_sequence_dense_tensor(cache, state))
        return (made.get_dense_tensor(cache, state),)

    with tf.GradientTape() as tape:
        vectors, *lengths = (tf.function(call, autograph=False) if rng.random() < 0.3 else call)()
        factors = tf.constant(np.round(rng.normal(size=vectors.shape), 1).astype("float32"))
        loss = tf.reduce_sum(vectors * factors)
    rows_and_weights = [list(zip(*pair, strict=True)) for pair in zip(rows, weights, strict=True)]
    variable = tf.Variable(table)
    with tf.GradientTape() as own_tape:
        if sequence:
            longest = max(map(len, rows), default=0)
            bags = [[row[t : t + 1] for t in range(longest)] for row in rows_and_weights]
        else:
            bags = [[row] for row in rows_and_weights]
        units = [[_embedded(bag, variable, combiner, max_norm) if embeds else _counted(bag, size) for bag in row]
                 for row in bags]  # fmt: skip
        width = dimension if embeds else size
        shape = (count, longest, width) if sequence else (count, width)
        stacked = [unit for row in units for unit in row]
        expected = tf.reshape(tf.stack(stacked) if stacked else tf.zeros([0]), shape)
        own_loss = tf.reduce_sum(expected * factors) if factors.shape == expected.shape else None
    problems = _differs("vectors", vectors, expected)
    if sequence and lengths[0].numpy().tolist() != [len(row) for row in rows]:
        problems.append(f"lengths {lengths[0].numpy().tolist()} instead of {[len(row) for row in rows]}")
    if embeds and not problems:
        gradient = tape.gradient(loss, state.get_variable(made, "embedding_weights"), unconnected_gradients="zero")
        wanted = own_tape.gradient(own_loss, variable, unconnected_gradients="zero") if is_trained else table * 0
        problems += _differs("gradient", tf.convert_to_tensor(gradient), tf.convert_to_tensor(wanted))
    if not embeds:
        again = type(made).from_config(made.get_config())
        if again != made or again.name != made.name:
            problems.append(f"{again} is read instead of {made}")
    return [f"{made.name}, {combiner}, {max_norm} of {features}: {problem}" for problem in problems]


def _categorical(rng: np.random.Generator, count: int, key: str, sequence: bool = False) -> Categories:
    """Draws a column of one feature or a crossing of two, and its ids, found value by value."""
    names = ["identity", "hash", "hash of integers", "vocabulary", "vocabulary of integers"]
    name = str(rng.choice(names if sequence else [*names, "crossed", "buckets"]))
    if name == "crossed":
        return _crossed(rng, count)
    if name == "buckets":
        ends = sorted(set(np.round(rng.normal(size=3), 1).tolist()))
        x = np.round(rng.normal(size=(count, 2)), 1).astype("float32")
        ids = np.digitize(x, np.array(ends, "float32")) + (len(ends) + 1) * np.arange(2)
        column = fc.bucketized_column(fc.numeric_column("f", (2,)), ends)
        return Categories(column, {"f": x}, ids.tolist())
    numbers = name in ("identity", "hash of integers", "vocabulary of integers")
    make = fc if not sequence else _Sequences()
    size = int(rng.integers(1, 6))
    default = None
    if name == "identity":
        default = int(rng.integers(size)) if rng.random() < 0.5 else None
        column = make.categorical_column_with_identity(key, size, default)
    elif name.startswith("hash"):
        column = make.categorical_column_with_hash_bucket(key, size, tf.int64 if numbers else tf.string)
    else:
        words: Any = rng.permutation(8)[:size].tolist() if numbers else _WORDS[:size]
        buckets = int(rng.integers(3)) if rng.random() < 0.5 else 0
        default = int(rng.integers(-1, size)) if not buckets else -1
        column = make.categorical_column_with_vocabulary_list(key, words, tf.int64 if numbers else tf.string, default,
                                                               buckets)  # fmt: skip
    limit = size if name == "identity" and default is None else 9
    numbers_to_draw = [*range(limit), *([-3, -2] if limit == 9 else [])]  # a dense feature ignores -1
    most = 1 if rng.random() < 0.2 else 4
    values = [[int(rng.choice(numbers_to_draw)) if numbers else str(rng.choice(_WORDS))
               for _ in range(1 if most == 1 else int(rng.integers(most)))] for _ in range(count)]  # fmt: skip

    def index(value: Any) -> int:
        if name == "identity":
            return value if 0 <= value < size else default  # type: ignore[return-value]
        if name.startswith("hash"):
            return int(tf.strings.to_hash_bucket_fast(str(value), size))
        if value in words:
            return words.index(value)
        return size + int(tf.strings.to_hash_bucket_fast(str(value), buckets)) if buckets else default

    dtype = str(rng.choice(["int64", "int32"])) if numbers else "string"
    feature = _feature(rng, values, dtype, sequence)
    return Categories(column, {key: feature}, [[index(v) for v in row] for row in values])


class _Sequences:
    """Constructors of sequence columns, by the names of those of single features."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(fc, f"sequence_{name}")


def _feature(rng: np.random.Generator, values: list[list[Any]], dtype: str, sequence: bool) -> Any:
    """Returns values as a sparse tensor, or as a dense one with values to ignore behind each row."""
    longest = max(map(len, values), default=0)
    if sequence or rng.random() < 0.6:
        at = [[i, j] for i, row in enumerate(values) for j in range(len(row))]
        flat = tf.constant([v for row in values for v in row], dtype)
        return tf.SparseTensor(np.array(at, np.int64).reshape(-1, 2), flat, [len(values), longest])
    if longest == 1 and all(values) and rng.random() < 0.5:
        return tf.constant([v for row in values for v in row], dtype)
    ignored = "" if dtype == "string" else -1
    padded = [row + [ignored] * (max(longest, 1) - len(row)) for row in values]
    return tf.reshape(tf.constant([v for row in padded for v in row], dtype), [len(values), max(longest, 1)])


def _crossed(rng: np.random.Generator, count: int) -> Categories:
    size = int(rng.integers(1, 9))
    hash_key = int(rng.integers(1, 1 << 40)) if rng.random() < 0.3 else None
    keys: list[Any] = ["a", "b"]
    words: list[Any] = []
    features = {}
    for key in keys:
        dtype = "int64" if rng.random() < 0.3 else "string"
        draw = (lambda: int(rng.integers(9))) if dtype == "int64" else (lambda: str(rng.choice(_WORDS)))
        words.append([[draw() for _ in range(int(rng.integers(3)))] for _ in range(count)])
        features[key] = _feature(rng, words[-1], dtype, False)
    # Crossing ignores no value of a dense feature, and hashes sparse ones, and buckets, first.
    dense = [not isinstance(feature, tf.SparseTensor) for feature in features.values()]
    for k, feature in enumerate(features.values()):
        if dense[k]:
            rows = feature.numpy().reshape(count, -1) if count else []
            words[k] = [[v.decode() if isinstance(v, bytes) else int(v) for v in row] for row in rows]
    if rng.random() < 0.3:
        ends = sorted(set(np.round(rng.normal(size=3), 1).tolist()))
        x = np.round(rng.normal(size=(count, 1)), 1).astype("float32")
        features["c"] = x
        keys.append(fc.bucketized_column(fc.numeric_column("c"), ends))
        words.append(np.digitize(x, np.array(ends, "float32")).tolist())
        dense.append(False)
    words = [words[k] for k in np.argsort(dense, kind="stable")]

    def index(values: tuple[Any, ...]) -> int:
        inputs = [tf.constant([[v]], tf.string if isinstance(v, str) else tf.int64) for v in values]
        return int(tf.sparse.cross_hashed(inputs, size, hash_key).values[0])

    rows = [[index(values) for values in itertools.product(*all_words)] for all_words in zip(*words, strict=True)]
    return Categories(fc.crossed_column(keys, size, hash_key), features, rows)


def _counted(bag: list[tuple[int, float]], size: int) -> Any:
    counts = np.zeros(size, "float32")
    for k, weight in bag:
        if k >= 0:
            counts[k] += weight
    return tf.constant(counts)


def _embedded(bag: list[tuple[int, float]], table: Any, combiner: str, max_norm: float | None) -> Any:
    """Combines the rows of the table; ids and, unless they are summed, weights that are not positive do not count."""
    total, weights = tf.zeros(table.shape[1:]), []
    for k, weight in bag:
        if k < 0 or (weight <= 0 and combiner != "sum"):
            continue
        row = table[k]
        if max_norm is not None:
            row = tf.clip_by_norm(row, max_norm)
        total += weight * row
        weights.append(weight)
    if not weights:
        return total
    return total / {"sum": 1.0, "mean": sum(weights), "sqrtn": sum(w * w for w in weights) ** 0.5}[combiner]


def _numeric(rng: np.random.Generator, count: int) -> list[str]:
    """Compares a numeric column, its buckets, and a sequence of numbers."""
    shape = [(1,), (2,), (2, 3)][int(rng.integers(3))]
    dtype = str(rng.choice(["float32", "float64", "int32", "int64"]))
    x = (rng.normal(size=(count, *shape)) * 4).astype(dtype)
    column = fc.numeric_column("f", shape, dtype=tf.as_dtype(dtype), normalizer_fn=lambda v: v * 2 - 1)
    state, cache = StateManager(Layer(), True), FeatureTransformationCache({"f": x})
    problems = _differs("numbers", column.get_dense_tensor(cache, state), tf.constant(x.astype("float32") * 2 - 1)
                        if "int" not in dtype else tf.constant((x * 2 - 1).astype("float32")))  # fmt: skip
    ends = sorted(set(np.round(rng.normal(size=3) * 3, 1).tolist()))
    if len(shape) == 1:
        buckets = fc.bucketized_column(column._replace(normalizer_fn=None), ends)
        wanted = np.eye(len(ends) + 1)[np.digitize(x.astype("float32"), np.array(ends, "float32"))]
        found = buckets.get_dense_tensor(FeatureTransformationCache({"f": x}), state)
        problems += _differs("buckets", found, tf.constant(wanted.astype("float32")))
    steps = [rng.normal(size=(int(rng.integers(4)), 2)).astype("float32") for _ in range(count)]
    longest = max(map(len, steps), default=0)
    at = [[i, j] for i, row in enumerate(steps) for j in range(row.size)]
    flat = np.concatenate([row.ravel() for row in steps]) if steps else np.zeros(0, "float32")
    sparse = tf.SparseTensor(np.array(at, np.int64).reshape(-1, 2), flat, [count, 2 * longest])
    pair = fc.sequence_numeric_column("s", (2,), -1.0).get_sequence_dense_tensor(
        FeatureTransformationCache({"s": sparse}), state
    )
    padded = [np.concatenate([row, np.full((longest - len(row), 2), -1.0, "float32")]) for row in steps]
    problems += _differs("steps", pair[0], tf.constant(np.array(padded, "float32").reshape(count, longest, 2)))
    if pair[1].numpy().tolist() != [len(row) for row in steps]:
        problems.append(f"lengths {pair[1].numpy().tolist()} instead of {[len(row) for row in steps]}")
    return [f"{dtype} {x.tolist()} in {ends}, {[s.tolist() for s in steps]}: {problem}" for problem in problems]


def _differs(name: str, found: Any, expected: Any) -> list[str]:
    a, b = found.numpy(), expected.numpy()
    if a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, rtol=1e-4, atol=1e-5):
        return []
    return [f"{name} {a.dtype} {a.shape} {a.tolist()} instead of {b.dtype} {b.shape} {b.tolist()}"]
