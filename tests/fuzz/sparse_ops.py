"""`tf.sparse` in chains of functions, against dense tensors and a mask of the entries that are present.

A seed determines a sparse tensor (any rank, empty dimensions, no entries, entries that are zero, or in any order) and
up to three functions. The reference holds a dense tensor and the mask, and computes with dense functions only. Compared
are the dense values, which entries are present, their order, and the gradients, eagerly or in a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf

DTYPES = ["float32", "float64", "float16", "complex64", "complex128", "int32", "int64"]
_TOLERANCES = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "complex64": 1e-4}


class Reference(NamedTuple):
    """A dense tensor, zero where the mask is False; without a mask, a dense result."""

    dense: Any
    mask: np.ndarray | None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.dense.shape)


class Step(NamedTuple):
    """A function of a sparse tensor, and the same one of the reference."""

    name: str
    function: Callable[[Any], Any]
    reference: Callable[[Reference], Reference]


def _numbers(rng: np.random.Generator, dtype: str, shape: Any) -> np.ndarray:
    """Returns small numbers, some of them zero, that half precision represents."""
    x = rng.integers(-6, 7, shape) / (1 if "int" in dtype else 2)
    return np.asarray(x * (1 + 0.5j) if "complex" in dtype else x).astype(dtype)


def _sparse(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the indices in row-major order and the values of random entries."""
    mask = rng.random(shape) < rng.choice([0.0, 0.3, 0.7, 1.0])
    indices = np.argwhere(mask)
    return indices, _numbers(rng, dtype, len(indices))


def _dense(indices: np.ndarray, values: Any, shape: tuple[int, ...]) -> Reference:
    mask = np.zeros(shape, bool)
    mask[tuple(indices.T)] = True
    return Reference(tf.scatter_nd(indices, values, np.array(shape, np.int64)), mask)


def _other(rng: np.random.Generator, x: Reference, shape: tuple[int, ...] | None = None) -> tuple[Any, Reference]:
    """Returns another sparse tensor of the dtype and the shape, and its reference."""
    shape = x.shape if shape is None else shape
    indices, values = _sparse(rng, x.dense.dtype.name, shape)
    return tf.SparseTensor(indices, values, shape), _dense(indices, values, shape)


def _chosen(mask: Any, first: Any, second: Any) -> Any:
    return tf.where(tf.constant(mask), first, second)


def _add(rng: np.random.Generator, x: Reference) -> Step:
    sp, other = _other(rng, x)
    return Step("add", lambda s: tf.sparse.add(s, sp),
                lambda r: Reference(r.dense + other.dense, r.mask | other.mask))  # fmt: skip


def _add_dense(rng: np.random.Generator, x: Reference) -> Step:
    other = _numbers(rng, x.dense.dtype.name, x.shape)
    return Step("add dense", lambda s: tf.sparse.add(s, other), lambda r: Reference(r.dense + other, None))


def _extreme(rng: np.random.Generator, x: Reference) -> Step | None:
    if x.dense.dtype.is_complex:
        return None
    sp, other = _other(rng, x)
    name = str(rng.choice(["maximum", "minimum"]))
    sparse, dense = getattr(tf.sparse, name), getattr(tf, name)
    return Step(name, lambda s: sparse(s, sp), lambda r: Reference(dense(r.dense, other.dense), r.mask | other.mask))


def _concat(rng: np.random.Generator, x: Reference) -> Step:
    axis = int(rng.integers(len(x.shape)))
    shape = tuple(int(rng.integers(0, 4)) if k == axis else n for k, n in enumerate(x.shape))
    expands = rng.random() < 0.3
    if expands:
        shape = tuple(int(rng.integers(0, 4)) for _ in shape)
    sp, other = _other(rng, x, shape)

    def reference(r: Reference) -> Reference:
        sizes = [max(a, b) for a, b in zip(r.shape, other.shape, strict=True)]
        parts = []
        for part in (r, other):
            pads = [[0, 0 if k == axis else n - m] for k, (n, m) in enumerate(zip(sizes, part.shape, strict=True))]
            parts.append((tf.pad(part.dense, pads), np.pad(part.mask, pads)))
        return Reference(tf.concat([p[0] for p in parts], axis), np.concatenate([p[1] for p in parts], axis))

    at = axis - len(x.shape) if rng.random() < 0.3 else axis
    return Step(f"concat {at}", lambda s: tf.sparse.concat(at, [s, sp], expand_nonconcat_dims=expands), reference)


