"""`tf.compat.v1.train`: graphs with their collections, as messages."""

from __future__ import annotations

from typing import Any

from gradtape.api.runtime.graphs import default
from gradtape.api.version import GIT_VERSION, VERSION

from ...protos.generated import message_class

NAMESPACES = ("compat.v1.train",)
__all__ = ["export_meta_graph"]


def export_meta_graph(
    filename: Any = None, meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
    collection_list: Any = None, as_text: bool = False, graph: Any = None, export_scope: Any = None,
    clear_devices: bool = False, clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
    save_debug_info: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """Returns a `MetaGraphDef` with the current graph or a `GraphDef`, and writes it to a file.

    >>> with tf.Graph().as_default():
    ...     _ = tf.compat.v1.placeholder(tf.float32, [2], name="x")
    ...     [node.name for node in tf.compat.v1.train.export_meta_graph().graph_def.node]
    ['x']
    """
    found = message_class("MetaGraphDef")()
    if graph_def is None:
        graph_def = (default.graph if graph is None else graph).as_graph_def(add_shapes=True)
    found.graph_def.CopyFrom(graph_def)
    if meta_info_def is not None:
        found.meta_info_def.CopyFrom(meta_info_def)
    found.meta_info_def.tensorflow_version = VERSION
    found.meta_info_def.tensorflow_git_version = GIT_VERSION
    if saver_def is not None:
        found.saver_def.CopyFrom(saver_def)
    if clear_devices:
        for node in found.graph_def.node:
            node.device = ""
    if filename:
        with open(filename, "wb") as file:
            file.write(str(found).encode() if as_text else found.SerializeToString())
    return found
