"""Traces a function for several input sizes to derive its program for all sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, combinations, product
from typing import Any, NamedTuple

from ..core import errors, nest
from ..core.tensor import Tensor
from ..graph.function.concrete_function import ConcreteFunction
from ..graph.ir.effects import Changed, imagining, never
from ..graph.ir.graph import Graph, all_nodes
from ..graph.passes.optimize import dead_code
from ..graph.trace.traced import Untraceable
from ..state.specs import TensorSpec, TypeSpec
from .functions import LoadedConcreteFunction
from .invented_inputs import (
    SMALL,
    Costs,
    Run,
    Sizes,
    consecutive_probes,
    examples,
    free_shape,
    further_probes,
    held_out_runs,
    spec_of,
)
from .writing.generalisation import Differs, Place, Program, Size, merged
from .writing.library import FunctionLibrary
from .writing.writer import Unsaved, at_line

_LARGE = (67, 97, 131, 71, 101, 137, 73, 103, 139, 79, 107, 149, 83, 109, 151, 89, 113, 157)
_MEDIUM = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)  # for so many axes that larger sizes need too much memory
_MAX_TRACES = 40  # limit of the search for sizes that a function accepts
_MAX_MULTIPLE = 8  # of an invented size that another one may be
_PROBES = 3  # sizes tried per unknown size: with two, any linear function would fit
REFUSALS = (Untraceable, Changed, Differs, ValueError, TypeError, errors.OpError)  # there is no graph for some inputs


class Probed(NamedTuple):
    """A function to be written."""

    program: Program
    outputs: Any  # the return value, with specs in place of tensors
    specs: list[TensorSpec]  # of the input tensors
    names: list[str]
    function: ConcreteFunction
    graphs: list[Graph]  # which the program merges
    held_out: list[list[Run]]  # runs at other sizes; of each, alternatives with other values

    def trace(self, run: Run) -> tuple[list[Tensor], Graph]:
        """Returns the inputs of a run and the graph for them. There are no side effects."""
        given = self.function._given
        return examples(list(map(spec_of, given)), run), dead_code(_traced(self.function, given, run).graph)


def probed(function: ConcreteFunction) -> Probed:
    """Returns the program of a function for a signature; raises ValueError or `Unsaved` with the reason."""
    if isinstance(function, LoadedConcreteFunction):
        inner = probed(function.traced())
        return inner._replace(names=function._names, outputs=function.structured_outputs)
    if function._bound:
        raise Unsaved("it takes a variable as an argument: a SavedModel's functions take tensors")
    given = function._given
    failure: Exception | None = None
    attempts = ((lowest_rank, attempt) for lowest_rank in _lowest_ranks(given) for attempt in _attempts(function))
    for lowest_rank, (sizes, values) in attempts:
        if lowest_rank and isinstance(failure, Differs):
            break  # it accepts lower ranks, and behaves differently for each
        ranks = range(lowest_rank, lowest_rank + len(sizes.probes))
        runs = [Run(row, one, free_shape(rank)) for row, one, rank in zip(sizes.probes, values, ranks, strict=True)]
        try:
            variants = [_traced(function, given, run) for run in runs]
            graphs = [dead_code(variant.graph) for variant in variants]
            program = merged(graphs)
            _check_values(program, values[0])
        except REFUSALS as error:
            failure = failure or error
            continue
        try:
            costs = Costs(sizes, graphs)
            for run, graph in _accepted(function, further_probes(sizes, runs, costs)):
                graphs.append(graph)
                costs.add(run.sizes, graph)
            program = merged(graphs)
            count = _undecided(program, function) if len(graphs) > 1 else 0
            if count:
                graphs += [graph for _, graph in _accepted(function, consecutive_probes(sizes, runs, costs, count))]
                program = merged(graphs)
        except Differs as error:
            failure = error
            break
        specs = list(map(_open_spec, program.outputs))
        outputs = nest.map_structure(_common_spec, *(variant.specified(specs) for variant in variants))
        held_out = held_out_runs(sizes, runs, costs)
        return Probed(program, outputs, list(map(spec_of, given)), function._names, function, graphs, held_out)
    assert failure is not None
    if isinstance(failure, LooksAtValues):
        raise Unsaved(
            "what it does depends on the value of a tensor (an axis, a size or a Python `if`), so there is no one "
            "graph for it. Use tf.cond, tf.while_loop or AutoGraph for that, or give a Python value"
        ) from failure
    if isinstance(failure, Differs):
        raise Unsaved(
            f"what it does depends on a size that its input signature leaves open{at_line(failure.line)}: {failure}. "
            "Give the size in the input signature"
        ) from failure
    if isinstance(failure, Untraceable | Changed):
        raise Unsaved(f"there is no one graph for it: {failure or 'a loop in it depends on values'}") from failure
    raise failure


def _accepted(function: ConcreteFunction, runs: Iterable[Run]) -> Iterator[tuple[Run, Graph]]:
    """Yields the runs whose sizes the function accepts, and their graphs."""
    for run in runs:
        with suppress(Exception):  # whatever the function raises for other sizes
            yield run, dead_code(_traced(function, function._given, run).graph)


def _undecided(program: Program, function: ConcreteFunction) -> int:
    """Returns how many consecutive sizes decide between relations that fit the sizes of a program, or 0."""
    library = FunctionLibrary(saves_gradients=False)
    with suppress(Unsaved, TypeError):
        library.function(program, "f", function._names, list(map(spec_of, function._given)))
    return library.undecided


def _lowest_ranks(given: Sequence[Any]) -> Sequence[int]:
    """Returns the initial ranks for open ranks: a function may accept no scalars, or no vectors."""
    return (0,) if all(spec_of(x).shape.rank is not None for x in given) else (0, 1, 2)


class LooksAtValues(Differs):
    """A graph depends on values in a way that the traced graphs do not show."""


def _check_values(program: Program, values: Any) -> None:
    """Raises an error unless the graphs were traced with values that reveal dependences on them."""
    mixed, counted = isinstance(values, tuple), isinstance(values, int)
    places = program.shaped_by_values
    if places and not (mixed and all(any(isinstance(n, Size) for n in place.dims) for place in places)):
        raise LooksAtValues
    if program.looks_at_values and not counted:
        raise LooksAtValues


def _traced(function: ConcreteFunction, given: Sequence[Any], run: Run) -> Any:
    with imagining():
        traced = function._concrete.traced_for_good(examples(list(map(spec_of, given)), run), (), False)
    for node in all_nodes(traced.graph):
        if node.op is never:
            raise Unvisited(node.attrs.get("operand_shapes", ()))
    return traced


class Unvisited(Differs):
    """A branch that is not taken could not be traced."""

    def __init__(self, operand_shapes: Any) -> None:
        super().__init__("a branch of it cannot be traced for all sizes")
        self.operand_shapes = operand_shapes


def _open_spec(place: Place) -> TensorSpec:
    shape = [None if isinstance(n, Size) else n for n in place.dims] if place.ranked else None
    return TensorSpec(shape, place.dtype)


def _common_spec(spec: Any, *others: Any) -> Any:
    """Returns the common spec of the results of all graphs: the shape of a composite may differ between them."""
    return spec.most_specific_common_supertype(others) if isinstance(spec, TypeSpec) and others else spec


def _attempts(function: ConcreteFunction) -> Iterator[tuple[Sizes, list[Any]]]:
    """Yields sizes for the unknown axes in each graph, and the values of inputs.

    Values are ones; an invertible matrix, a permutation or text that is a number; different values in each graph, if
    values are read; random values, if shapes depend on them.
    """
    different: list[Sizes] = []
    grouped: list[Sizes] = []  # some sizes are the same
    for sizes in _sizes(function._given):
        (different if sizes.open_count == len(sizes.axes) else grouped).append(sizes)
    for sizes in different:
        yield sizes, ["ones"] * len(sizes.probes)
    constrained = []
    for sizes in _constrained_sizes(function):
        yield sizes, ["ones"] * len(sizes.probes)
        constrained.append(sizes)
    for sizes in grouped:
        for varied in _variations(sizes, function._given):
            yield varied, ["ones"] * _PROBES
    attempts = constrained + different + grouped
    for sizes in attempts:
        yield sizes, ["matrix"] * len(sizes.probes)
    for sizes in attempts:
        several = sizes if len(sizes.probes) == _PROBES else sizes._replace(probes=sizes.probes * _PROBES)
        yield several, [9, 14, 25]
        yield several, [2, 3, 4]
        for seed in range(6):
            yield several, [(seed, probe) for probe in range(_PROBES)]


def _sizes(given: Sequence[Any]) -> Iterator[Sizes]:
    """Yields sizes for the unknown axes in each graph: first all different, then more and more of them equal."""
    shapes = [spec_of(x).shape for x in given]
    axes = [(i, axis) for i, shape in enumerate(shapes) for axis, n in enumerate(shape or ()) if n is None]
    if not axes:
        yield Sizes([[]] * (1 if all(shape.rank is not None for shape in shapes) else _PROBES), [])
        return
    groupings = [
        [(i, axis) for i, axis in axes],
        [(0, 0) if axis == 0 else (i, axis) for i, axis in axes],
        [(0, axis) for _, axis in axes],
        [(0, 0)] * len(axes),
    ]
    seen = []
    for numbers in (SMALL, _invented_numbers(given)):
        for grouping in groupings:
            order = list(dict.fromkeys(grouping))
            classes = [order.index(one) for one in grouping]
            if (numbers, classes) in seen or len(order) > len(numbers):
                continue
            seen.append((numbers, classes))
            probes = [[_number(numbers, c, probe, len(order)) for c in classes] for probe in range(_PROBES)]
            yield Sizes(probes, [(1, c) for c in classes])


def _invented_numbers(given: Sequence[Any]) -> tuple[int, ...]:
    """The sizes for a search for those that fit: hardly numbers that a program has for constants."""
    axes = [sum(n is None for n in spec_of(x).shape or ()) for x in given]
    return _LARGE if sum(axes) <= 4 and max(axes) <= 2 else _MEDIUM


def _number(numbers: tuple[int, ...], index: int, probe: int, count: int) -> int:
    """The size in one of the graphs that stands for the open size `index` of `count`.

    Where there are not enough numbers each graph has all of them, in another order.
    """
    if count * _PROBES <= len(numbers):
        return numbers[_PROBES * index + probe]
    return numbers[(index + probe * (len(numbers) // _PROBES)) % len(numbers)]


def _variations(sizes: Sizes, given: Sequence[Any]) -> Iterator[Sizes]:
    """The sizes in each of the graphs, first such that no two axes have the same ones.

    Axes that the graphs cannot tell apart are taken for one another. So an axis that has the size of another is 1 in
    one of the graphs, as it may be where it is broadcast; or the sizes of a tensor that has those of another are in
    reverse order, as they may be where it is reshaped.
    """
    probes = sizes.probes
    columns = list(zip(*probes, strict=True))
    repeated = [axis for axis, column in enumerate(columns) if column in columns[:axis]]
    if 0 < len(repeated) <= _PROBES:
        broadcast = [list(probe) for probe in probes]
        for i, axis in enumerate(repeated):
            broadcast[i % _PROBES][axis] = 1
        yield sizes._replace(probes=broadcast)
    if repeated:
        shapes = [spec_of(x).shape for x in given]
        ends = list(accumulate((shape.as_list() if shape.rank else []).count(None) for shape in shapes))
        parts = [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        turned = list(probes[-1])
        for i, part in enumerate(parts):
            its_sizes = [turned[k] for k in part]
            if any(sorted(its_sizes) == sorted(turned[k] for k in other) for other in parts[:i]):
                for k, size in zip(part, reversed(its_sizes), strict=True):
                    turned[k] = size
        if turned != probes[-1]:
            yield sizes._replace(probes=[turned, *probes[:-1]])
    yield sizes


def _constrained_sizes(function: ConcreteFunction) -> Iterator[Sizes]:
    """Yields sizes for unknown axes that the function constrains, to those of a constant or to each other.

    The function is traced with invented sizes. An op that rejects them names the shapes that do not match; one of the
    invented sizes must then equal another size in them. The search tries each candidate in turn, the most likely first.
    Branches with different output shapes do not end the search: sizes for which all shapes agree are preferred.
    """
    given = function._given
    given_sizes = [n for x in given for n in spec_of(x).shape or ()]
    axes, known = given_sizes.count(None), {n for n in given_sizes if n is not None}
    numbers = _invented_numbers(given)
    if not axes or axes > len(numbers):
        return
    waiting = [list(numbers[:axes])]
    waiting += [row for row in (one.probes[0] for one in _sizes(given)) if set(row) <= set(numbers)]
    started = tuple(waiting[0])
    seen = set(map(tuple, waiting))
    uneven: list[list[int]] = []
    for _ in range(_MAX_TRACES):
        if not waiting:
            break
        sizes = waiting.pop(0)
        try:
            shapes: Sequence[tuple[int, ...]] = _branch_shapes(_traced(function, given, Run(sizes, "ones")).graph)
            fits = True
        except REFUSALS as error:
            shapes = _rejected_shapes(error, sizes, known, numbers)
            fits = False
        refined = [new for new in _refine_sizes(sizes, shapes, numbers) if tuple(new) not in seen]
        seen |= {tuple(new) for new in refined}
        waiting = refined + waiting
        if fits and tuple(sizes) != started:  # all different: that was tried already
            if shapes:
                uneven.append(sizes)
            else:
                yield from _probes(_relax_sizes(function, sizes, numbers, uneven=False), numbers, given)
    for sizes in uneven:
        yield from _probes(_relax_sizes(function, sizes, numbers, uneven=True), numbers, given)


def _rejected_shapes(
    error: Exception, sizes: list[int], known: set[int], numbers: tuple[int, ...]
) -> Sequence[tuple[int, ...]]:
    """The shapes that an op rejected: those attached to its error, the sizes in its message, or all that there are."""
    shapes = errors.rejected_shapes(error)
    if shapes:
        return shapes
    message = (str(error).splitlines() or [""])[-1]
    named = [tuple(map(int, re.findall(r"\d+", text))) for text in re.findall(r"[\[(]\d[\d, ]*[\])]|\d+", message)]
    if not any(_factors(n, sizes, numbers) for shape in named for n in shape):
        named += [(n,) for n in (*sizes, *known)]
    return list(dict.fromkeys(named))


def _factors(size: int, sizes: list[int], numbers: tuple[int, ...]) -> list[int]:
    """The invented sizes that divide a size: they are primes, so a product of sizes shows which they are."""
    return [n for n in numbers if size > 0 and size % n == 0 and any(other % n == 0 for other in sizes)]


def _branch_shapes(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """Returns the shapes of one output of the branches of a cond, if they differ."""
    for node in all_nodes(graph):
        for values in zip(*(branch.outputs for branch in node.attrs.get("branches", ())), strict=True):
            shapes = tuple(dict.fromkeys(value.shape for value in values))
            if len(shapes) > 1:
                return shapes
    return ()


def _relax_sizes(function: ConcreteFunction, sizes: list[int], numbers: tuple[int, ...], uneven: bool) -> list[int]:
    """Returns sizes in which those that the function does not constrain are open again.

    Several axes of one size may be open together, as the same size or as a multiple of it. With `uneven`, the branches
    of a cond may return different shapes.
    """

    def fits(candidate: list[int]) -> bool:
        with suppress(*REFUSALS):
            traced = _traced(function, function._given, Run(candidate, "ones"))
            return uneven or not _branch_shapes(traced.graph)
        return False

    def opened(axes: tuple[int, ...], factor: int) -> bool:
        nonlocal sizes
        unused = next((n for n in numbers if not any(size % n == 0 for size in sizes)), None)
        if unused is None or len({sizes[axis] for axis in axes}) > 1:
            return False
        candidate = [unused * factor if axis in axes else n for axis, n in enumerate(sizes)]
        if not fits(candidate):
            return False
        sizes = candidate
        return True

    for size in dict.fromkeys(n for n in sizes if not _factors(n, sizes, numbers)):
        of_this_size = [axis for axis, n in enumerate(sizes) if n == size]
        subsets = [axes for count in range(len(of_this_size), 0, -1) for axes in combinations(of_this_size, count)]
        for axes, factor in product(subsets[:_MAX_TRACES], (1, size)):
            if all(sizes[axis] == size for axis in axes):
                opened(axes, factor)
    split = True
    while split:  # axes of one open size may be several
        split = False
        for size in dict.fromkeys(n for n in sizes if sizes.count(n) > 1):
            factors, others = _factors(size, sizes, numbers), [axis for axis, n in enumerate(sizes) if n == size][1:]
            subsets = [axes for count in range(1, len(others) + 1) for axes in combinations(others, count)]
            if factors and any(opened(axes, size // factors[0]) for axes in subsets[:_MAX_TRACES]):
                split = True
    return sizes


def _refine_sizes(sizes: list[int], shapes: Sequence[tuple[int, ...]], numbers: tuple[int, ...]) -> list[list[int]]:
    """Returns sizes in which one equals another, so that these shapes may match."""
    exact: list[tuple[int, int]] = []  # an invented size, and the size that makes two others equal
    guesses: list[tuple[int, int]] = []
    counts: list[tuple[int, int]] = []  # the same for two numbers of elements, as in a reshape
    for first, second in combinations(shapes, 2):
        aligned = zip(reversed(first), reversed(second), strict=False)
        crossed = [(first[-1], second[-2])] if len(first) > 0 and len(second) > 1 else []  # as in a product of matrices
        for pair in [*aligned, *crossed, *product(first, second)]:
            for size, other in (pair, reversed(pair)):
                for factor in _factors(size, sizes, numbers):
                    multiple = size // factor
                    if not other % multiple:
                        exact.append((factor, other // multiple))
                    else:
                        guesses += [(factor, n) for n in _factors(other, sizes, numbers) or [other]]
        for one, target in ((first, second), (second, first)):
            count, wanted = math.prod(one), math.prod(target)
            if len(one) == 1 < len(target) and count not in sizes:  # a reshape of a flat tensor: rows are likely rows
                exact[:0] = [(target[0], n) for n in _factors(count, sizes, numbers) if target[0] in numbers]
            counts += [(n, wanted * n // count) for n in _factors(count, sizes, numbers) if not wanted * n % count]
    return [
        [other if n == factor else n for n in sizes]
        for factor, other in dict.fromkeys(exact + guesses + counts)
        if other > 1 and other != factor and _may_stand(other, sizes, numbers)
    ]  # fmt: skip


def _may_stand(size: int, sizes: list[int], numbers: tuple[int, ...]) -> bool:
    """Whether an axis may have this size: a known one, or a small multiple of an invented one; no product of two."""
    factors = _factors(size, sizes, numbers)
    return not factors or (len(factors) == 1 and size // factors[0] <= _MAX_MULTIPLE)


def _probes(sizes: list[int], numbers: tuple[int, ...], given: Sequence[Any]) -> Iterator[Sizes]:
    """The sizes of each graph, given those that a function takes: an invented one, or a multiple, stands for any.

    An axis of known size may also be broadcast from size 1. This is tried for one axis at a time, so that no size is
    confused with that of another axis.
    """
    factors = [next(iter(_factors(n, sizes, numbers)), None) for n in sizes]
    fixed = [axis for axis, factor in enumerate(factors) if factor is None]
    order = list(dict.fromkeys(factor for factor in factors if factor is not None))
    if len(order) > len(numbers):
        return
    axes = [(n, None) if factor is None else (n // factor, order.index(factor))
            for n, factor in zip(sizes, factors, strict=True)]  # fmt: skip
    found = Sizes([], axes)
    for probe in range(_PROBES):
        found.probes.append(found.row([_number(numbers, index, probe, len(order)) for index in range(len(order))]))
    if 0 < len(fixed) <= _PROBES:
        broadcast = [list(row) for row in found.probes]
        for at, axis in enumerate(fixed):
            broadcast[(at + 1) % _PROBES][axis] = 1
        yield found._replace(probes=broadcast)
    yield from _variations(found, given)
