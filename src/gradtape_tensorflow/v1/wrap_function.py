"""`tf.compat.v1.wrap_function`: a function of TensorFlow 1, traced with its variables, and parts of its graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.api.namespace import resolve
from gradtape.api.runtime.graphs import Graph, set_graph_of
from gradtape.api.runtime.operations import FUNCTION_VIEW, GraphTensor
from gradtape.core import nest
from gradtape.engine.run.dispatch import thread
from gradtape.graph.function.concrete_function import ConcreteFunction
from gradtape.graph.function.function import Function
from gradtape.state.specs import TensorSpec, TypeSpec
from gradtape.state.variable import Variable, variable_creator_scope

from ..graph_defs.freezing import GraphConcreteFunction
from ..graph_defs.presentation import presented
from .variables import keeping

NAMESPACES = ("compat.v1",)
__all__ = ["wrap_function"]


class WrappedFunction:
    """A function with the variables that it has created; `prune` returns functions of parts of its graph."""

    def __init__(self, fn: Callable[..., Any], signature: Any, name: str | None) -> None:
        self._fn = fn
        self._by_name: dict[str, Variable] = {}  # of `get_variable`
        self._created: dict[str, Variable] = {}  # of `tf.Variable`, by name or in order
        self._imported: Graph | None = None
        specs = list(signature) if isinstance(signature, list | tuple) else [signature]

        def call(*args: Any) -> Any:
            return self._run(args)

        call.__name__ = call.__qualname__ = str(name or getattr(fn, "__name__", "wrapped_function"))
        self._function = Function(call, input_signature=specs, autograph=False, graph_view=FUNCTION_VIEW)
        # Its variables exist outside of the trace: it is traced once, as in TensorFlow.
        self._function._first_call.is_over = True
        self._concrete: ConcreteFunction = self._function.get_concrete_function()

    def _run(self, args: Any) -> Any:
        """Calls the function: nodes that it imports are in a graph of its own, and its variables exist once."""
        graph, count = Graph(), iter(range(1 << 30))
        if thread.trace is not None:
            set_graph_of(thread.trace, graph)
        if self._imported is None:
            self._imported = graph

        def creator(next_creator: Callable[..., Any], **arguments: Any) -> Any:
            key = arguments.get("name") or f"variable {next(count)}"
            if key not in self._created:
                with resolve("init_scope")():
                    self._created[key] = next_creator(**arguments)
            return self._created[key]

        with keeping(self._by_name), variable_creator_scope(creator):
            result = self._fn(*args)
        leaves = nest.flatten(result, expand_composites=True)
        return None if any(isinstance(x, GraphTensor) for x in leaves) else result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with the tensors of its signature."""
        return self._function(*args, **kwargs)

    name = property(lambda self: self._concrete.name, doc="The name of the traced function.")
    inputs = property(lambda self: self._concrete.inputs, doc="The tensors that are the graph's inputs.")
    outputs = property(lambda self: self._concrete.outputs, doc="The tensors that are the graph's outputs.")
    structured_outputs = property(lambda self: self._concrete.structured_outputs, doc="The specs of the results.")
    structured_input_signature = property(
        lambda self: self._concrete.structured_input_signature, doc="The specs of the arguments."
    )
    function_def = property(lambda self: self._concrete.function_def, doc="The function as a `FunctionDef`.")

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the function created or uses."""
        found = (*self._by_name.values(), *self._created.values(), *self._concrete.variables)
        return tuple({id(v): v for v in found}.values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those that are trained."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def graph(self) -> Graph:
        """The graph: the nodes that the function has imported, or else those of its ops."""
        if self._imported is not None and self._imported.get_operations():
            return self._imported
        return presented(self._concrete)

    def prune(self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None) -> Any:
        """Returns a function of some tensors of the graph that returns others, in a structure; operations are None."""
        graph = self.graph
        given = [_element(graph, x) for x in nest.flatten(feeds)]
        wanted = [_element(graph, x) for x in nest.flatten(fetches)]
        if not all(isinstance(x, GraphTensor) for x in given):
            raise ValueError(f"Feeds must be tensors, got {given}.")
        captured = getattr(graph, "captured", [])
        handles = [] if not captured else graph.inputs[-len(captured) :]  # type: ignore[attr-defined]
        pairs = [(x, value) for x, value in zip(handles, captured, strict=True) if x not in given]
        specs = input_signature or tuple(TensorSpec(x.shape, x.dtype, x.op.name) for x in given)
        results = [TensorSpec(x.shape, x.dtype) if isinstance(x, GraphTensor) else None for x in wanted]
        structure = nest.pack_sequence_as(fetches, results)
        return GraphConcreteFunction(
            graph, [*given, *(x for x, _ in pairs)], wanted, (tuple(specs), {}), structure, name or "pruned",
            [value for _, value in pairs],
        )  # fmt: skip


def _element(graph: Graph, value: Any) -> Any:
    """Returns an element of the graph; an argument of a function is known by its name."""
    return graph.as_graph_element(value.name if isinstance(value, GraphTensor) else value)


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> WrappedFunction:
    """Wraps a function of TensorFlow 1: it is traced, and its variables are created once.

    The usual way to call a frozen graph: import it in the function, and `prune` the graph to a function of its tensors.
    Unlike in TensorFlow, assignments in the function are done in every call, whether or not they are fetched.

    Args:
      signature: the specs of the arguments.

    >>> double = tf.function(lambda x: 2.0 * x).get_concrete_function(tf.TensorSpec([2], tf.float32, name="x"))
    >>> graph_def = double.graph.as_graph_def()
    >>> wrapped = tf.compat.v1.wrap_function(lambda: tf.compat.v1.import_graph_def(graph_def, name=""), [])
    >>> wrapped.prune("x:0", "Mul:0")(tf.constant([1.0, 2.0])).numpy().tolist()
    [2.0, 4.0]
    """
    leaves = nest.flatten(signature)
    if not all(isinstance(spec, TypeSpec) for spec in leaves):
        raise TypeError(f"The signature must consist of specs, got {signature!r}")
    return WrappedFunction(fn, signature, name)
