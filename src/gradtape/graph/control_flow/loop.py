"""Loops in a graph: the op `loop` repeats a body while a condition holds, or once for each row of its inputs.

Its inputs are *carried* from one iteration to the next, *scanned* (each iteration gets a row) or *fixed*. The body
returns the next carried values and *emitted* ones, which are stacked over all iterations, as in `jax.lax.scan`. The
derivative is a loop in the opposite direction, over residuals that the forward loop emits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.protocols import OpNamespace, Outputs
from ...core.tensor import Tensor, wrap
from ...engine.registry.batching import broadcast_batch, exchanged
from ...engine.registry.cotangents import materialize
from ...engine.registry.op import Unregistered
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.tape.validation import zeros, zeros_like
from ..executors.numpy.executor import compiled
from ..ir.effects import is_imagined, record_decision, recording
from ..ir.graph import Attrs, Graph, Node, Parents, Saved, Value, replay
from ..passes.optimize import dead_code
from ..trace.assigned import assigned
from ..trace.derivative import Derivative
from ..trace.lazy_tensors import first_of
from ..trace.trace import Trace, present_trace
from ..trace.traced import Untraceable
from .cond import extend, node_of
from .counted_loops import Put, Rounds, counted, put_back
from .hoisting import HoistedSums
from .subgraphs import Subgraph, batched, captured_by, example_of, written_by

Flat = Sequence[Tensor]
# A trace for signatures alone has made-up values, for which a `while` may never end.
IMAGINED_MAX_ROUNDS = 10_000
_UNEVEN = "what a loop emits has another shape in some rounds than in others"


def repeat(test: Callable[..., Tensor], body: Callable[..., Flat], start: Flat) -> list[Tensor]:
    """Run `state = body(*state)` while `test(*state)` holds; return the last state."""
    state, _ = _staged(test, lambda *state: (body(*state), ()), start, (), None, False)
    return state


def scan(
    body: Callable[[Flat, Flat], tuple[Flat, Flat]], start: Flat, scanned: Flat, count: int, reverse: bool = False
) -> tuple[list[Tensor], list[Tensor]]:
    """Run `state, emitted = body(state, rows)` for `count` rows; return the last state and the stacked `emitted`."""
    carried = len(start)

    def flat_body(*values: Tensor) -> tuple[Flat, Flat]:
        return body(values[:carried], values[carried:])

    return _staged(None, flat_body, start, scanned, count, reverse)


def _staged(
    test: Callable[..., Tensor] | None, body: Callable[..., Any], start: Flat, scanned: Flat, count: int | None,
    reverse: bool,
) -> tuple[list[Tensor], list[Tensor]]:  # fmt: skip
    """Add the loop as a node to the active trace."""
    trace = present_trace()
    rows = [_row(example_of(x)) for x in scanned]
    inner = Subgraph("body", body, [*start, *rows])
    state, emitted = inner.returned
    start = [*start, *inner.trace.builder.late_inputs.values()]
    check = None if test is None else Subgraph("test", test, start)
    subgraphs = [inner] if check is None else [inner, check]
    written = written_by(subgraphs)
    places = inner.outputs([*state, *emitted], written)
    captured = captured_by(subgraphs)
    # The value of a variable that the body assigns is carried, not fixed.
    keys = [inner.capture_of(variable) for variable in written]
    fixed = [key for key in captured if key not in keys]
    now = [trace.read_quietly(variable) for variable in written]
    rounds = Rounds(len(start) + len(written), len(scanned), count, reverse)
    graph = inner.graph([*keys, *fixed], [*places[: len(state)], *places[len(state) + len(emitted) :],
                                          *places[len(state) : len(state) + len(emitted)]])  # fmt: skip
    own = len(start)
    graph = replace(graph, inputs=_moved(graph.inputs, own, len(rows), len(keys)))
    graph, read = _reading(graph, range(own, own + len(keys)))
    attrs: Attrs = {"rounds": rounds, "body": graph, "test": None}
    if check is not None:
        asked = check.graph([*keys, *fixed], check.outputs([check.returned], ()))
        unread = [Value(now[i - own].dims, now[i - own].dtype) for i in read]
        attrs["test"] = replace(asked, inputs=(*asked.inputs, *unread))
    inputs = [*start, *now, *scanned, *(captured[key] for key in fixed), *(captured[keys[i - own]] for i in read)]
    known = None if check is None else counted(inputs, rounds, graph, attrs["test"])
    puts: list[Put] = []
    if known is not None:
        (inputs, rounds, graph), puts = known
        attrs = {"rounds": rounds, "body": graph, "test": None}
    with recording() as performed:
        outputs = trace.run(loop, inputs, attrs)
    if outputs:
        trace.evaluator.performed[outputs[0].place] = performed
    last, made = put_back(outputs, rounds.carried, puts)
    for variable, value in zip(written, last[own:], strict=True):
        trace.variables.write_from_inside(variable, value, [inner.trace.variables], trace)
    return last[:own], made


def _moved(inputs: tuple[Value, ...], own: int, rows: int, variables: int) -> tuple[Value, ...]:
    """Move the values of variables among the body's inputs to the end of the carried ones, before the rows."""
    end = own + rows
    return (*inputs[:own], *inputs[end : end + variables], *inputs[own:end], *inputs[end + variables :])