def _shaped(name: str, function: Callable[[Any], Any], both: Callable[[Any, Any], Any]) -> Step:
    """Returns a step whose reference does the same to the dense tensor and to the mask."""
    return Step(name, function, lambda r: Reference(both(tf, r.dense), both(np, r.mask)))


def _expand_dims(rng: np.random.Generator, x: Reference) -> Step:
    axis = int(rng.integers(-len(x.shape) - 1, len(x.shape) + 1))
    return _shaped("expand_dims", lambda s: tf.sparse.expand_dims(s, axis), lambda m, a: m.expand_dims(a, axis))


def _transpose(rng: np.random.Generator, x: Reference) -> Step:
    perm = None if rng.random() < 0.3 else rng.permutation(len(x.shape)).tolist()
    return _shaped("transpose", lambda s: tf.sparse.transpose(s, perm), lambda m, a: m.transpose(a, perm))


def _reshape(rng: np.random.Generator, x: Reference) -> Step:
    size = int(np.prod(x.shape))
    shapes = [[size], [1, size], [size, 1]] + ([[-1]] if size else []) + ([[2, size // 2]] if size % 2 == 0 else [])
    shape = shapes[int(rng.integers(len(shapes)))]
    return _shaped("reshape", lambda s: tf.sparse.reshape(s, shape), lambda m, a: m.reshape(a, shape))


def _slice(rng: np.random.Generator, x: Reference) -> Step:
    start = [int(rng.integers(n + 1)) for n in x.shape]
    size = [int(rng.integers(n + 2)) for n in x.shape]
    at = tuple(slice(a, a + n) for a, n in zip(start, size, strict=True))
    return _shaped("slice", lambda s: tf.sparse.slice(s, start, size), lambda m, a: a[at])


def _split(rng: np.random.Generator, x: Reference) -> Step | None:
    axis = int(rng.integers(len(x.shape)))
    if not x.shape[axis]:
        return None
    count = int(rng.integers(1, x.shape[axis] + 1))
    part = int(rng.integers(count))
    rest, least = x.shape[axis] % count, x.shape[axis] // count
    start = part * least + min(part, rest)
    at = (*[slice(None)] * axis, slice(start, start + least + (part < rest)))
    return _shaped("split", lambda s: tf.sparse.split(s, count, axis)[part], lambda m, a: a[at])


def _retain(rng: np.random.Generator, x: Reference) -> Step:
    keep = rng.random(x.shape) < 0.6
    flags = keep[x.mask]
    return Step("retain", lambda s: tf.sparse.retain(s, flags),
                lambda r: Reference(_chosen(keep, r.dense, tf.zeros_like(r.dense)), r.mask & keep))  # fmt: skip


def _reset_shape(rng: np.random.Generator, x: Reference) -> Step:
    at = np.argwhere(x.mask)
    if rng.random() < 0.5:
        larger = [n + int(rng.integers(3)) for n in x.shape]
        pads = [[0, n - m] for n, m in zip(larger, x.shape, strict=True)]
        return _shaped("reset_shape", lambda s: tf.sparse.reset_shape(s, larger), lambda m, a: m.pad(a, pads))
    tight = tuple(slice(0, n) for n in (at.max(0) + 1 if len(at) else np.zeros(len(x.shape), int)).tolist())
    return _shaped("reset_shape", lambda s: tf.sparse.reset_shape(s), lambda m, a: a[tight])


def _reduce(rng: np.random.Generator, x: Reference) -> Step | None:
    name = str(rng.choice(["reduce_sum"] if x.dense.dtype.is_complex else ["reduce_sum", "reduce_max"]))
    rank = len(x.shape)
    axes = sorted(rng.choice(rank, size=int(rng.integers(1, rank + 1)), replace=False).tolist())
    axis = None if len(axes) == rank else axes if rng.random() < 0.7 else [k - rank for k in axes]
    keepdims, is_sparse = bool(rng.integers(2)), bool(rng.integers(2))
    sparse, dense = getattr(tf.sparse, name), getattr(tf, name)

    def reference(r: Reference) -> Reference:
        present = r.mask.any(tuple(axes), keepdims=keepdims)
        low = tf.constant(r.dense.dtype.min if name == "reduce_max" else 0, r.dense.dtype)
        y = dense(_chosen(r.mask, r.dense, low), axes, keepdims)
        return Reference(_chosen(present, y, tf.zeros_like(y)), present if is_sparse else None)

    return Step(f"{name} {axis} {keepdims}",
                lambda s: sparse(s, axis, keepdims, output_is_sparse=is_sparse), reference)  # fmt: skip


def _matmul(rng: np.random.Generator, x: Reference) -> Step | None:
    if len(x.shape) != 2:
        return None
    adjoint, adjoint_b = bool(rng.integers(2)), bool(rng.integers(2))
    inner, columns = x.shape[0] if adjoint else x.shape[1], int(rng.integers(0, 4))
    matrix = tf.constant(_numbers(rng, x.dense.dtype.name, (columns, inner) if adjoint_b else (inner, columns)))
    adjoints = {"adjoint_a": adjoint, "adjoint_b": adjoint_b}
    return Step(f"matmul {adjoints}", lambda s: tf.sparse.sparse_dense_matmul(s, matrix, **adjoints),
                lambda r: Reference(tf.matmul(r.dense, matrix, **adjoints), None))  # fmt: skip


def _softmax(rng: np.random.Generator, x: Reference) -> Step | None:
    if len(x.shape) < 2 or x.dense.dtype.name not in ("float32", "float64", "float16"):
        return None

    def reference(r: Reference) -> Reference:
        low = tf.constant(-np.inf, r.dense.dtype)
        y = tf.nn.softmax(_chosen(r.mask, r.dense, low)) if 0 not in r.shape else r.dense
        return Reference(_chosen(r.mask, y, tf.zeros_like(y)), r.mask)

    return Step("softmax", lambda s: tf.sparse.softmax(s), reference)


def _map_values(rng: np.random.Generator, x: Reference) -> Step:
    sp = tf.SparseTensor(np.argwhere(x.mask), _numbers(rng, x.dense.dtype.name, int(x.mask.sum())), x.shape)
    other = tf.scatter_nd(sp.indices, sp.values, sp.dense_shape)
    return Step("map_values", lambda s: tf.sparse.map_values(lambda a, b: a * a + b, s, sp),
                lambda r: Reference(r.dense * r.dense + other, r.mask))  # fmt: skip


def _times(rng: np.random.Generator, x: Reference) -> Step:
    factors = tf.constant(_numbers(rng, x.dense.dtype.name, [n if rng.random() < 0.6 else 1 for n in x.shape]))
    return Step("times dense", lambda s: s * factors, lambda r: Reference(r.dense * factors, r.mask))


def _fill_empty_rows(rng: np.random.Generator, x: Reference) -> Step | None:
    if len(x.shape) != 2 or not x.shape[1]:
        return None
    empty = ~x.mask.any(1)
    corner = np.zeros(x.shape, bool)
    corner[empty, 0] = True
    default = tf.constant(_numbers(rng, x.dense.dtype.name, ()))
    return Step("fill_empty_rows", lambda s: tf.sparse.fill_empty_rows(s, default)[0],
                lambda r: Reference(_chosen(corner, default, r.dense), r.mask | corner))  # fmt: skip


def _to_dense(rng: np.random.Generator, x: Reference) -> Step:
    default = tf.constant(_numbers(rng, x.dense.dtype.name, ()))
    return Step("to_dense", lambda s: tf.sparse.to_dense(s, default),
                lambda r: Reference(_chosen(r.mask, r.dense, default), None))  # fmt: skip


STEPS = [_add, _add_dense, _extreme, _concat, _expand_dims, _transpose, _reshape, _slice, _split, _retain, _reset_shape,
         _reduce, _matmul, _softmax, _map_values, _times, _fill_empty_rows, _to_dense]  # fmt: skip


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(DTYPES))
    shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.2 else 1, 4, int(rng.integers(1, 4))))
    indices, numbers = _sparse(rng, dtype, shape)
    order = rng.permutation(len(indices)) if rng.random() < 0.3 else None
    in_function = rng.random() < 0.3
    values = tf.constant(numbers)
    names = [f"{dtype} {shape} at {indices.tolist()}: {numbers.tolist()}", "function" if in_function else "eager"]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(values) if values.dtype.is_floating or values.dtype.is_complex else None
        found, expected = tf.SparseTensor(indices, values, shape), _dense(indices, values, shape)
        if order is not None:
            found = tf.sparse.reorder(tf.SparseTensor(indices[order], tf.gather(values, order), shape))
        for _ in range(int(rng.integers(1, 4))):
            step = STEPS[int(rng.integers(len(STEPS)))](rng, expected)
            if step is not None:
                names.append(step.name)
                found = (tf.function(step.function) if in_function else step.function)(found)
                expected = step.reference(expected)
            if expected.mask is None or not expected.shape:
                break
        weights = tf.constant(_numbers(rng, dtype, expected.shape))
        flat = tf.scatter_nd(found.indices, found.values, expected.shape) if _is_sparse(found) else found
        problems = _structure(found, expected)
        losses = [] if problems else [tf.reduce_sum(y * weights) for y in (flat, expected.dense)]
    tolerance = _TOLERANCES.get(dtype, 1e-9)
    if losses:
        problems += _differs("values", flat, expected.dense, tolerance)
        if values.dtype.is_floating or values.dtype.is_complex:
            gradients = [tape.gradient(y, values, unconnected_gradients="zero") for y in losses]
            problems += _differs("gradient", *map(tf.convert_to_tensor, gradients), tolerance)
    return [f"{'; '.join(names)}: {problem}" for problem in problems]


