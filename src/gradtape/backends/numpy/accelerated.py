"""Kernels that another library computes faster than NumPy, by the names of their ops.

A kernel in the table is called with the op's arrays and attributes, and gives what NumPy's would, or None for what it
cannot do, or not faster. Nothing needs it: without it NumPy computes everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ACCELERATED: dict[str, Callable[..., Any]] = {}


def accelerated(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function as the faster kernel of the op with this name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        ACCELERATED[name] = function
        return function

    return register


def with_accelerated(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of NumPy's, which the table is asked before; itself if the table has none of this name."""
    faster = ACCELERATED.get(name)
    if faster is None:
        return kernel

    def run(*arrays: Any, **attrs: Any) -> Any:
        y = faster(*arrays, **attrs)
        return kernel(*arrays, **attrs) if y is None else y

    return run
