"""`GraphDef`s in files, and their comparison in tests."""

from __future__ import annotations

import difflib
import os
from typing import Any

from gradtape.core.type_hints import PathLike

from ..protos.generated import message_class

NAMESPACES = ("io", "test")
__all__ = ["assert_equal_graph_def", "write_graph"]


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


def assert_equal_graph_def(expected: Any, actual: Any) -> None:
    """Raises AssertionError unless two `GraphDef`s have the same nodes, in any order, and the same functions.

    >>> double = tf.function(lambda x: 2.0 * x).get_concrete_function(tf.TensorSpec([], name="x"))
    >>> tf.test.assert_equal_graph_def(double.graph.as_graph_def(), double.graph.as_graph_def())
    """
    texts: list[list[str]] = []
    for title, graph_def in (("expected", expected), ("actual", actual)):
        if not isinstance(graph_def, message_class("GraphDef")):
            raise TypeError(f"Expected tf.GraphDef for `{title}`, got {type(graph_def).__name__}")
        texts.append(_lines(graph_def))
    if texts[0] != texts[1]:
        raise AssertionError("\n".join(difflib.unified_diff(texts[0], texts[1], "expected", "actual", lineterm="")))


def _lines(graph_def: Any) -> list[str]:
    """Returns the nodes and functions as text, in a fixed order."""
    found = message_class("GraphDef")()
    for node in sorted(graph_def.node, key=lambda node: str(node.name)):
        made = found.node.add()
        made.CopyFrom(node)
        plain = [name for name in node.input if not name.startswith("^")]
        made.input[:] = plain + sorted(name for name in node.input if name.startswith("^"))
    found.library.function.extend(sorted(graph_def.library.function, key=lambda f: str(f.signature.name)))
    return str(found).splitlines()
