"""Cotangents whose exact zeros absorb: 0 · inf = 0 in the products of the rules, whatever the derivative is.

A `ZeroWinsTensor` takes a tensor's place in the sweep. Rules run on it as on any tensor. A product, a quotient and a
matrix product with such a cotangent are computed so that a factor that meets an exact zero does not count, even if it
is infinite or NaN. All other ops (sums, data movement, convolutions, einsum) run unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.protocols import Attrs, Differentiables, OpLike, Tensors
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..registry.batching import TransparentProxy
from ..registry.devices import REAL
from ..run import dispatch
from ..run.namespace import ops
from ..tape.results import OptionalGradient
from ..tape.tape import Tape
from ..tape.validation import Differentiable, ones


class ZeroWinsTensor(TransparentProxy):
    """A cotangent, or a value computed from one."""

    __slots__ = ()

    def interpret(self, op: OpLike, inputs: Tensors, attrs: Attrs) -> Any:
        """Runs `op` on the wrapped values; `after` passes its first argument through, ordered after the second."""
        if op.name == "after" and not self._is_alike(inputs[0]):
            return dispatch.run(op, (inputs[0], self.value), attrs)
        return super().interpret(op, inputs, attrs)

    def _run(self, op: OpLike, values: list[Tensor], flags: list[bool], attrs: Attrs) -> Any:
        if sum(flags) == 1:
            if op.name == "mul":
                g, other = values if flags[0] else values[::-1]
                return ops.multiply_no_nan(other, g)
            if op.name == "div" and flags[0]:
                g, divisor = values
                return ops.where(ops.equal(g, ops.zeros_like(g)), ops.zeros_like(g), g / divisor)
            if op.name == "matmul" and not _is_finite(values[flags.index(False)]):
                a, b = values
                a = _transposed(a) if attrs.get("transpose_a") else a
                b = _transposed(b) if attrs.get("transpose_b") else b
                return _matmul(a, b, g_first=flags[0])
        return dispatch.run(op, values, attrs)


def _is_finite(x: Tensor) -> bool:
    return type(x) not in REAL or bool(np.isfinite(x.array).all())


def _transposed(x: Tensor) -> Tensor:
    rank = len(x.dims)
    return ops.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2))


def _matmul(a: Tensor, b: Tensor, g_first: bool) -> Tensor:
    """Computes `a @ b` term by term, so that a zero of the cotangent absorbs an infinity it is multiplied by."""
    rows = ops.reshape(a, shape=(*a.dims, 1))
    columns = ops.reshape(b, shape=(*b.dims[:-2], 1, *b.dims[-2:]))
    terms = ops.multiply_no_nan(columns, rows) if g_first else ops.multiply_no_nan(rows, columns)
    return ops.sum(terms, axis=(len(terms.dims) - 2,), keepdims=False)


def is_nan(target: Differentiable) -> bool:
    """Whether a target has NaNs, as far as its value is known; while tracing a function, in the tracing run."""
    known: Any = target
    while issubclass(type(known), Tensor) and hasattr(type(known), "value"):
        known = known.value
    return type(known) in REAL and known.dtype.differentiable and bool(np.isnan(known.array).any())


def nan_safe_gradients(
    tape: Tape, targets: Differentiables, cotangents: Sequence[Tensor | None], sources: Differentiables
) -> list[OptionalGradient]:
    """Computes the gradient of each source by a sweep over wrapped cotangents (None stands for ones)."""
    level = dispatch.next_level()
    wrapped = [ZeroWinsTensor(ones(t) if g is None else g, level) for t, g in zip(targets, cotangents, strict=True)]
    return list(map(_unwrapped, Tape.vjp(tape, targets, wrapped, sources)))


def _unwrapped(g: OptionalGradient) -> OptionalGradient:
    """Unwraps a result of the sweep."""
    if type(g) is IndexedSlices:
        return IndexedSlices(_unwrapped(g.values), g.indices, g.dense_shape)
    return g.value if type(g) is ZeroWinsTensor else g
