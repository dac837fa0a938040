"""Builds a graph: its inputs, nodes and constants in program order, with source lines and names; and its guards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.protocols import Line, OpLike
from ...core.tensor import Tensor
from ...engine.run.source_lines import caller
from ..ir.effects import guard, shape_guard
from ..ir.graph import Attrs, Node, Value, maker, unique
from .conversion_status import thread as conversion


class GraphBuilder:
    """A list of nodes that grows, and what they refer to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Value] = []
        self.late_inputs: dict[Value, Tensor] = {}  # initial values of inputs that were added during tracing
        self.nodes: list[Node] = []
        self.line: Line | None = None  # source line of new nodes, if it is not the caller's
        self._constants: dict[int, tuple[Tensor, Value]] = {}
        self._names: dict[Value, str] = {}
        self._parameters: dict[Value, str] = {}  # the names of the inputs

    def add_input(self, x: Tensor, name: str) -> Value:
        """Add an input of the shape and dtype of `x`."""
        place = Value(x.dims, x.dtype)
        self.inputs.append(place)
        self._parameters[place] = name
        return place

    def add_node(
        self, op: OpLike, inputs: Sequence[Value], attrs: Attrs, outputs: Sequence[Value] = (),
        several: bool = True, line: Line | None = None,
    ) -> None:  # fmt: skip
        """Add a node, attributed to `line` or to the current one."""
        self.nodes.append(Node(op, tuple(inputs), attrs, tuple(outputs), several, line or self.line or caller()))

    def constant(self, x: Tensor) -> Value:
        """Returns the constant that stands for a plain tensor."""
        found = self._constants.get(id(x))
        if found is None:
            found = self._constants[id(x)] = (x, Value(x.dims, x.dtype, x.array))
        return found[1]

    @contextmanager
    def at_line(self, line: Line | None = None) -> Iterator[None]:
        """Attribute nodes added in the block to `line`, by default to the current line of user code."""
        before, self.line = self.line, line or self.line or caller()
        try:
            yield
        finally:
            self.line = before

    def name_of(self, place: Value) -> str:
        """Returns a unique name of a value: that of its parameter, or of the op that produced it."""
        if place not in self._names:
            made = maker(self.nodes, place)
            name = self._parameters.get(place, "captured") if made is None else made.op.name
            self._names[place] = unique(name, set(self._names.values()))
        return self._names[place]


class Guards:
    """Adds guards to the graph of a builder, one for each value."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self.guarded: set[Value] = set()

    def specialize(self, place: Value, value: Tensor) -> Any:
        """Returns the array of `value`, which the graph now depends on: a run with a different one is traced again."""
        conversion.looks += 1
        array = value.array
        if place not in self.guarded:
            self.guarded.add(place)
            self._builder.add_node(guard, (place,), {"value": array})
        return array

    def fix_shapes(self, places: Sequence[Value], line: Line | None = None) -> None:
        """Specialize the graph on the shapes of these values."""
        for place in places:
            self._builder.add_node(shape_guard, (place,), {"shape": place.shape}, line=line)
