"""Decides when operators of converted code stage: a function is being traced and the deciding value is a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import nest
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import thread
from ..graph.ir.effects import imagining
from ..graph.trace.results import returned_value
from ..graph.trace.trace import Trace, present_trace
from ..state.variable import Variable


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor or a variable."""
    return isinstance(value, Tensor | Variable)


def staging() -> bool:
    """Whether a function is being traced."""
    return thread.trace is not None


def as_tensors(structure: Any) -> Any:
    """Converts a structure to graph results: numbers, strings, arrays and variables become tensors."""
    return nest.map_structure(returned_value, structure)


def as_tensor(value: Any) -> Any:
    """Converts a number, string, array or variable to a tensor; returns anything else unchanged."""
    known = isinstance(value, bool | int | float | complex | str | bytes | np.ndarray | np.generic | Variable)
    return to_tensor(value) if known else value


def rehearse(body: Callable[[], Any]) -> Any:
    """Runs `body()` for its result only, in a trace that is discarded."""
    enclosing = present_trace().random
    parts = enclosing.parts
    trace = Trace("rehearsal", nested=True)
    try:
        with imagining(), trace.entered():
            return body()
    finally:
        trace.open = False
        enclosing.parts = parts
