"""What a kernel has computed on the way to its result, handed over to the derivative.

A kernel calls `leave` when it returns, and a rule that names `byproduct` gets what was left, or None: the op may have
run in a graph, in a batch, or before anybody recorded. So it is for kernels whose derivative can do without.
"""

from __future__ import annotations

import threading
from typing import Any

from ...core.tensor import Tensor
from ..run import dispatch


class _Last(threading.local):
    result: Any = None
    byproduct: Any = None


_last = _Last()


def wanted() -> bool:
    """Whether somebody may record the op that runs now with its byproduct."""
    thread = dispatch.thread
    return thread.recorder is not None and thread.trace is None


def leave(result: Any, byproduct: Any) -> None:
    """Says what was computed on the way to the array `result`, which the kernel is about to return."""
    _last.result = result
    _last.byproduct = byproduct


def taken(y: Tensor) -> Any:
    """What was left with the array of `y`, the output of the op that has just run."""
    if type(y) is not Tensor or _last.result is not y.array:
        return None
    byproduct = _last.byproduct
    _last.result = _last.byproduct = None
    return byproduct
