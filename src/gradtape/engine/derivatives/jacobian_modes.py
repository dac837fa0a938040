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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.protocols import Differentiables, Tensors
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, NeedsValue, batched_identity, leave
from ..registry.cotangents import materialize
from ..registry.op import Op, SingleInputRule
from ..run import dispatch
from ..run.namespace import ops
from ..tape.results import OptionalGradient
from ..tape.tape import Tape
from ..tape.validation import Differentiable, zeros
from . import coloring
from .coloring import Colors, Matrix
from .sparsity import full_patterns, patterns, seeds

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DENSE_MAX_UNKNOWNS = 600  # up to this many entries of the sources, sparse="auto" computes every row or column
_Sweep = Callable[[list[BatchedTensor]], Sequence[OptionalGradient]]


def are_real(tensors: Differentiables) -> bool:
    """Whether all dtypes are real floating ones, as sparse Jacobians and the forward mode need."""
    return all(x.dtype.is_floating for x in tensors)


def jacobians_by_columns(
    tape: Tape, target: Differentiable, sources: Differentiables, mode: str, max_bytes: int
) -> list[Tensor | None] | None:
    """Computes the Jacobian of each source by columns; returns None if rows are to be used."""
    rows, columns = math.prod(target.dims), sum(math.prod(s.dims) for s in sources)
    # A user's rule need not be linear in its cotangent, and then its transpose is undefined.
    by_rows = rows <= columns or not are_real((target, *sources)) or has_users_rules(tape)
    if mode == "reverse" or (mode == "auto" and by_rows):
        return None
    tape._sweeps += columns
    gradients = Transpose(tape, target, sources)
    return [gradients.jacobian(i, source, max_bytes) for i, source in enumerate(sources)]


def sparse_jacobians(
    tape: Tape, target: Differentiable, sources: Differentiables, mode: str, max_bytes: int
) -> list[csr_array | None]:
    """Computes the Jacobian of each source as a sparse matrix, None without a path."""
    found, linear = _patterns(tape, [target], sources)
    mode = mode if linear else "reverse"  # a rule that is not linear in its cotangent has no transpose
    return [
        None if pattern is None else _filled(tape, target, source, pattern, mode, max_bytes)
        for pattern, source in zip(found, sources, strict=True)
    ]


class Compression(NamedTuple):
    """How few sweeps compute a sparse matrix: one for each color of its rows or, if `by_columns`, of its columns."""

    pattern: csr_array
    colors: Colors
    by_columns: bool


def plan_sparse_jacobian(
    tape: Tape, target: Differentiable, source: Differentiable, mode: str = "auto"
) -> Compression | None:
    """Returns how `sparse_jacobians` would compress a Jacobian, without computing it; None without a path."""
    (pattern,), linear = _patterns(tape, [target], [source])
    return None if pattern is None else _compression(pattern, mode if linear else "reverse")


def _compression(pattern: csr_array, mode: str) -> Compression:
    by_columns = mode == "forward" or (mode == "auto" and _longest(pattern) < _longest(pattern.T.tocsr()))
    return Compression(pattern, coloring.coloring(pattern.T.tocsr() if by_columns else pattern), by_columns)


def _patterns(tape: Tape, targets: Differentiables, sources: Differentiables) -> tuple[list[csr_array | None], bool]:
    """The pattern of all targets' Jacobian for each source, None without a path; and whether all rules are linear.

    A rule that reads the value of a cotangent may compute anything from it, so the pattern is then full.
    """
    given = seeds(targets)
    dependence = given[0].dependence
    try:
        with Tape.retained(tape):
            found = list(patterns(Tape.vjp(tape, targets, given, sources), sources, dependence))
        return found, dependence.linear
    except NeedsValue:
        with Tape.retained(tape), dispatch.recorded_by(()):
            paths = Tape.vjp(tape, targets, [None] * len(targets), sources)
        return list(full_patterns(paths, sources, dependence.rows)), False


