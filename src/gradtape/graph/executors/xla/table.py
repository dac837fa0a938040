"""The registry of XLA lowerings, for ops whose kernel fails or is slow with `jax.numpy`.

A lowering takes a node's arrays and attributes and returns what the kernel would. All other ops run their kernel with
`jax.numpy`. Ops of several steps, and sums, compute half precision in float32 and round the result only; a lowering
that takes half precision computes with it as it sees fit. Importing this module does not import JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LOWERINGS: dict[str, Callable[..., Any]] = {}
TAKING_HALF: set[str] = set()  # the ops whose lowering takes half precision


def lowering(*names: str, half: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function as the lowering of the ops with these names; `half` if it takes half precision."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        LOWERINGS.update(dict.fromkeys(names, function))
        TAKING_HALF.update(names if half else ())
        return function

    return register
