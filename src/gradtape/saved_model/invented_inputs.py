"""Invented inputs of a function that is saved: sizes for the axes that its signature leaves open, and values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.tensor import Tensor, wrap
from ..engine.run.convert import to_tensor
from ..graph.ir.graph import Graph, all_nodes
from ..state.specs import TensorSpec

SMALL = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67)

_MOST_ELEMENTS = 1 << 22  # of all values of a function that is traced for large sizes


class Run(NamedTuple):
    """A run of a function on invented inputs."""

    sizes: list[int]  # of the axes that the signature leaves open
    # Ones; an invertible matrix, a permutation or text that is a number; a number to count from; the seed of random
    # values.
    values: Any = "ones"
    free: tuple[int, ...] = ()  # the shape of inputs of any rank


class Sizes(NamedTuple):
    """Sizes for the axes that a signature leaves open."""

    probes: list[list[int]]  # those in each of the first graphs
    axes: Sequence[tuple[int, int | None]]  # of each axis: a factor, and the open size that it multiplies, if any

    @property
    def open_count(self) -> int:
        """The number of open sizes, which do not depend on each other."""
        return len({index for _, index in self.axes if index is not None})

    def row(self, numbers: Sequence[int]) -> list[int]:
        """Returns the sizes of all axes for these numbers, one for each open size."""
        return [factor if index is None else factor * numbers[index] for factor, index in self.axes]


class Costs:
    """Estimates for which sizes a function can be traced without large arrays, from the graphs of other sizes."""

    def __init__(self, sizes: Sizes, graphs: Sequence[Graph]) -> None:
        self._sizes = sizes
        self._further: list[tuple[list[int], int]] = []
        self._elements = [(row, _elements(graph)) for row, graph in zip(sizes.probes, graphs, strict=True)]
        (low, fewest), (high, most) = (choose(self._elements, key=lambda one: one[1]) for choose in (min, max))
        growths = [b / a for a, b in zip(low, high, strict=True) if b > a]
        self._exponents = [max(math.log(most / fewest) / math.log(choose(growths)) if growths else 2.0, 1.0)
                           for choose in (max, min)]  # fmt: skip

    def add(self, row: list[int], graph: Graph) -> None:
        """Adds the graph for the sizes of another row."""
        self._further.append((row, _elements(graph)))

    def affordable(self, *options: list[list[int]]) -> list[list[int]]:
        """Returns the first option whose rows are all affordable, or none."""
        return next((rows for rows in options if all(map(self.is_affordable, rows))), [])

    def is_affordable(self, numbers: Sequence[int]) -> bool:
        """Estimates the number of elements from its growth between the first graphs: the closest graph tells most."""
        row = self._sizes.row(numbers)
        # In further graphs, some sizes are large and others are not: the exponent is that of the slowest growth.
        return any(
            elements * max((b / a for a, b in zip(known, row, strict=True)), default=1.0) ** exponent <= _MOST_ELEMENTS
            for graphs, exponent in zip((self._elements, self._further), self._exponents, strict=True)
            for known, elements in graphs
        )


def _elements(graph: Graph) -> int:
    """Returns the number of elements that the nodes of a graph read, constants among them, and compute."""
    return 1 + sum(math.prod(value.shape) for node in all_nodes(graph) for value in (*node.inputs, *node.outputs))


def spec_of(x: Any) -> TensorSpec:
    """Returns the spec of an input, which may be one already."""
    return x if isinstance(x, TensorSpec) else TensorSpec.from_tensor(to_tensor(x))


def free_shape(rank: int) -> tuple[int, ...]:
    """Returns the shape of inputs of any rank in the first graphs."""
    return SMALL[-rank:] if rank else ()


def examples(specs: Sequence[TensorSpec], run: Run) -> list[Tensor]:
    """Creates the inputs of a run."""
    unknown = iter(run.sizes)
    return [_example(spec, unknown, run, i) for i, spec in enumerate(specs)]


def _example(spec: TensorSpec, unknown: Iterator[int], run: Run, index: int) -> Tensor:
    fill = b"" if spec.dtype is dtypes.string else 1
    shape = spec.shape if spec.shape.rank is not None else run.free
    array = np.full([next(unknown) if n is None else n for n in shape], fill, spec.dtype.numpy)
    # The random values of each input are others: those of `x - y` would be zeros, which hide a wrong factor.
    values = (*run.values, index) if isinstance(run.values, tuple) else run.values
    array = _with_values(array, spec, values)
    return wrap(array if array.ndim or spec.dtype is dtypes.string else array[()], spec.dtype)


def _with_values(array: Any, spec: TensorSpec, values: Any) -> Any:
    """Returns an array of ones with other values in some positions."""
    if isinstance(values, tuple):
        rng = np.random.default_rng(values)
        if spec.dtype is dtypes.string:
            return rng.choice(np.array([b"", b"a b", b"c"], object), array.shape)
        numbers = rng.integers(0, 3, array.shape) if not spec.dtype.is_floating else rng.normal(size=array.shape)
        return np.asarray(numbers).astype(array.dtype)
    if values == "matrix" and spec.dtype is dtypes.string:
        return np.full(array.shape, b"1", object)
    if values == "matrix" and spec.dtype.is_floating and array.ndim >= 2:
        return (array * 0.1 + np.eye(*array.shape[-2:])).astype(array.dtype)
    if values == "matrix" and spec.dtype.is_integer and array.ndim:
        return (array * np.arange(array.shape[-1])).astype(array.dtype)
    if isinstance(values, int) and not spec.dtype.is_bool and spec.dtype is not dtypes.string and array.size < 8:
        return (array * (values + 2 * np.arange(array.size).reshape(array.shape))).astype(array.dtype)
    return array


# The sizes of the first graphs are odd primes, which tell open sizes from each other and from constants. A program that
# fits these alone may be wrong for others: for odd sizes, `(n - 1) / 2` is `n // 2`.


def further_probes(sizes: Sizes, runs: Sequence[Run], costs: Costs) -> Iterator[Run]:
    """Yields runs at an even size, at large and at very large ones, whose graphs are merged with the first ones.

    The very large ones are beyond the limits that functions have for sizes, such as 1,000 in `min(n, 1000)`. The graph
    for a run is to be added to the costs before the next run is chosen.
    """
    count, values = sizes.open_count, runs[0].values
    free = [_free(runs, 2, dims) for dims in ((6, 4, 8, 2, 4), (8, 9, 2, 3, 2))]
    others = [6, 30, 7, 15, 8]
    rows = _further_rows(count, costs) if count else [[], []] if _is_open(sizes, runs) else []
    for i, row in enumerate(rows):
        yield Run(sizes.row(row), _further_values(values, others[i], 10 + i), free[i % 2])


def _further_rows(count: int, costs: Costs) -> Iterator[list[int]]:
    yield from costs.affordable([_spaced(8, 6, count)], [_spaced(4, 2, count)])
    for numbers in ((515, 131, 35), (65731, 9307, 2141, 517)):  # 517 is affordable where 131 has shown that
        yield from costs.affordable(*(_one_large(n, count) for n in numbers))


def consecutive_probes(sizes: Sizes, runs: Sequence[Run], costs: Costs, count: int) -> list[Run]:
    """Returns runs at as many consecutive sizes, which have all remainders of the divisors up to this count."""
    values, free = runs[0].values, _free(runs, 2, (6, 4, 8, 2, 4))
    rows = [_spaced(9 + i, 1, sizes.open_count) for i in range(count)]
    return [Run(sizes.row(row), _further_values(values, 9 + i, 60 + i), free)
            for i, row in enumerate(rows) if costs.is_affordable(row)]  # fmt: skip


def held_out_runs(sizes: Sizes, runs: Sequence[Run], costs: Costs) -> list[list[Run]]:
    """Returns runs at sizes that no graph was traced for; of each, alternatives with other values."""
    count, values = sizes.open_count, runs[0].values
    numbers: list[list[int]] = [[]] * 4 if _is_open(sizes, runs) else []
    if count:
        numbers = [[1] * count, _in_turn(2, 1, count)]
        numbers += [_in_turn(1, 2, count)] if count > 1 else []
        # Where the graphs have larger sizes: a limit, as in `min(n, 4)`, may be reached in all of them.
        numbers += [[n] * count for n in (3, 5) if sizes.row([n] * count) not in sizes.probes]
        numbers += costs.affordable([_spaced(12, 10, count)], [_spaced(6, 2, count)])
        numbers += costs.affordable(*(_one_large(n, count) for n in (531, 133, 41)))
    found = []
    for i, row in enumerate(numbers):
        free = _free(runs, i % 4, (9, 4, 1, 6, 2))
        own = _further_values(values, (1, 2, 12, 17)[i % 4], 20 + i)
        chosen = [(40, i), own] if isinstance(own, str) else [own]  # random values first: ones hide a wrong slice
        found.append([Run(sizes.row(row), one, free) for one in chosen])
    return found


def _is_open(sizes: Sizes, runs: Sequence[Run]) -> bool:
    """Whether the graphs may depend on sizes: of axes, of inputs of any rank, or read from values."""
    return bool(sizes.open_count) or len(runs) > 1


def _further_values(values: Any, number: int, seed: int) -> Any:
    """Returns values like those of the first graphs; numbers and random ones are others in each run."""
    return values if isinstance(values, str) else number if isinstance(values, int) else (values[0], seed)


def _free(runs: Sequence[Run], ranks: int, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Returns a shape for inputs of any rank, if there are some: so many ranks above the lowest."""
    return dims[: len(runs[0].free) + ranks]


def _in_turn(first: int, second: int, count: int) -> list[int]:
    return [second if i % 2 else first for i in range(count)]


def _spaced(first: int, step: int, count: int) -> list[int]:
    return [first + step * i for i in range(count)]


def _one_large(size: int, count: int) -> list[list[int]]:
    """Returns rows in which every other size is large."""
    return [[size + i if i % 2 == odd else 4 + i for i in range(count)] for odd in range(min(count, 2))]
