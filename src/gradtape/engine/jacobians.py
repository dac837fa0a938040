"""The rows of a Jacobian: how many at a time, and whether those of a batch are independent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..slices import IndexedSlices
from ..tensor import Tensor
from .batching import BatchedTensor
from .cotangents import densify
from .op import ops

CHUNK_BYTES = 1 << 30  # rows are computed together as long as their cotangents fit in this


def rows_of(g: Any, size: int) -> Tensor:
    """The plain tensor behind a batched cotangent, its batch axis first; one that no row enters is the same in all."""
    if type(g) is IndexedSlices:
        g = densify(ops, g)
    return g.value if type(g) is BatchedTensor else ops.broadcast_to(g, shape=(size, *g.dims))


def chunks(rows: int, target: Any, sources: list[Any], size: int | None) -> Iterator[tuple[int, int]]:
    """Ranges of rows to be computed together."""
    if size is None:
        widest = max([math.prod(x.dims) * x.dtype.size for x in (target, *sources)], default=1)
        size = max(1, CHUNK_BYTES // max(1, widest))
    for start in range(0, rows, size):
        yield start, min(rows, start + size)


def check_rows_independent(stacked: Tensor, mix: Any, rows: int) -> None:
    """Compares a mixture of rows, pulled back together, with the same mixture of the rows' own Jacobians.

    They differ exactly when one row of the target depends on another row of the source.
    """
    if type(stacked) is not Tensor:
        return
    if mix.dtype.itemsize < 4:
        mix = mix.astype(np.float32)
    found = stacked.array.astype(mix.dtype, copy=False).reshape(rows + 1, len(mix), -1)
    own, together = found[:rows], found[rows]
    expected = np.einsum("bk,kbx->bx", mix, own)
    scale = np.einsum("bk,kbx->bx", mix, abs(own)).max(initial=0)
    tolerance = 0.1 if mix.dtype.itemsize < 4 else 1e-3
    if np.isfinite(scale) and not np.all(abs(expected - together) <= tolerance * scale):
        raise ValueError(
            "batch_jacobian: rows of the target depend on other rows of the source (as with batch normalisation or a "
            "sum over the batch), so there is no Jacobian for each row. Use jacobian, or pass check_rows=False to get "
            "the sum over the batch"
        )
