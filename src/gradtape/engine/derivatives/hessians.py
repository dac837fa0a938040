"""Second derivatives from one tape: the tape records its own reverse sweep and differentiates it again.

Rules compute with tensors that are on the tape, so a recorded sweep can be differentiated without a second, outer tape
(reverse over reverse). After the query, the log is truncated to what it held before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import modes
from ...core.tensor import Tensor
from ..registry.cotangents import materialize
from ..registry.devices import REAL
from ..run import dispatch
from ..run.namespace import ops
from ..tape.queries import QueryResult
from ..tape.results import OptionalGradient
from ..tape.tape import Tape
from ..tape.validation import Differentiable
from .jacobian_modes import Transpose, no_entries, of_examples, sparse_hessian
from .jacobians import batch_jacobian, jacobians_by_rows, warn_of_dependent_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def hessian(
    tape: Tape, target: Differentiable, sources: Sequence[Differentiable], sparse: bool, max_bytes: int
) -> list[list[Tensor | None]] | list[list[csr_array | None]]:
    """Computes the second derivatives of a scalar by each pair of sources; None without a path.

    A sparse block is a matrix of the flattened first source by the flattened second one.
    """
    with _recorded_sweep(tape, [target], sources) as gradients:
        if sparse:
            return sparse_hessian(tape, gradients, sources, max_bytes)
        found = [
            [None] * len(sources) if g is None else list(map(_free, jacobians_by_rows(tape, g, sources, max_bytes)))
            for g in gradients
        ]
        _report_second(tape, sources, gradients, [_some(blocks, i) for i, blocks in enumerate(found)])
        return found


def batch_hessian(
    tape: Tape, target: Differentiable, source: Differentiable, check_rows: bool | None, sparse: bool, max_bytes: int,
) -> Tensor | csr_array | None:  # fmt: skip
    """Computes the Hessian of each example's loss with respect to its own row of `source`; None without a path.

    Sparse Hessians are stacked vertically in one matrix.
    """
    with _recorded_sweep(tape, [target], [source]) as (gradient,):
        if gradient is None:
            return None
        if check_rows is not False:
            warn_of_dependent_rows(_rows_weigh_alone(tape, target, source, gradient), check_rows)
        if not sparse:
            found = _free(batch_jacobian(tape, gradient, source, check_rows, max_bytes))
            _report_second(tape, [source], [gradient], [found])
            return found
        ((whole,),) = sparse_hessian(tape, [gradient], [source], max_bytes)
        whole = no_entries(gradient, source) if whole is None else whole
        blocks, alone = of_examples(whole, math.prod(source.dims[1:]))
        warn_of_dependent_rows(alone or check_rows is False, check_rows)
        return blocks


def _rows_weigh_alone(tape: Tape, target: Differentiable, source: Differentiable, gradient: Tensor) -> bool:
    """Whether weighting each loss scales only its own row of the gradient."""
    if target.dims[0] < 2:
        return True
    weights = np.random.default_rng(0).uniform(1, 2, target.dims[0]).astype(target.dtype.numpy)
    seeds = Tensor(np.broadcast_to(_column(weights, len(target.dims)), target.dims).copy(), target.dtype)
    with dispatch.recorded_by(()):
        weighed = materialize(ops, Tape.vjp(tape, [target], [seeds], [source])[0])
    if type(weighed) not in REAL or type(gradient) not in REAL:
        return True
    expected = gradient.array * _column(weights, len(source.dims))
    tolerance = (0.1 if target.dtype.size < 4 else 1e-3) * abs(expected).max(initial=0)
    return not np.isfinite(tolerance) or bool(np.all(abs(expected - weighed.array) <= tolerance))


def hvp(
    tape: Tape, target: Differentiable, sources: Sequence[Differentiable], vectors: Sequence[Tensor]
) -> list[Tensor | None]:
    """Computes the product of the Hessian of a scalar with vectors, without forming the Hessian."""
    with _recorded_sweep(tape, [target], sources) as gradients:
        known = [(g, v) for g, v in zip(gradients, vectors, strict=True) if g is not None]
        found: list[OptionalGradient] = [None] * len(sources)
        if known:
            found = Tape.vjp(tape, [g for g, _ in known], [v for _, v in known], sources)
        _report_second(tape, sources, gradients, found)
    return list(map(_free, found))


def ggnvp(
    tape: Tape, target: Differentiable, outputs: Differentiable, sources: Sequence[Differentiable],
    vectors: Sequence[Tensor],
) -> list[Tensor | None]:  # fmt: skip
    """Computes the product of the generalized Gauss-Newton matrix, JᵀHJ, with vectors.

    J is the Jacobian of `outputs` with respect to the sources, H the Hessian of the target with respect to the outputs.
    """
    found: list[OptionalGradient] = [None] * len(sources)
    moved = Transpose(tape, outputs, sources).along(vectors)
    if moved is not None:
        with _recorded_sweep(tape, [target], [outputs]) as (gradient,):
            curved = None if gradient is None else Tape.vjp(tape, [gradient], [materialize(ops, moved)], [outputs])[0]
        if curved is not None:
            with Tape.retained(tape):
                found = Tape.vjp(tape, [outputs], [_free(curved)], sources)
    return list(map(_free, found))


def _report_second(
    tape: Tape, sources: Sequence[Differentiable], gradients: Sequence[Tensor | None],
    found: Sequence[OptionalGradient],
) -> None:  # fmt: skip
    """Reports second derivatives to the observers where the first derivative exists. They may well be zero."""
    rest = [(s, g, second) for s, g, second in zip(sources, gradients, found, strict=True) if g is not None]
    if rest:
        own, slopes, second = map(list, zip(*rest, strict=True))
        modes.results_found(tape, QueryResult(slopes, own, second, reports_zeros=False))


@contextmanager
def _recorded_sweep(
    tape: Tape, targets: Sequence[Differentiable], sources: Sequence[Differentiable]
) -> Iterator[list[Tensor | None]]:
    """Yields gradients that the tape has recorded; truncates the log to its previous content afterwards."""
    log = Tape._required_log(tape)
    before = log.bookmark()
    outer = dispatch.thread.recorders
    try:
        with Tape.retained(tape):
            with dispatch.recorded_by((*(r for r in outer if r is not log), log)):
                found = Tape.vjp(tape, targets, [None] * len(targets), sources)
                gradients = [None if g is None else materialize(ops, g) for g in found]
                modes.results_found(tape, QueryResult(targets, sources, gradients))
            yield gradients
    finally:
        Tape.truncate(tape, before)


def _some(blocks: Sequence[Tensor | None], own: int) -> Tensor | None:
    """The block of a source with itself, or else with another source that it interacts with."""
    return next((block for block in (blocks[own], *blocks) if block is not None), None)


def _column(weights: np.ndarray[Any, np.dtype[Any]], rank: int) -> np.ndarray[Any, np.dtype[Any]]:
    return weights.reshape(-1, *(1,) * (rank - 1))


def _free(g: OptionalGradient) -> Tensor | None:
    """Returns a copy of a result that outer recorders know, but that does not refer to the truncated records."""
    return None if g is None else ops.identity(materialize(ops, g))
