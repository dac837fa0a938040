"""`tensorflow.python.ops.math_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def _bucketize(input: Any, boundaries: Any, name: str | None = None) -> Any:
    """Returns for each value the number of boundaries that do not exceed it."""
    flat = gradtape.reshape(input, [-1])
    edges = gradtape.cast(boundaries, gradtape.float64)
    found = gradtape.searchsorted(edges, gradtape.cast(flat, gradtape.float64), side="right")
    return gradtape.reshape(found, gradtape.shape(input))
