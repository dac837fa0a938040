"""The table of accelerated kernels: ops that another library computes faster than NumPy, by op name.

A kernel in the table is called with the op's arrays and attributes, and returns the same result as NumPy's kernel, or
None for inputs that it does not support or not faster. The table is optional: NumPy can compute everything.
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
    """Returns a kernel that tries the accelerated one first; `kernel` itself if the table has none of this name."""
    faster = ACCELERATED.get(name)
    if faster is None:
        return kernel

    def run(*arrays: Any, **attrs: Any) -> Any:
        y = faster(*arrays, **attrs)
        return kernel(*arrays, **attrs) if y is None else y

    return run