def _is_sparse(x: Any) -> bool:
    return isinstance(x, tf.SparseTensor)


def _structure(found: Any, expected: Reference) -> list[str]:
    """Compares kinds, dtypes, shapes, and which entries are present, in row-major order."""
    if _is_sparse(found) != (expected.mask is not None):
        return [f"{found} is sparse" if _is_sparse(found) else f"{found} is not sparse"]
    if found.dtype != expected.dense.dtype:
        return [f"dtype {found.dtype} instead of {expected.dense.dtype}"]
    shape = tuple(found.dense_shape.numpy().tolist()) if _is_sparse(found) else tuple(found.shape)
    if shape != expected.shape:
        return [f"shape {shape} instead of {expected.shape}"]
    if expected.mask is None or found.indices.numpy().tolist() == np.argwhere(expected.mask).tolist():
        return []
    return [f"entries at {found.indices.numpy().tolist()} instead of {np.argwhere(expected.mask).tolist()}"]


def _differs(name: str, found: Any, expected: Any, tolerance: float) -> list[str]:
    a, b = (np.asarray(x).astype(np.complex128) for x in (found, expected))
    scale = tolerance * (1 + np.abs(b[np.isfinite(b)]).max(initial=0))
    same = a.shape == b.shape and np.allclose(a, b, rtol=0, atol=scale, equal_nan=True)
    return [] if same else [f"{name} {a.tolist()} instead of {b.tolist()}"]
