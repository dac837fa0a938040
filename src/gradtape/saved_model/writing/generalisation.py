"""Merges the graphs of a function for several sizes into one program for all sizes.

A graph has concrete shapes, but a SavedModel's function has open ones where its signature has None. The function is
therefore traced for several sizes, and the graphs, which must contain the same steps, are aligned. A number that is the
same in all of them is a constant; any other is a `Size`, and the writer determines which function of the input sizes it
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import DType
from ...core.errors import UnimplementedError
from ...core.protocols import Line
from ...graph.ir.effects import guard, shape_guard
from ...graph.ir.graph import Graph, Node, Value


class Differs(Exception):
    """The graphs for two sizes are different programs, from a line of the user's code on."""

    line: Line | None = None
    nested = False  # whether they differ in a branch or a loop, which a run may not enter


class Size:
    """A number that depends on the input sizes: its value in each of the graphs."""

    __slots__ = ("examples",)

    def __init__(self, examples: tuple[int, ...]) -> None:
        self.examples = examples

    def __eq__(self, other: Any) -> bool:
        return type(other) is Size and other.examples == self.examples

    def __hash__(self) -> int:
        return hash(self.examples)

    def __repr__(self) -> str:
        return f"Size{self.examples}"


class AllAxes:
    """The axes of a tensor of any rank, counted when the function runs."""

    def __iter__(self) -> Iterator[int]:
        raise UnimplementedError(_OPEN_RANK)


class ReversedAxes(AllAxes):
    """All of them from the last to the first, as in a transpose."""


ALL_AXES = AllAxes()
REVERSED_AXES = ReversedAxes()
_OPEN_RANK = "it depends on the rank of a tensor, which its input signature leaves open"


class Place:
    """A value of the program: its shape, which may contain sizes, and its arrays if it is constant.

    If an input may have any rank, so may values computed from it: such a place is not `ranked`, and has no `dims`.
    """

    __slots__ = ("_dims", "constants", "dtype", "ranked", "shapes")

    def __init__(self, values: Sequence[Value]) -> None:
        self.shapes = [value.shape for value in values]  # in each of the graphs
        self.ranked = len({len(shape) for shape in self.shapes}) == 1
        self._dims = tuple(map(size_of, zip(*self.shapes, strict=False)))
        self.dtype: DType = values[0].dtype
        if len({value.dtype for value in values}) > 1 or len({value.constant is None for value in values}) > 1:
            raise Differs("a value has different dtypes, or is not always a constant")
        self.constants = None if values[0].constant is None else [np.asarray(value.constant) for value in values]

    @property
    def dims(self) -> tuple[Any, ...]:
        """The sizes, some of which may be a `Size`."""
        if not self.ranked:
            raise UnimplementedError(_OPEN_RANK)
        return self._dims


class Step(NamedTuple):
    """One op on places."""

    op: Any
    inputs: tuple[Place, ...]
    attrs: dict[str, Any]
    outputs: tuple[Place, ...]
    line: Line | None


class Program(NamedTuple):
    """A function for all sizes."""

    name: str
    inputs: tuple[Place, ...]
    steps: list[Step]
    outputs: tuple[Place, ...]
    variables: tuple[tuple[Any, Place], ...]
    updates: tuple[tuple[Any, Place], ...]

    @property
    def looks_at_values(self) -> bool:
        """Whether a step reads the value of a tensor that is not constant."""
        return any(step.op is guard and step.inputs[0].constants is None for step in self.all_steps())

    @property
    def shaped_by_values(self) -> list[Place]:
        """The tensors whose shapes depend on values, not only on sizes."""
        found = [step.inputs[0] for step in self.all_steps() if step.op is shape_guard]
        return [place for place in found if place.constants is None]

    def all_steps(self) -> Iterator[Step]:
        """Yields the steps, and those of nested programs."""
        for step in self.steps:
            yield step
            for value in step.attrs.values():
                for inner in value if isinstance(value, tuple | list) and not isinstance(value, Program) else (value,):
                    if isinstance(inner, Program):
                        yield from inner.all_steps()


def size_of(examples: Sequence[int]) -> int | Size:
    """Returns the number common to all graphs, or a size."""
    return examples[0] if len(set(examples)) == 1 else Size(tuple(examples))


def merged(graphs: Sequence[Graph]) -> Program:
    """Merges the graphs into one program; raises `Differs` if they differ in more than sizes."""
    return _Merging().program(graphs)


