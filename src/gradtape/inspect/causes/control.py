"""Finds branches not taken, and loops of zero iterations, between a source and the target.

In a traced function both are ops, and the gradient of their unused inputs is zero, not None.
"""

from __future__ import annotations

from ...core.protocols import Line
from ...graph.control_flow.cond import cond
from ...graph.ir.graph import all_nodes
from ..records.reading import Reading
from ..records.replay import Control, ReplayLog
from .provenance import descendants


def explain_skipped_control(reading: Reading, at: int) -> tuple[str, Line | None] | None:
    """Explains the conditional or loop that takes a value computed from `at` and does not use it."""
    log = reading.log
    if not isinstance(log, ReplayLog):
        return None
    below = descendants(log, at)
    for control in log.controls:
        if not _is_used(log, control, below):
            continue
        if control.op.name == "loop":
            if _ran_zero_times(control):
                return "the loop that uses it ran zero times, so the target does not depend on it", control.line
            branch = next((node for node in all_nodes(control.attrs["body"]) if node.op is cond), None)
            if branch is not None:
                return (
                    "no iteration of the loop took the branch that uses it, so the target does not depend on it",
                    branch.line or control.line,
                )
        else:
            return "the branch that uses it was not taken, so the target does not depend on it", control.line
    return None


def _is_used(log: ReplayLog, control: Control, below: set[int]) -> bool:
    """Whether a value of `below` is an input, and none is an output."""
    taken = any(log.position(x) in below for x in control.inputs)
    return taken and not any(log.position(y) in below for y in control.outputs)


def _ran_zero_times(control: Control) -> bool:
    """Whether a loop returned its inputs unchanged, and stacked nothing."""
    given = {id(x) for x in control.inputs}
    return all(id(y) in given or (bool(y.dims) and not y.dims[0]) for y in control.outputs)
