"""`tf.compat.v1.graph_util`: parts of a `GraphDef`, and frozen graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.core import errors

from ..graph_defs.importing import sub_graph
from ..protos.generated import message_class

NAMESPACES = ("compat.v1.graph_util",)
__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "must_run_on_cpu", "remove_training_nodes",
    "tensor_shape_from_node_def_name",
]  # fmt: skip

_HANDLES = ("VarHandleOp", "VariableV2", "Variable")


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """Returns the part of a `GraphDef` that some nodes need.

    >>> wave = tf.function(lambda x: (tf.sin(x), tf.cos(x))).get_concrete_function(tf.TensorSpec([], name="x"))
    >>> part = tf.compat.v1.graph_util.extract_sub_graph(wave.graph.as_graph_def(), ["Cos"])
    >>> [node.name for node in part.node]
    ['x', 'Cos']
    """
    _check(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be an iterable of strings. Received: {dest_nodes!r}")
    names = {node.name for node in graph_def.node}
    for name in dest_nodes:
        if name not in names:
            raise AssertionError(f"{name} is not in graph")
    return sub_graph(graph_def, list(dest_nodes))


def convert_variables_to_constants(
    sess: Any, input_graph_def: Any, output_node_names: Sequence[str], variable_names_whitelist: Any = None,
    variable_names_blacklist: Any = None,
) -> Any:  # fmt: skip
    """Returns the part of a `GraphDef` that some nodes need; its variables must be constants already.

    `tf.compat.v1.Session` has no variables: the graph of a `tf.function` is frozen by
    `convert_variables_to_constants_v2`.

    >>> double = tf.function(lambda x: 2.0 * x).get_concrete_function(tf.TensorSpec([], name="x"))
    >>> graph_def = double.graph.as_graph_def()
    >>> found = tf.compat.v1.graph_util.convert_variables_to_constants(None, graph_def, ["Mul"])
    >>> [node.name for node in found.node]
    ['x', 'Const', 'Mul']
    """
    found = extract_sub_graph(input_graph_def, output_node_names)
    handles = [node.name for node in found.node if node.op in _HANDLES]
    if handles:
        raise errors.UnimplementedError(
            f"the graph has the variables {', '.join(handles)}, which a session has no values for: freeze the "
            "tf.function with convert_variables_to_constants_v2"
        )
    return found


def remove_training_nodes(input_graph: Any, protected_nodes: Any = None) -> Any:
    """Returns a `GraphDef` without identities and checks of numbers in the middle.

    >>> f = tf.function(lambda x: tf.sin(tf.identity(x))).get_concrete_function(tf.TensorSpec([], name="x"))
    >>> found = tf.compat.v1.graph_util.remove_training_nodes(f.graph.as_graph_def(), ["Identity"])
    >>> sorted(node.op for node in found.node)
    ['Identity', 'Placeholder', 'Sin']
    """
    _check(input_graph)
    protected = set(protected_nodes or ())
    sources: dict[str, str] = {}  # of removed nodes
    for node in input_graph.node:
        plain = [name for name in node.input if not name.startswith("^")]
        removable = node.op in ("Identity", "CheckNumerics") and node.name not in protected
        if removable and len(plain) == len(node.input) == 1:
            sources[node.name] = plain[0]
    found = message_class("GraphDef")()
    found.CopyFrom(input_graph)
    del found.node[:]
    for node in input_graph.node:
        if node.name in sources:
            continue
        kept = found.node.add()
        kept.CopyFrom(node)
        kept.input[:] = [_source(name, sources) for name in node.input]
    return found


def _source(name: str, sources: dict[str, str]) -> str:
    while name.removesuffix(":0") in sources:
        name = sources[name.removesuffix(":0")]
    return name


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Returns whether TensorFlow has no GPU kernel for a node: strings, files and sizes.

    >>> tf.compat.v1.graph_util.must_run_on_cpu(tf.compat.v1.NodeDef(name="s", op="Shape"))
    False
    """
    node_def = node if hasattr(node, "attr") else node.node_def
    is_text = node_def.op == "Const" and node_def.attr["dtype"].type == 7  # a string
    return is_text or (pin_variables_on_cpu and node_def.op in _HANDLES)


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> Any:
    """Returns the shape of a tensor of a graph by its name in a `NodeDef`.

    >>> with tf.Graph().as_default() as graph:
    ...     _ = tf.compat.v1.placeholder(tf.float32, [2, None], name="x")
    >>> tf.compat.v1.graph_util.tensor_shape_from_node_def_name(graph, "x")
    TensorShape([2, None])
    """
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()


def _check(graph_def: Any) -> None:
    if not isinstance(graph_def, message_class("GraphDef")):
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}")
