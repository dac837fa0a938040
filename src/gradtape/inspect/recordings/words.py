"""Ops and their attributes in JSON's words: numbers, shapes, dtypes, and the graphs of branches, loops and rules.

An op is its name. What a file has no words for is code of the program: the error says which op that is, and where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.tensor import Tensor, wrap
from ...engine.registry.op import Op, registry
from ...engine.run.namespace import ops
from ...engine.run.source_lines import Line
from ...graph.control_flow.cond import cond
from ...graph.control_flow.counted_loops import Rounds
from ...graph.control_flow.custom import Traced, custom_gradient
from ...graph.control_flow.loop import loop
from ...graph.ir.effects import guard, never, shape_guard
from ...graph.ir.graph import Graph, Node, Value
from ...graph.trace.assigned import assigned
from ...graph.trace.derivative import Cotangents
from ..records.reading import short, source_text

_OF_GRAPHS: dict[str, Any] = {
    "cond": cond,
    "loop": loop,
    "custom_gradient": custom_gradient,
    "assigned": assigned,
    "assigned, tracked": assigned.tracked,
    "guard": guard,
    "shape_guard": shape_guard,
    "never": never,
}
_NAMES = {op: name for name, op in _OF_GRAPHS.items()}


def at_line(line: Line | None) -> str:
    """Where that is, for the end of a phrase."""
    return "" if line is None else f" at {short(line)}"


def op_named(name: str, line: Line | None) -> Any:
    """The op that a file means."""
    if name in _OF_GRAPHS:
        return _OF_GRAPHS[name]
    getattr(ops, name, None)  # loads the module of ops that it is in
    found = registry.get(name)
    if found is None:
        raise errors.UnimplementedError(
            f"the recording has the op {name!r}{at_line(line)}, which is not in this gradtape. A newer version, or the "
            "module that registers it with gradtape.extend, may have it"
        )
    return found


class Encoder:
    """Collects what the words refer to: constants by their numbers, and the texts of lines."""

    def __init__(self) -> None:
        self.constants: list[Tensor] = []
        self.texts: dict[str, dict[int, str]] = {}

    def constant(self, x: Tensor) -> Any:
        """A tensor that is no value of the step."""
        self.constants.append(x)
        return {"constant": len(self.constants) - 1}

    def op(self, op: Any, line: Line | None) -> str:
        """The name that `op_named` knows."""
        if type(op) is Op:
            return op.name
        if op not in _NAMES:
            raise RuntimeError(
                f"Cannot save this tape: {op.name}{at_line(line)} draws random numbers, prints, or runs Python code of "
                "this program, inside of a branch, a loop or a custom gradient. Take it out of there"
            )
        return _NAMES[op]

    def line(self, line: Line | None) -> Line | None:
        """The line, whose text is noted."""
        if line is not None:
            self.texts.setdefault(line[0], {})[line[1]] = source_text(line)
        return line

    def attributes(self, op: Any, attrs: dict[str, Any], line: Line | None) -> dict[str, Any]:
        """The attributes of an op."""
        return {name: self._encoded(value, op, line) for name, value in attrs.items()}

    def _encoded(self, value: Any, op: Any, line: Line | None) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float | np.floating):
            return {"float": float(value).hex()}
        if isinstance(value, np.integer | np.bool_):
            return value.item()
        if isinstance(value, DType):
            return {"dtype": value.name}
        if type(value) is Rounds:
            return {"rounds": list(value)}
        if type(value) is Traced:
            return {"rule": self._rule(value, op, line)}
        if isinstance(value, Graph):
            return {"graph": self._graph(value)}
        if type(value) in (tuple, list):
            return {type(value).__name__: [self._encoded(part, op, line) for part in value]}
        if isinstance(value, slice):
            return {"slice": [self._encoded(part, op, line) for part in (value.start, value.stop, value.step)]}
        if value is Ellipsis:
            return {"ellipsis": True}
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return {"array": [value.dtype.str, list(value.shape), value.ravel().tolist()]}
        raise RuntimeError(
            f"Cannot save this tape: an attribute of {op.name}{at_line(line)} is of type {type(value).__name__}, "
            "which a file has no words for"
        )

    def _rule(self, rule: Traced, op: Any, line: Line | None) -> list[Any]:
        if rule.graph is None:
            raise RuntimeError(
                f"Cannot save this tape: the gradient of {op.name}{at_line(line)} cannot be written as a graph, as it "
                f"failed when it was traced: {rule.failure}"
            )
        forms = [
            [form[0], None if form[1] is None else [int(n) for n in form[1]]] if type(form) is tuple else form
            for form in rule.cotangents.forms
        ]
        return [self._graph(rule.graph), forms]

    def _graph(self, graph: Graph) -> dict[str, Any]:
        numbers: dict[Value, int] = {}
        values: list[Any] = []

        def number(value: Value) -> int:
            if value not in numbers:
                numbers[value] = len(values)
                known = None if value.constant is None else self.constant(wrap(value.constant, value.dtype))["constant"]
                values.append([list(value.shape), value.dtype.name, known])
            return numbers[value]

        inputs = list(map(number, graph.all_inputs))
        nodes = [
            [
                self.op(node.op, node.line),
                list(map(number, node.inputs)),
                self.attributes(node.op, node.attrs, node.line),
                list(map(number, node.outputs)),
                node.several,
                self.line(node.line),
            ]
            for node in graph.nodes
        ]
        outputs = list(map(number, graph.outputs))
        return {"name": graph.name, "values": values, "inputs": inputs, "nodes": nodes, "outputs": outputs}


class Decoder:
    """Attributes from their words. `line_of` makes a line of a file's what it is called here."""

    def __init__(self, constants: Sequence[Tensor], line_of: Callable[[Any], Line | None]) -> None:
        self._constants = constants
        self._line_of = line_of

    def attributes(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The attributes of an op."""
        return {name: self._decoded(value) for name, value in attrs.items()}

    def _decoded(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "float":
            return float.fromhex(content)
        if kind == "dtype":
            return dtypes.as_dtype(content)
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(self._decoded, content))
        if kind == "slice":
            return slice(*map(self._decoded, content))
        if kind == "ellipsis":
            return Ellipsis
        if kind == "array":
            return np.array(content[2], content[0]).reshape(content[1])
        if kind == "rounds":
            return Rounds(*content)
        if kind == "graph":
            return self._graph(content)
        if kind == "rule":
            graph, forms = content
            known = [(form[0], form[1] and tuple(form[1])) if isinstance(form, list) else form for form in forms]
            return Traced(self._graph(graph), Cotangents.of_forms(known))
        raise ValueError(f"an attribute of the unknown kind {kind!r}")

    def _graph(self, words: dict[str, Any]) -> Graph:
        values = [
            Value(tuple(shape), dtypes.as_dtype(dtype), None if known is None else self._constants[known].array)
            for shape, dtype, known in words["values"]
        ]

        def at(numbers: list[int]) -> tuple[Value, ...]:
            return tuple(values[number] for number in numbers)

        nodes = []
        for name, inputs, attrs, outputs, several, line in words["nodes"]:
            op = op_named(name, line)
            nodes.append(Node(op, at(inputs), self.attributes(attrs), at(outputs), several, self._line_of(line)))
        return Graph(words["name"], at(words["inputs"]), tuple(nodes), at(words["outputs"])).verify()
