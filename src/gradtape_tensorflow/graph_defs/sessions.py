"""`tf.compat.v1.Session`: runs a graph that was imported. Graphs are not built op by op."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from gradtape.api.runtime.graphs import Graph, default
from gradtape.api.runtime.operations import INSTEAD, GraphTensor, Operation
from gradtape.core import nest
from gradtape.core.tensor import Tensor
from gradtape.engine.run.convert import to_tensor

from .operations import graph_function

NAMESPACES = ("compat.v1",)
__all__ = ["InteractiveSession", "Session", "get_default_session"]


class _Thread(threading.local):
    """The sessions that are default ones in each thread, the current one last."""

    def __init__(self) -> None:
        self.entered: list[Session] = []


_thread = _Thread()


class Session:
    """Runs operations of a graph that `tf.graph_util.import_graph_def` has read, such as a frozen one.

    >>> double = tf.function(lambda x: 2.0 * x).get_concrete_function(tf.TensorSpec([2], tf.float32, name="x"))
    >>> with tf.Graph().as_default() as graph:
    ...     tf.graph_util.import_graph_def(double.graph.as_graph_def(), name="")
    ...     tf.compat.v1.Session().run("Identity:0", {"x:0": [1.0, 2.0]}).tolist()
    [2.0, 4.0]
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is None and not default.is_entered():
            raise RuntimeError(f"tf.compat.v1.Session is not there: {INSTEAD}")
        self.graph = default.graph if graph is None else graph
        self._functions: dict[Any, Any] = {}
        self._graph_context: Any = None

    graph_def = property(lambda self: self.graph.as_graph_def(), doc="The graph as a `GraphDef`.")

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None,
            run_metadata: Any = None) -> Any:  # fmt: skip
        """Returns the values of tensors, or None for operations, with values for others in `feed_dict`."""
        graph = self.graph
        elements = [graph.as_graph_element(x) for x in nest.flatten(fetches)]
        fed = {graph.as_graph_element(x, allow_operation=False): value for x, value in (feed_dict or {}).items()}
        key = (graph.version, tuple(x.name for x in fed), tuple(x.name for x in elements))
        if key not in self._functions:
            self._functions[key] = graph_function(graph, list(fed), elements, "session_run")  # type: ignore[arg-type]
        values = [_as_fed(value, tensor) for tensor, value in fed.items()]
        found = iter(self._functions[key](*values))
        results = [_value(next(found)) if isinstance(x, GraphTensor) else None for x in elements]
        return nest.pack_sequence_as(fetches, results)

    def as_default(self) -> Session:
        """Returns the session, a context manager in which it is the default one."""
        return self

    def close(self) -> None:
        """Does nothing: a session holds no resources."""

    def __enter__(self) -> Session:
        _thread.entered.append(self)
        self._graph_context = self.graph.as_default()
        self._graph_context.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._graph_context.__exit__(*error)
        _thread.entered.remove(self)


class InteractiveSession(Session):
    """A session that is the default one from its creation on."""

    __module__ = "gradtape.compat.v1"

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _thread.entered.append(self)

    def close(self) -> None:
        """Makes it no longer the default session."""
        if self in _thread.entered:
            _thread.entered.remove(self)


def get_default_session() -> Session | None:
    """Returns the session whose block this is, or None.

    >>> tf.compat.v1.get_default_session()
    """
    return _thread.entered[-1] if _thread.entered else None


def _as_fed(value: Any, tensor: Any) -> Any:
    if isinstance(value, GraphTensor | Operation):
        raise TypeError(f"The value of a feed cannot be a tf.Tensor object: {value!r}")
    found: Tensor = to_tensor(value, tensor.dtype)
    if not tensor.shape.is_compatible_with(found.shape):
        raise ValueError(
            f"Cannot feed value of shape {tuple(found.shape)} for Tensor {tensor.name}, which has shape {tensor.shape}"
        )
    return found


def _value(result: Any) -> Any:
    if not isinstance(result, Tensor):
        raise TypeError(f"a tensor with a value was expected to be fetched, not a handle or a list: {result!r}")
    return result.numpy()
