"""`tensorflow.python.ops.control_flow_util`: where a graph will run."""

from __future__ import annotations

from typing import Any

from gradtape.engine.run.dispatch import thread

ENABLE_CONTROL_FLOW_V2 = True


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Returns whether the function being traced will run on XLA."""
    return thread.trace is not None and thread.trace.for_xla


def get_enclosing_xla_context() -> None:
    """Returns None: there are no control flow contexts."""
