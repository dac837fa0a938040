"""TensorFlow's view of a graph: operations with names, types and inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from ...core import errors
from ...core.dtypes import DType
from ...core.extension_points import graph_defs
from ...core.pickling import Unpicklable
from ...core.protocols import Attrs
from ...core.shapes import TensorShape
from ...graph.function.concrete_function import ConcreteFunction
from ...graph.ir.graph import Graph, Value, unique
from ...state.specs import TensorSpec
from ..catalogue.nodes import node_type

INSTEAD = (
    "gradtape has no graphs that are built op by op and run in sessions. Call functions of tensors, with tf.function "
    "where they are to be compiled, and read values with .numpy(). A session runs graphs that "
    "tf.graph_util.import_graph_def has read"
)


class GraphTensor:
    """One output of an operation: a tensor without value, which no op computes with."""

    instead = INSTEAD  # what the errors of functions that take tensors say

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: TensorShape | None = None) -> None:
        self.op, self.value_index, self.dtype = op, value_index, dtype
        self._shape = shape

    name = property(lambda self: f"{self.op.name}:{self.value_index}", doc="The operation and the output's index.")
    graph = property(lambda self: self.op.graph, doc="The graph of the operation.")
    device = property(lambda self: self.op.device, doc="The device of the operation.")

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        if self._shape is None:
            self._shape = self.op.infer_shapes()[self.value_index]
        return self._shape

    def get_shape(self) -> TensorShape:
        """Returns the shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Add what `shape` knows to the shape of the tensor."""
        self._shape = self.shape.merge_with(shape)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def _refuse(self, *operands: Any) -> NoReturn:
        raise TypeError(f"{self!r} has no value to compute with: {INSTEAD}")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = _refuse


class Operation(Unpicklable):
    """One operation of a graph: `type` is TensorFlow's name of the op, `name` the operation's own."""

    _instead = "pickle the tf.function, or the message node_def"

    graph: Graph
    name: str
    type: str
    inputs: tuple[GraphTensor, ...]
    outputs: list[GraphTensor]
    control_inputs: list[Operation]
    device: str

    def __init__(self, graph: Graph, name: str, kind: str, attrs: Attrs, outputs: tuple[Value, ...]) -> None:
        self.graph, self.name, self.type, self._attrs = graph, name, kind, attrs
        self.inputs = ()
        self.control_inputs = []
        self.device = ""
        self.outputs = [GraphTensor(self, i, v.dtype, TensorShape(v.shape)) for i, v in enumerate(outputs)]

    def get_attr(self, name: str) -> Any:
        """Returns an attribute of the op, by gradtape's name."""
        if name not in self._attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'; it has {sorted(self._attrs)}")
        return self._attrs[name]

    def values(self) -> tuple[GraphTensor, ...]:
        """Returns the outputs."""
        return tuple(self.outputs)

    def infer_shapes(self) -> list[TensorShape]:
        """Returns the shapes of the outputs."""
        return [output.shape for output in self.outputs]

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


Operation.__module__ = "gradtape"


class FunctionCaptures(NamedTuple):
    """The variables of a function, and the inputs of its graph that stand for them, by the variables' ids."""

    by_val_external: dict[int, Any]
    by_val_internal: dict[int, Any]


@dataclass(frozen=True, eq=False)
class FunctionGraph(Graph):
    """The graph of a function, with TensorFlow's methods for listing its operations."""

    function: ConcreteFunction | None = None

    building_function = True

    @property
    def names(self) -> Sequence[str]:
        """The names of the inputs."""
        return () if self.function is None else self.function._names

    @property
    def external_captures(self) -> list[Any]:
        """The variables that the function reads or writes."""
        return list({id(variable): variable for variable, _ in (*self.variables, *self.updates)}.values())

    def get_operations(self) -> list[Operation]:
        """Returns the operations in this order: inputs, reads, constants before computations, assignments, outputs."""
        return _Listing(self).steps()

    def get_operation_by_name(self, name: str) -> Operation:
        """Returns the operation of that name."""
        found = {step.name: step for step in self.get_operations()}
        if name not in found:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph: it has {', '.join(found)}")
        return found[name]

    def as_graph_def(self, from_version: Any = None, add_shapes: bool = False, use_pybind11_proto: bool = False) -> Any:
        """Returns the graph as a `tf.compat.v1.GraphDef`, which needs the package protobuf."""
        return graph_defs().presented(self.function).as_graph_def(add_shapes=add_shapes)

    @property
    def function_captures(self) -> FunctionCaptures:
        """The variables that the function captures, and the inputs that stand for them."""
        variables = () if self.function is None else self.function.variables
        inside = [] if self.function is None else self.function.inputs[len(self.names) :]
        return FunctionCaptures(
            {id(v): v.handle for v in variables}, {id(v): x for v, x in zip(variables, inside, strict=True)}
        )


class _Argument(GraphTensor):
    """An input or output of a function, whose name is known once its graph is written as a `GraphDef`."""

    def __init__(self, function: ConcreteFunction, kind: str, at: int, spec: TensorSpec) -> None:
        self._function, self._kind, self._at = function, kind, at
        self.dtype, self._shape, self.value_index = spec.dtype, spec.shape, 0

    @property
    def op(self) -> Operation:  # type: ignore[override]
        """The operation of the written graph."""
        found: Operation = getattr(graph_defs().presented(self._function), self._kind)[self._at].op
        return found

    @property
    def name(self) -> str:  # type: ignore[override]
        """The operation and the output's index; TensorFlow's usual name if the graph cannot be written."""
        try:
            return f"{self.op.name}:{self.value_index}"
        except errors.UnimplementedError:
            names = self._function._names
            default = f"Identity_{self._at}" if self._at else "Identity"
            return f"{names[self._at] if self._kind == 'inputs' and self._at < len(names) else default}:0"


class FunctionView:
    """Presents the graphs of functions as TensorFlow does."""

    def __reduce__(self) -> str:
        return "FUNCTION_VIEW"

    def graph_of(self, function: ConcreteFunction, graph: Graph) -> FunctionGraph:
        """Returns a traced graph with TensorFlow's methods."""
        return FunctionGraph(
            graph.name, graph.inputs, graph.nodes, graph.outputs, graph.variables, graph.updates, function
        )

    def inputs_of(self, function: ConcreteFunction, specs: list[TensorSpec]) -> list[Any]:
        """Returns the inputs as tensors of the graph."""
        return [_Argument(function, "inputs", i, spec) for i, spec in enumerate(specs)]

    def outputs_of(self, function: ConcreteFunction, specs: list[TensorSpec]) -> list[Any]:
        """Returns the outputs as tensors of the graph."""
        return [_Argument(function, "outputs", i, spec) for i, spec in enumerate(specs)]


FUNCTION_VIEW = FunctionView()


class _Listing:
    """Builder of the operation list: the operations named so far, and the symbol of each value."""

    def __init__(self, graph: FunctionGraph) -> None:
        self._graph = graph
        self._found: dict[str, Operation] = {}
        self._made: dict[Value, GraphTensor] = {}

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
