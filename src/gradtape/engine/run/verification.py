"""Runtime checks of values: immediate in eager mode, an assertion node in a traced function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from . import dispatch


def verify(test: Callable[..., None], *tensors: Tensor) -> None:
    """Calls `test`, which raises if a check fails, on the values; in a trace, on every run."""
    trace = dispatch.thread.trace
    if trace is None:
        return test(*(x.array for x in tensors))
    # Constants, such as the text of a message, are not inputs of the node.
    known = {i: x.array for i, x in enumerate(tensors) if type(x) is Tensor}

    def test_with_constants(*arrays: Any) -> None:
        given = iter(arrays)
        test(*[known[i] if i in known else next(given) for i in range(len(tensors))])

    trace.verify(test_with_constants, [x for i, x in enumerate(tensors) if i not in known])