class _Merging:
    """The alignment of graphs: which values correspond."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[Sequence[Value], Place]] = {}

    def program(self, graphs: Sequence[Graph]) -> Program:
        first = graphs[0]
        inputs = self._all([graph.inputs for graph in graphs])
        variables = self._held([graph.variables for graph in graphs])
        steps = []
        for nodes in zip(*(graph.nodes for graph in graphs), strict=False):
            try:
                steps.append(self._step(nodes))
            except Differs as error:
                lines = [node.line for node in nodes if node.line is not None]
                error.line = error.line or min(lines, key=lambda line: line[1], default=None)  # where they part
                raise
        counts = [len(graph.nodes) for graph in graphs]
        if len(set(counts)) > 1:
            differs = Differs(f"it does {' or '.join(str(n) for n in dict.fromkeys(counts))} steps")
            differs.line = graphs[counts.index(max(counts))].nodes[min(counts)].line
            raise differs
        outputs, updates = self._all([g.outputs for g in graphs]), self._held([g.updates for g in graphs])
        return Program(first.name, inputs, steps, outputs, variables, updates)

    def _step(self, nodes: Sequence[Node]) -> Step:
        if len({id(node.op) for node in nodes}) > 1:
            raise Differs(f"one step is {' or '.join(dict.fromkeys(node.op.name for node in nodes))}")
        given = self._all([node.inputs for node in nodes])
        if nodes[0].op is guard:  # a value that was read: it may be a size
            attrs = {"values": [np.asarray(node.attrs["value"]) for node in nodes]}
        else:
            attrs = self._attributes([node.attrs for node in nodes])
        return Step(nodes[0].op, given, attrs, self._all([node.outputs for node in nodes]), nodes[0].line)

    def _all(self, rows: Sequence[Sequence[Value]]) -> tuple[Place, ...]:
        if len({len(row) for row in rows}) > 1:
            raise Differs(f"there are {' or '.join(str(len(row)) for row in rows)} values")
        return tuple(map(self._place, zip(*rows, strict=True)))

    def _held(self, rows: Sequence[Sequence[tuple[Any, Value]]]) -> tuple[tuple[Any, Place], ...]:
        found = self._all([[value for _, value in row] for row in rows])
        for pairs in zip(*rows, strict=True):
            if len({id(variable) for variable, _ in pairs}) > 1:
                raise Differs("other variables are used")
        return tuple((variable, place) for (variable, _), place in zip(rows[0], found, strict=True))

    def _place(self, values: Sequence[Value]) -> Place:
        known = self._places.get(id(values[0]))
        if known is not None:
            if values[0].constant is None and any(a is not b for a, b in zip(known[0], values, strict=True)):
                raise Differs("a step takes other values")
            if values[0].constant is None:
                return known[1]
        place = Place(values)
        self._places[id(values[0])] = (values, place)
        return place

    def _attributes(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if len({tuple(row) for row in rows}) > 1:
            raise Differs("a step has other attributes")
        return {name: self._attribute([row[name] for row in rows]) for name in rows[0]}

    def _attribute(self, values: Sequence[Any]) -> Any:
        first = values[0]
        if len({type(value) for value in values}) > 1:
            raise Differs(f"an attribute is {' or '.join(map(str, values))}")
        if isinstance(first, Graph):
            try:
                return self.program(values)
            except Differs as error:
                error.nested = True
                raise
        if type(first) is int:
            return size_of(values)
        if isinstance(first, slice):
            return slice(*(self._attribute([getattr(v, part) for v in values]) for part in ("start", "stop", "step")))
        if isinstance(first, tuple | list):
            if len({len(value) for value in values}) > 1:
                if all(value == tuple(range(len(value))) for value in values):
                    return ALL_AXES
                if all(value == tuple(reversed(range(len(value)))) for value in values):
                    return REVERSED_AXES
                raise Differs(f"an attribute is {' or '.join(map(str, values))}")
            parts = [self._attribute(part) for part in zip(*values, strict=True)]
            return type(first)._make(parts) if hasattr(first, "_make") else type(first)(parts)
        if isinstance(first, np.ndarray | np.generic):
            if not all(np.array_equal(first, value) for value in values):
                raise Differs("an array that a step is told differs")
            return first
        if isinstance(first, str | float | bool | DType | np.dtype | type(None)) and any(v != first for v in values):
            raise Differs(f"an attribute is {' or '.join(map(str, values))}")
        return first
