"""`GraphDef`s in files."""

from __future__ import annotations

import os
from typing import Any

from gradtape.core.type_hints import PathLike

from ..protos.generated import message_class

NAMESPACES = ("io",)
__all__ = ["write_graph"]


def write_graph(graph_or_graph_def: Any, logdir: PathLike, name: str, as_text: bool = True) -> str:
    """Writes a graph or a `GraphDef` to a file, as text or in binary form; returns its path.

    >>> import tempfile
    >>> double = tf.function(lambda x: 2.0 * x).get_concrete_function(tf.TensorSpec([], name="x"))
    >>> path = tf.io.write_graph(double.graph, tempfile.mkdtemp(), "double.pb", as_text=False)
    >>> with open(path, "rb") as file:
    ...     [node.op for node in tf.compat.v1.GraphDef.FromString(file.read()).node]
    ['Placeholder', 'Const', 'Mul', 'Identity']
    """
    is_message = isinstance(graph_or_graph_def, message_class("GraphDef"))
    graph_def = graph_or_graph_def if is_message else graph_or_graph_def.as_graph_def()
    folder = os.fsdecode(os.fspath(logdir))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    from google.protobuf import text_format

    data = text_format.MessageToString(graph_def).encode() if as_text else graph_def.SerializeToString()
    with open(path, "wb") as file:
        file.write(data)
    return path
