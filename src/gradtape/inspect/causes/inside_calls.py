"""Replays a function call, conditional or loop, which is one record on a tape, op by op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.run.source_lines import Line
from ...engine.tape.tape import Tape
from ...graph.ir import graph as graphs
from ..records.checked import CheckedLog
from ..records.repetition import can_run_again

OPENED = ("call", "control")


def replayed(op: Any, saved: Any, cotangents: Sequence[Any]) -> tuple[Tape, dict[int, Line | None]] | None:
    """Records the ops of a record one by one; returns the tape and their lines, or None if a replay has side effects.

    The tape's gradient computation is that of the record's outputs, weighted by `cotangents`, with respect to its
    inputs.
    """
    if op.family == "call":
        graph = op.as_run
        given, inner = op._inputs, [graph]
    else:
        given, _, attrs = saved
        inner = list(graphs.graphs_in(attrs))
    if not can_run_again(inner):
        return None
    lines: dict[int, Line | None] = {}
    with dispatch.recorded_by(()):
        tape = Tape(persistent=True, watch_accessed_variables=False)
        log = tape._log = CheckedLog(False)
        now: list[Any] = [0, None]  # the first record of the current node, and its line

        def note() -> None:
            lines.update(dict.fromkeys(range(now[0], len(log.records)), now[1]))

        def at_node(node: Any) -> None:
            if node is not None:
                note()
                now[:] = len(log.records), node.line

        before, graphs.when_replayed = graphs.when_replayed, at_node
        try:
            with tape:
                inputs = [ops.identity(x) if x.dtype.differentiable else x for x in given]
                tape.watch([x for x in inputs if x.dtype.differentiable])
                made = graphs.replay(graph, inputs) if op.family == "call" else op.unrolled(inputs, attrs)
                note()
        finally:
            graphs.when_replayed = before
        outputs = [(y, g) for y, g in zip(made, cotangents, strict=False) if y.dtype.differentiable]
        weights = [None if g is None else Tensor(np.asarray(g)) for _, g in outputs]
        log.question = ([y for y, _ in outputs], weights, [x for x in inputs if x.dtype.differentiable])
    return tape, lines
