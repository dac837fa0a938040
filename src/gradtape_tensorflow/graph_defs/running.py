"""Runs operations of an imported graph as a function: fed tensors are its inputs, fetched ones its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gradtape.api.runtime.graphs import Graph
from gradtape.api.runtime.operations import GraphTensor
from gradtape.core import dtypes, errors
from gradtape.saved_model.interpretation import GraphFunction

from ..protos.generated import message_class
from .operations import DefinedOperation, library_of, tensor_name

_UNFED = ("Placeholder", "PlaceholderV2")


def graph_function(graph: Graph, feeds: Sequence[GraphTensor], fetches: Sequence[Any], name: str) -> GraphFunction:
    """Returns the function of a graph from some tensors to others; an operation among `fetches` runs for its effect."""
    definition = message_class("FunctionDef")()
    definition.signature.name = name
    fed = {}
    for i, tensor in enumerate(feeds):
        fed[tensor.name] = f"feed_{i}"
        definition.signature.input_arg.add(name=f"feed_{i}", type=tensor.dtype.as_datatype_enum)
    refer = partial(_reference, graph, fed)
    for i, fetched in enumerate(fetches):
        if isinstance(fetched, GraphTensor):
            definition.signature.output_arg.add(name=f"fetch_{i}", type=fetched.dtype.as_datatype_enum)
            definition.ret[f"fetch_{i}"] = refer(fetched.name)
        else:
            definition.signature.control_output.append(fetched.name)
            definition.control_ret[fetched.name] = fetched.name
    seen: set[str] = set()
    waiting: list[Any] = [fetched.op if isinstance(fetched, GraphTensor) else fetched for fetched in fetches]
    waiting = [op for op in waiting if not all(x.name in fed for x in op.outputs) or not op.outputs]
    while waiting:
        operation = waiting.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        _check_fed(operation)
        node = definition.node_def.add()
        node.CopyFrom(operation.node_def)
        node.input[:] = [one if one.startswith("^") else refer(tensor_name(one)) for one in node.input]
        waiting += [x.op for x in operation.inputs if x.name not in fed] + operation.control_inputs
    return library_of(graph, definition)[name]


def _reference(graph: Graph, fed: dict[str, str], name: str) -> str:
    """Returns a tensor as nodes of a function refer to it: an input, or a node and the name of its output."""
    if name in fed:
        return fed[name]
    tensor = graph.get_tensor_by_name(name)
    assert isinstance(tensor.op, DefinedOperation)
    return f"{tensor.op.name}:{tensor.op.output_names[tensor.value_index]}"


def _check_fed(operation: Any) -> None:
    if operation.type not in _UNFED:
        return
    dtype = operation.outputs[0].dtype
    if dtype is dtypes.resource:
        raise errors.FailedPreconditionError(f"the variable {operation.name!r} of the graph has no value here")
    raise errors.InvalidArgumentError(
        f"You must feed a value for placeholder tensor {operation.name!r} with dtype {dtype.name}"
    )
