"""Frozen functions: the values of variables become constants of the graph."""

from __future__ import annotations

from typing import Any

from gradtape.api.runtime.graphs import Graph
from gradtape.api.runtime.operations import GraphTensor
from gradtape.core import nest
from gradtape.graph.function.concrete_function import ConcreteFunction
from gradtape.graph.ir.graph import unique
from gradtape.saved_model.functions import LoadedConcreteFunction
from gradtape.state.specs import TensorSpec

from .operations import graph_function
from .presentation import PresentedFunction


class GraphConcreteFunction(LoadedConcreteFunction):
    """A function that runs operations of a graph, from some of its tensors to others."""

    def __init__(
        self, graph: Graph, inputs: list[GraphTensor], outputs: list[Any], signature: Any, structure: Any, name: str,
        captured: Any = (),
    ) -> None:  # fmt: skip
        run = graph_function(graph, inputs, outputs, unique(name, graph._functions))
        super().__init__(run, captured, signature, structure)
        self._own_graph, self._inputs = graph, inputs
        self._fetched = [x for x in outputs if isinstance(x, GraphTensor)]
        self.set_names([x.op.name for x in inputs[: len(self._given)]], len(self._given))

    @property
    def graph(self) -> Graph:  # type: ignore[override]
        """The graph of the operations."""
        return self._own_graph

    @property
    def inputs(self) -> list[Any]:
        """The tensors that are given."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[Any]:
        """The tensors that are returned."""
        return list(self._fetched)


def convert_variables_to_constants_v2(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> GraphConcreteFunction:
    """Returns a function whose graph has the values of the variables as constants."""
    graph = PresentedFunction(func, freezes=True)
    name = func.name.decode()
    specs = [TensorSpec(x.shape, x.dtype, x.op.name) for x in graph.inputs]
    outputs = [TensorSpec(x.shape, x.dtype) for x in graph.outputs]
    leaves = nest.flatten(graph.structured_outputs, expand_composites=True)
    structure = graph.structured_outputs if len(leaves) == len(outputs) else outputs
    return GraphConcreteFunction(graph, graph.inputs, graph.outputs, (tuple(specs), {}), structure, name)


def convert_variables_to_constants_v2_as_graph(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> tuple[GraphConcreteFunction, Any]:
    """Returns the frozen function and its `GraphDef`."""
    frozen = convert_variables_to_constants_v2(func, lower_control_flow, aggressive_inlining)
    return frozen, frozen.graph.as_graph_def()
