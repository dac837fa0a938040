"""`tensorflow.python.ops.rnn`: loops over the steps of sequences with cells of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import gradtape
from gradtape import nest
from gradtape.compat.v1 import variable_scope


def _swap(x: Any) -> Any:
    """Swaps the axes of batch and time."""
    return gradtape.transpose(x, [1, 0, *range(2, len(x.shape))])


def _first_state(cell: Any, initial_state: Any, batch: Any, dtype: Any) -> Any:
    if initial_state is not None:
        return initial_state
    if dtype is None:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


def _selected(active: Any, new: Any, old: Any) -> Any:
    """Selects the rows of sequences that have not ended from `new`, the others from `old`."""
    mask = gradtape.reshape(active, [-1, *[1] * (len(new.shape) - 1)])
    return gradtape.where(mask, new, old)


def dynamic_rnn(
    cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None, dtype: Any = None,
    parallel_iterations: Any = None, swap_memory: bool = False, time_major: bool = False, scope: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Runs a cell over the steps of sequences; returns the outputs of all steps and the last state.

    After the end of a sequence, its outputs are zeros and its state does not change. Variables that the cell creates
    are in the scope `scope`, by default "rnn".
    """
    with variable_scope(scope or "rnn"):
        return _run_steps(cell, inputs, sequence_length, initial_state, dtype, time_major)


def _run_steps(
    cell: Any, inputs: Any, sequence_length: Any, initial_state: Any, dtype: Any, time_major: bool
) -> tuple[Any, Any]:
    steps = nest.map_structure(gradtape.convert_to_tensor, inputs)
    if not time_major:
        steps = nest.map_structure(_swap, steps)
    first = nest.flatten(steps)[0]
    count, batch = gradtape.shape(first)[0], first.shape[1] or gradtape.shape(first)[1]
    state = _first_state(cell, initial_state, batch, dtype)
    lengths = None if sequence_length is None else gradtape.cast(sequence_length, gradtape.int32)
    kind = dtype or nest.flatten(state)[0].dtype
    written = nest.map_structure(lambda _: gradtape.TensorArray(kind, count, element_shape=None), cell.output_size)

    def step(time: Any, state: Any, written: Any) -> Any:
        output, new = cell(nest.map_structure(lambda x: x[time], steps), state)
        if lengths is not None:
            active = time < lengths
            output = nest.map_structure(lambda y: _selected(active, y, gradtape.zeros_like(y)), output)
            flat = [_selected(active, *pair) for pair in zip(nest.flatten(new), nest.flatten(state), strict=True)]
            new = nest.pack_sequence_as(state, flat)
        return time + 1, new, nest.map_structure(lambda array, y: array.write(time, y), written, output)

    _, state, written = gradtape.while_loop(lambda time, *_: time < count, step, (gradtape.constant(0), state, written))
    outputs = nest.map_structure(lambda array: array.stack(), written)
    return outputs if time_major else nest.map_structure(_swap, outputs), state


def static_rnn(
    cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
) -> tuple[list[Any], Any]:
    """Runs a cell over a list of steps; returns the list of outputs and the last state."""
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    stacked = nest.map_structure(lambda *xs: gradtape.stack(xs), *inputs)
    outputs, state = dynamic_rnn(cell, stacked, sequence_length, initial_state, dtype, time_major=True, scope=scope)
    return [nest.map_structure(lambda y, at=at: y[at], outputs) for at in range(len(inputs))], state


def bidirectional_dynamic_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None, initial_state_fw: Any = None,
    initial_state_bw: Any = None, dtype: Any = None, parallel_iterations: Any = None, swap_memory: bool = False,
    time_major: bool = False, scope: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Runs one cell forward and another backward; returns pairs of outputs and of states."""
    time, batch = (0, 1) if time_major else (1, 0)

    def reverse(x: Any) -> Any:
        if sequence_length is None:
            return gradtape.reverse(x, [time])
        return gradtape.reverse_sequence(x, sequence_length, seq_axis=time, batch_axis=batch)

    reversed_inputs = nest.map_structure(reverse, inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw"):
            forward, state = _run_steps(cell_fw, inputs, sequence_length, initial_state_fw, dtype, time_major)
        with variable_scope("bw"):
            backward, last = _run_steps(cell_bw, reversed_inputs, sequence_length, initial_state_bw, dtype, time_major)
    return (forward, nest.map_structure(reverse, backward)), (state, last)


def static_bidirectional_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None, initial_state_bw: Any = None,
    dtype: Any = None, sequence_length: Any = None, scope: Any = None,
) -> tuple[list[Any], Any, Any]:  # fmt: skip
    """Runs two cells over a list of steps; returns the outputs of both, concatenated, and the two last states."""
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    stacked = nest.map_structure(lambda *xs: gradtape.stack(xs), *inputs)
    pair, states = bidirectional_dynamic_rnn(
        cell_fw, cell_bw, stacked, sequence_length, initial_state_fw, initial_state_bw, dtype, time_major=True,
        scope=scope,
    )  # fmt: skip
    both = nest.map_structure(lambda *ys: gradtape.concat(ys, axis=-1), *pair)
    return [nest.map_structure(lambda y, at=at: y[at], both) for at in range(len(inputs))], *states