def _reading(body: Graph, carried: range) -> tuple[Graph, list[int]]:
    """Make the body's reads of variables that it assigns explicit: values are carried, cotangents go to the variables.

    The variables that are read become additional fixed inputs; also returns their indices.
    """
    own = {v: Value(v.shape, v.dtype) for v in (body.inputs[i] for i in carried) if v.dtype.differentiable}
    reads = {v: Value(v.shape, v.dtype) for v in own}
    nodes = []
    for node in body.nodes:
        if node.op is assigned:  # a read after an assignment
            value, variable = node.inputs
            nodes.append(node._replace(inputs=(reads.get(value, value), own.get(variable, variable))))
        else:
            nodes.append(node.on(reads))
    outputs = tuple([v if i in carried else reads.get(v, v) for i, v in enumerate(body.outputs)])
    used = {v for node in nodes for v in node.inputs} | set(outputs)
    first = [Node(assigned, (v, own[v]), {}, (reads[v],)) for v in own if reads[v] in used]
    read = [i for i in carried if own.get(v := body.inputs[i]) in used or reads.get(v) in used]
    variables = [own[body.inputs[i]] for i in read]
    return replace(body, inputs=(*body.inputs, *variables), nodes=(*first, *nodes), outputs=outputs), read


def _row(x: Tensor) -> Tensor:
    """Returns an example row."""
    return first_of(x) if x.dims[0] else wrap(dtypes.zero_array(x.dims[1:], x.dtype), x.dtype)


class Loop(Unregistered):
    """The op `loop(*carried, *scanned, *fixed, rounds, body, test)`."""

    name = title = "loop"
    family = "control"
    takes_none = True

    def numpy(self, *arrays: Any, rounds: Rounds, body: Graph, test: Graph | None) -> tuple[Any, ...]:
        """Run the loop."""
        state, scanned, fixed = rounds.divided(arrays)
        run = rounds.limited(compiled(body))
        kept = body.outputs[rounds.carried :]
        carried = rounds.carried
        if test is not None:
            holds = compiled(test)
            emitted: list[list[Any]] = [[] for _ in kept]
            left = IMAGINED_MAX_ROUNDS if is_imagined() else -1
            while left and holds(*state, *fixed)[0]:
                left -= 1
                results = run(*state, *fixed)
                state = results[:carried]
                for column, y in zip(emitted, results[carried:], strict=True):
                    column.append(y)
            return *state, *map(_stacked, emitted, kept)
        count = len(scanned[0]) if rounds.count is None else rounds.count
        of_strings = any(x.dtype == object for x in scanned)
        stacks = [np.empty((count, *value.shape), value.dtype.numpy) for value in kept]
        for i in range(count - 1, -1, -1) if rounds.reverse else range(count):
            row = (i, ...) if of_strings else i  # `x[i]` of a vector of strings is bytes, `x[i, ...]` an array
            results = run(*state, *[x[row] for x in scanned], *fixed)
            state = results[:carried]
            for stack, y in zip(stacks, results[carried:], strict=True):
                if y.shape != stack.shape[1:]:
                    raise Untraceable(_UNEVEN)
                stack[i, ...] = y  # `stack[i] = y` would store a string's array as an object
        return *state, *stacks

    def outcome(self, inputs: Flat, attrs: Attrs) -> Any:
        """Returns the body's shapes and dtypes; None if the loop emits a number of rows that its condition decides."""
        rounds, outputs = attrs["rounds"], attrs["body"].outputs
        carried, emitted = outputs[: rounds.carried], outputs[rounds.carried :]
        if emitted and attrs["test"] is not None:
            return None
        count = inputs[rounds.carried].dims[0] if rounds.count is None and emitted else rounds.count
        return [*((v.shape, v.dtype) for v in carried), *(((count, *v.shape), v.dtype) for v in emitted)], True

    def unrolled(self, inputs: Flat, attrs: Attrs) -> tuple[Tensor, ...]:
        """Replay the loop op by op, on tensors of any kind."""
        rounds, body, test = attrs["rounds"], attrs["body"], attrs["test"]
        state, scanned, fixed = rounds.divided(inputs)
        emitted: list[list[Tensor]] = [[] for _ in body.outputs[rounds.carried :]]

        run = rounds.limited(replay)

        def go(rows: Flat) -> Flat:
            results = run(body, [*state, *rows, *fixed])
            for column, y in zip(emitted, results[rounds.carried :], strict=True):
                column.append(y)
            return results[: rounds.carried]

        if test is not None:
            while True:
                (holds,) = replay(test, [*state, *fixed])
                record_decision(holds)
                if not holds:
                    break
                state = go(())
        else:
            columns = [ops.rows(x) for x in scanned]
            count = len(columns[0]) if rounds.count is None else rounds.count
            for i in range(count - 1, -1, -1) if rounds.reverse else range(count):
                state = go([column[i] for column in columns])
        if rounds.reverse:
            for column in emitted:
                column.reverse()
        stacked = [
            ops.stack(*column, axis=0) if column else zeros((0, *v.shape), v.dtype)
            for column, v in zip(emitted, body.outputs[rounds.carried :], strict=True)
        ]
        return *state, *stacked

    def batch(self, m: OpNamespace, size: int, inputs: Flat, flags: Sequence[bool], attrs: Attrs) -> Any:
        """Run the loop on whole batches; fall back to one member at a time if trip counts may differ."""
        rounds, test = attrs["rounds"], attrs["test"]
        if test is not None:
            return NotImplemented
        state, scanned, fixed = rounds.divided(inputs)
        of_state, of_scanned, of_fixed = rounds.divided(flags)
        state = [broadcast_batch(m, x, f, size) for x, f in zip(state, of_state, strict=True)]
        # Rows are taken along the first axis, so the batch axis moves behind it.
        scanned = [exchanged(m, x) if f else x for x, f in zip(scanned, of_scanned, strict=True)]
        examples = [*map(example_of, state), *(_row(example_of(x)) for x in scanned), *map(example_of, fixed)]
        body = batched(attrs["body"], size, examples, [*[True] * rounds.carried, *of_scanned, *of_fixed])
        results = dispatch.run(loop, [*state, *scanned, *fixed], {**attrs, "body": body})
        return *results[: rounds.carried], *(exchanged(m, y) for y in results[rounds.carried :])

    def keep(self, inputs: Flat, outputs: Outputs, attrs: Attrs) -> tuple[Any, ...]:
        """Save everything: the residuals are only known when the derivative is built."""
        return tuple(inputs), outputs, attrs

    def vjp(self, m: OpNamespace, gs: Sequence[Tensor | None], saved: Saved, parents: Parents) -> tuple[Any, ...]:
        """Run the backward loop."""
        inputs, outputs, attrs = saved
        return _Backward(inputs, outputs, attrs, gs, parents).cotangents()


