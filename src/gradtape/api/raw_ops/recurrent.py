"""Recurrent ops of `tf.raw_ops`, as loops."""

from __future__ import annotations

from typing import Any

from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...engine.run.convert import to_array, to_tensor
from ...engine.tape.tape import Tape
from ...ops.elementwise.transcendental import sigmoid, tanh
from ..arrays.concat import concat, split
from ..arrays.creation import zeros, zeros_like
from ..math.clipping import clip_by_value
from ..math.contraction import matmul
from ..namespace import resolve
from ..tape_arguments import flat_targets


def lstm_block_cell(
    x: Any, cell: Any, hidden: Any, weights: Any, peepholes: Any, bias: Any, forget_bias: float, clip: float,
    use_peephole: bool,
) -> tuple[Tensor, ...]:  # fmt: skip
    """One step of an LSTM whose gates are in the order of TensorFlow 1: `i`, `ci`, `f`, `o`."""
    x, cell, hidden, weights, bias = _checked(x, cell, hidden, weights, bias, 2, "LSTMBlockCell")
    for name, peephole in zip(("wci", "wcf", "wco"), peepholes, strict=True):
        if len(dims := to_tensor(peephole).dims) != 1 or (use_peephole and dims != cell.dims[1:]):
            raise InvalidArgumentError(
                f"{name} must be rank 1 and have the shape {list(cell.dims[1:])}, got {list(dims)} [Op:LSTMBlockCell]"
            )
    return _step(x, cell, hidden, weights, peepholes if use_peephole else None, bias, clip, forget_bias)


def block_lstm(
    length: Any, x: Any, cell: Any, hidden: Any, weights: Any, peepholes: Any, bias: Any, clip: float,
    forget_bias: float | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """An LSTM over the first `length` steps of `x`: gates, cells and outputs of each step; zeros beyond.

    With a `forget_bias`, the gates are in the order of TensorFlow 1.
    """
    x, cell, hidden, weights, bias = _checked(x, cell, hidden, weights, bias, 3, "BlockLSTM")
    if to_array(length).ndim:
        raise InvalidArgumentError(f"seq_len_max must be a scalar, got shape {to_array(length).shape} [Op:BlockLSTM]")
    steps = int(to_array(length))

    def step(before: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, ...]:
        return _step(inputs, before[1], before[6], weights, peepholes, bias, clip, forget_bias)

    first = (cell, cell, cell, cell, cell, cell, hidden)
    found = resolve("scan")(step, x[:steps], first)
    rest = x.dims[0] - steps
    if not rest:
        return tuple(found)
    return tuple(concat([y, zeros((rest, *y.dims[1:]), y.dtype)], 0) for y in found)


def block_lstm_gradients(
    length: Any, x: Any, cell: Any, hidden: Any, weights: Any, peepholes: Any, bias: Any, use_peephole: bool,
    cell_gradient: Any, hidden_gradient: Any,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The gradients of `block_lstm` with respect to `x`, both states, the weights, the peepholes and the bias."""
    sources = [to_tensor(value) for value in (x, cell, hidden, weights, *peepholes, bias)]
    with Tape() as tape:
        tape.watch(sources)
        x, cell, hidden, weights, *peepholes, bias = sources
        found = block_lstm(length, x, cell, hidden, weights, peepholes if use_peephole else None, bias, 0.0)
    targets = flat_targets([found[1], found[6]], [to_tensor(cell_gradient), to_tensor(hidden_gradient)])
    gradients = tape.vjp(*targets, sources)
    return tuple(zeros_like(s) if g is None else to_tensor(g) for g, s in zip(gradients, sources, strict=True))


def _step(
    x: Tensor, cell: Tensor, hidden: Tensor, weights: Tensor, peepholes: Any, bias: Tensor, clip: float,
    forget_bias: float | None,
) -> tuple[Tensor, ...]:  # fmt: skip
    by_cell = [0.0, 0.0, 0.0] if peepholes is None else peepholes
    gates = split(matmul(concat([x, hidden], 1), weights) + bias, 4, 1)
    i, f, ci, o = gates if forget_bias is None else (gates[0], gates[2] + forget_bias, gates[1], gates[3])
    i, f, ci = sigmoid(i + cell * by_cell[0]), sigmoid(f + cell * by_cell[1]), tanh(ci)
    new = ci * i + cell * f
    if clip > 0:
        new = clip_by_value(new, -clip, clip)
    o, co = sigmoid(o + new * by_cell[2]), tanh(new)
    return i, new, f, o, ci, co, co * o


def _checked(x: Any, cell: Any, hidden: Any, weights: Any, bias: Any, rank: int, op: str) -> list[Tensor]:
    """Returns the inputs of a cell as tensors; raises InvalidArgumentError for wrong shapes."""
    found = [to_tensor(value) for value in (x, cell, hidden, weights, bias)]
    names = ("x", "cs_prev", "h_prev", "w", "b")
    for name, value, ranked in zip(names, found, (rank, 2, 2, 2, 1), strict=True):
        if len(value.dims) != ranked:
            raise InvalidArgumentError(f"{name} must be rank {ranked} but is rank {len(value.dims)} [Op:{op}]")
    x, cell, hidden, weights, bias = found
    (batch, inputs), units = x.dims[-2:], cell.dims[1]
    for name, value, dims in zip(
        names[1:], found[1:], ((batch, units), (batch, units), (inputs + units, 4 * units), (4 * units,)), strict=True
    ):
        if value.dims != dims:
            raise InvalidArgumentError(f"{name}.dims must be {list(dims)}, got {list(value.dims)} [Op:{op}]")
        if not all(dims):
            raise InvalidArgumentError(f"{name} is empty: its shape is {list(dims)} [Op:{op}]")
    return found
