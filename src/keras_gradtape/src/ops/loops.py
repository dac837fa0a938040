"""Loops: Python loops in eager mode, a single graph node in a traced function."""

from __future__ import annotations

import builtins
from typing import Any

from keras.src import tree

import gradtape as tf
from gradtape.engine.run import dispatch

from .conversion import convert_to_tensor

_UNROLLED = 4  # loops of at most this many iterations are unrolled


def _tensors(structure: Any) -> Any:
    return tree.map_structure(convert_to_tensor, structure)


def map(f, xs):
    """Applies `f` to each row and stacks the results."""
    return scan(lambda _, x: ((), f(x)), (), xs)[1]


def scan(
    f, init, xs=None, length=None, reverse=False, unroll=1
):
    """Scans `carry, y = f(carry, x)` over the rows `x` of `xs`; returns the last `carry` and the stacked `y`."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}")
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    xs, carry = None if xs is None else _tensors(xs), _tensors(init)
    rows = tree.flatten(xs)
    n = int(length) if length is not None else rows[0].dims[0]

    def step(i: Any, carry: Any) -> tuple[Any, Any]:
        x = None if xs is None else tree.map_structure(lambda x: x[i], xs)
        carry, y = f(carry, x)
        return carry, _tensors(y) if y is not None else tree.map_structure(tf.zeros_like, carry)

    if dispatch.thread.trace is None or unroll is True or n <= _UNROLLED:
        ys = []
        for i in reversed(range(n)) if reverse else range(n):
            carry, y = step(i, carry)
            ys.append(y)
        ordered = ys[::-1] if reverse else ys
        return carry, tree.map_structure(lambda *y: tf.stack(y), *ordered) if ordered else None
    return _looped(step, carry, n, reverse)


def _looped(step: Any, carry: Any, n: int, reverse: bool) -> Any:
    """Runs the iterations as a graph loop. The first one precedes it and determines the outputs to stack."""
    first = n - 1 if reverse else 0
    carry, y = step(first, carry)
    arrays = [
        tf.TensorArray(part.dtype, size=n, element_shape=part.shape).write(first, part) for part in tree.flatten(y)
    ]

    def body(k: Any, carry: Any, arrays: Any) -> Any:
        i = n - 1 - k if reverse else k
        carry, y = step(i, carry)
        return k + 1, carry, [array.write(i, part) for array, part in zip(arrays, tree.flatten(y), strict=True)]

    _, carry, arrays = tf.while_loop(lambda k, *_: k < n, body, (tf.constant(1), carry, arrays), maximum_iterations=n)
    return carry, tree.pack_sequence_as(y, [array.stack() for array in arrays])


def associative_scan(f, elems, reverse=False, axis=0):
    """Computes all prefixes under the associative `f`, in about log2(n) rounds."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    flat = tree.flatten(_tensors(elems))
    axis = axis + len(flat[0].dims) if axis < 0 else axis
    sizes = [x.dims[axis] for x in flat]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"Array inputs to associative_scan must have the same first dimension. (saw: {[x.shape for x in flat]})"
        )
    if reverse:
        flat = [tf.reverse(x, [axis]) for x in flat]

    def combined(a: list[Any], b: list[Any]) -> list[Any]:
        return tree.flatten(f(tree.pack_sequence_as(elems, a), tree.pack_sequence_as(elems, b)))

    def cut(parts: list[Any], *bounds: Any) -> list[Any]:
        return [x[(builtins.slice(None),) * axis + (builtins.slice(*bounds),)] for x in parts]

    def prefixes(parts: list[Any]) -> list[Any]:
        n = parts[0].dims[axis]
        if n < 2:
            return parts
        odd = prefixes(combined(cut(parts, 0, n - 1, 2), cut(parts, 1, n, 2)))
        later = cut(parts, 2, n, 2)
        even = cut(parts, 0, 1)
        if later[0].dims[axis]:
            rest = combined(cut(odd, 0, later[0].dims[axis]), later)
            even = [tf.concat(pair, axis) for pair in zip(even, rest, strict=True)]
        return [_interleaved(a, b, axis) for a, b in zip(even, odd, strict=True)]

    flat = prefixes(flat)
    if reverse:
        flat = [tf.reverse(x, [axis]) for x in flat]
    return tree.pack_sequence_as(elems, flat)


def _interleaved(a: Any, b: Any, axis: int) -> Any:
    """Interleaves the slices of `a` and `b`; `a` may have one more."""
    n = b.dims[axis]
    front = (builtins.slice(None),) * axis
    both = tf.stack([a[(*front, builtins.slice(0, n))], b], axis + 1)
    mixed = tf.reshape(both, (*b.dims[:axis], 2 * n, *b.dims[axis + 1 :]))
    return mixed if a.dims[axis] == n else tf.concat([mixed, a[(*front, builtins.slice(n, n + 1))]], axis)


def while_loop(cond, body, loop_vars, maximum_iterations=None):
    """Returns the loop variables when `cond(*loop_vars)` has become false."""
    several = isinstance(loop_vars, list | tuple)

    def next_vars(*values: Any) -> Any:
        result = body(*values)
        return _tensors(tuple(result) if isinstance(result, list | tuple) else (result,))

    start = _tensors(tuple(loop_vars) if several else (loop_vars,))
    result = tf.while_loop(cond, next_vars, start, maximum_iterations=maximum_iterations)
    return tuple(result) if several else result[0]


def fori_loop(lower, upper, body_fun, init_val):
    """Calls `value = body_fun(i, value)` for each `i` in `range(lower, upper)`."""
    value = _tensors(init_val)
    if dispatch.thread.trace is None:
        for i in range(int(lower), int(upper)):
            value = _tensors(body_fun(i, value))
        return value
    i = _tensors(lower)
    return tf.while_loop(lambda i, _: i < upper, lambda i, value: (i + 1, _tensors(body_fun(i, value))), (i, value))[1]
