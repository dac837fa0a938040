"""`tensorflow.python.ops.control_flow_util`: where a graph will run."""

from __future__ import annotations

from typing import Any

from gradtape.engine.run.dispatch import thread

ENABLE_CONTROL_FLOW_V2 = True


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Returns whether the function being traced will run on XLA."""
    return thread.trace is not None and thread.trace.for_xla


InXlaContext = GraphOrParentsInXlaContext


def EnableControlFlowV2(graph: Any) -> bool:
    """Returns whether branches and loops are ops: always true here."""
    return True


def enable_control_flow_v2() -> None:
    """Does nothing: always enabled."""


def IsInXLAContext(op: Any) -> bool:
    """Returns whether the function being traced will run on XLA."""
    return GraphOrParentsInXlaContext(None)


def in_defun() -> bool:
    """Returns whether a function is being traced."""
    return thread.trace is not None


def get_enclosing_xla_context() -> None:
    """Returns None: there are no control flow contexts."""
