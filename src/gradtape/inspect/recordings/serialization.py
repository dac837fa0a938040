"""Encodes ops and attributes as JSON: numbers, shapes, dtypes, and the graphs of branches, loops and rules.

An op is stored by name; whether its complex rules apply follows from its inputs. User code cannot be encoded: the error
names the op and its line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.extension_points import load_op
from ...core.protocols import Line
from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import REAL
from ...engine.registry.op import Op, registry
from ...engine.tape.custom import OneCall
from ...graph.control_flow.cond import cond
from ...graph.control_flow.counted_loops import RoundLimit, Rounds
from ...graph.control_flow.custom import Traced, custom_gradient
from ...graph.control_flow.loop import loop
from ...graph.ir.effects import guard, never, shape_guard
from ...graph.ir.graph import Graph, Node, Value
from ...graph.trace.assigned import assigned
from ...graph.trace.derivative import Cotangents
from ..records.event_log import Unrecorded
from ..records.reading import short, source_text
from .validation import Document, Spec, check_names, check_op, check_sizes

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
    """Formats a location for the end of a phrase."""
    return "" if line is None else f" at {short(line)}"


def op_named(name: str, line: Line | None) -> Any:
    """Returns the op with a name from a file."""
    if name in _OF_GRAPHS:
        return _OF_GRAPHS[name]
    if name not in registry:
        load_op(name)
    found = registry.get(name)
    if found is None:
        raise errors.UnimplementedError(
            f"the recording contains the op {name[:100]!r}{at_line(line)}, which this gradtape does not have. A newer "
            "version, or the module that registers it with gradtape.extend, may define it"
        )
    return found


def can_encode(made: Unrecorded) -> bool:
    """Whether an unrecorded op can be encoded; if not, its outputs are saved as constants."""
    if isinstance(made.op, OneCall):
        return True
    try:
        Encoder().attributes(made.op, made.attrs, None)
    except RuntimeError:
        return False
    known = type(made.op) is Op or made.op in (guard, shape_guard)
    return known and all(type(x) in REAL for x in (*made.inputs, *made.outputs))


class Encoder:
    """Encodes steps, and collects what they refer to: constants by number, and the texts of source lines."""

    def __init__(self) -> None:
        self.constants: list[Tensor] = []
        self.texts: dict[str, dict[int, str]] = {}

    def constant(self, x: Tensor) -> Any:
        """Adds a constant and returns the reference to it."""
        self.constants.append(x)
        return {"constant": len(self.constants) - 1}

    def op(self, op: Any, line: Line | None) -> str:
        """Returns the name under which `op_named` finds the op."""
        if type(op) is Op:
            return op.name
        if op not in _NAMES:
            raise RuntimeError(
                f"Cannot save this tape: {op.name}{at_line(line)} draws random numbers, prints, or runs Python code of "
                "this program, inside a branch, a loop or a custom gradient. Move it out of there"
            )
        return _NAMES[op]

    def line(self, line: Line | None) -> Line | None:
        """Returns the line, and collects its text."""
        if line is not None:
            self.texts.setdefault(line[0], {})[line[1]] = source_text(line)
        return line

    def attributes(self, op: Any, attrs: dict[str, Any], line: Line | None) -> dict[str, Any]:
        """Encodes the attributes of an op."""
        return {name: self._encoded(value, op, line) for name, value in attrs.items()}

    def _encoded(self, value: Any, op: Any, line: Line | None) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if type(value) is float:
            return {"float": value.hex()}
        if type(value) is complex:
            return {"complex": [value.real.hex(), value.imag.hex()]}
        if isinstance(value, DType):
            return {"dtype": value.name}
        if isinstance(value, np.dtype):
            return {"numpy_dtype": dtypes.of_numpy(value).name}
        if type(value) is Rounds:
            return {"rounds": list(value[:4])}
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
        if isinstance(value, np.ndarray | np.generic):
            kind = "tensor" if isinstance(value, np.ndarray) else "scalar"
            return {kind: self.constant(wrap(value, dtypes.of_numpy(value.dtype)))["constant"]}
        raise RuntimeError(
            f"Cannot save this tape: an attribute of {op.name}{at_line(line)} is of type {type(value).__name__}, which "
            "the file format cannot represent"
        )

    def _rule(self, rule: Traced, op: Any, line: Line | None) -> list[Any]:
        if rule.graph is None:
            raise RuntimeError(
                f"Cannot save this tape: the gradient of {op.name}{at_line(line)} cannot be written as a graph, "
                f"because tracing it failed: {rule.failure}"
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
    """Decodes ops and attributes of a document, and checks each against the op's registry entry.

    `line_of` maps a line of the file to a displayed line; `limit` bounds the iterations of loops.
    """

    def __init__(self, document: Document, line_of: Callable[[Any], Line | None], limit: RoundLimit) -> None:
        self._document = document
        self._constants = document.constants
        self._line_of = line_of
        self._limit = limit

    def step(self, number: int, inputs: Sequence[Spec]) -> tuple[Any, dict[str, Any]]:
        """Returns the op of a step for these inputs, and its attributes."""
        step = self._document.steps[number]
        attrs = self.attributes(step.words)
        outputs = [y for y in map(self._document.spec, step.outputs) if y is not None]
        op = op_named(step.op, self._line_of(step.line))
        return self._checked(op, inputs, attrs, outputs, f"steps[{number}], {op.name}"), attrs

    def attributes(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Decodes the attributes of an op."""
        return {name: self._decoded(value, name) for name, value in attrs.items()}

    def _checked(
        self, op: Any, inputs: Sequence[Spec], attrs: dict[str, Any], outputs: Sequence[Spec], where: str
    ) -> Any:
        """Returns the op after checking inputs and attributes against its registry entry."""
        if type(op) is Op:
            check_op(self._document, op, inputs, attrs, where)
            check_sizes(self._document, attrs, [*inputs, *outputs], where)
            return op
        check_names(self._document, op, attrs, where)
        self._check_graph_op(op, inputs, attrs, where)
        return op

    def _check_graph_op(self, op: Any, inputs: Sequence[Spec], attrs: dict[str, Any], where: str) -> None:
        """Checks an op that has graphs as attributes, or values that a graph was specialized for."""
        fail = self._document.fail
        if op is loop:
            self._check_loop(inputs, attrs, where)
        elif op is cond:
            branches = attrs["branches"]
            if type(branches) is not tuple or not branches or not all(isinstance(b, Graph) for b in branches):
                fail(f"{where}, its branches,", type(branches).__name__, "a tuple of graphs")
            if not inputs or inputs[0][0] or inputs[0][1].numpy.kind not in "biu":
                fail(f"{where}, its inputs,", len(inputs), "the number of a branch, then the inputs of the branches")
            for branch in branches:
                self._check_inputs(branch, inputs[1:], where)
                if len(branch.outputs) != len(branches[0].outputs):
                    fail(f"{where}, its branches,", len(branch.outputs), "the same number of outputs of all branches")
        elif op is custom_gradient:
            self._check_rule(inputs, attrs, where)
        elif op is guard:
            if len(inputs) != 1 or not isinstance(attrs["value"], np.ndarray | np.generic):
                fail(f"{where}, its value,", type(attrs["value"]).__name__, "one input, and an array like it")
        elif op is shape_guard:
            shape = attrs["shape"]
            if len(inputs) != 1 or type(shape) is not tuple or not all(n is None or type(n) is int for n in shape):
                fail(f"{where}, its shape,", shape, "one input, and a tuple of sizes to compare its shape with")
        elif op is not never and (len(inputs) != 2 or inputs[0] != inputs[1]):
            fail(f"{where}, its inputs,", len(inputs), "a value and a variable of the same shape and dtype")

    def _check_loop(self, inputs: Sequence[Spec], attrs: dict[str, Any], where: str) -> None:
        fail = self._document.fail
        rounds, body, test = attrs["rounds"], attrs["body"], attrs["test"]
        if type(rounds) is not Rounds or not isinstance(body, Graph) or not (test is None or isinstance(test, Graph)):
            kinds = [type(each).__name__ for each in (rounds, body, test)]
            fail(f"{where}, a loop,", kinds, "rounds, a graph for the body, and one for the test or null")
        if rounds.count is not None and rounds.count > self._limit.most:
            raise errors.ResourceExhaustedError(
                f"{self._document.path}: {where} runs {rounds.count} iterations, more than {self._limit.most}, the "
                "limit for a program from a file. If you trust the file, load it with a larger max_rounds"
            )
        carried, scanned, fixed = rounds.divided(inputs)
        if len(carried) + len(scanned) != rounds.carried + rounds.scanned or len(body.outputs) < rounds.carried:
            fail(f"{where}, a loop,", list(rounds[:2]), "as many inputs, and outputs of its body")
        if (test is not None and rounds.scanned) or (test is None and rounds.count is None and not scanned):
            fail(f"{where}, a loop,", list(rounds[:3]), "a test, a number of rounds, or rows to go over")
        lengths = {shape[0] if shape else None for shape, _ in scanned}
        if len(lengths | ({rounds.count} if rounds.count is not None else set())) > 1 or None in lengths:
            fail(f"{where}, a loop,", [list(shape) for shape, _ in scanned], "inputs with a row for each round")
        rows = [(shape[1:], dtype) for shape, dtype in scanned]
        self._check_inputs(body, [*carried, *rows, *fixed], where)
        kept = [(v.shape, v.dtype) for v in body.outputs[: rounds.carried]]
        if [dtype for _, dtype in kept] != [dtype for _, dtype in carried]:
            fail(f"{where}, the outputs of its body,", list(map(str, kept)), "the dtypes of what it carries")
        if test is not None:
            self._check_inputs(test, [*carried, *fixed], where)
            if len(test.outputs) != 1 or test.outputs[0].shape or test.outputs[0].dtype is not dtypes.bool:
                fail(f"{where}, the outputs of its test,", list(map(str, test.outputs)), "one truth value")

    def _check_rule(self, inputs: Sequence[Spec], attrs: dict[str, Any], where: str) -> None:
        rule, counts = attrs["rule"], attrs["counts"]
        fits = type(counts) is tuple and len(counts) == 2 and all(type(n) is int and n >= 0 for n in counts)
        if type(rule) is not Traced or not fits or sum(counts) > len(inputs) or len(rule.cotangents.forms) != counts[0]:
            expected = "those of inputs and outputs, and a rule for these inputs"
            self._document.fail(f"{where}, its counts,", counts, expected)
        self._check_inputs(rule.graph, inputs[counts[0] :], where)  # the cotangents have the specs of the outputs

    def _check_inputs(self, graph: Any, given: Sequence[Spec], where: str) -> None:
        own = [(v.shape, v.dtype) for v in graph.inputs]
        if own != list(given):
            expected = ", ".join(f"{dtype.name}{list(shape)}" for shape, dtype in given)
            self._document.fail(f"{where}, the inputs of its {graph.name},", list(map(repr, graph.inputs)), expected)

    def _decoded(self, value: Any, name: str) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "float":
            return float.fromhex(content)
        if kind == "complex":
            return complex(*map(float.fromhex, content))
        if kind == "dtype":
            return dtypes.as_dtype(content)
        if kind == "numpy_dtype":
            return dtypes.as_dtype(content).numpy
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(self._decoded(part, name) for part in content)
        if kind == "slice":
            return slice(*content)
        if kind == "ellipsis":
            return Ellipsis
        if kind == "array":
            return np.array(content[2], content[0]).reshape(content[1])
        if kind in ("tensor", "scalar"):
            array = np.asarray(self._constants[content].array)
            return array if kind == "tensor" else array[()]
        if kind == "rounds":
            return Rounds(*content)._replace(limit=self._limit)
        if kind == "graph":
            return self._graph(content, name)
        graph, forms = content
        known = [(form[0], form[1] and tuple(form[1])) if isinstance(form, list) else form for form in forms]
        return Traced(self._graph(graph, name), Cotangents.of_forms(known))

    def _graph(self, words: dict[str, Any], name: str) -> Graph:
        """Decodes a graph; it is named after its attribute, as the name in the file is untrusted text."""
        values = [
            Value(tuple(shape), dtypes.as_dtype(dtype), None if known is None else self._constants[known].array)
            for shape, dtype, known in words["values"]
        ]

        def at(numbers: list[int]) -> tuple[Value, ...]:
            return tuple(values[number] for number in numbers)

        nodes = []
        for i, (op_name, inputs, attrs, outputs, several, line) in enumerate(words["nodes"]):
            given, made = [(v.shape, v.dtype) for v in at(inputs)], [(v.shape, v.dtype) for v in at(outputs)]
            known, decoded = self._line_of(line), self.attributes(attrs)
            op = op_named(op_name, known)
            op = self._checked(op, given, decoded, made, f"node {i}, {op.name}, of a graph, its {name},")
            nodes.append(Node(op, at(inputs), decoded, at(outputs), several, known))
        return Graph(name, at(words["inputs"]), tuple(nodes), at(words["outputs"]))
