"""`tensorflow.python.ops.control_flow_util`: where a graph is going to run."""

from __future__ import annotations

from typing import Any

from gradtape.engine.run.dispatch import thread

ENABLE_CONTROL_FLOW_V2 = True


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Whether what is traced now is going to run on XLA."""
    return thread.trace is not None and thread.trace.for_xla


InXlaContext = GraphOrParentsInXlaContext


def EnableControlFlowV2(graph: Any) -> bool:
    """Whether branches and loops are ops, as here they always are."""
    return True


def enable_control_flow_v2() -> None:
    """Nothing to do: they are."""


def IsInXLAContext(op: Any) -> bool:
    """Whether what is traced now is going to run on XLA."""
    return GraphOrParentsInXlaContext(None)


def in_defun() -> bool:
    """Whether a function is being traced."""
    return thread.trace is not None
