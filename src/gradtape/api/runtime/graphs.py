"""`tf.Graph` as far as eager libraries touch it: the names that are taken, and which graph one is in."""

from __future__ import annotations

import weakref
from contextlib import AbstractContextManager
from typing import Any

from ...core.scopes import name_scope, scoped
from ...engine.run.dispatch import thread

NAMESPACES = ("",)
__all__ = ["Graph"]


class Graph:
    """A name for what is traced, or for eager execution, and the names that were given in it.

    There are no graphs but those of functions: nothing can be built in one.

    >>> import gradtape as tf
    >>> graph = tf.Graph()
    >>> graph.unique_name("x"), graph.unique_name("x")
    ('x', 'x_1')
    """

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self.seed: int | None = None

    @property
    def building_function(self) -> bool:
        """Whether this is the graph of a function."""
        return self in _of_traces.values()

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name that was not given before: `name`, inside the scope, with a number where it takes one."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {name!r}")
        name = scoped(name)
        count = self._names.get(name.lower(), 0)
        found = f"{name}_{count}" if count else name
        if mark_as_used:
            self._names[name.lower()] = count + 1
        return found

    def get_name_scope(self) -> str:
        """The scope in which names are made now."""
        return scoped("").rstrip("/")

    def name_scope(self, name: str) -> AbstractContextManager[Any]:
        """As `tf.name_scope`."""
        return name_scope(name)

    def as_default(self) -> AbstractContextManager[Any]:
        """Nothing can be built in a graph: NotImplementedError says what to do."""
        raise NotImplementedError(
            "gradtape has no graphs outside of a tf.function, and no sessions to run them: write what is to be a graph "
            "as a tf.function, and call it"
        )

    def _get_control_flow_context(self) -> None:
        return None


_of_traces: weakref.WeakKeyDictionary[Any, Graph] = weakref.WeakKeyDictionary()


def graph_of_trace() -> Graph | None:
    """The graph of the function that is being traced."""
    return None if thread.trace is None else _of_traces.setdefault(thread.trace, Graph())
