"""`tf.Graph` and `tf.Operation`, as far as eager programs touch them: nothing is built, ops are computed at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from ...engine.run import dispatch
from ...graph.ir.graph import Graph as TracedGraph
from ...graph.ir.operations import Operation
from ..namespace import resolve

NAMESPACES = ("", "compat.v1")
__all__ = ["Graph", "Operation", "get_default_graph", "reset_default_graph"]


class _AnyGraph(type):
    """The graph of a traced function is a graph too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TracedGraph) or super().__instancecheck__(instance)


class Graph(metaclass=_AnyGraph):
    """What libraries ask for names, collections and seeds. Ops inside of `as_default` are computed, not put into it.

    >>> import gradtape as tf
    >>> with tf.Graph().as_default() as graph:
    ...     print(tf.compat.v1.get_default_graph() is graph, float(tf.constant(1.0) + 1.0))
    True 2.0
    """

    seed: int | None
    finalized: bool
    version: int

    def __init__(self) -> None:
        self.name, self.seed, self.finalized, self.version = "", None, False, 0
        self._collections: dict[Any, list[Any]] = {}
        self._names: dict[str, int] = {}

    @property
    def building_function(self) -> bool:
        """Whether a `tf.function` is being traced."""
        return dispatch.thread.trace is not None

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """A context in which `get_default_graph` gives this one."""
        outer, _thread.graph = _thread.graph, self
        try:
            yield self
        finally:
            _thread.graph = outer

    def finalize(self) -> None:
        """Says that nothing is added any more."""
        self.finalized = True

    def get_operations(self) -> list[Operation]:
        """None: the ops of an eager program are not kept. The graph of a `tf.function` has its own."""
        return []

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name, with a number behind it if it was given out before."""
        count = self._names.get(name, 0)
        if mark_as_used:
            self._names[name] = count + 1
        return f"{name}_{count}" if count else name

    def name_scope(self, name: str) -> Any:
        """The same as `tf.name_scope`."""
        return resolve("name_scope")(name or "")

    def get_name_scope(self) -> str:
        """The name scopes that are open now."""
        return resolve("get_current_name_scope")()

    def device(self, device_name_or_function: Any) -> Any:
        """The same as `tf.device`."""
        return resolve("device")(device_name_or_function)

    def control_dependencies(self, control_inputs: Any) -> Any:
        """The same as `tf.control_dependencies`."""
        return resolve("control_dependencies")(control_inputs)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Puts a value into the collection of that name."""
        self.get_collection_ref(name).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Puts a value into several collections."""
        for name in [names] if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection of that name itself."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """What was put into the collection of that name."""
        return list(self._collections.get(name, ()))

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of the collections that have something in them."""
        return [name for name, values in self._collections.items() if values]

    def clear_collection(self, name: Any) -> None:
        """Empties the collection of that name."""
        self._collections.pop(name, None)


class _Default(threading.local):
    def __init__(self) -> None:
        self.graph = Graph()


_thread = _Default()


def get_default_graph() -> Graph:
    """The graph that `as_default` has set, or one that is always there.

    >>> import gradtape as tf
    >>> tf.compat.v1.get_default_graph().building_function
    False
    """
    return _thread.graph


def reset_default_graph() -> None:
    """A new graph in the place of the one that is always there: names and collections begin again.

    >>> import gradtape as tf
    >>> tf.compat.v1.reset_default_graph()
    """
    _thread.graph = Graph()
