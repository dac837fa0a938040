"""What the cases of the sweep consist of, and how their inputs are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

REAL = ("float64", "float32", "float16", "bfloat16")
WIDE = ("float64", "float32")
ANY = (*REAL, "complex128")
WIDE_ANY = (*WIDE, "complex128")


class Case(NamedTuple):
    """A function of floats, how its inputs are drawn, the dtypes that it takes, and how often it is differentiated."""

    function: Callable[..., Any]
    draws: tuple[Callable[[np.random.Generator], Any], ...]
    dtypes: tuple[str, ...] = REAL
    order: int = 2


def bound(function: Callable[..., Any], *arguments: Any, **attrs: Any) -> Callable[..., Any]:
    """Returns the function of the inputs alone."""
    return lambda *inputs: function(*inputs, *arguments, **attrs)


def normal(*shape: int) -> Callable[[np.random.Generator], Any]:
    """Draws numbers of both signs."""
    return lambda rng: rng.normal(size=shape)


def between(low: float, high: float, *shape: int) -> Callable[[np.random.Generator], Any]:
    """Draws numbers between two bounds."""
    return lambda rng: rng.uniform(low, high, shape)


def positive(*shape: int) -> Callable[[np.random.Generator], Any]:
    """Draws numbers between 0.5 and 2."""
    return between(0.5, 2.0, *shape)


def definite(n: int, *batch: int) -> Callable[[np.random.Generator], Any]:
    """Draws well-conditioned symmetric positive definite matrices, with different eigenvalues."""

    def draw(rng: np.random.Generator) -> Any:
        x = rng.normal(size=(*batch, n, n))
        return x @ np.swapaxes(x, -1, -2) / n + np.diag(np.arange(1.0, n + 1))

    return draw


def regular(n: int, *batch: int) -> Callable[[np.random.Generator], Any]:
    """Draws well-conditioned matrices."""
    return lambda rng: 0.3 * rng.normal(size=(*batch, n, n)) + np.diag(np.arange(1.0, n + 1))
