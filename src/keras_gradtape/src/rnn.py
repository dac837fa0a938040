"""Recurrent layers: a scan over time, step by step in eager mode, a single loop node in a traced function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras.src import tree

from gradtape import Tensor
from gradtape.engine.run import dispatch
from gradtape.engine.run.namespace import ops

from .ops.core import cast
from .ops.core import dense_tensor as convert_to_tensor

__all__ = ["bidirectional_gru", "bidirectional_lstm", "cudnn_ok", "gru", "lstm", "rnn", "unstack"]


def _swapped(x: Tensor) -> Tensor:
    """Swaps the batch and time axes."""
    return ops.transpose(x, perm=(1, 0, *range(2, len(x.dims))))


def _scan(step: Callable[[Any, Any], tuple[Any, Any]], start: Any, rows: Any, backwards: bool, unroll: bool) -> Any:
    """Scans `state, output = step(state, row)`; returns the last state and the outputs in execution order."""
    flat = tree.flatten(rows)
    count = flat[0].dims[0]
    if count > 1 and not unroll and dispatch.thread.trace is not None:
        from gradtape.graph.control_flow import structured_loops

        try:
            return _scan_in_graph(step, start, rows, flat, backwards)
        except structured_loops.OneByOne:
            pass
    columns = [ops.rows(x) for x in flat]
    state, outputs = start, []
    for i in range(count - 1, -1, -1) if backwards else range(count):
        state, output = step(state, tree.pack_sequence_as(rows, [column[i] for column in columns]))
        outputs.append(output)
    return state, tree.map_structure(lambda *ys: ops.stack(*ys, axis=0), *outputs)


def _scan_in_graph(step: Any, start: Any, rows: Any, flat: list[Tensor], backwards: bool) -> Any:
    from gradtape.graph.control_flow import structured_loops

    examples: list[Any] = []

    def flat_step(state: Any, values: list[Tensor]) -> tuple[Any, Any]:
        state, output = step(tree.pack_sequence_as(start, list(state)), tree.pack_sequence_as(rows, values))
        examples.append(output)
        return tuple(tree.flatten(state)), tuple(tree.flatten(output))

    state, outputs = structured_loops.mapped(flat_step, tuple(tree.flatten(start)), flat, backwards)
    if backwards:
        outputs = [ops.reverse(y, axis=(0,)) for y in outputs]
    return tree.pack_sequence_as(start, list(state)), tree.pack_sequence_as(examples[0], list(outputs))


def rnn(
    step_function: Callable[[Any, Any], tuple[Any, Any]], inputs: Any, initial_states: Any, go_backwards: bool = False,
    mask: Any = None, constants: Any = None, unroll: bool = False, input_length: Any = None, time_major: bool = False,
    zero_output_for_mask: bool = False, return_all_outputs: bool = True,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Scans `step_function` over time; returns the last output, all outputs and the last states."""
    inputs = tree.map_structure(convert_to_tensor, inputs)
    states = tree.map_structure(convert_to_tensor, initial_states)
    if not time_major:
        inputs = tree.map_structure(_swapped, inputs)
    if unroll and not tree.flatten(inputs)[0].dims[0]:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    fixed = tuple(constants or ())

    def step(states: Any, row: Any) -> tuple[Any, Any]:
        output, new = step_function(row, (*states, *fixed) if fixed else states)
        return tree.pack_sequence_as(states, tree.flatten(new)), output

    if mask is None:
        last_states, outputs = _scan(step, states, inputs, go_backwards, unroll)
    else:
        given = cast(convert_to_tensor(mask), "bool")
        if not time_major:
            given = _swapped(given)
        if len(given.dims) == 2:
            given = given[..., None]
        start: Any = ((), states)
        if not zero_output_for_mask:  # a masked step repeats the previous output, which is carried along
            start = (tree.map_structure(ops.zeros_like, _example(step, states, inputs)), states)

        def masked_step(carried: Any, row: Any) -> tuple[Any, Any]:
            before, states = carried
            row, seen = row
            new, output = step(states, row)
            if zero_output_for_mask:
                output = _chosen(seen, output, tree.map_structure(ops.zeros_like, output))
            else:
                before = output = _chosen(seen, output, before)
            return (before, _chosen(seen, new, states)), output

        (_, last_states), outputs = _scan(masked_step, start, (inputs, given), go_backwards, unroll)
    last = tree.map_structure(lambda y: y[-1], outputs)
    if not return_all_outputs:
        outputs = tree.map_structure(lambda y: y[None], last)
    if not time_major:
        outputs = tree.map_structure(_swapped, outputs)
    return last, outputs, last_states


def _example(step: Any, states: Any, inputs: Any) -> Any:
    """Returns the output of the first step, a template for shape and dtype."""
    return step(states, tree.map_structure(lambda x: x[0], inputs))[1]


