"""`tensorflow.python.framework.function_def_to_graph`: the nodes of a function as a graph."""

from __future__ import annotations

from typing import Any

import gradtape
from gradtape_tensorflow.graph_defs.presentation import add_function
from gradtape_tensorflow.python.framework.func_graph import FuncGraph


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
