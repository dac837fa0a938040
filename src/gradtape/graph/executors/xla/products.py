"""Large products for XLA: by oneDNN, where it is installed, which is up to five times as fast as XLA's own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ....backends.numpy import blocks, onednn
from ....backends.numpy.onednn.contractions import contraction
from ....ops.contraction import contract, split_equation
from . import calls
from .table import lowering


def usable() -> bool:
    """Whether oneDNN computes large products in programs."""
    return calls.usable() and onednn.version() is not None


@lowering("large_contract")
def _large_contract(a: Any, b: Any, *, equation: str) -> Any:
    parts = contraction(equation, a.shape, b.shape, blocks.CORES)
    if parts is None:
        return contract.kernel(jnp, a, b, equation=equation)
    first, second, output = split_equation(equation)
    sizes = dict(zip(first + second, a.shape + b.shape, strict=True))
    return calls.call(parts, jax.ShapeDtypeStruct([sizes[c] for c in output], a.dtype), a, b)