def _chosen(seen: Tensor, new: Any, old: Any) -> Any:
    """Selects `new` where the step is not masked, else `old`."""

    def one(a: Any, b: Any) -> Tensor:
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        extra = len(a.dims) - len(seen.dims)
        where = ops.reshape(seen, shape=(*seen.dims, *(1,) * extra)) if extra > 0 else seen
        return ops.where(where, a, b)

    return tree.map_structure(one, new, old)


def cudnn_ok(*args: Any, **kwargs: Any) -> bool:
    return False


def _sequence(
    step: Any, projected: Tensor, start: Any, go_backwards: bool, unroll: bool, return_sequences: bool
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Scans over inputs that are already multiplied by the kernel; the first state is the output."""

    def rounds(states: Any, row: Tensor) -> tuple[Any, Any]:
        new = step(states, row)
        return new, new[0] if return_sequences else ()

    states, outputs = _scan(rounds, start, _swapped(projected), go_backwards, unroll)
    outputs = _swapped(outputs) if return_sequences else states[0][:, None]
    return states[0], outputs, list(states)


def _check_unmasked(mask: Any) -> None:
    """Raises NotImplementedError for masks, so that Keras falls back to `rnn`, which handles them."""
    if mask is not None:
        raise NotImplementedError


def _bare(activation: Any) -> Any:
    """Returns the op of a Keras activation, without Keras' overhead in every step."""
    from keras.src import activations

    known = {activations.tanh: ops.tanh, activations.sigmoid: ops.sigmoid, activations.relu: ops.relu}
    return known.get(activation, activation)


def lstm(
    inputs: Any, initial_state_h: Any, initial_state_c: Any, mask: Any, kernel: Any, recurrent_kernel: Any, bias: Any,
    activation: Any, recurrent_activation: Any, return_sequences: bool = False, go_backwards: bool = False,
    unroll: bool = False,
) -> tuple[Tensor, Tensor, list[Tensor]]:  # fmt: skip
    """LSTM; multiplies the inputs of all steps by the kernel at once, so the loop has only the recurrent part."""
    _check_unmasked(mask)
    w, u = convert_to_tensor(kernel), convert_to_tensor(recurrent_kernel)
    x, h, c = (cast(value, w.dtype) for value in (inputs, initial_state_h, initial_state_c))
    projected = ops.matmul(x, w)
    if bias is not None:
        projected = projected + convert_to_tensor(bias)
    units = u.dims[0]
    act, gate = _bare(activation), _bare(recurrent_activation)

    def step(states: tuple[Tensor, Tensor], row: Tensor) -> tuple[Tensor, Tensor]:
        h, c = states
        write, keep, new, read = ops.split(row + ops.matmul(h, u), sizes=(units,) * 4, axis=1)
        c = gate(keep) * c + gate(write) * act(new)
        return gate(read) * act(c), c

    return _sequence(step, projected, (h, c), go_backwards, unroll, return_sequences)


def gru(
    inputs: Any, initial_state: Any, mask: Any, kernel: Any, recurrent_kernel: Any, bias: Any, activation: Any,
    recurrent_activation: Any, return_sequences: bool = False, go_backwards: bool = False, unroll: bool = False,
    reset_after: bool = True,
) -> tuple[Tensor, Tensor, list[Tensor]]:  # fmt: skip
    """GRU; multiplies the inputs of all steps by the kernel at once, so the loop has only the recurrent part."""
    _check_unmasked(mask)
    if not reset_after:
        raise NotImplementedError
    w, u = convert_to_tensor(kernel), convert_to_tensor(recurrent_kernel)
    x, h = cast(inputs, w.dtype), cast(initial_state, w.dtype)
    projected = ops.matmul(x, w)
    recurrent_bias = None
    if bias is not None:
        b = convert_to_tensor(bias)
        projected, recurrent_bias = projected + b[0], b[1]
    sizes = (u.dims[0],) * 3
    act, gate = _bare(activation), _bare(recurrent_activation)

    def step(states: tuple[Tensor], row: Tensor) -> tuple[Tensor]:
        (h,) = states
        inner = ops.matmul(h, u)
        if recurrent_bias is not None:
            inner = inner + recurrent_bias
        update, reset, new = ops.split(row, sizes=sizes, axis=1)
        inner_update, inner_reset, inner_new = ops.split(inner, sizes=sizes, axis=1)
        z = gate(update + inner_update)
        candidate = act(new + gate(reset + inner_reset) * inner_new)
        return (candidate + z * (h - candidate),)

    return _sequence(step, projected, (h,), go_backwards, unroll, return_sequences)


def bidirectional_lstm(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError


def bidirectional_gru(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError


def unstack(x: Any, axis: int = 0) -> list[Tensor]:
    x = convert_to_tensor(x)
    return list(ops.unstack(x, axis=axis % len(x.dims)))
