"""Lowerings for XLA: what an op is there when its kernel's own text does not run with `jax.numpy`, or runs slowly.

A lowering takes the node's arrays and attributes and gives what the kernel would. Everything else is the kernel itself,
called with `jax.numpy`.
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
