"""Replays a function call, conditional or loop, which is one record on a tape, op by op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.protocols import Line
from ...core.tensor import Tensor
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ...engine.tape.tape import Tape
from ...graph.ir import graph as graphs
from ..records.checked import CheckedLog
from ..records.reading import Reading
from ..records.repetition import can_run_again
from .zeros import Lost, why_zero

OPENED = ("call", "control")  # families of ops that are replayed
_LOST = ("zero", "integer", "the rule gives none")


class _LineLog(CheckedLog):
    """A log that notes which source line of a graph each record comes from."""

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self.lines: dict[int, Line | None] = {}
        self._first = 0  # the first record of the current node
        self._line: Line | None = None

    def at_node(self, line: Line | None) -> None:
        """The records so far belong to the node before."""
        if line is not None:
            self.note_line()
            self._first, self._line = len(self.records), line

    def note_line(self) -> None:
        """Attributes the records of the current node to its line."""
        self.lines.update(dict.fromkeys(range(self._first, len(self.records)), self._line))


def replay_record(op: Any, saved: Any, cotangents: Sequence[Any]) -> tuple[Tape, dict[int, Line | None]] | None:
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
    with dispatch.recorded_by(()):
        tape = Tape(persistent=True, watch_accessed_variables=False)
        log = tape._log = _LineLog(False)
        with tape:
            inputs = [ops.identity(x) if x.dtype.differentiable else x for x in given]
            tape.watch([x for x in inputs if x.dtype.differentiable])
            made = graphs.replay(graph, inputs) if op.family == "call" else op.unrolled(inputs, attrs)
            log.note_line()
        outputs = [(y, g) for y, g in zip(made, cotangents, strict=False) if y.dtype.differentiable]
        weights = [None if g is None else Tensor(np.asarray(g)) for _, g in outputs]
        log.last_query = ([y for y, _ in outputs], weights, [x for x in inputs if x.dtype.differentiable])
    return tape, log.lines


def why_zero_inside(reading: Reading, at: int) -> tuple[Lost, Line | None] | None:
    """Explains the zeros of a call, conditional or loop by an op inside it, with its line; None if there is none."""
    first = reading.first(at)
    op, _, saved, described = reading.records[first]
    if op.family not in OPENED:
        return None
    count = len(described or (None,))
    found = replay_record(op, saved, [reading.cotangents.get(first + i) for i in range(count)])
    if found is None:
        return None
    tape, lines = found
    inner = Reading(tape)
    reasons = [why_zero(inner, source) for _, _, source in inner.sources if source is not None]
    lost = next((lost for lost in reasons if lost.at is not None and lost.cause in _LOST), None)
    if lost is None or lost.at is None:
        return None
    return why_zero_inside(inner, lost.at) or (lost, lines.get(lost.at))