loop = Loop()


def _stacked(column: list[Any], value: Value) -> Any:
    """Stack the values emitted in all iterations."""
    if not column:
        return dtypes.zero_array((0, *value.shape), value.dtype)
    if any(y.shape != column[0].shape for y in column):
        raise Untraceable(_UNEVEN)
    return np.stack(column)


class _Backward:
    """The derivative of one loop, built in the active trace.

    The backward loop carries the cotangents of the carried values and the sums for the fixed ones; scans the residuals
    of each iteration and the cotangents of the emitted values; and emits the cotangents of the scanned rows.
    """

    def __init__(self, inputs: Flat, outputs: Flat, attrs: Attrs, gs: Sequence[Any], parents: Parents) -> None:
        self.inputs = inputs
        self.node = node_of(outputs) or Node(loop, (), attrs, ())
        self.outputs = outputs
        self.rounds: Rounds = attrs["rounds"]
        self.body: Graph = self.node.attrs["body"]
        carried = self.rounds.carried
        asked = [p >= 0 for p in parents]
        self.wanted = [x.dtype.differentiable and (i < carried or asked[i]) for i, x in enumerate(inputs)]
        self.state = [i for i in range(carried) if self.wanted[i]]
        differentiable = [g is not None and y.dtype.differentiable for g, y in zip(gs, outputs, strict=True)]
        self.emitted = [i for i in range(carried, len(outputs)) if differentiable[i]]
        given = [i in self.state or i in self.emitted for i in range(len(self.body.outputs))]
        start, scanned, fixed = self.rounds.divided(inputs)
        examples = [*map(example_of, start), *(_row(example_of(x)) for x in scanned), *map(example_of, fixed)]
        self.derivative = Derivative(self.body, examples, self.wanted, given, evenly=True)
        self.gs = gs

    def cotangents(self) -> tuple[Any, ...]:
        """Returns the cotangents of the loop's inputs."""
        carried, middle = self.rounds.carried, self.rounds.carried + self.rounds.scanned
        of_rows = [i for i in range(carried, middle) if self.wanted[i]]
        of_fixed = [i for i in range(middle, len(self.inputs)) if self.wanted[i]]
        kept_rows, kept_fixed, order = self._kept()
        scanned = [*kept_rows, *(self.gs[i] for i in self.emitted)]
        # Hoisted sums require a trip count that is the same in every run.
        known = self.rounds.count is not None
        sums = HoistedSums(
            self.derivative.backward, [self.derivative.cotangents.place(i) if known else None for i in of_fixed]
        )
        inputs = zip(self.derivative.backward.inputs, order, strict=False)
        given = {v: kept_rows[i] for v, (kind, i) in inputs if kind == "row"}  # stacked over all iterations
        emitted = [v for v in sums.operands if v not in given]
        here = [i for i, node in zip(of_fixed, sums.nodes, strict=True) if node is None]  # accumulated in the loop
        start = [zeros_like(self.outputs[i]) if self.gs[i] is None else self.gs[i] for i in self.state]
        start += [zeros_like(self.inputs[i]) for i in here]
        graph = self._body(start, scanned, kept_fixed, order, of_rows, here, emitted)
        rounds = Rounds(len(start), len(scanned), self.rounds.count, not self.rounds.reverse)
        attrs = {"rounds": rounds, "body": graph, "test": None}
        results = dispatch.run(loop, [*start, *scanned, *kept_fixed], attrs)
        found = dict(zip([*self.state, *here, *of_rows], results, strict=False))
        stacked = {**given, **dict(zip(emitted, results[len(results) - len(emitted) :], strict=True))}
        for at, i in enumerate(of_fixed):
            if sums.nodes[at] is not None:
                found[i] = sums.total(at, stacked)
        return tuple(found.get(i) for i in range(len(self.inputs)))

    def _kept(self) -> tuple[list[Tensor], list[Tensor], list[tuple[str, int]]]:
        """Returns the residuals: stacked per-iteration ones, fixed ones, and the location of each."""
        middle = self.rounds.carried + self.rounds.scanned
        own = self.derivative.forward.inputs
        emitted: list[Value] = []
        rows: list[Tensor] = []
        fixed: list[Tensor] = []
        order: list[tuple[str, int]] = []
        for value in self.derivative.kept:
            at = own.index(value) if value in own else -1
            if at >= middle:
                order.append(("fixed", len(fixed)))
                fixed.append(self.inputs[at])
            elif at >= self.rounds.carried:
                order.append(("row", len(rows)))
                rows.append(self.inputs[at])
            else:
                order.append(("emitted", len(emitted)))
                emitted.append(value)
        if self.rounds.count is None and not emitted and not rows and not self.emitted:
            emitted.append(Value((), dtypes.int32, np.int32(0)))  # so that the iterations can be counted
        forward = self.derivative.forward
        outputs = (*forward.outputs[: len(self.body.outputs)], *emitted)
        attrs = {**self.node.attrs, "body": replace(forward, outputs=outputs)}
        stacked = extend(loop, list(self.inputs), self.outputs, self.node, attrs, len(emitted))
        order = [("row", i + len(rows)) if kind == "emitted" else (kind, i) for kind, i in order]
        return [*rows, *stacked], fixed, order

    def _body(
        self, start: list[Tensor], scanned: list[Tensor], kept_fixed: list[Tensor], order: list[tuple[str, int]],
        of_rows: list[int], of_fixed: list[int], operands: list[Value],
    ) -> Graph:  # fmt: skip
        """Build one iteration of the backward loop; `operands` of the backward graph are emitted last."""
        d = self.derivative
        trace = Trace("gradient")
        with trace.entered():
            state = [trace.input(example_of(x)) for x in start]
            rows = [trace.input(_row(example_of(x))) for x in scanned]
            fixed = [trace.input(example_of(x)) for x in kept_fixed]
            split = len(self.state)
            arriving = dict(zip(self.state, state[:split], strict=True))
            arriving |= dict(zip(self.emitted, rows[len(rows) - len(self.emitted) :], strict=True))
            kept = [fixed[i] if kind == "fixed" else rows[i] for kind, i in order]
            gs = [arriving[i] for i in sorted(arriving)]
            backward = replace(d.backward, outputs=(*d.backward.outputs, *operands))
            results = replay(backward, [*kept, *gs])
            found = [None if g is None else materialize(ops, g) for g in d.cotangents.of(results)]
            onward: list[Any] = [zeros_like(self.inputs[i]) if found[i] is None else found[i] for i in self.state]
            for i, total in zip(of_fixed, state[split:], strict=True):
                g = found[i]
                onward.append(total if g is None else total + g)
            own = self.body.inputs
            emitted: list[Any] = [zeros(own[i].shape, own[i].dtype) if found[i] is None else found[i] for i in of_rows]
        return dead_code(trace.finish([*onward, *emitted, *results[len(results) - len(operands) :]]))
