"""`tf.graph_util.import_graph_def`: the nodes of a `GraphDef` in the current graph."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gradtape.api.runtime.graphs import Graph, default, graph_of_trace
from gradtape.api.runtime.operations import GraphTensor
from gradtape.core import errors
from gradtape.core.scopes import scoped
from gradtape.engine.run.convert import to_tensor
from gradtape.engine.run.dispatch import thread
from gradtape.graph.ir.graph import unique
from gradtape.graph.trace.scratch import ScratchTrace

from ..protos.generated import message_class
from .operations import DefinedOperation, graph_function, tensor_name
from .presentation import DefinedFunction, needed

NAMESPACES = ("graph_util", "")
__all__ = ["import_graph_def"]


def import_graph_def(
    graph_def: Any, input_map: Mapping[str, Any] | None = None, return_elements: Sequence[str] | None = None,
    name: str | None = None, op_dict: Any = None, producer_op_list: Any = None,
) -> list[Any] | None:  # fmt: skip
    """Adds the nodes of a `GraphDef` to the current graph; `tf.compat.v1.wrap_function` makes a function of them.

    In a `tf.function`, tensors of the function may replace tensors of the graph, and the nodes that `return_elements`
    need run on them.

    Args:
      input_map: tensors that replace those of the graph with these names.
      return_elements: names of tensors and operations to return.
      name: a prefix of the names; "import" by default.

    >>> double = tf.function(lambda x: 2.0 * x).get_concrete_function(tf.TensorSpec([2], tf.float32, name="x"))
    >>> with tf.Graph().as_default() as graph:
    ...     tf.graph_util.import_graph_def(double.graph.as_graph_def(), name="")
    >>> graph.get_tensor_by_name("Identity:0").shape
    TensorShape([2])
    """
    kind = message_class("GraphDef")
    if not isinstance(graph_def, kind):
        raise TypeError(f"Argument `graph_def` must be a GraphDef proto. Received: {graph_def!r}")
    given = {tensor_name(key): value for key, value in (input_map or {}).items()}
    in_function = thread.trace is not None and not isinstance(thread.trace, ScratchTrace)
    is_closed = return_elements is not None and not any(node.op == "Placeholder" for node in graph_def.node)
    if in_function and (given or is_closed):
        return _run_in_trace(graph_def, given, list(return_elements or ()))
    graph = graph_of_trace() or default.graph
    prefix = "import" if name is None else name.rstrip("/")
    if prefix:
        prefix = unique(scoped(prefix), {op.name.partition("/")[0] for op in graph.get_operations()})
    imported = add_nodes(graph, graph_def, prefix, given)
    if return_elements is None:
        return None
    return [_element(graph, imported, prefix, given, one) for one in return_elements]


def add_nodes(graph: Graph, graph_def: Any, prefix: str = "", given: Mapping[str, Any] | None = None) -> set[str]:
    """Adds nodes to a graph, with a prefix, and with other tensors of the graph for some; returns their names."""
    given = given or {}
    names = {node.name for node in graph_def.node}
    start = f"{prefix}/" if prefix else ""
    own = message_class("NodeDef")

    def renamed(reference: str) -> str:
        control, reference = ("^", reference[1:]) if reference.startswith("^") else ("", reference)
        if reference.partition(":")[0] not in names:
            raise ValueError(f"the graph_def has no node {reference.partition(':')[0]!r}, which another one takes")
        if not control and tensor_name(reference) in given:
            replacement = given[tensor_name(reference)]
            if not isinstance(replacement, GraphTensor):
                raise ValueError(f"input_map maps {reference!r} to {replacement!r}, which is no tensor of the graph")
            return replacement.name.removesuffix(":0")
        return f"{control}{start}{reference}"

    made = []
    for node in graph_def.node:
        copy = own()
        copy.CopyFrom(node)
        copy.name = f"{start}{node.name}"
        copy.input[:] = [renamed(reference) for reference in node.input]
        try:
            made.append(DefinedOperation(graph, copy))
        except errors.UnimplementedError as error:
            raise ValueError(f"Op type not registered {node.op!r}: {error}") from error
    for function in graph_def.library.function:
        graph._functions[function.signature.name] = DefinedFunction(function)
    for operation in made:
        graph.add_operation(operation)
    return names


def _element(graph: Graph, names: set[str], prefix: str, given: Mapping[str, Any], name: str) -> Any:
    """Returns a tensor or an operation that was imported, or what replaces it."""
    if name.partition(":")[0] not in names:
        raise ValueError(f"Requested return_element {name!r} not found in graph_def.")
    if name in given:
        return given[name]
    return graph.as_graph_element(f"{prefix}/{name}" if prefix else name)


def _run_in_trace(graph_def: Any, given: Mapping[str, Any], wanted: list[str]) -> list[Any]:
    """Returns tensors of the graph, computed from tensors of the function that is traced."""
    graph = Graph()
    add_nodes(graph, graph_def)
    feeds = [graph.get_tensor_by_name(name) for name in given]
    fetches = [graph.as_graph_element(name) for name in wanted]
    function = graph_function(graph, feeds, fetches, unique("imported", graph._functions))
    values = [to_tensor(x, hint=feed.dtype) for x, feed in zip(given.values(), feeds, strict=True)]
    found = iter(function(*values))
    return [next(found) if isinstance(fetch, GraphTensor) else None for fetch in fetches]


def sub_graph(graph_def: Any, names: Sequence[str]) -> Any:
    """Returns the `GraphDef` with the nodes that these need, in the given order."""
    graph = Graph()
    add_nodes(graph, graph_def)
    kept = {op.name for op in needed([graph.get_operation_by_name(os.fspath(name)) for name in names])}
    found = message_class("GraphDef")()
    found.CopyFrom(graph_def)
    del found.node[:]
    found.node.extend(node for node in graph_def.node if node.name in kept)
    return found
