"""Stand-ins for `tensorflow.python.framework.func_graph` and its neighbors: graphs of functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradtape
from gradtape.api.catalogue.definitions import recorded_ops
from gradtape.api.runtime import graphs
from gradtape.core.scopes import unscoped
from gradtape.engine.run import dispatch
from gradtape.graph.trace.scratch import ScratchTrace
from gradtape_tensorflow.graph_defs.importing import sub_graph
from gradtape_tensorflow.graph_defs.operations import op_def
from gradtape_tensorflow.graph_defs.presentation import add_function


class _AnyFuncGraph(type(gradtape.Graph)):  # type: ignore[misc]
    """The graph of a traced function is an instance too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or getattr(instance, "building_function", False)


class FuncGraph(gradtape.Graph, metaclass=_AnyFuncGraph):  # type: ignore[misc]
    """A graph in which ops determine shapes and dtypes only."""

    __module__ = "tensorflow.python.framework.func_graph"  # libraries look for it

    def __init__(self, name: str = "FuncGraph", *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.name = name
        with dispatch.traced_by(None):
            self._trace = ScratchTrace(name)
        graphs.set_graph_of(self._trace, self)
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.structured_outputs: Any = None
        self.structured_input_signature: Any = None
        self._outer_graph = gradtape.compat.v1.get_default_graph()

    @property
    def outer_graph(self) -> Any:
        """The graph in which this one was created."""
        return self._outer_graph

    @contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        """Context manager: ops in the block belong to this graph."""
        if dispatch.thread.trace is self._trace:
            yield self
            return
        with dispatch.traced_by(self._trace), unscoped():  # name scopes belong to a graph
            yield self


class ApiDefMap:
    """The ops and their definitions."""

    def op_names(self) -> list[str]:
        """Returns the names of all ops."""
        return recorded_ops()

    def get_op_def(self, op_name: str) -> Any:
        """Returns the `OpDef` of an op."""
        return op_def(op_name)


def function_def_to_graph(fdef: Any, structured_input_signature: Any = None, structured_outputs: Any = None,
                          input_shapes: Any = None, propagate_device_spec: bool = False,
                          include_library_functions: bool = False) -> FuncGraph:  # fmt: skip
    """Returns a graph with the nodes of a `FunctionDef`: its arguments are placeholders of these shapes."""
    graph = FuncGraph(fdef.signature.name)
    outer = gradtape.compat.v1.get_default_graph()
    graph._functions.update(getattr(outer, "_functions", {}))
    shapes = [None] * len(fdef.signature.input_arg) if input_shapes is None else input_shapes
    specs = [
        gradtape.TensorSpec(getattr(shape, "shape", shape), gradtape.as_dtype(argument.type))
        for shape, argument in zip(shapes, fdef.signature.input_arg, strict=False)
    ]
    graph.inputs, graph.outputs = add_function(graph, fdef, specs)
    graph.structured_outputs = graph.outputs if structured_outputs is None else structured_outputs
    graph.structured_input_signature = structured_input_signature
    return graph


def OptimizeGraph(config_proto: Any, metagraph: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the part of a graph that the nodes of the collection `train_op` need.

    A graph that gradtape has written was simplified when it was traced; nothing else is rewritten.
    """
    wanted = [name.partition(":")[0] for name in metagraph.collection_def["train_op"].node_list.value]
    there = {node.name for node in metagraph.graph_def.node}
    return sub_graph(metagraph.graph_def, [name for name in wanted if name in there])
