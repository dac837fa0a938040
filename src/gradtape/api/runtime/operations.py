"""TensorFlow's view of a graph: operations with names, types and inputs, and the nodes of a `GraphDef`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...core.dtypes import DType
from ...core.shapes import TensorShape
from ...engine.run.protocols import Attrs
from ...graph.ir.graph import Graph, Value, unique
from ..catalogue.nodes import node_type


class Symbol(NamedTuple):
    """One output of an operation."""

    name: str
    op: Operation
    value_index: int
    shape: TensorShape
    dtype: DType


class Operation:
    """One operation of a graph: `type` is TensorFlow's name of the op, `name` the operation's own."""

    graph: Graph
    name: str
    type: str
    inputs: tuple[Symbol, ...]
    outputs: list[Symbol]
    control_inputs: list[Operation]
    device: str

    def __init__(self, graph: Graph, name: str, kind: str, attrs: Attrs, outputs: tuple[Value, ...]) -> None:
        self.graph, self.name, self.type, self._attrs = graph, name, kind, attrs
        self.inputs = ()
        self.control_inputs = []
        self.device = ""
        self.outputs = [
            Symbol(f"{name}:{i}", self, i, TensorShape(v.shape), v.dtype) for i, v in enumerate(outputs)
        ]

    def get_attr(self, name: str) -> Any:
        """Return an attribute of the op, by gradtape's name."""
        if name not in self._attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'; it has {sorted(self._attrs)}")
        return self._attrs[name]

    def values(self) -> tuple[Symbol, ...]:
        """Return the outputs."""
        return tuple(self.outputs)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class NodeDef(NamedTuple):
    """One node of a `GraphDef`."""

    name: str
    op: str
    input: tuple[str, ...]


class GraphDef(NamedTuple):
    """The nodes of a graph, for inspection only: not a protocol buffer."""

    node: tuple[NodeDef, ...]


@dataclass(frozen=True, eq=False)
class FunctionGraph(Graph):
    """The graph of a function, with TensorFlow's methods for listing its operations."""

    names: tuple[str, ...] = ()  # of the inputs

    building_function = True

    @classmethod
    def of(cls, graph: Graph, names: Sequence[str]) -> FunctionGraph:
        """Return a traced graph with TensorFlow's methods, and these names of its inputs."""
        return cls(graph.name, graph.inputs, graph.nodes, graph.outputs, graph.variables, graph.updates, tuple(names))

    @property
    def external_captures(self) -> list[Any]:
        """The variables that the function reads or writes."""
        return list({id(variable): variable for variable, _ in (*self.variables, *self.updates)}.values())

    def get_operations(self) -> list[Operation]:
        """Return the operations in order: inputs, reads, computations (after their constants), assignments, outputs."""
        return _Listing(self).steps()

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation of that name."""
        found = {step.name: step for step in self.get_operations()}
        if name not in found:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph: it has {', '.join(found)}")
        return found[name]

    def as_graph_def(
        self, from_version: Any = None, add_shapes: bool = False, use_pybind11_proto: bool = False
    ) -> GraphDef:
        """Return the names, op types and inputs of the operations, in `.node`."""
        steps = self.get_operations()
        return GraphDef(
            tuple(NodeDef(s.name, s.type, tuple(x.name.removesuffix(":0") for x in s.inputs)) for s in steps)
        )


class _Listing:
    """Builder of the operation list: the operations named so far, and the symbol of each value."""

    def __init__(self, graph: FunctionGraph) -> None:
        self._graph = graph
        self._found: dict[str, Operation] = {}
        self._made: dict[Value, Symbol] = {}

    def steps(self) -> list[Operation]:
        graph = self._graph
        for i, value in enumerate(graph.inputs):
            self._add(graph.names[i] if i < len(graph.names) else f"arg{i}", "Placeholder", (), {}, (value,))
        for variable, value in graph.variables:
            self._add(f"{variable.name.partition(':')[0]}/Read/ReadVariableOp", "ReadVariableOp", (), {}, (value,))
        for node in graph.nodes:
            kind = node_type(node.op)
            self._add(kind, kind, node.inputs, node.attrs, node.outputs)
        for variable, value in graph.updates:
            self._add(f"{variable.name.partition(':')[0]}/AssignVariableOp", "AssignVariableOp", (value,), {}, ())
        for value in graph.outputs:
            self._add("Identity", "Identity", (value,), {}, (Value(value.shape, value.dtype),))
        return list(self._found.values())

    def _add(self, title: str, kind: str, inputs: tuple[Value, ...], attrs: Attrs, outputs: tuple[Value, ...]) -> None:
        for value in inputs:
            if value not in self._made:
                self._add("Const", "Const", (), {"value": value.constant}, (value,))
        operation = Operation(self._graph, unique(title, self._found), kind, attrs, outputs)
        operation.inputs = tuple(self._made[value] for value in inputs)
        self._found[operation.name] = operation
        self._made.update(zip(outputs, operation.outputs, strict=True))
