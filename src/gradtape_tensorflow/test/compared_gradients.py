"""Comparison of gradients with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
from gradtape.engine.run.convert import to_tensor
from gradtape.engine.tape.tape import Tape

NAMESPACES = ("test",)
__all__ = ["compute_gradient"]


def compute_gradient(f: Callable[..., Any], x: Sequence[TensorLike], delta: float | None = None) -> tuple[Any, Any]:
    """Returns the Jacobians of `f` by the tape and by central differences of step `delta`: a tuple of 2-D arrays each.

    Row i, column j is the derivative of entry i of the result with respect to entry j of an argument. A complex number
    counts as two entries.

    >>> theoretical, numerical = tf.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0])])
    >>> theoretical[0].tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    if not isinstance(x, list | tuple):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a {type(x)}"
        )
    xs = [to_tensor(value) for value in x]
    for i, value in enumerate(xs):
        if not value.dtype.differentiable:
            raise AssertionError(f"Cannot compute gradient for unsupported type {value.dtype.name} of argument {i}")
    step = 1 / 1024 if delta is None else delta
    with Tape(persistent=True) as tape:
        tape.watch(xs)
        y = to_tensor(f(*xs))
    rows = list(_rows(tape, y, xs))
    if not rows:
        tape.vjp([y], [None], xs)  # a rule that returns the wrong shape is wrong for an empty result too
    examples = [_as_real(value.array) for value in xs]
    theoretical = tuple(
        np.array([row[i] for row in rows], like.dtype).reshape(len(rows), like.size) for i, like in enumerate(examples)
    )
    return theoretical, tuple(_numerical(f, xs, i, step, y) for i in range(len(xs)))


def _as_real(array: Any) -> np.ndarray[Any, Any]:
    """Flattens an array to real entries, two per complex number."""
    flat = np.ravel(array)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def _rows(tape: Tape, y: Tensor, xs: list[Tensor]) -> Iterator[list[Any]]:
    """Yields the derivative of each entry of `y` with respect to every entry of each argument."""
    for i in range(_as_real(y.array).size):
        seed = np.zeros(y.dims, y.dtype.numpy).reshape(-1)
        _as_real(seed)[i] = 1
        grads = tape.vjp([y], [Tensor(seed.reshape(y.dims), y.dtype)], xs)
        yield [
            _as_real(np.zeros(x.dims, x.dtype.numpy) if g is None else to_tensor(g).array)
            for g, x in zip(grads, xs, strict=True)
        ]


def _numerical(f: Callable[..., Any], xs: list[Tensor], i: int, step: float, y: Tensor) -> np.ndarray[Any, Any]:
    x = np.array(xs[i].array)
    entries = _as_real(x).size
    columns = []
    for j in range(entries):
        moved = []
        for sign in (1, -1):
            flat = x.reshape(-1).copy()
            _as_real(flat)[j] += sign * step
            at = [*xs[:i], Tensor(flat.reshape(x.shape), xs[i].dtype), *xs[i + 1 :]]
            moved.append(_as_real(to_tensor(f(*at)).array))
        columns.append((moved[0] - moved[1]) / moved[0].dtype.type(2 * step))
    return np.stack(columns, axis=1) if columns else np.zeros((_as_real(y.array).size, 0), y.dtype.numpy)
