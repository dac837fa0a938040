"""Hand-built graphs for tests of passes and executors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.engine.registry.op import registry
from gradtape.graph.executors.numpy.executor import compile_graph
from gradtape.graph.ir.graph import Graph, Line, Node, Value
from gradtape.graph.passes.optimize import optimize
from gradtape.ops import load_all

load_all()


class Effect:
    """An op that reports its inputs to `told`."""

    name = title = "tell"
    family = "opaque"
    effect = moves_data = True
    forwards_inputs = None

    def __init__(self) -> None:
        self.told: list[Any] = []

    def numpy(self, x: Any) -> Any:
        self.told.append(x)
        return x


class Builder:
    """Builds a graph node by node, running each op to know its value."""

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.example: dict[Value, Any] = {}

    def input(self, array: Any) -> Value:
        value = self._value(array)
        self.inputs.append(value)
        return value

    def op(self, op: Any, *inputs: Any, line: Line | None = None, **attrs: Any) -> Any:
        """Returns the value of `op(*inputs)`, or a tuple; inputs that are not values become constants."""
        op = registry[op] if isinstance(op, str) else op
        values = tuple(x if isinstance(x, Value) else constant(x) for x in inputs)
        with np.errstate(all="ignore"):
            result = op.numpy(*[self.array(v) for v in values], **attrs)
        several = type(result) is tuple
        outputs = tuple(map(self._value, result if several else (result,)))
        self.nodes.append(Node(op, values, attrs, outputs, several, line))
        return outputs if several else outputs[0]

    def array(self, value: Value) -> Any:
        return self.example[value] if value.constant is None else value.constant

    def graph(self, *outputs: Value) -> Graph:
        return Graph("example", tuple(self.inputs), tuple(self.nodes), outputs).verify()

    def agrees(self, graph: Graph) -> None:
        """Checks that a graph, optimized or not, gives the values of its separate ops, and keeps its inputs."""
        given = [np.array(self.example[v]) for v in self.inputs]
        for array in given:
            array.flags.writeable = False
        expected = [self.array(v) for v in self._expected]
        results = [*compile_graph(graph)(*given), *compile_graph(optimize(graph).verify())(*given)]
        for y, known in zip(results, [*expected, *expected], strict=True):
            if np.asarray(known).dtype == object:
                np.testing.assert_array_equal(y, known)
            else:
                np.testing.assert_allclose(y, known, rtol=1e-6, atol=1e-6)
            assert np.asarray(y).dtype == np.asarray(known).dtype
            assert np.shape(y) == np.shape(known)

    def expecting(self, *outputs: Value) -> Graph:
        """Returns the graph with these outputs, the reference of `agrees`."""
        self._expected = outputs
        return self.graph(*outputs)

    def _value(self, array: Any) -> Value:
        if not isinstance(array, np.ndarray | np.generic):
            array = np.array(array, dtype=object)  # one string
        value = Value(array.shape, dtypes.of_numpy(array.dtype))
        self.example[value] = array
        return value


def constant(x: Any) -> Value:
    """A value that is the same in every run; numbers are single floats."""
    array = np.float32(x) if isinstance(x, int | float) else x
    return Value(array.shape, dtypes.of_numpy(array.dtype), array)


def names(graph: Graph) -> list[str]:
    """Returns the ops of a graph, in order."""
    return [node.op.name for node in graph.nodes]
