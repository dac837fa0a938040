"""Jacobians by the way that is less work: by rows, by columns, or by few sums of those that have nothing in common.

A column is the derivative along one entry of a source. The gradient, as a function of the target's cotangent, is
linear, and its transpose gives columns: it is recorded once, and swept. So a column needs no second way forward.

A sparse Jacobian takes three steps. The pattern is found (`dependence`); rows, or columns, are given colours so that no
two of one colour meet (`coloring`); one sweep for each colour, all of them together, gives every entry. If it is known
to be symmetric, as a Hessian is, fewer colours do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, batched_identity, leave
from ..registry.cotangents import finished
from ..run import dispatch
from ..run.namespace import ops
from .coloring import coloring, count, known_to_scipy, symmetric_coloring, symmetric_taken_apart, taken_apart
from .dependence import patterns, seed
from .log import Log

MODES = ("reverse", "forward", "auto")
_sparse_tensor: Callable[[], Any]


def sparse_tensors_are(load: Callable[[], Any]) -> None:
    """The class of sparse tensors, which is above the engine, is what `load` gives."""
    global _sparse_tensor
    _sparse_tensor = load


def check_choice(mode: str, sparse: bool | str, target: Any, sources: list[Any]) -> None:
    """Raises if a Jacobian cannot be had in that way."""
    if mode not in MODES:
        raise ValueError(f"jacobian: mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
    if sparse not in (False, True, "tensor"):
        raise ValueError(
            f"sparse must be False, True for a SciPy array, or 'tensor' for a tf.SparseTensor, got {sparse!r}"
        )
    if (sparse or mode == "forward") and not _are_real((target, *sources)):
        given = ", ".join(sorted({x.dtype.name for x in (target, *sources)}))
        raise ValueError(
            f"jacobian(sparse=True), and mode='forward', are for real numbers, got {given}. Leave them out"
        )


def _are_real(tensors: Sequence[Any]) -> bool:
    return all(x.dtype.is_floating for x in tensors)


class ChosenJacobians:
    """The part of a tape that answers `jacobian(mode=..., sparse=...)`."""

    _kept: Callable[[bool], AbstractContextManager[None]]
    _vjp: Callable[[Log, list[Any], list[Any], list[Any]], list[Any]]

    def _jacobians_by_columns(
        self, log: Log, target: Any, sources: list[Any], mode: str, max_bytes: int
    ) -> list[Any] | None:
        """For each source the columns of its Jacobian, put together; None if rows are the way to go."""
        rows, columns = math.prod(target.dims), sum(math.prod(s.dims) for s in sources)
        if mode == "reverse" or (mode == "auto" and (rows <= columns or not _are_real((target, *sources)))):
            return None
        gradients = Transpose(self, log, target, sources)
        return [gradients.jacobian(i, source, max_bytes) for i, source in enumerate(sources)]

    def _sparse_jacobians(self, log: Log, target: Any, sources: list[Any], mode: str, max_bytes: int) -> list[Any]:
        """For each source its Jacobian as a sparse matrix, None without a path."""
        rows = math.prod(target.dims)
        with self._kept(True):
            found = list(patterns(self._vjp(log, [target], [seed(target)], sources), sources, rows))
        return [
            None if pattern is None else self._filled(log, target, source, pattern, mode, max_bytes)
            for pattern, source in zip(found, sources, strict=True)
        ]

    def _sparse_hessian(self, log: Log, gradient: Any, source: Any, max_bytes: int) -> Any:
        """The Jacobian of a gradient as a sparse matrix, None without a path."""
        with self._kept(True):
            found = self._vjp(log, [gradient], [seed(gradient)], [source])
        (pattern,) = patterns(found, [source], math.prod(gradient.dims))
        if pattern is None:
            return None
        pattern = (pattern + pattern.T).tocsr()
        colors = symmetric_coloring(pattern)
        sums = _of_colors(self._rows_of_colors(log, gradient, source), colors, gradient, source, max_bytes)
        return symmetric_taken_apart(pattern, colors, sums)

    def _rows_of_colors(self, log: Log, target: Any, source: Any) -> Callable[[BatchedTensor], Any]:
        def sweep(seeds: BatchedTensor) -> Any:
            with self._kept(True):
                (g,) = self._vjp(log, [target], [seeds], [source])
            return g

        return sweep

    def _filled(self, log: Log, target: Any, source: Any, pattern: Any, mode: str, max_bytes: int) -> Any:
        if mode == "forward" or (mode == "auto" and _longest(pattern) < _longest(pattern.T.tocsr())):
            transpose = Transpose(self, log, target, [source])
            columns = pattern.T.tocsr()
            colors = coloring(columns)
            sums = _of_colors(transpose.columns_of_first, colors, source, target, max_bytes)
            return taken_apart(columns, colors, sums).T.tocsr()
        colors = coloring(pattern)
        sums = _of_colors(self._rows_of_colors(log, target, source), colors, target, source, max_bytes)
        return taken_apart(pattern, colors, sums)


def _longest(pattern: Any) -> int:
    """The most entries in a row: no fewer colours will do for the columns."""
    return int(np.diff(pattern.indptr).max(initial=0))


class Transpose:
    """The gradients of a target as a linear function of its cotangent, which is recorded: its sweep gives columns."""

    def __init__(self, tape: Any, log: Log, target: Any, sources: list[Any]) -> None:
        self._target = target
        self._tape = type(tape)(persistent=True, watch_accessed_variables=False)
        with tape._kept(True), self._tape:
            self._cotangent = Tensor(np.zeros(target.dims, target.dtype.numpy), target.dtype)
            self._tape.watch(self._cotangent)
            found = tape._vjp(log, [target], [self._cotangent], sources)
            self._gradients = [None if g is None else finished(ops, g) for g in found]

    def jacobian(self, i: int, source: Any, max_bytes: int) -> Any:
        """The whole Jacobian with respect to the source with that number; None without a path."""
        gradient = self._gradients[i]
        if gradient is None:
            return None
        size = math.prod(source.dims)
        parts = []
        for start, stop in ranges(size, (self._target, source), max_bytes):
            identity = batched_identity(gradient, start, stop, 1)
            parts.append(rows_of(self._swept(gradient, identity), identity))
        if not parts:
            return Tensor(np.zeros((*self._target.dims, *source.dims), source.dtype.numpy), source.dtype)
        whole = parts[0] if len(parts) == 1 else ops.concat(*parts, axis=0)
        rank = len(self._target.dims)
        by_target = ops.transpose(whole, perm=(*range(1, rank + 1), 0))
        return ops.reshape(by_target, shape=(*self._target.dims, *source.dims))

    def along(self, tangents: Sequence[Tensor]) -> Any:
        """The derivative of the target along one tangent of all sources together; None without a path."""
        known = [(g, t) for g, t in zip(self._gradients, tangents, strict=True) if g is not None]
        if not known:
            return None
        gradients, given = map(list, zip(*known, strict=True))
        (found,) = self._tape._vjp(self._tape._log, gradients, given, [self._cotangent])
        return found

    def columns_of_first(self, tangents: BatchedTensor) -> Any:
        """The derivatives of the target along tangents of the first source."""
        return self._swept(self._gradients[0], tangents)

    def _swept(self, gradient: Any, tangents: BatchedTensor) -> Any:
        (found,) = self._tape._vjp(self._tape._log, [gradient], [tangents], [self._cotangent])
        return found


def _of_colors(
    sweep: Callable[[BatchedTensor], Any], colors: Any, given: Any, taken: Any, max_bytes: int
) -> Any:
    """For each colour what `sweep` makes of ones where it is, flat: an array of numbers."""
    found = []
    for start, stop in ranges(count(colors), (given, taken), max_bytes):
        ones = (colors == np.arange(start, stop)[:, None]).reshape(-1, *given.dims).astype(given.dtype.numpy)
        seeds = BatchedTensor(Tensor(ones, given.dtype), dispatch.next_level())
        g = sweep(seeds)
        found.append(rows_of(g, seeds).array.reshape(stop - start, -1))
    return np.concatenate(found) if found else np.zeros((0, math.prod(taken.dims)), taken.dtype.numpy)


def rows_of(g: Any, seeds: BatchedTensor) -> Tensor:
    """What the batch of cotangents `seeds` became, its batch axis first; where no row enters, it is the same in all."""
    return leave(finished(ops, g), seeds.level, seeds.size)


def ranges(count: int, tensors: Sequence[Any], max_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of sweeps to be made together: one at a time, if there is room for none."""
    widest = max(math.prod(x.dims) * x.dtype.size for x in tensors)
    size = max(1, max_bytes // max(1, widest))
    for start in range(0, count, size):
        yield start, min(count, start + size)


def in_form(matrix: Any, sparse: bool | str, target: Any, source: Any) -> Any:
    """A sparse matrix in the form that was asked for: itself, or as a SparseTensor of the Jacobian's own shape."""
    if matrix is None or sparse != "tensor":
        return matrix
    shape = (*target.dims, *source.dims)
    rows, columns = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
    places = [*np.unravel_index(rows, target.dims or (1,))[: len(target.dims)]]
    places += np.unravel_index(columns, source.dims or (1,))[: len(source.dims)]
    indices = np.stack(places, axis=1) if places else np.zeros((len(rows), 0), np.int64)
    return _sparse_tensor()(indices, matrix.data.astype(source.dtype.numpy), np.array(shape, np.int64))


def no_entries(target: Any, source: Any) -> Any:
    """The sparse Jacobian of a target that does not depend on the source."""
    from scipy import sparse

    dtype = known_to_scipy(source.dtype.numpy)
    return sparse.csr_array((math.prod(target.dims), math.prod(source.dims)), dtype=dtype)