def sparse_hessian(
    tape: Tape, gradients: Sequence[Tensor | None], sources: Differentiables, max_bytes: int
) -> list[list[csr_array | None]]:
    """For each pair of sources, the Jacobian of the first one's gradient as a sparse matrix; None without a path.

    All pairs are blocks of one symmetric matrix, which is colored as a whole.
    """
    from scipy import sparse

    found: list[list[csr_array | None]] = [[None] * len(sources) for _ in sources]
    known = [i for i, g in enumerate(gradients) if g is not None]
    targets, sources = [g for g in gradients if g is not None], [sources[i] for i in known]
    ends = np.cumsum([0, *(math.prod(source.dims) for source in sources)])
    if not known:
        return found
    columns, linear = _patterns(tape, targets, sources)
    linked = [k for k, column in enumerate(columns) if column is not None]
    if not linked:
        return found
    nothing = [sparse.csr_array((ends[-1], math.prod(source.dims)), dtype=bool) for source in sources]
    pattern = sparse.hstack(
        [nothing[k] if column is None else column for k, column in enumerate(columns)], format="csr"
    )
    sweep = _rows_of_colors(tape, targets, sources)
    whole = None
    if linear:
        symmetric = (pattern + pattern.T).tocsr()
        colors = coloring.symmetric_coloring(symmetric)
        sums = _of_colors(tape, sweep, colors, targets, sources, max_bytes)
        whole = coloring.decompress_symmetric(symmetric, colors, sums)
    if whole is None or (has_users_rules(tape) and not _is_swept_so(whole, sweep, targets, sources)):
        colors = coloring.coloring(pattern)
        whole = coloring.decompress(pattern, colors, _of_colors(tape, sweep, colors, targets, sources, max_bytes))
    for i in linked:
        for j in linked:
            block = whole[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]
            found[known[i]][known[j]] = block.astype(coloring.known_to_scipy(sources[j].dtype.numpy))
    return found


def has_users_rules(tape: Tape) -> bool:
    """Whether the tape may hold user-defined rules or hooks, whose results need not be true derivatives.

    The second derivatives that such rules produce need not be symmetric.
    """
    return bool(tape._hooks) or any(
        type(op) not in (Op, SingleInputRule) for op in Tape._required_log(tape).ops if op is not None
    )


def _rows_of_colors(tape: Tape, targets: Differentiables, sources: Differentiables) -> _Sweep:
    def sweep(seeds: list[BatchedTensor]) -> Sequence[OptionalGradient]:
        with Tape.retained(tape):
            return Tape.vjp(tape, targets, seeds, sources)

    return sweep


def _of_colors(
    tape: Tape, sweep: _Sweep, colors: Colors, given: Differentiables, taken: Differentiables, max_bytes: int
) -> Matrix:
    """Runs one sweep for each color, seeded with ones at its entries; returns an array with a row for each color.

    The colors cover the entries of all tensors in `given`, flattened and concatenated; each row those of `taken`.
    """
    tape._sweeps += coloring.count(colors)
    found = [
        _swept_rows(sweep, colors == np.arange(start, stop)[:, None], given, taken)
        for start, stop in ranges(coloring.count(colors), (*given, *taken), max_bytes)
    ]
    size = sum(math.prod(x.dims) for x in taken)
    return np.concatenate(found) if found else np.zeros((0, size), taken[0].dtype.numpy)


def _filled(
    tape: Tape, target: Differentiable, source: Differentiable, pattern: csr_array, mode: str, max_bytes: int
) -> csr_array:
    _, colors, by_columns = _compression(pattern, mode)
    if by_columns:
        transpose = Transpose(tape, target, [source])
        sums = _of_colors(tape, transpose.columns, colors, [source], [target], max_bytes)
        return coloring.decompress(pattern.T.tocsr(), colors, sums).T.tocsr()
    sums = _of_colors(tape, _rows_of_colors(tape, [target], [source]), colors, [target], [source], max_bytes)
    return coloring.decompress(pattern, colors, sums)


def _longest(pattern: csr_array) -> int:
    """The most entries in a row: a lower bound on the number of colors of the columns."""
    return int(np.diff(pattern.indptr).max(initial=0))


