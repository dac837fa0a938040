"""`tf.Graph`, as far as eager libraries use it: unique names, the current graph, and operations that were imported."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ...core.devices import here
from ...core.extension_points import graph_defs
from ...core.pickling import Unpicklable
from ...core.scopes import name_scope, scoped
from ...engine.run.dispatch import thread
from ...engine.run.randomness import GraphStreams, drawing_in_graph
from ...engine.run.trace_protocol import TraceProtocol
from ...graph.ir.graph import Graph as TracedGraph
from ..namespace import resolve
from .operations import GraphTensor, Operation

NAMESPACES = ("",)
__all__ = ["Graph", "Operation"]


class _AnyGraph(type):
    """The graph of a traced function is an instance too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TracedGraph) or super().__instancecheck__(instance)


class Graph(Unpicklable, metaclass=_AnyGraph):
    """A graph of a trace or of eager execution: its names and collections.

    There are no graphs except those of functions, and those that `tf.graph_util.import_graph_def` reads: other ops
    inside `as_default` run immediately.

    >>> graph = tf.Graph()
    >>> graph.unique_name("x"), graph.unique_name("x")
    ('x', 'x_1')
    """

    _instead = "pickle the messages that as_graph_def() returns, or the tf.function"

    finalized: bool
    version: int

    def __init__(self) -> None:
        self.name, self.finalized, self.version = "", False, 0
        self._streams = GraphStreams()
        self._names: dict[str, int] = {}
        self._collections: dict[Any, list[Any]] = {}
        self._operations: dict[str, Operation] = {}  # those imported, or placeholders
        self._functions: dict[str, Any] = {}  # functions that they call, by name

    @property
    def seed(self) -> int | None:
        """The seed of random ops in the graph; None stands for the global seed."""
        return self._streams.seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._streams.seed = seed

    @property
    def building_function(self) -> bool:
        """Whether this is the graph of a function."""
        return self in _of_traces.values()

    @property
    def outer_graph(self) -> Graph:
        """The graph of eager code, which the functions of a program belong to; that graph itself has none."""
        if not self.building_function:
            raise AttributeError("'Graph' object has no attribute 'outer_graph'")
        return default.eager

    def switch_to_thread_local(self) -> None:
        """Makes scopes and devices belong to the thread that enters them, which they do anyway."""

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Returns a unique name: `name`, inside the scope, with a number if necessary."""
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {name!r}")
        name = scoped(name)
        count = self._names.get(name.lower(), 0)
        found = f"{name}_{count}" if count else name
        if mark_as_used:
            self._names[name.lower()] = count + 1
        return found

    def _apply_device_functions(self, op: Any) -> None:
        """Sets the device of an op to that of the `tf.device` scope, by its method `_set_device_from_string`."""
        asked = here.asked
        op._set_device_from_string("" if asked is None else asked.to_string())

    def get_name_scope(self) -> str:
        """Returns the current name scope."""
        return scoped("").rstrip("/")

    def name_scope(self, name: str) -> AbstractContextManager[Any]:
        """Like `tf.name_scope`."""
        return name_scope(name)

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Context manager: makes this the default graph of eager code."""
        outer, default.graph = default.graph, self
        default.depth += 1
        try:
            with drawing_in_graph(self._streams):
                yield self
        finally:
            default.graph = outer
            default.depth -= 1

    def finalize(self) -> None:
        """Declares that nothing will be added."""
        self.finalized = True

    def add_operation(self, operation: Operation) -> None:
        """Adds an operation, whose name must be new."""
        if self.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        if operation.name in self._operations:
            raise ValueError(f"Duplicate name {operation.name!r} in the graph")
        self._operations[operation.name] = operation
        self.version += 1

    def get_operations(self) -> list[Operation]:
        """Returns the operations that were imported, and those that a function being traced has so far.

        A function has one at least: Keras 2 makes a dependency of the last one.
        """
        trace = next((trace for trace, graph in _of_traces.items() if graph is self), None)
        if trace is None:
            return list(self._operations.values())
        builder = getattr(trace, "builder", None)
        nodes = () if builder is None else builder.nodes
        made = [Operation(self, node.op.name, node.op.name, node.attrs, node.outputs) for node in nodes]  # type: ignore[arg-type]
        return [*self._operations.values(), *made] or [Operation(self, "NoOp", "NoOp", {}, ())]  # type: ignore[arg-type]

    def get_operation_by_name(self, name: str) -> Operation:
        """Returns the operation of that name."""
        found = self.as_graph_element(name, allow_tensor=False)
        assert isinstance(found, Operation)
        return found

    def get_tensor_by_name(self, name: str) -> GraphTensor:
        """Returns the tensor of that name: an operation and the index of its output."""
        found = self.as_graph_element(name, allow_operation=False)
        assert isinstance(found, GraphTensor)
        return found

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> GraphTensor | Operation:
        """Returns the operation `name`, or the tensor `name:index`, of the graph."""
        if (allow_tensor and isinstance(obj, GraphTensor)) or (allow_operation and isinstance(obj, Operation)):
            return obj
        if not isinstance(obj, str):
            raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation of the graph.")
        name, colon, place = obj.partition(":")
        operation = self._operations.get(name)
        if colon and not allow_tensor:
            raise ValueError(f"Name {obj!r} appears to refer to a Tensor, not a Operation.")
        if not colon and not allow_operation:
            raise ValueError(f"The name {obj!r} looks like an (invalid) Operation name, not a Tensor: Tensor names "
                             "must be of the form \"<op_name>:<output_index>\".")  # fmt: skip
        if operation is None:
            what = "a Tensor which does not exist. The operation" if colon else "an Operation not in the graph:"
            known = ", ".join(list(self._operations)[:10])
            raise KeyError(f"The name {obj!r} refers to {what} {name!r}, which does not exist in the graph: {known}")
        if not colon:
            return operation
        if not place.isdecimal() or int(place) >= len(operation.outputs):
            raise KeyError(f"The name {obj!r} refers to a Tensor which does not exist: the operation {name!r} has "
                           f"{len(operation.outputs)} outputs")  # fmt: skip
        return operation.outputs[int(place)]

    def as_graph_def(self, from_version: Any = None, add_shapes: bool = False, use_pybind11_proto: bool = False) -> Any:
        """Returns the imported operations as a `tf.compat.v1.GraphDef`, which needs the package protobuf."""
        return graph_defs().graph_def(self, add_shapes)

    def device(self, device_name_or_function: Any) -> Any:
        """Alias of `tf.device`."""
        return resolve("device")(device_name_or_function)

    def control_dependencies(self, control_inputs: Any) -> Any:
        """Alias of `tf.control_dependencies`."""
        return resolve("control_dependencies")(control_inputs)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to the collection of that name."""
        self.get_collection_ref(name).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several collections."""
        for name in [names] if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """Returns the collection of that name itself."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """Returns the contents of the collection of that name."""
        return list(self._collections.get(name, ()))

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        """Returns the names of nonempty collections."""
        return [name for name, values in self._collections.items() if values]

    def clear_collection(self, name: Any) -> None:
        """Empties the collection of that name."""
        self._collections.pop(name, None)

    def _get_control_flow_context(self) -> None:
        return None


Graph.__module__ = "gradtape"


class _Default(threading.local):
    """The graph of eager code in each thread."""

    def __init__(self) -> None:
        self.graph = self.eager = Graph()  # `graph` is another one inside `as_default`
        self.depth = 0  # of the blocks of `as_default`

    def is_entered(self) -> bool:
        """Whether a program has made the graph the default one."""
        return self.depth > 0


default = _Default()
_of_traces: weakref.WeakKeyDictionary[Any, Graph] = weakref.WeakKeyDictionary()


def graph_of_trace() -> Graph | None:
    """Returns the graph of the traced function, or of the example that code of a scratch graph runs with."""
    trace = thread.trace if thread.example is None else thread.example
    return None if trace is None else _of_traces.setdefault(trace, Graph())


def set_graph_of(trace: TraceProtocol, graph: Graph) -> None:
    """Makes `graph` the default graph while `trace` is in progress."""
    _of_traces[trace] = graph
