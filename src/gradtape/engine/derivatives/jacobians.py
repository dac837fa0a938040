"""Jacobians by vectorized reverse sweeps, by examples or in chunks of rows; batch Jacobians, with a check of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import logger
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, batched_identity, exchanged
from ..registry.devices import REAL
from ..run import dispatch
from ..run.namespace import ops
from ..tape.results import OptionalGradient
from ..tape.tape import Tape
from ..tape.validation import Differentiable, zeros
from .jacobian_modes import concatenate, has_users_rules, jacobians_by_columns, ranges, rows_of
from .per_example import Examples, ExampleTensor, stacked

_DEPENDENT_ROWS = (
    "batch_jacobian: rows of the target depend on other rows of the source (as with batch normalisation or a sum over "
    "the batch), so there is no Jacobian for each row."
)
# Examples times the length of the target or the longest source. Chunks of rows against examples take for networks, fits
# and elementwise functions 0.5 to 0.8 of the time for 2**13, 0.7 to 1.1 for 2**14 and 1.2 to 4 for 2**16; if an op
# combines the examples, 0.8 to 1.1.
EXAMPLES_MIN = 1 << 14
CHUNK_BYTES = 1 << 30  # rows are computed together while each array of their cotangents fits in this


def jacobians(
    tape: Tape, target: Differentiable, sources: Sequence[Differentiable], mode: str = "reverse",
    max_bytes: int = CHUNK_BYTES,
) -> list[Tensor | None]:  # fmt: skip
    """Computes the dense Jacobian of each source by rows or by columns; None without a path."""
    by_columns = jacobians_by_columns(tape, target, sources, mode, max_bytes)
    return jacobians_by_rows(tape, target, sources, max_bytes) if by_columns is None else by_columns


def jacobians_by_rows(
    tape: Tape, target: Differentiable, sources: Sequence[Differentiable], max_bytes: int
) -> list[Tensor | None]:
    """Computes the Jacobian of each source by rows; None without a path."""
    # A real source of a complex target has a complex Jacobian: the cotangent i yields its imaginary part.
    split = target.dtype.is_complex and not all(s.dtype.is_complex for s in sources)
    with Tape.retained(tape, split):
        real = _rows_of_jacobian(tape, target, sources, 1, max_bytes)
    if not split:
        return real
    imaginary = _rows_of_jacobian(tape, target, sources, 1j, max_bytes)
    return [
        whole if whole is None or source.dtype.is_complex else ops.complex(whole, other)
        for source, whole, other in zip(sources, real, imaginary, strict=True)
    ]


def _rows_of_jacobian(
    tape: Tape, target: Differentiable, sources: Sequence[Differentiable], factor: complex, max_bytes: int
) -> list[Tensor | None]:
    """For each source, the cotangents of all entries of the target, stacked in its shape; None without a path."""
    if not target.dtype.differentiable:
        return [None] * len(sources)
    count = rows = math.prod(target.dims)
    tape._sweeps += rows
    each, sweep = 1, _rows_from
    if _is_worth_splitting(tape, target, sources, max_bytes):
        count, each, sweep = target.dims[0], rows // target.dims[0], _rows_of_examples
    parts: list[list[Tensor | None]] = []
    for start, stop in ranges(count, (target, *sources), max_bytes // each):
        with Tape.retained(tape, stop < count):
            parts.append(sweep(tape, target, sources, factor, start, stop))
    if not parts:  # a target without entries: a sweep shows which sources it depends on
        links = Tape.vjp(tape, [target], [zeros(target.dims, target.dtype)], sources)
        return [
            None if link is None else zero_jacobian(target, source) for link, source in zip(links, sources, strict=True)
        ]
    return [
        None if rows[0] is None else ops.reshape(concatenate(rows), shape=(*target.dims, *source.dims))
        for source, *rows in zip(sources, *parts, strict=True)
    ]


def _rows_from(
    tape: Tape, target: Differentiable, sources: Sequence[Differentiable], factor: complex, start: int, stop: int
) -> list[Tensor | None]:
    """The rows of the Jacobian for entries `start` to `stop` of the target, by one sweep."""
    identity = batched_identity(target, start, stop, factor)
    return [None if g is None else rows_of(g, identity) for g in Tape.vjp(tape, [target], [identity], sources)]


def _is_worth_splitting(tape: Tape, target: Differentiable, sources: Sequence[Differentiable], max_bytes: int) -> bool:
    """Whether to use `_rows_of_examples`: there are enough examples, and the rows of one of them fit in `max_bytes`.

    A user's rule must not take part: it may map the zeros that stand for other examples to other numbers.
    """
    count, *rest = target.dims or (0,)
    lengths = [math.prod(x.dims) for x in (target, *sources)]
    if count < 2 or count * max(lengths) < EXAMPLES_MIN or not lengths[0]:
        return False
    widest = max(n * x.dtype.size for n, x in zip(lengths, (target, *sources), strict=True))
    return math.prod(rest) * widest <= max_bytes and not has_users_rules(tape)


def _rows_of_examples(
    tape: Tape, target: Differentiable, sources: Sequence[Differentiable], factor: complex, start: int, stop: int
) -> list[Tensor | None]:
    """The rows of the Jacobian for examples `start` to `stop`, which are the target's entries along its first axis.

    The cotangents of all examples share one array until an op combines them, so the sweep for `n` examples takes the
    time of one: for the residuals of a fit, or a network's outputs, with respect to parameters.
    """
    count, *rest = target.dims
    entries = math.prod(rest)
    identity = np.zeros((entries, count, entries), target.dtype.numpy)
    identity[np.arange(entries), :, np.arange(entries)] = factor
    cotangent = Tensor(identity.reshape(entries, *target.dims) if rest else identity.reshape(count), target.dtype)
    examples = Examples(count, entries=entries if rest else None, start=start, stop=stop)
    seed = ExampleTensor(BatchedTensor(cotangent, examples.entries_at) if rest else cotangent, examples)

    def rows(g: OptionalGradient, source: Differentiable) -> Tensor | None:
        if g is None:
            return None
        found = stacked(g, examples)
        if rest:
            found = exchanged(ops, ops.reshape(found, shape=(entries, stop - start, *source.dims)))
        return found

    return list(map(rows, Tape.vjp(tape, [target], [seed], sources), sources))


def batch_jacobian(
    tape: Tape, target: Differentiable, source: Differentiable, check_rows: bool | None, max_bytes: int
) -> Tensor:
    """Computes the Jacobian of each row of the target with respect to the same row of the source."""
    batch, *row = target.dims
    rows = math.prod(row)
    shape = (batch, *row, *source.dims[1:])
    mixed = check_rows is not False and batch > 1
    tape._sweeps += rows + mixed
    parts: list[Tensor | None] = []
    for start, stop in ranges(rows, (target, source), max_bytes):
        last = stop == rows
        cotangent = _same_entry_of_each_row(target, start, stop, mixed and last)
        with Tape.retained(tape, not last or check_rows is True):
            (found,) = Tape.vjp(tape, [target], [cotangent], [source])
        parts.append(None if found is None else rows_of(found, cotangent))
    if not batch or not parts or parts[0] is None:
        return zeros(shape, source.dtype)
    stacked = concatenate(parts)
    if mixed:
        warn_of_dependent_rows(_rows_are_independent(stacked, target.dtype), check_rows)
        stacked = stacked[:rows]
    order = (1, 0, *range(2, len(stacked.dims)))
    return ops.reshape(ops.transpose(stacked, perm=order), shape=shape)


def warn_of_dependent_rows(independent: bool, check_rows: bool | None) -> None:
    """Warns that rows depend on each other, or raises if the caller set `check_rows`."""
    if independent:
        return
    if check_rows:
        raise ValueError(f"{_DEPENDENT_ROWS} Use jacobian")
    logger.warning("%s What is returned is the sum over the batch. Use jacobian", _DEPENDENT_ROWS)


def zero_jacobian(target: Differentiable, source: Differentiable) -> Tensor:
    """The Jacobian of a target that does not depend on the source."""
    return zeros((*target.dims, *source.dims), source.dtype)


def _same_entry_of_each_row(target: Differentiable, start: int, stop: int, mixed: bool) -> BatchedTensor:
    """The cotangents of a batch Jacobian: for each entry from `start` to `stop`, ones at that entry of every row.

    If `mixed`, a random weighting of all entries follows: see `_rows_are_independent`.
    """
    batch, entries = target.dims[0], math.prod(target.dims[1:])
    seeds = np.zeros((stop - start + mixed, batch, entries), target.dtype.numpy)
    seeds[np.arange(stop - start), :, np.arange(start, stop)] = 1
    if mixed:
        seeds[-1] = _mixture(batch, entries)
    return BatchedTensor(Tensor(seeds.reshape(len(seeds), *target.dims), target.dtype), dispatch.next_level())


def _mixture(batch: int, entries: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(0).uniform(1, 2, (batch, entries))


def _rows_are_independent(stacked: Tensor, dtype: DType) -> bool:
    """Whether the VJP of a random weighting equals the same weighting of the rows' own Jacobians.

    They differ exactly when one row of the target depends on another row of the source.
    """
    if type(stacked) not in REAL:
        return True
    found = stacked.array.reshape(*stacked.dims[:2], -1)
    found = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    own, together = found[:-1], found[-1]
    weights = _mixture(own.shape[1], own.shape[0]).astype(dtype.numpy).astype(found.dtype)
    expected = np.einsum("bk,kbx->bx", weights, own)
    scale = np.einsum("bk,kbx->bx", abs(weights), abs(own)).max(initial=0)
    tolerance = 0.1 if dtype.size < 4 else 1e-3
    return not np.isfinite(scale) or bool(np.all(abs(expected - together) <= tolerance * scale))
