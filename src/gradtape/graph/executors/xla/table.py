"""The registry of XLA lowerings, for ops whose kernel fails or is slow with `jax.numpy`.

A lowering takes a node's arrays and attributes and returns what the kernel would. All other ops run their kernel with
`jax.numpy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LOWERINGS: dict[str, Callable[..., Any]] = {}


def lowering(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function as the lowering of the ops with these names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        LOWERINGS.update(dict.fromkeys(names, function))
        return function

    return register
