"""A call of a traced function, which is one record on a tape, taken apart: its graph is run again op by op."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.run.source_lines import Line
from ...engine.tape.tape import GradientTape
from ...graph.ir.graph import Value
from ..records.checked import CheckedLog


def replayed(call: Any, cotangents: list[Any]) -> tuple[GradientTape, dict[int, Line | None]] | None:
    """A tape on which the call's ops are recorded one by one, and their lines; None if running it again does more.

    The tape has been asked for the gradient of the call's outputs, weighted by `cotangents`, by its inputs.
    """
    graph = call._derivative.forward
    if graph.has_effects:
        return None
    with dispatch.recorded_by(()):
        tape = GradientTape(persistent=True, watch_accessed_variables=False)
        log = tape._log = CheckedLog(False)
        lines: dict[int, Line | None] = {}
        with tape:
            inputs = [ops.identity(x) if x.dtype.differentiable else x for x in call._inputs]
            tape.watch([x for x in inputs if x.dtype.differentiable])
            made: dict[Value, Tensor] = dict(zip(graph.all_inputs, inputs, strict=True))
            for node in graph.nodes:
                before = len(log.records)
                given = [made[v] if v.constant is None else wrap(v.constant, v.dtype) for v in node.inputs]
                result = dispatch.run(node.op, given, node.attrs)
                made.update(zip(node.outputs, result if node.several else (result,), strict=True))
                lines.update(dict.fromkeys(range(before, len(log.records)), node.line))
        outputs = [made[v] for v in graph.outputs[: len(cotangents)] if v in made]
        weights = [None if g is None else Tensor(np.asarray(g)) for g in cotangents]
        log.question = (outputs, weights[: len(outputs)], [x for x in inputs if x.dtype.differentiable])
    return tape, lines
