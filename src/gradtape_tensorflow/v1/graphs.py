"""The default graph of `tf.compat.v1`: that of the traced function, or one for eager execution."""

from __future__ import annotations

from gradtape.api.runtime.graphs import Graph, default, graph_of_trace

__all__ = ["get_default_graph", "reset_default_graph"]

NAMESPACES = ("compat.v1",)


def get_default_graph() -> Graph:
    """Returns the graph of the traced function, or that of eager execution.

    >>> tf.compat.v1.get_default_graph() is tf.compat.v1.get_default_graph()
    True
    """
    return graph_of_trace() or default.graph


def reset_default_graph() -> None:
    """Clears the names used in eager execution.

    >>> tf.compat.v1.reset_default_graph()
    """
    default.graph = Graph()
