"""Pattern rewriting: rows of a pattern, a condition and a replacement; and an index of a graph's uses.

A pattern is text, `add(x, neg(y))`: ops by name, numbers for constants of that value, names that bind any values, `*xs`
for all inputs. The functions of a row receive, by parameter name, the bound values, the root node (`node`), all matched
nodes in order (`nodes`) and the `Rewriting` itself (`graph`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from ...engine.registry.op import Op
from ...engine.registry.rules import parameters
from ..ir.dynamic_sizes import dynamic_values
from ..ir.graph import Graph, Node, Value

Answer = Value | Sequence[Value] | Node | Sequence[Node] | None

_COMMUTE = ("add", "mul")
_MOST_REWRITES = 8  # per node, which bounds rewriting cycles


class Uses:
    """Def-use index of a graph: the producer of each value and its number of uses, graph outputs included."""

    def __init__(self, graph: Graph) -> None:
        self.maker = {v: node for node in graph.nodes for v in node.outputs}
        self.count = Counter(v for node in graph.nodes for v in node.inputs)
        self.count.update(graph.all_outputs)
        self.last: dict[Value, int] = {}  # the last node that uses a value, or the one that defines it
        for i, node in enumerate(graph.nodes):
            self.last.update(dict.fromkeys((*node.inputs, *node.outputs), i))


class Row(NamedTuple):
    """A rewrite rule: where `pattern` matches and `when` holds, `then` returns a replacement of the root.

    That is the values that its outputs equal, a node that produces them, several nodes of which the last one does, or
    None to decline.
    """

    pattern: str
    then: Callable[..., Answer]
    when: Callable[..., Any] = lambda: True


class Pattern(NamedTuple):
    """An op by name, and its inputs: patterns, names or numbers."""

    op: str
    inputs: tuple[Any, ...]


@cache
def parsed(text: str) -> Pattern:
    """Parse the text of a pattern."""

    def read(tree: Any) -> Any:
        if isinstance(tree, ast.Call):
            return Pattern(tree.func.id, tuple(map(read, tree.args)))  # type: ignore[attr-defined]
        if isinstance(tree, ast.Starred):
            return (tree.value.id,)  # type: ignore[attr-defined]
        return tree.id if isinstance(tree, ast.Name) else ast.literal_eval(tree)

    return read(ast.parse(text, mode="eval").body)


class Rewriting:
    """A rewrite in progress: applies the rows to each node of a graph, in order, until none applies."""

    def __init__(self, graph: Graph, rows: Sequence[Row]) -> None:
        self.graph = graph
        self.nodes: list[Node] = []
        self._rows: dict[str, list[Row]] = {}
        for row in rows:
            self._rows.setdefault(parsed(row.pattern).op, []).append(row)
        self._uses = Uses(graph)
        self._dynamic = dynamic_values(graph)  # rules rely on shapes, so that they do not apply to these
        self._found: dict[Value, Value] = {}
        self._maker: dict[Value, Node] = {}
        self.notes: dict[Any, Any] = {}  # cache for the rows' facts about values

    def result(self) -> Graph:
        """Returns the rewritten graph."""
        for node in self.graph.nodes:
            self._add(node.on(self._found))
        return self.graph.substituted(self.nodes, self._found)

    def made_by(self, value: Value, name: str) -> Node | None:
        """Returns the node that produces a value, if its op has this name."""
        node = self.maker(value)
        return node if node is not None and node.op.name == name else None

    def maker(self, value: Value) -> Node | None:
        """Returns the node that produces a value, if its op is a registered one."""
        node = self._maker.get(value)
        return node if node is not None and isinstance(node.op, Op) and not self._is_dynamic(node) else None

    def _is_dynamic(self, node: Node) -> bool:
        dynamic = self._dynamic
        return bool(dynamic) and not (dynamic.isdisjoint(node.inputs) and dynamic.isdisjoint(node.outputs))

    def is_used_once(self, value: Value) -> bool:
        """Whether the value has at most one use."""
        return self._uses.count[value] <= 1

    def _add(self, node: Node) -> None:
        for _ in range(_MOST_REWRITES):
            answer = self._answer(node)
            if answer is None:
                break
            values: Any = (answer,) if isinstance(answer, Value) else answer
            if isinstance(values, Node):
                node = values
            elif isinstance(values[-1], Node):
                *before, node = values
                for other in before:
                    self._append(other)
            else:
                for old, new in zip(node.outputs, values, strict=True):
                    self._found[old] = new
                    self._uses.count[new] += self._uses.count[old] - 1
                return
        self._append(node)

    def _append(self, node: Node) -> None:
        self.nodes.append(node)
        self._maker.update(dict.fromkeys(node.outputs, node))

    def _answer(self, node: Node) -> Answer:
        if (not isinstance(node.op, Op) and node.op.forwards_inputs is None) or self._is_dynamic(node):
            return None
        for row in (*self._rows.get(node.op.family, ()), *self._rows.get(node.op.name, ())):
            for found in self._matches(parsed(row.pattern), node):
                given = {**found, "node": node, "graph": self}
                answer: Answer = _called(row.then, given) if _called(row.when, given) else None
                if answer is not None and (not isinstance(answer, Value) or _fits(answer, node)):
                    return answer
        return None

    def _matches(self, pattern: Pattern, node: Node) -> Iterator[dict[str, Any]]:
        """Iterate over the matches of a pattern at a node whose op is the pattern's root: bindings of its names."""
        if len(pattern.inputs) == 1 and type(pattern.inputs[0]) is tuple:
            yield {pattern.inputs[0][0]: node.inputs, "nodes": (node,)}
            return
        if len(pattern.inputs) != len(node.inputs):
            return
        for inputs in (node.inputs, node.inputs[::-1]) if node.op.name in _COMMUTE else (node.inputs,):
            if all(map(self._may_be, inputs, pattern.inputs)):
                yield from self._inputs_match(pattern.inputs, inputs, {"nodes": (node,)})

    def _may_be(self, value: Value, wanted: Any) -> bool:
        """Whether a value can match part of a pattern, judging only by its constant or the op that produces it."""
        if type(wanted) is str:
            return True
        if type(wanted) is Pattern:
            return self.made_by(value, wanted.op) is not None
        return value.constant is not None and not value.shape and bool(value.constant == wanted)

    def _inputs_match(
        self, wanted: Sequence[Any], values: Sequence[Value], found: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        if not wanted:
            yield found
            return
        first, value = wanted[0], values[0]
        ways: Any = ({},)
        if type(first) is Pattern:
            ways = self._matches(first, self._maker[value])
        elif type(first) is str:
            ways = ({first: value},) if found.get(first, value) is value else ()
        for way in ways:
            both = {**found, **way, "nodes": found["nodes"] + way.get("nodes", ())}
            yield from self._inputs_match(wanted[1:], values[1:], both)


def rewritten(graph: Graph, rows: Sequence[Row]) -> Graph:
    """Apply the rows to every node of the graph until none applies."""
    return Rewriting(graph, rows).result()


def _called(f: Callable[..., Any], given: dict[str, Any]) -> Any:
    return f(*[given[name] for name in parameters(f)])


def _fits(answer: Value, node: Node) -> bool:
    (y,) = node.outputs
    return answer.shape == y.shape and answer.dtype is y.dtype
