"""The table of accelerated kernels: ops that another library computes faster than NumPy, by op name.

A kernel in the table is called with the op's arrays and attributes, and returns the same result as NumPy's kernel, or
None for inputs that it does not support or not faster. The table is optional: NumPy can compute everything. PyTorch,
if it is installed, computes large arrays (`backends/torch/kernels.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..torch.kernels import KERNELS, bind_kernel
from ..torch.library import IS_ENABLED

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


def with_torch(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a kernel that lets PyTorch compute large arrays; `kernel` itself if it cannot."""
    by_torch = KERNELS.get(name) if IS_ENABLED else None
    if by_torch is None:
        return kernel
    _, min_elements, operand, dtypes = by_torch
    large: Callable[..., Any] | None = None

    def run(*arrays: Any, **attrs: Any) -> Any:
        nonlocal large
        x = arrays[operand]
        if x.size < min_elements or type(x) is not np.ndarray or x.dtype.char not in dtypes:
            return kernel(*arrays, **attrs)
        if large is None:
            large = bind_kernel(by_torch)
        y = large(*arrays, **attrs)
        return kernel(*arrays, **attrs) if y is None else y

    return run
