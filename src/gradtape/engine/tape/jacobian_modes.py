"""Jacobians by the cheapest mode: by rows, by columns, or compressed by graph coloring.

A column is the derivative along one entry of a source. The gradient is a linear function of the target's cotangent, and
its transpose yields columns (the double-backward trick): the gradient is recorded once and then swept. So columns need
no second forward pass.

A sparse Jacobian takes three steps: detect the sparsity pattern (`sparsity`), color the rows or columns so that no two
of one color overlap (`coloring`), and run one sweep for each color, all of them vectorized, to obtain every entry. A
matrix known to be symmetric, such as a Hessian, needs fewer colors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ...core.dtypes import DType
from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, NeedsValue, batched_identity, leave
from ..registry.cotangents import finished
from ..registry.op import Op, SingleInputRule
from ..run import dispatch
from ..run.namespace import ops
from .coloring import coloring, count, known_to_scipy, symmetric_coloring, symmetric_taken_apart, taken_apart
from .log import Log
from .sparsity import full_patterns, patterns, seeds

MODES = ("reverse", "forward", "auto")
DENSE_MAX_UNKNOWNS = 600  # up to this many entries of the sources, sparse="auto" computes every row or column
_Sweep = Callable[[list[BatchedTensor]], list[Any]]
_sparse_tensor: Callable[[], Any]


def sparse_tensors_are(load: Callable[[], Any]) -> None:
    """Sets the loader of the sparse tensor class, which belongs to a layer above the engine."""
    global _sparse_tensor
    _sparse_tensor = load


def check_choice(mode: str, sparse: bool | str, target: Any, sources: list[Any]) -> None:
    """Raises if the Jacobian cannot be computed with these options."""
    if mode not in MODES:
        raise ValueError(f"jacobian: mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
    if sparse not in (False, True, "tensor", "auto"):
        raise ValueError(
            "sparse must be False, True for a SciPy array, 'auto' for one that is computed in the quicker way, or "
            f"'tensor' for a tf.SparseTensor, got {sparse!r}"
        )
    if (sparse or mode == "forward") and not _are_real((target, *sources)):
        given = ", ".join(sorted({x.dtype.name for x in (target, *sources)}))
        raise ValueError(
            f"jacobian(sparse=True), and mode='forward', are for real numbers, got {given}. Leave them out"
        )


def _are_real(tensors: Sequence[Any]) -> bool:
    return all(x.dtype.is_floating for x in tensors)


class ChosenJacobians:
    """The part of a tape that implements `jacobian(mode=..., sparse=...)`."""

    _kept: Callable[[bool], AbstractContextManager[None]]
    _vjp: Callable[[Log, list[Any], list[Any], list[Any]], list[Any]]
    _hooks: dict[int, list[Callable[[Any], Any]]]
    _sweeps = 0

    @property
    def sweeps(self) -> int:
        """The number of sweeps of the last Jacobian or Hessian: one for each row, column, or color of a sparse one.

        Sweeps are vectorized as far as memory allows, so this is a measure of work, not of time. The detection of a
        sparsity pattern is not counted.

        >>> import gradtape as tf
        >>> x = tf.Variable(tf.range(1.0, 1001.0))
        >>> with tf.GradientTape() as tape:
        ...     y = x[1:] * x[:-1]
        >>> jacobian = tape.jacobian(y, x, sparse=True)
        >>> tape.sweeps
        2
        """
        return self._sweeps

    def _jacobians_by_columns(
        self, log: Log, target: Any, sources: list[Any], mode: str, max_bytes: int
    ) -> list[Any] | None:
        """Computes the Jacobian of each source by columns; returns None if rows are to be used."""
        rows, columns = math.prod(target.dims), sum(math.prod(s.dims) for s in sources)
        # A user's rule need not be linear in its cotangent, and then its transpose is undefined.
        by_rows = rows <= columns or not _are_real((target, *sources)) or self._has_users_rules(log)
        if mode == "reverse" or (mode == "auto" and by_rows):
            return None
        self._sweeps += columns
        gradients = Transpose(self, log, target, sources)
        return [gradients.jacobian(i, source, max_bytes) for i, source in enumerate(sources)]

    def _sparse_jacobians(self, log: Log, target: Any, sources: list[Any], mode: str, max_bytes: int) -> list[Any]:
        """Computes the Jacobian of each source as a sparse matrix, None without a path."""
        found, linear = self._patterns(log, [target], sources)
        mode = mode if linear else "reverse"  # a rule that is not linear in its cotangent has no transpose
        return [
            None if pattern is None else self._filled(log, target, source, pattern, mode, max_bytes)
            for pattern, source in zip(found, sources, strict=True)
        ]

    def _patterns(self, log: Log, targets: list[Any], sources: list[Any]) -> tuple[list[Any], bool]:
        """The pattern of all targets' Jacobian for each source, None without a path; and whether all rules are linear.

        A rule that reads the value of a cotangent may compute anything from it, so the pattern is then full.
        """
        given = seeds(targets)
        dependence = given[0].dependence
        try:
            with self._kept(True):
                found = list(patterns(self._vjp(log, targets, given, sources), sources, dependence))
            return found, dependence.linear
        except NeedsValue:
            with self._kept(True), dispatch.recorded_by(()):
                paths = self._vjp(log, targets, [None] * len(targets), sources)
            return list(full_patterns(paths, sources, dependence.rows)), False

    def _sparse_hessian(
        self, log: Log, gradients: list[Any], sources: list[Any], max_bytes: int
    ) -> list[list[Any]]:
        """For each pair of sources, the Jacobian of the first one's gradient as a sparse matrix; None without a path.

        All pairs are blocks of one symmetric matrix, which is colored as a whole.
        """
        from scipy import sparse

        found: list[list[Any]] = [[None] * len(sources) for _ in sources]
        known = [i for i, g in enumerate(gradients) if g is not None]
        gradients, sources = [gradients[i] for i in known], [sources[i] for i in known]
        ends = np.cumsum([0, *(math.prod(source.dims) for source in sources)])
        if not known:
            return found
        columns, linear = self._patterns(log, gradients, sources)
        linked = [k for k, column in enumerate(columns) if column is not None]
        if not linked:
            return found
        nothing = [sparse.csr_array((ends[-1], math.prod(source.dims)), dtype=bool) for source in sources]
        pattern = sparse.hstack(
            [nothing[k] if column is None else column for k, column in enumerate(columns)], format="csr"
        )
        sweep = self._rows_of_colors(log, gradients, sources)
        whole = None
        if linear:
            symmetric = (pattern + pattern.T).tocsr()
            colors = symmetric_coloring(symmetric)
            sums = self._of_colors(sweep, colors, gradients, sources, max_bytes)
            whole = symmetric_taken_apart(symmetric, colors, sums)
        if whole is None or (self._has_users_rules(log) and not _is_swept_so(whole, sweep, gradients, sources)):
            colors = coloring(pattern)
            whole = taken_apart(pattern, colors, self._of_colors(sweep, colors, gradients, sources, max_bytes))
        for i in linked:
            for j in linked:
                block = whole[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]
                found[known[i]][known[j]] = block.astype(known_to_scipy(sources[j].dtype.numpy))
        return found

    def _has_users_rules(self, log: Log) -> bool:
        """Whether the tape may hold user-defined rules or hooks, whose results need not be true derivatives.

        The second derivatives that such rules produce need not be symmetric.
        """
        return bool(self._hooks) or any(type(op) not in (Op, SingleInputRule) for op in log.ops if op is not None)

    def _rows_of_colors(self, log: Log, targets: list[Any], sources: list[Any]) -> _Sweep:
        def sweep(seeds: list[BatchedTensor]) -> list[Any]:
            with self._kept(True):
                return self._vjp(log, targets, seeds, sources)

        return sweep

    def _of_colors(
        self, sweep: _Sweep, colors: Any, given: Sequence[Any], taken: Sequence[Any], max_bytes: int
    ) -> Any:
        """Runs one sweep for each color, seeded with ones at its entries; returns an array with a row for each color.

        The colors cover the entries of all tensors in `given`, flattened and concatenated; each row those of `taken`.
        """
        self._sweeps += count(colors)
        found = [
            _swept_rows(sweep, colors == np.arange(start, stop)[:, None], given, taken)
            for start, stop in ranges(count(colors), (*given, *taken), max_bytes)
        ]
        size = sum(math.prod(x.dims) for x in taken)
        return np.concatenate(found) if found else np.zeros((0, size), taken[0].dtype.numpy)

    def _filled(self, log: Log, target: Any, source: Any, pattern: Any, mode: str, max_bytes: int) -> Any:
        if mode == "forward" or (mode == "auto" and _longest(pattern) < _longest(pattern.T.tocsr())):
            transpose = Transpose(self, log, target, [source])
            columns = pattern.T.tocsr()
            colors = coloring(columns)
            sums = self._of_colors(transpose.columns, colors, [source], [target], max_bytes)
            return taken_apart(columns, colors, sums).T.tocsr()
        colors = coloring(pattern)
        sums = self._of_colors(self._rows_of_colors(log, [target], [source]), colors, [target], [source], max_bytes)
        return taken_apart(pattern, colors, sums)


def _longest(pattern: Any) -> int:
    """The most entries in a row: a lower bound on the number of colors of the columns."""
    return int(np.diff(pattern.indptr).max(initial=0))


class Transpose:
    """The gradients of a target, recorded as a linear function of its cotangent: their transpose yields columns."""

    def __init__(self, tape: Any, log: Log, target: Any, sources: list[Any]) -> None:
        self._target = target
        self._tape = type(tape)(persistent=True, watch_accessed_variables=False)
        with tape._kept(True), self._tape:
            self._cotangent = Tensor(np.zeros(target.dims, target.dtype.numpy), target.dtype)
            self._tape.watch(self._cotangent)
            found = tape._vjp(log, [target], [self._cotangent], sources)
            self._gradients = [None if g is None else finished(ops, g) for g in found]

    def jacobian(self, i: int, source: Any, max_bytes: int) -> Any:
        """Computes the whole Jacobian with respect to source number `i`; None without a path."""
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
        """Computes the derivative of the target along one tangent of all sources together; None without a path."""
        known = [(g, t) for g, t in zip(self._gradients, tangents, strict=True) if g is not None]
        if not known:
            return None
        gradients, given = map(list, zip(*known, strict=True))
        (found,) = self._tape._vjp(self._tape._log, gradients, given, [self._cotangent])
        return found

    def columns(self, tangents: list[BatchedTensor]) -> list[Any]:
        """Computes the derivatives of the target along a batch of tangents of a single source."""
        return [self._swept(self._gradients[0], tangents[0])]

    def _swept(self, gradient: Any, tangents: BatchedTensor) -> Any:
        (found,) = self._tape._vjp(self._tape._log, [gradient], [tangents], [self._cotangent])
        return found


def _swept_rows(sweep: _Sweep, rows: Any, given: Sequence[Any], taken: Sequence[Any]) -> Any:
    """Sweeps each row, a flattened cotangent of all of `given`; returns rows of the flattened results for `taken`."""
    level = dispatch.next_level()
    cuts = np.cumsum([math.prod(x.dims) for x in given])[:-1]
    seeds = [
        BatchedTensor(Tensor(part.reshape(len(rows), *x.dims).astype(x.dtype.numpy), x.dtype), level)
        for part, x in zip(np.split(rows, cuts, axis=1), given, strict=True)
    ]
    found = []
    for g, x in zip(sweep(seeds), taken, strict=True):
        shape = (len(rows), math.prod(x.dims))
        found.append(np.zeros(shape, x.dtype.numpy) if g is None else rows_of(g, seeds[0]).array.reshape(shape))
    return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


def _is_swept_so(matrix: Any, sweep: _Sweep, given: Sequence[Any], taken: Sequence[Any]) -> bool:
    """Whether the sweep of a random weighting of `given` equals the same weighting of the matrix's rows."""
    weights = np.random.default_rng(0).uniform(1, 2, matrix.shape[0])
    (mixture,) = _swept_rows(sweep, weights[None], given, taken)
    tolerance = {1: 0.1, 2: 0.05, 4: 1e-3}.get(min(x.dtype.size for x in taken), 1e-6)
    wide = matrix.astype(np.float64)
    return bool(np.all(np.abs(weights @ wide - mixture) <= tolerance * (weights @ abs(wide))))


