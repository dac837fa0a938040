"""The rows of a Jacobian: how many at a time, and whether those of a batch are independent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dtypes import DType
from ..tensor import Tensor
from . import dispatch
from .batching import BatchedTensor, leave
from .cotangents import finished
from .op import ops

DEPENDENT_ROWS = (
    "batch_jacobian: rows of the target depend on other rows of the source (as with batch normalisation or a sum over "
    "the batch), so there is no Jacobian for each row."
)
CHUNK_BYTES = 1 << 30  # rows are computed together as long as their cotangents fit in this


def rows_of(g: Any, seeds: BatchedTensor) -> Tensor:
    """What the batch of cotangents `seeds` became, its batch axis first; where no row enters, it is the same in all."""
    return leave(finished(ops, g), seeds.level, seeds.size)


def chunks(rows: int, target: Any, sources: list[Any], size: int | None) -> Iterator[tuple[int, int]]:
    """Ranges of rows to be computed together."""
    if size is None:
        widest = max([math.prod(x.dims) * x.dtype.size for x in (target, *sources)], default=1)
        size = max(1, CHUNK_BYTES // max(1, widest))
    for start in range(0, rows, size):
        yield start, min(rows, start + size)


def same_entry_of_each_row(target: Any, start: int, stop: int, mixed: bool) -> BatchedTensor:
    """The cotangents of a batch_jacobian: for each entry from `start` to `stop`, ones at that entry of every row.

    If `mixed`, one more follows, with a weight of its own for every entry of every row: see `rows_are_independent`.
    """
    batch, entries = target.dims[0], math.prod(target.dims[1:])
    seeds = np.zeros((stop - start + mixed, batch, entries), target.dtype.numpy)
    seeds[np.arange(stop - start), :, np.arange(start, stop)] = 1
    if mixed:
        seeds[-1] = _mixture(batch, entries)
    return BatchedTensor(Tensor(seeds.reshape(len(seeds), *target.dims), target.dtype), dispatch.next_level())


def _mixture(batch: int, entries: int) -> Any:
    return np.random.default_rng(0).uniform(1, 2, (batch, entries))


def rows_are_independent(stacked: Tensor, dtype: DType) -> bool:
    """Compares a mixture of rows, pulled back together, with the same mixture of the rows' own Jacobians.

    They differ exactly when one row of the target depends on another row of the source.
    """
    if type(stacked) is not Tensor:
        return True
    found = stacked.array.reshape(*stacked.dims[:2], -1)
    found = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    own, together = found[:-1], found[-1]
    weights = _mixture(own.shape[1], own.shape[0]).astype(dtype.numpy).astype(found.dtype)
    expected = np.einsum("bk,kbx->bx", weights, own)
    scale = np.einsum("bk,kbx->bx", abs(weights), abs(own)).max(initial=0)
    tolerance = 0.1 if dtype.size < 4 else 1e-3
    return not np.isfinite(scale) or bool(np.all(abs(expected - together) <= tolerance * scale))
