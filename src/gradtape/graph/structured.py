"""Loops over nests of tensors in the present trace, as single nodes, where one graph fits all rounds.

A round may do what only its own values allow, as taking a size from one of them, or give values of another shape. Then
the attempt is undone, and the caller is told to go through the rounds one by one: the graph is then for these values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes, nest
from ..engine.convert import to_tensor
from ..engine.op import ops
from ..nest import Composite
from ..tensor import Tensor, is_tensor_like
from .effects import Changed
from .loop import repeat, scan
from .parts import present_trace
from .trace import Untraceable


class OneByOne(Exception):
    """The rounds of a loop cannot be one graph."""


def _undoing(attempt: Callable[[], Any]) -> Any:
    """`attempt()`; if one graph does not fit all rounds, what it has added to the trace is taken back."""
    trace = present_trace()
    nodes, known = len(trace.nodes), set(trace.known_places)
    try:
        return attempt()
    except (Untraceable, Changed) as reason:
        del trace.nodes[nodes:]
        trace.known_places = known
        raise OneByOne(str(reason)) from None


def is_stageable(structure: Any) -> bool:
    """Whether all leaves are tensors, or values that become tensors."""
    return all(
        is_tensor_like(x) or isinstance(x, Composite | bool | int | float | complex | str) or hasattr(x, "__array__")
        for x in nest.flatten(structure)
    )


def while_loop(
    cond: Callable[..., Any], body: Callable[[Any], Any], loop_vars: Sequence[Any], varying: bool, maximum: Any
) -> Any:
    """`loop_vars = body(loop_vars)` while `cond(*loop_vars)`, at most `maximum` times, as a node.

    `varying` says whether the shapes of the variables may change; if they do, `OneByOne` is raised.
    """
    first = list(loop_vars)
    flat = [to_tensor(x) for x in nest.flatten(first, expand_composites=True)]
    counted = [] if maximum is None else [to_tensor(0, hint=dtypes.int64)]
    limit = None if maximum is None else ops.cast(to_tensor(maximum), dtype=counted[0].dtype)

    def packed(values: Sequence[Tensor]) -> list[Any]:
        return nest.pack_sequence_as(first, list(values), expand_composites=True)

    def test(*values: Tensor) -> Tensor:
        holds = to_tensor(cond(*packed(values[: len(flat)])))
        if holds.dtype is not dtypes.bool or holds.dims:
            raise TypeError(
                f"the condition of a loop must be a scalar of dtype bool, got shape {holds.shape} and dtype "
                f"{holds.dtype.name}"
            )
        return holds if limit is None else ops.logical_and(holds, values[-1] < limit)

    def one_round(*values: Tensor) -> list[Tensor]:
        found = nest.flatten(body(packed(values[: len(flat)])), expand_composites=True)
        found = [to_tensor(y, hint=x.dtype) for x, y in zip(flat, found, strict=True)]
        for before, after in zip(values, found, strict=False):
            _check_constant(before, after, varying)
        return [*found, *(count + 1 for count in values[len(flat) :])]

    results = _undoing(lambda: repeat(test, one_round, [*flat, *counted]))
    return nest.pack_sequence_as(loop_vars, results[: len(flat)], expand_composites=True)


def _check_constant(before: Tensor, after: Tensor, varying: bool) -> None:
    if before.dtype is not after.dtype:
        raise TypeError(
            f"Loop var {before.name} enters the loop with type {before.dtype!r} but has type {after.dtype!r} after 1 "
            f"iteration. {before.name} type should remain constant."
        )
    if before.dims != after.dims:
        if varying:
            raise Untraceable("a loop variable changes its shape")
        raise ValueError(
            f"Input tensor `{before.name}` enters the loop with shape {before.shape}, but has shape {after.shape} "
            "after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of "
            "tf.while_loop to specify a less-specific shape."
        )


def mapped(
    fn: Callable[[Any, Any], tuple[Any, Any]], start: Any, elems: Sequence[Tensor], reverse: bool = False
) -> tuple[Any, Any]:
    """`state, emitted = fn(state, rows of elems)` for each row, as a node: the last state, and the emitted, stacked."""
    flat = [to_tensor(x) for x in nest.flatten(start, expand_composites=True)]
    example: list[Any] = []

    def body(state: Sequence[Tensor], rows: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        found, emitted = fn(nest.pack_sequence_as(start, list(state), expand_composites=True), list(rows))
        onward = [to_tensor(y) for y in nest.flatten(found, expand_composites=True)]
        for before, after in zip(state, onward, strict=True):
            if before.dims != after.dims or before.dtype is not after.dtype:
                raise Untraceable("what is carried from one element to the next changes its shape or dtype")
        example.append(emitted)
        return onward, [to_tensor(y) for y in nest.flatten(emitted, expand_composites=True)]

    state, emitted = _undoing(lambda: scan(body, flat, elems, elems[0].dims[0], reverse))
    return (
        nest.pack_sequence_as(start, state, expand_composites=True),
        nest.pack_sequence_as(example[0], emitted, expand_composites=True),
    )
