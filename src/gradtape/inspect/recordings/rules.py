"""Traces custom gradients into graphs, by running the user's rule once more on traced cotangents.

The forward computation is on the tape, op by op. Whatever the rule uses of it becomes an input of the graph, so a
replay on other inputs passes the rule the values of that replay.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...graph.control_flow.custom import Traced, custom_gradient
from ...graph.ir.graph import Graph
from ...graph.trace.closures import opened
from ...graph.trace.derivative import Cotangents
from ...graph.trace.lazy_tensors import ones_like
from ...graph.trace.trace import Trace
from ...graph.trace.traced import value_of
from ..records.reading import Reading
from ..records.repetition import RepeatedStep, steps_inside
from .serialization import at_line


def with_graph(step: RepeatedStep, reading: Reading) -> list[RepeatedStep]:
    """Turns a call with a custom gradient into a step with the graph op `custom_gradient`.

    The steps of the function's forward computation precede it, if the tape has not recorded them.
    """
    log, op = reading.log, step.op
    outputs = [reading.tensors[at] for at in step.outputs]  # type: ignore[index]
    graph, cotangents, used = _trace_rule(op, outputs, log, step)
    before, results = _trace_forward(step, outputs, reading)
    inputs = (*step.inputs, *results, *(_reference(x, reading) for x in used))
    attrs = {"rule": Traced(graph, cotangents), "counts": (len(step.inputs), len(outputs))}
    return [*before, RepeatedStep(custom_gradient, inputs, attrs, step.outputs, True, step.line)]


def _trace_forward(step: RepeatedStep, outputs: list[Tensor], reading: Reading) -> tuple[list[RepeatedStep], list[Any]]:
    """Returns the forward computation as steps, if the tape lacks it and it can be traced, and its results."""
    op = step.op
    known = [x if op.results is None else _reference(x, reading) for x in op.results or outputs]
    if op.again is None or not any(isinstance(x, Tensor) for x in known):
        return [], known
    given = [x if isinstance(x, Tensor) else reading.tensors[x] for x in step.inputs]
    trace = Trace("call")
    try:
        with trace.entered():
            found = op.again([trace.input(wrap(x.array, x.dtype)) for x in given])
            same = [np.array_equal(value_of(y).array, x.array, True) for y, x in zip(found, outputs, strict=True)]
            graph = trace.finish(found)
    except Exception:  # not traceable, or not deterministic: `replay` raises for it
        return [], known
    if not all(same) or graph.has_effects or graph.updates:
        return [], known
    variables = [_reference(_read(variable, reading.log), reading) for variable, _ in graph.variables]
    keys: dict[Any, Any] = dict(zip(graph.all_inputs, (*step.inputs, *variables), strict=True))
    steps = steps_inside(graph, keys, step.outputs[0], step.line)
    return steps, [wrap(v.constant, v.dtype) if v.constant is not None else keys[v] for v in graph.outputs]


def _trace_rule(op: Any, outputs: list[Tensor], log: Any, step: RepeatedStep) -> tuple[Graph, Cotangents, list[Tensor]]:
    """Traces the rule into a graph of the cotangents and of the other values it uses."""
    trace = Trace("rule")
    trace.tracks_external, trace.outer_recorders = True, (log,)
    try:
        with trace.entered():
            cotangents = Cotangents(op.rule(tuple(trace.input(ones_like(y, False)) for y in outputs)))
            graph = trace.graph(cotangents.taken())
    except Exception as error:
        raise RuntimeError(
            f"Cannot save this tape: the gradient of {op.name}{at_line(step.line)} cannot be written as a graph: "
            f"{error} Use TensorFlow ops on the incoming gradient, or omit the call"
        ) from error
    if graph.has_effects or graph.updates:
        raise RuntimeError(
            f"Cannot save this tape: the gradient of {op.name}{at_line(step.line)} reads values of the incoming "
            "gradient, draws random numbers, prints or assigns variables, which the file format cannot represent"
        )
    externals = trace.externals
    trace.release()
    used = [*externals.values(), *(_read(variable, log) for variable, _ in graph.variables)]
    variables = tuple(value for _, value in graph.variables)
    own = opened(Graph(graph.name, graph.inputs, graph.nodes, graph.outputs), list(externals))
    return Graph(own.name, (*own.inputs, *variables), own.nodes, own.outputs), cotangents, used


def _read(variable: Any, log: Any) -> Tensor:
    """Returns the value of a variable, with the tracer of its position on the tape if it has one."""
    with dispatch.recorded_by(()):
        held: Tensor = variable._as_tensor()
    at = log.position(variable)
    if at is not None and at >= 0:
        held = wrap(held.array, held.dtype)
        held.tracer = (log.key, at, None)
    return held


def _reference(x: Tensor, reading: Reading) -> Any:
    """Returns the position of a value, or the value itself; of a reassigned variable, its present value."""
    at = reading.log.position(x)
    if at is None or at < 0:
        return x
    return at if reading.origin(x, at) is None else x