def rows_of(g: Any, seeds: BatchedTensor) -> Tensor:
    """Moves the batch axis of a swept batch of cotangents to the front; broadcasts a result that is not batched."""
    return leave(finished(ops, g), seeds.level, seeds.size)


def ranges(count: int, tensors: Sequence[Any], max_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of sweeps to run together within `max_bytes`, at least one at a time."""
    widest = max(math.prod(x.dims) * x.dtype.size for x in tensors)
    size = max(1, max_bytes // max(1, widest))
    for start in range(0, count, size):
        yield start, min(count, start + size)


def is_small(sparse: bool | str, sources: Sequence[Any]) -> bool:
    """Whether `sparse="auto"` computes the matrix in the dense way, because it is small."""
    return sparse == "auto" and sum(math.prod(s.dims) for s in sources) <= DENSE_MAX_UNKNOWNS


def as_matrix(block: Any, column_dims: tuple[int, ...]) -> Any:
    """Converts a dense Jacobian or Hessian, whose last axes are those of a source, to a sparse matrix."""
    from scipy import sparse

    if block is None:
        return None
    array = np.asarray(block.array)
    rows, columns = math.prod(block.dims[: len(block.dims) - len(column_dims)]), math.prod(column_dims)
    return sparse.csr_array(array.reshape(rows, columns).astype(known_to_scipy(array.dtype)))


def in_form(matrix: Any, sparse: bool | str, rows: tuple[int, ...], columns: tuple[int, ...], dtype: DType) -> Any:
    """Converts a sparse matrix to the requested form: itself, or a SparseTensor of shape `(*rows, *columns)`."""
    if matrix is None or sparse != "tensor":
        return matrix
    at = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
    places = [*np.unravel_index(at[0], rows or (1,))[: len(rows)]]
    places += np.unravel_index(at[1], columns or (1,))[: len(columns)]
    indices = np.stack(places, axis=1) if places else np.zeros((len(at[0]), 0), np.int64)
    return _sparse_tensor()(indices, matrix.data.astype(dtype.numpy), np.array((*rows, *columns), np.int64))


def of_examples(matrix: Any, size: int) -> tuple[Any, bool]:
    """Stacks the diagonal blocks of `size` columns, one for each example; also returns whether the rest is empty.

    Entries outside of the diagonal blocks are added to the block in the same columns.
    """
    from scipy import sparse

    whole = matrix.tocoo()
    rows, columns = whole.coords
    own = columns // size if size else columns
    alone = bool(np.all(own * size <= rows) and np.all(rows < (own + 1) * size))
    places = (rows if alone else own * size + rows % size, columns - own * size)
    return sparse.csr_array((whole.data, places), shape=(matrix.shape[0], size)), alone


def no_entries(target: Any, source: Any) -> Any:
    """The sparse Jacobian, without entries, of a target that does not depend on the source."""
    from scipy import sparse

    dtype = known_to_scipy(source.dtype.numpy)
    return sparse.csr_array((math.prod(target.dims), math.prod(source.dims)), dtype=dtype)
