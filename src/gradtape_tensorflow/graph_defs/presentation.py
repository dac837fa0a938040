"""Writes functions as `GraphDef`s: the graph of a function with TensorFlow's nodes.

A function is written as a `FunctionDef`, as in a SavedModel, whose nodes refer to outputs by the names in op
definitions; in a graph they refer to them by index.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from gradtape.api.runtime.graphs import Graph
from gradtape.api.runtime.operations import GraphTensor
from gradtape.core import errors
from gradtape.core.locks import cached_property
from gradtape.core.protos.records import encoded
from gradtape.core.shapes import TensorShape
from gradtape.graph.function.concrete_function import ConcreteFunction
from gradtape.saved_model.probing import probed
from gradtape.saved_model.verification import verify
from gradtape.saved_model.writing.library import FunctionLibrary
from gradtape.state.specs import TensorSpec

from ..protos.generated import message_class
from .operations import SHAPES, DefinedOperation, tensor_name

PRODUCER = 2401  # the version of graphs that TensorFlow 2.21 writes


class PresentedFunction(Graph):
    """The graph of a function: its inputs are placeholders, also those for variables."""

    building_function = True  # type: ignore[assignment]

    def __init__(self, function: ConcreteFunction, freezes: bool = False) -> None:
        super().__init__()
        library = FunctionLibrary(saves_gradients=False, freezes=freezes)
        title = function.name.decode()
        try:
            found = probed(function)
            self.name, self.captured = library.function(found.program, title, found.names, found.specs)
            verify(found, library, self.name, self.captured)
        except (errors.UnimplementedError, TypeError) as error:
            raise errors.UnimplementedError(f"the function {title} cannot be written as a graph: {error}") from error
        self.structured_outputs, self.specs = found.outputs, found.specs
        shapes = library.shapes.pop(self.name)
        kind = message_class("FunctionDef")
        self.definition = kind.FromString(encoded("FunctionDef", library.functions.pop(self.name)))
        self._functions = {
            name: DefinedFunction(kind.FromString(encoded("FunctionDef", values)))
            for name, values in library.functions.items()
        }
        self.inputs, self.outputs = add_function(self, self.definition, found.specs, found.names, shapes)


class DefinedFunction:
    """A function of a graph's library."""

    def __init__(self, definition: Any) -> None:
        self.definition = definition
        self.name = definition.signature.name

    @cached_property
    def cached_definition(self) -> Any:
        """The `FunctionDef`."""
        return self.definition


def add_function(
    graph: Graph, definition: Any, specs: Sequence[TensorSpec], names: Sequence[str] = (), shapes: Any = None
) -> tuple[list[GraphTensor], list[GraphTensor]]:
    """Adds the nodes of a `FunctionDef` to a graph, arguments as placeholders; returns its inputs and outputs."""
    node_kind = message_class("NodeDef")
    inputs: list[GraphTensor] = []
    places: dict[str, str] = {}  # tensors of the function, as nodes of the graph refer to them
    taken = {node.name for node in definition.node_def}
    for i, argument in enumerate(definition.signature.input_arg):
        own = names[i] if i < len(names) and names[i] not in taken and names[i].isidentifier() else argument.name
        node = node_kind(name=own, op="Placeholder")
        node.attr["dtype"].type = argument.type
        shape = specs[i].shape if i < len(specs) else TensorShape([])
        node.attr["shape"].shape.CopyFrom(shape.as_proto())
        operation = _add(graph, node, [shape])
        inputs.append(operation.outputs[0])
        places[argument.name] = places[f"{argument.name}:0"] = own
    waiting = list(definition.node_def)
    for node in waiting:  # the outputs of a node are known by its attributes alone
        probe = DefinedOperation(Graph(), node)
        for i, output in enumerate(probe.output_names):
            places[f"{node.name}:{output}"] = f"{node.name}:{i}" if i else node.name
    for node in waiting:
        made = node_kind()
        made.CopyFrom(node)
        made.input[:] = [name if name.startswith("^") else places[name] for name in node.input]
        known = [(shapes or {}).get(f"{node.name}:{output}") for output in DefinedOperation(Graph(), node).output_names]
        _add(graph, made, known)
    returned = [places[definition.ret[argument.name]] for argument in definition.signature.output_arg]
    return inputs, [graph.get_tensor_by_name(tensor_name(name)) for name in returned]


def _add(graph: Graph, node: Any, shapes: Sequence[TensorShape | None]) -> DefinedOperation:
    operation = DefinedOperation(graph, node)
    for output, shape in zip(operation.outputs, shapes, strict=True):
        output._shape = shape if output._shape is None else output._shape
    graph.add_operation(operation)
    return operation


_presented: weakref.WeakKeyDictionary[ConcreteFunction, PresentedFunction] = weakref.WeakKeyDictionary()


def presented(function: ConcreteFunction) -> PresentedFunction:
    """Returns the graph of a function; it is written once."""
    if function not in _presented:
        _presented[function] = PresentedFunction(function)
    return _presented[function]


def graph_def(graph: Graph, add_shapes: bool = False) -> Any:
    """Returns a graph as a `GraphDef`."""
    found = message_class("GraphDef")()
    found.versions.producer = PRODUCER
    for operation in graph.get_operations():
        assert isinstance(operation, DefinedOperation)
        node = found.node.add()
        node.CopyFrom(operation.node_def)
        if add_shapes:
            node.attr[SHAPES].list.shape.extend(x.shape.as_proto() for x in operation.outputs)
    found.library.function.extend(function.definition for function in graph._functions.values())
    return found


def needed(operations: Iterable[Any]) -> list[Any]:
    """Returns operations and all that they depend on, in topological order."""
    ordered: dict[str, Any] = {}
    waiting = list(operations)[::-1]
    under_way: set[str] = set()
    while waiting:
        step = waiting[-1]
        before = [other for other in (*(x.op for x in step.inputs), *step.control_inputs) if other.name not in ordered]
        if step.name in ordered or not before:
            ordered[step.name] = step
            waiting.pop()
        elif step.name in under_way:
            raise errors.InvalidArgumentError(f"the operations of the graph depend on each other in a circle: {before}")
        else:
            under_way.add(step.name)
            waiting += before
    return list(ordered.values())
