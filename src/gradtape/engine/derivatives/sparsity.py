"""Detects the sparsity pattern of a Jacobian: propagates index sets with a sweep instead of cotangents.

A `SparsityTracer` stands in for a cotangent. Each of its entries has a set: the entries of the target whose cotangents
it depends on. Its value is the result for zero cotangents, which is zero unless a user's rule adds something. A
built-in rule is linear in its cotangent, and so is each op in it. How a linear op maps sets is found by probing it in
double precision: each output is a weighted sum of entries of the argument, and chosen inputs reveal the weights, which
are then verified on random inputs. Complex arguments are probed along the real and along the imaginary axis, so
conjugates, real parts and absolute values are detected as well.

An op that fails the verification is not linear, for example in a user's rule that clips a cotangent. Then every output
entry depends on all entries that the op may read for it: the one at its own index if the op is elementwise, otherwise
all. The pattern is conservative: a superset is never wrong and only costs sweeps. A rule that reads the value of a
cotangent raises `NeedsValue`, and the caller assumes a full pattern.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.protocols import Attrs, Differentiables, OpLike, Tensors
from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, NeedsValue, ValuelessProxy
from ..registry.cotangents import materialize
from ..registry.op import Op
from ..run import dispatch
from ..run.namespace import ops
from ..tape.results import OptionalGradient
from .coloring import Matrix, coloring, count

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The elementwise ops that are linear in an argument, and the non-differentiable ops whose outputs depend on no value.
# Any other op may appear linear on the probed inputs, as `maximum(norm, 1e9)` does.
_LINEAR_BY_PLACE = frozenset(
    {"add", "sub", "mul", "div", "neg", "multiply_no_nan", "divide_no_nan", "where", "masked", "where_positive"}
)
_WITHOUT_VALUES = frozenset({"zeros_like", "ones_like", "stop_gradient", "after"})
_CLOSE = 1e-6
_CHILDREN = 4  # the number of blocks that a block of an argument's entries is split into
_COLUMNS_MAX = 512  # up to this many entries of an argument, the whole matrix of an op is computed at once
_PROBES_MAX = 1024  # the most runs of an op to find its pattern
_STEPS = (1, 2, 3, 5)  # strides along an axis for partitioning an argument into parts
_PARTS_MAX = 256
_CANDIDATES_MAX = 1 << 19  # the most entries of a pattern in the search by blocks, which runs in Python
_MATRIX_MAX = 1 << 24  # the most entries of an op's matrix, which is computed as the last resort
_CHUNK_ENTRIES = 1 << 21  # entries of that matrix computed together
_SETS_MAX = 1 << 28  # the most elements in all sets of one tensor: a gigabyte


class Dependence:
    """The state of one detection: its level, the number of target entries, and whether all ops so far were linear."""

    def __init__(self, rows: int) -> None:
        self.level = dispatch.next_level()
        self.rows = rows
        self.linear = True


class SparsityTracer(ValuelessProxy):
    """A cotangent whose entry `i` depends on the target's entries in row `i` of `sets`, a sparse matrix."""

    __slots__ = ("dependence", "sets")
    reason = "the value of a cotangent is not known while the pattern of a Jacobian is searched for"

    def __init__(self, value: Tensor, dependence: Dependence, sets: csr_array) -> None:
        super().__init__(value, dependence.level)
        self.dependence, self.sets = dependence, sets

    def interpret(self, op: OpLike, inputs: Tensors, attrs: Attrs) -> Any:
        """Runs `op` on the values and propagates the sets."""
        flags = list(map(self._is_alike, inputs))
        values = [x.value if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
        if op.name in _BY_STEPS:
            return _BY_STEPS[op.name](*inputs, **attrs)
        if op.shaped_by_values:
            raise NeedsValue(f"the shape of what op {op.name} gives depends on the value of a cotangent")
        with dispatch.recorded_by(()):
            result = dispatch.run(op, values, attrs)
            several = type(result) is tuple
            results = result if several else (result,)
            sets = [x.sets for x, flag in zip(inputs, flags, strict=True) if flag]  # type: ignore[attr-defined]
            found = self._sent(_links(op, values, flags, attrs, results), sets, results)
        return tuple(found) if several else found[0]

    def _sent(self, links: _Links, sets: Sequence[Any], results: Tensors) -> list[Tensor]:
        """The outputs: those that depend on a cotangent as tracers with their own sets, the others unchanged."""
        self.dependence.linear &= links.linear
        outputs: list[Tensor] = []
        start = 0
        for y in results:
            own = slice(start, start + math.prod(y.dims))
            start = own.stop
            parts = [None if matrix is None else matrix[own] for matrix in links.matrices]
            if all(part is not None and not part.nnz for part in parts):
                outputs.append(y)
                continue
            sent = [
                _of_everything(own.stop - own.start, s) if part is None else part @ s
                for part, s in zip(parts, sets, strict=True)
            ]
            outputs.append(SparsityTracer(y, self.dependence, sum(sent[1:], sent[0])))
        return outputs


def _sparse_matmul(values: Tensor, b: Tensor, rows: Tensor, columns: Tensor, count: int, slices: bool = False) -> Any:
    terms = ops.gather(b, columns, axis=0, batch=0) * ops.reshape(values, shape=(*values.dims, 1))
    return ops.scatter_add(terms, rows, shape=(count, b.dims[1]))


# Ops whose pattern is as irregular as their arguments, as steps that move, multiply or add single entries.
_BY_STEPS: dict[str, Callable[..., Any]] = {"sparse_matmul": _sparse_matmul}


class _Links(NamedTuple):
    """The dependence of an op's output entries, all outputs concatenated, on its cotangents."""

    matrices: list[Any]  # for each cotangent: a matrix of output entries by its entries; None: dense
    linear: bool


def _links(op: OpLike, values: Tensors, flags: Sequence[bool], attrs: Attrs, results: Tensors) -> _Links:
    unknown = _Links([None for flag in flags if flag], linear=False)
    if not isinstance(op, Op) or op.random:  # user code is not run repeatedly
        return unknown
    if op.family == "elementwise" and op.name not in _LINEAR_BY_PLACE:
        return _by_place(op, values, flags, results) or unknown
    if op.vjp is None and op.name not in _WITHOUT_VALUES:
        return unknown
    if any(flag and not (x.dtype.differentiable or op.moves_data) for x, flag in zip(values, flags, strict=True)):
        return _by_place(op, values, flags, results) or unknown
    probe = _Probe(op, values, flags, attrs)
    try:
        found = probe.links()
    except NeedsValue:
        raise
    except Exception:  # an op that does not accept double precision or the probed inputs
        return unknown
    if found is None:
        return _by_place(op, values, flags, results) or unknown
    return found


def _by_place(op: OpLike, values: Tensors, flags: Sequence[bool], results: Tensors) -> _Links | None:
    """The links of a nonlinear elementwise op: each output entry depends on the entries at its own index."""
    dims = np.broadcast_shapes(*(x.dims for x in values))
    if op.family != "elementwise" or any(y.dims != dims for y in results):
        return None
    places = [_places(x.dims, dims) for x, flag in zip(values, flags, strict=True) if flag]
    sizes = [math.prod(x.dims) for x, flag in zip(values, flags, strict=True) if flag]
    matrices = [
        _matrix(np.tile(place, len(results)), np.ones(len(place) * len(results)), n)
        for place, n in zip(places, sizes, strict=True)
    ]
    return _Links(matrices, linear=False)


class _Probe:
    """An op as a function of its cotangents, evaluated in double precision."""

    def __init__(self, op: OpLike, values: Tensors, flags: Sequence[bool], attrs: Attrs) -> None:
        self._op = op
        self._inputs = [_exactly(x, to_zero=flag) for x, flag in zip(values, flags, strict=True)]
        self._at = [i for i, flag in enumerate(flags) if flag]
        self._attrs = attrs
        if op.name == "cast" and attrs["dtype"].differentiable:  # the probed inputs must not be rounded
            self._attrs = {"dtype": dtypes.complex128 if attrs["dtype"].is_complex else dtypes.float64}
        self._zero: Any = None  # its outputs for zero cotangents

    def links(self) -> _Links | None:
        """Finds the links; returns None if the op is not linear in its cotangents."""
        with np.errstate(all="ignore"):
            self._zero = self._run({})
            weights = [self._weights(i) for i in self._at]
            if not self._are_right(weights):
                return None
        matrices: list[Any] = []
        for phases in weights:
            if any(w is None for w in phases):
                matrices.append(None)
                continue
            first, *others = [w != 0 for w in phases]
            matrices.append(sum(others, first))
        return _Links(matrices, linear=True)

    def _run(self, given: dict[int, Any]) -> Any:
        """Runs the op on the given arguments, zeros for the others; returns all outputs, flattened and concatenated."""
        inputs = list(self._inputs)
        for i, numbers in given.items():
            x = inputs[i]
            inputs[i] = Tensor(np.asarray(numbers, x.dtype.numpy).reshape(x.dims), x.dtype)
        result = dispatch.run(self._op, inputs, self._attrs)
        return np.concatenate([_numbers(y) for y in (result if type(result) is tuple else (result,))])

    def _difference(self, given: dict[int, Any]) -> Any:
        """The change of the outputs that the given arguments cause."""
        return self._run(given) - self._zero

    def _weights(self, i: int) -> list[Any]:
        """The matrix of the op as a function of argument `i`, along the real and along the imaginary axis.

        An entry is None if few runs did not suffice: then all outputs are assumed to depend on the whole argument.
        """
        phases = (1.0, 1j) if self._inputs[i].dtype.is_complex else (1.0,)
        return [self._weights_along(i, phase) for phase in phases]

    def _weights_along(self, i: int, phase: complex) -> Any:
        x = self._inputs[i]
        size = math.prod(x.dims)

        def run(numbers: Matrix) -> Matrix:
            return self._difference({i: numbers * phase})

        if self._op.family == "elementwise" and len(places := _places_in(self._inputs, i)) == len(self._zero):
            return _matrix(places, run(np.ones(size)), size)
        is_small, fits = size <= _COLUMNS_MAX, size * max(size, len(self._zero)) <= _MATRIX_MAX
        searches: tuple[Callable[[], Any], ...] = (
            lambda: _of_single_entries(run, size), lambda: self._weights_of_transpose(i),
            lambda: self._columns(i, phase) if is_small else None, lambda: _by_parts(run, x.dims),
            lambda: _by_blocks(run, size), lambda: self._columns(i, phase) if fits and not is_small else None,
        )  # fmt: skip
        return next((found for search in searches if (found := search()) is not None), None)

    def _weights_of_transpose(self, i: int) -> Any:
        """The same by the transpose, for an op such as a sum, whose input entries each affect one output entry."""
        op, inputs = self._op, self._inputs
        vjp = op.vjp
        output = dispatch.run(op, inputs, self._attrs)
        if vjp is None or type(output) is tuple or output.dtype.is_complex or inputs[i].dtype.is_complex:
            return None
        saved = op.keep(inputs, output, self._attrs)
        parents = tuple(0 if k == i else -1 for k in range(len(inputs)))

        def back(numbers: Matrix) -> Matrix:
            g = vjp(ops, Tensor(numbers.reshape(output.dims)), saved, parents)[i]
            return _numbers(materialize(ops, g))

        found = _of_single_entries(back, math.prod(output.dims))
        return None if found is None else found.T.tocsr()

    def _columns(self, i: int, phase: complex) -> Any:
        """Computes the whole matrix, a few columns at a time."""
        from scipy import sparse

        x = self._inputs[i]
        size = math.prod(x.dims)
        together = max(1, _CHUNK_ENTRIES // max(1, size, len(self._zero)))
        parts = []
        for start in range(0, size, together):
            stop = min(size, start + together)
            seeds = np.zeros((stop - start, size), x.dtype.numpy)
            seeds[np.arange(stop - start), np.arange(start, stop)] = phase
            level = dispatch.next_level()
            inputs = list(self._inputs)
            inputs[i] = BatchedTensor(Tensor(seeds.reshape(stop - start, *x.dims), x.dtype), level)
            result = dispatch.run(self._op, inputs, self._attrs)
            rows = [_of_batch(y, level, stop - start) for y in (result if type(result) is tuple else (result,))]
            parts.append(np.concatenate(rows, axis=1) - self._zero)
        columns = np.concatenate(parts) if parts else np.zeros((0, len(self._zero)))
        return sparse.csr_array(columns).T.tocsr()

    def _are_right(self, weights: list[list[Any]]) -> bool:
        """Verifies on random inputs that the op is linear and has these weights where they are known."""
        drawn = [
            [_random(math.prod(self._inputs[i].dims), 2 * k + n) for n in range(len(phases))]
            for k, (i, phases) in enumerate(zip(self._at, weights, strict=True))
        ]
        known = all(w is not None for phases in weights for w in phases)
        for factor in (1.0, -7.0):  # a nonlinear op may appear linear for one sign and scale
            numbers = [[factor * r for r in rs] for rs in drawn]
            given = {i: sum(r * (1, 1j)[n] for n, r in enumerate(rs)) for i, rs in zip(self._at, numbers, strict=True)}
            found = self._difference(given)
            if known:
                pairs = [
                    pair for phases, rs in zip(weights, numbers, strict=True) for pair in zip(phases, rs, strict=True)
                ]
                expected = sum(w @ r for w, r in pairs)
                scale = sum(abs(w) @ np.abs(r) for w, r in pairs)
            else:  # f(r) = f(r / 4) + f(3 r / 4) holds for all linear functions
                first = self._difference({i: r / 4 for i, r in given.items()})
                expected = first + self._difference({i: r * 0.75 for i, r in given.items()})
                scale = np.abs(found).max(initial=0) + np.abs(first).max(initial=0)
            if not np.all(np.abs(found - expected) <= _CLOSE * scale):
                return False
        return True


def _of_batch(y: Tensor, level: int, size: int) -> Any:
    """The flattened results for a batch of arguments; an output that is not batched is broadcast."""
    if type(y) is BatchedTensor and y.level == level:
        return _array(y.value).reshape(size, -1)
    return np.broadcast_to(_numbers(y), (size, math.prod(y.dims)))


def _array(x: Tensor) -> Any:
    return np.asarray(x.array, np.complex128 if x.dtype.is_complex else np.float64)


def _numbers(x: Tensor) -> Any:
    return _array(x).ravel()


def _exactly(x: Tensor, to_zero: bool) -> Tensor:
    """Converts an argument to double precision, or to zeros of its shape."""
    if to_zero or x.dtype.differentiable:
        array = _array(x)
        return Tensor(np.zeros_like(array) if to_zero else array)
    return x


@cache
def _hashes(size: int) -> Any:
    return np.random.default_rng(0).uniform(1.0, 2.0, size)


def _random(size: int, seed: int) -> Any:
    """Random numbers of both signs and several magnitudes."""
    rng = np.random.default_rng(seed + 1)
    return rng.choice([-1.0, 1.0], size) * 10.0 ** rng.uniform(-1.5, 1.5, size)


def _places(shape: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    """For each entry of an array of shape `dims`, the index of the entry of `shape` that is broadcast to it."""
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), dims).ravel()


def _places_in(inputs: Tensors, i: int) -> Any:
    return _places(inputs[i].dims, np.broadcast_shapes(*(x.dims for x in inputs)))


def _of_single_entries(run: Callable[[Matrix], Matrix], size: int) -> Any:
    """The matrix of a linear function each of whose outputs is a multiple of at most one entry; otherwise None."""
    weight, place, check = (run(probe) for probe in (np.ones(size), np.arange(1.0, size + 1), _hashes(size)))
    some = (weight != 0) | (place != 0) | (check != 0)
    at = np.where(some, place / weight, 1.0)
    if not np.all(np.isfinite(at)):
        return None
    index = np.rint(at.real).astype(np.int64) - 1
    known = np.clip(index, 0, max(size - 1, 0))
    right = (known == index) & (np.abs(at - index - 1) < _CLOSE)
    if size:
        right &= np.abs(check / weight - _hashes(size)[known]) < _CLOSE
    return _matrix(np.where(some, known, 0), np.where(some, weight, 0), size) if np.all(right | ~some) else None


def _matrix(places: Matrix, weights: Matrix, columns: int) -> csr_array:
    """A matrix with one weight in each row, at the columns `places`; zero weights are left out."""
    from scipy import sparse

    rows = np.nonzero(weights)[0]
    return sparse.csr_array((weights[rows], (rows, places[rows])), shape=(len(weights), columns))


def _by_parts(run: Callable[[Matrix], Matrix], shape: tuple[int, ...]) -> Any:
    """The matrix of a linear function that mixes neighbors, or all entries along some axes; otherwise None.

    The argument is partitioned so that the entries of a part are far from each other, or share one index along a mixed
    axis. Then each output is a multiple of one entry of each part.
    """
    size = math.prod(shape)
    steps = itertools.product(*[sorted({min(step, n) for step in _STEPS} | {n}) for n in shape])
    places = np.unravel_index(np.arange(size), shape)
    for chosen in sorted((c for c in steps if 1 < math.prod(c) <= _PARTS_MAX), key=math.prod):
        part = np.ravel_multi_index([at % step for at, step in zip(places, chosen, strict=True)], chosen)
        found = None
        for number in range(math.prod(chosen)):
            own = part == number
            weights = _of_single_entries(partial(_run_on, run, own), size)
            if weights is None:
                break
            found = weights if found is None else found + weights
        else:
            return found
    return None


def _run_on(run: Callable[[Matrix], Matrix], chosen: Matrix, numbers: Matrix) -> Matrix:
    return run(np.where(chosen, numbers, 0.0))


def _by_blocks(run: Callable[[Matrix], Matrix], size: int) -> Any:
    """Finds the matrix of a linear function by hierarchical search: which outputs depend on which blocks, ever smaller.

    Blocks that no output depends on together get one color and are probed in one run. Returns None if that takes too
    many runs.
    """
    from scipy import sparse

    width = _CHILDREN ** max(0, math.ceil(math.log(max(size, 2), _CHILDREN)))  # of a block
    everything = run(_hashes(size))
    depends = sparse.csr_array((everything != 0).astype(np.int8).reshape(-1, 1))
    runs = 1
    while True:
        width //= _CHILDREN
        blocks = -(-size // width)
        candidates = _divided(depends, blocks)
        if candidates.nnz > _CANDIDATES_MAX:
            return None
        dense = 2 * candidates.nnz > candidates.shape[0] * blocks
        colors = np.arange(blocks) if dense else coloring(candidates.T.tocsr())
        runs += count(colors)
        if runs > _PROBES_MAX:
            return None
        rows, columns = candidates.nonzero()
        block_of = np.arange(size) // width
        numbers = _hashes(size) if width > 1 else np.ones(size)
        weights = np.zeros(len(rows), np.complex128 if everything.dtype.kind == "c" else np.float64)
        for color in range(count(colors)):
            found = run(np.where((colors == color)[block_of], numbers, 0.0))
            own = colors[columns] == color
            weights[own] = found[rows[own]]
        some = weights != 0
        depends = sparse.csr_array((weights[some], (rows[some], columns[some])), shape=candidates.shape)
        if width == 1:
            return depends


def _divided(depends: csr_array, blocks: int) -> csr_array:
    """Refines a dependence matrix from blocks to the smaller blocks that they are split into."""
    from scipy import sparse

    rows, columns = depends.nonzero()
    columns = (columns[:, None] * _CHILDREN + np.arange(_CHILDREN)).ravel()
    rows = np.repeat(rows, _CHILDREN)
    there = columns < blocks
    ones = np.ones(int(there.sum()), bool)
    return sparse.csr_array((ones, (rows[there], columns[there])), shape=(depends.shape[0], blocks))


def _of_everything(rows: int, sets: csr_array) -> csr_array:
    """The sets of `rows` entries, each of which depends on every entry that has these sets."""
    from scipy import sparse

    union = np.unique(sets.indices)
    if rows * len(union) > _SETS_MAX:
        raise errors.ResourceExhaustedError(
            f"jacobian(sparse=True): an op makes each of {rows} entries depend on {len(union)} entries of the target, "
            "so the Jacobian is not sparse. Use sparse=False, or products with it: gradient, hvp, ForwardAccumulator"
        )
    ends = np.arange(rows + 1) * len(union)
    return sparse.csr_array((np.ones(rows * len(union), bool), np.tile(union, rows), ends), shape=(rows, sets.shape[1]))


def _full_rows(chosen: Matrix, columns: int) -> csr_array:
    """A matrix whose chosen rows are full."""
    from scipy import sparse

    rows = np.nonzero(chosen)[0]
    ones = np.ones(len(rows) * columns, bool)
    places = (np.repeat(rows, columns), np.tile(np.arange(columns), len(rows)))
    return sparse.csr_array((ones, places), shape=(len(chosen), columns))


def seeds(targets: Differentiables) -> list[SparsityTracer]:
    """Tracers for the targets' cotangents: each entry depends on itself, with indices running through all targets."""
    from scipy import sparse

    dependence = Dependence(sum(math.prod(target.dims) for target in targets))
    rows = sparse.eye_array(dependence.rows, dtype=bool, format="csr")
    found, start = [], 0
    for target in targets:
        stop = start + math.prod(target.dims)
        nothing = Tensor(np.zeros(target.dims, target.dtype.numpy), target.dtype)
        found.append(SparsityTracer(nothing, dependence, rows[start:stop]))
        start = stop
    return found


def patterns(
    found: Sequence[OptionalGradient], sources: Differentiables, dependence: Dependence
) -> Iterator[csr_array | None]:
    """The pattern of each source's Jacobian, a sparse boolean matrix, from the results of a sweep over `seeds`."""
    from scipy import sparse

    rows = dependence.rows
    for g, source in zip(found, sources, strict=True):
        if g is None:
            yield None
            continue
        with dispatch.recorded_by(()):
            g = materialize(ops, g)
        dependent = type(g) is SparsityTracer
        sets = g.sets if dependent else sparse.csr_array((math.prod(source.dims), rows), dtype=bool)
        # What a rule adds for any cotangent, or an infinite factor times zero, appears in every row.
        in_every_row = _numbers(g.value if dependent else g) != 0
        if in_every_row.any():
            sets = sets + _full_rows(in_every_row, rows)
            dependence.linear = False
        yield sets.T.astype(bool).tocsr()


def full_patterns(paths: Sequence[OptionalGradient], sources: Differentiables, rows: int) -> Iterator[csr_array | None]:
    """The full pattern of each source's Jacobian; None without a path."""
    for path, source in zip(paths, sources, strict=True):
        yield None if path is None else _full_rows(np.ones(rows, bool), math.prod(source.dims))
