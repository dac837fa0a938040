"""Recurrent ops of `tf.raw_ops`, as loops."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...engine.run.convert import to_array, to_tensor
from ...ops.elementwise.transcendental import sigmoid, tanh
from ..arrays.concat import concat, split
from ..arrays.creation import zeros
from ..math.clipping import clip_by_value
from ..math.contraction import matmul
from ..namespace import resolve


def block_lstm(
    length: Any, x: Any, cell: Any, hidden: Any, weights: Any, peepholes: Any, bias: Any, clip: float
) -> tuple[Tensor, ...]:
    """An LSTM over the first `length` steps of `x`: gates, cells and outputs of each step; zeros beyond."""
    x, cell, hidden = to_tensor(x), to_tensor(cell), to_tensor(hidden)
    steps = int(to_array(length))

    def step(before: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, ...]:
        cell, hidden = before[1], before[6]
        by_cell = [0.0, 0.0, 0.0] if peepholes is None else peepholes
        i, f, ci, o = split(matmul(concat([inputs, hidden], 1), weights) + bias, 4, 1)
        i, f, ci = sigmoid(i + cell * by_cell[0]), sigmoid(f + cell * by_cell[1]), tanh(ci)
        new = ci * i + cell * f
        if clip > 0:
            new = clip_by_value(new, -clip, clip)
        o, co = sigmoid(o + new * by_cell[2]), tanh(new)
        return i, new, f, o, ci, co, co * o

    first = (cell, cell, cell, cell, cell, cell, hidden)
    found = resolve("scan")(step, x[:steps], first)
    rest = x.dims[0] - steps
    if not rest:
        return tuple(found)
    return tuple(concat([y, zeros((rest, *y.dims[1:]), y.dtype)], 0) for y in found)
