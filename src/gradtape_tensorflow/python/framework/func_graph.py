"""`tensorflow.python.framework.func_graph`: graphs for the shapes of a computation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradtape
from gradtape.api.runtime import graphs
from gradtape.core.scopes import unscoped
from gradtape.engine.run import dispatch
from gradtape.graph.trace.scratch import ScratchTrace


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