class Transpose:
    """The gradients of a target, recorded as a linear function of its cotangent: their transpose yields columns."""

    def __init__(self, tape: Tape, target: Differentiable, sources: Differentiables) -> None:
        self._target = target
        self._tape = Tape(persistent=True, watch_accessed_variables=False)
        with Tape.retained(tape), self._tape:
            self._cotangent = Tensor(np.zeros(target.dims, target.dtype.numpy), target.dtype)
            self._tape.watch([self._cotangent])
            found = Tape.vjp(tape, [target], [self._cotangent], sources)
            self._gradients = [None if g is None else materialize(ops, g) for g in found]

    def jacobian(self, i: int, source: Differentiable, max_bytes: int) -> Tensor | None:
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
        by_target = ops.transpose(concatenate(parts), perm=(*range(1, len(self._target.dims) + 1), 0))
        return ops.reshape(by_target, shape=(*self._target.dims, *source.dims))

    def along(self, tangents: Tensors) -> OptionalGradient:
        """Computes the derivative of the target along one tangent of all sources together; None without a path."""
        known = [(g, t) for g, t in zip(self._gradients, tangents, strict=True) if g is not None]
        if not known:
            return None
        gradients, given = map(list, zip(*known, strict=True))
        (found,) = self._tape.vjp(gradients, given, [self._cotangent])
        return found

    def columns(self, tangents: list[BatchedTensor]) -> Sequence[OptionalGradient]:
        """Computes the derivatives of the target along a batch of tangents of a single source."""
        (gradient,) = self._gradients
        return [None if gradient is None else self._swept(gradient, tangents[0])]

    def _swept(self, gradient: Tensor, tangents: BatchedTensor) -> Tensor | IndexedSlices:
        (found,) = self._tape.vjp([gradient], [tangents], [self._cotangent])
        return zeros(self._target.dims, self._target.dtype) if found is None else found


def _swept_rows(sweep: _Sweep, rows: Matrix, given: Differentiables, taken: Differentiables) -> Matrix:
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


def _is_swept_so(matrix: csr_array, sweep: _Sweep, given: Differentiables, taken: Differentiables) -> bool:
    """Whether the sweep of a random weighting of `given` equals the same weighting of the matrix's rows."""
    weights = np.random.default_rng(0).uniform(1, 2, matrix.shape[0])
    (mixture,) = _swept_rows(sweep, weights[None], given, taken)
    tolerance = {1: 0.1, 2: 0.05, 4: 1e-3}.get(min(x.dtype.size for x in taken), 1e-6)
    wide = matrix.astype(np.float64)
    return bool(np.all(np.abs(weights @ wide - mixture) <= tolerance * (weights @ abs(wide))))


def concatenate(parts: Sequence[Tensor | None]) -> Tensor:
    """Concatenates chunks of rows."""
    return ops.concat(*parts, axis=0) if len(parts) > 1 or parts[0] is None else parts[0]


def rows_of(g: Tensor | IndexedSlices, seeds: BatchedTensor) -> Tensor:
    """Moves the batch axis of a swept batch of cotangents to the front; broadcasts a result that is not batched."""
    return leave(materialize(ops, g), seeds.level, seeds.size)


def ranges(count: int, tensors: Differentiables, max_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of sweeps to run together within `max_bytes`, at least one at a time."""
    widest = max(math.prod(x.dims) * x.dtype.size for x in tensors)
    size = max(1, max_bytes // max(1, widest))
    for start in range(0, count, size):
        yield start, min(count, start + size)


def is_small(sparse: bool | str, sources: Differentiables) -> bool:
    """Whether `sparse="auto"` computes the matrix in the dense way, because it is small."""
    return sparse == "auto" and sum(math.prod(s.dims) for s in sources) <= DENSE_MAX_UNKNOWNS


def as_matrix(block: Tensor | None, column_dims: tuple[int, ...]) -> csr_array | None:
    """Converts a dense Jacobian or Hessian, whose last axes are those of a source, to a sparse matrix."""
    from scipy import sparse

    if block is None:
        return None
    array = np.asarray(block.array)
    rows, columns = math.prod(block.dims[: len(block.dims) - len(column_dims)]), math.prod(column_dims)
    return sparse.csr_array(array.reshape(rows, columns).astype(coloring.known_to_scipy(array.dtype)))


def of_examples(matrix: csr_array, size: int) -> tuple[csr_array, bool]:
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


def no_entries(target: Differentiable, source: Differentiable) -> csr_array:
    """The sparse Jacobian, without entries, of a target that does not depend on the source."""
    from scipy import sparse

    dtype = coloring.known_to_scipy(source.dtype.numpy)
    return sparse.csr_array((math.prod(target.dims), math.prod(source.dims)), dtype=dtype)
