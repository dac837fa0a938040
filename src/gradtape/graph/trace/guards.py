"""Guards: nodes that check, in every run, the values and shapes that a graph is specialized on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...engine.run.source_lines import Line
from ..ir.effects import guard, shape_guard
from ..ir.graph import Value
from .conversion_status import thread as conversion
from .graph_builder import GraphBuilder


class Guards:
    """Adds guards to the graph of a builder, one for each value."""

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self.guarded: set[Value] = set()

    def specialize(self, place: Value, value: Tensor) -> Any:
        """Return the array of `value`, which the graph now depends on: a run with a different one is traced again."""
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
