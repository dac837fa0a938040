"""The page data of a traced function: its graph, with the graphs of branches and loops inside their nodes."""

from __future__ import annotations

from typing import Any

from ...core.protocols import Line
from ...graph.ir.graph import Graph, Node, Value, subgraphs
from ..records.reading import line_data
from .grouping import fold


class Lines:
    """The source lines of nodes, each of which is written once."""

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []
        self._indices: dict[Line, int] = {}

    def index(self, line: Line) -> int:
        """Returns the index of a line in `data`."""
        if line not in self._indices:
            self._indices[line] = len(self.data)
            self.data.append(line_data(line))
        return self._indices[line]


class _Gatherer:
    """Numbers the values and nodes of a graph and of its subgraphs, from `first` on."""

    def __init__(self, lines: Lines, first: int = 0) -> None:
        self.nodes: list[dict[str, Any]] = []
        self._lines = lines
        self.made: dict[Value, int] = {}
        self._first = first

    def add(self, op: str, kind: str, ins: list[Value], outputs: tuple[Value, ...], line: Line | None = None) -> int:
        at = self._first + len(self.nodes)
        node: dict[str, Any] = {
            "id": at,
            "op": op,
            "kind": kind,
            "ins": sorted({self.made[v] for v in ins if v in self.made}),
            "shape": list(outputs[0].shape) if outputs else None,
            "dtype": outputs[0].dtype.name if outputs else None,
            "onPath": True,
            "marks": [],
        }
        if len(outputs) > 1:
            node["outputs"] = len(outputs)
        if line is not None:
            node["line"] = self._lines.index(line)
        self.nodes.append(node)
        for value in outputs:
            self.made[value] = at
        return at

    def inputs(self, graph: Graph) -> list[Any]:
        """Adds nodes for the inputs of a function."""
        children = [self.add(f"argument {i}", "input", [], (value,)) for i, value in enumerate(graph.inputs)]
        for variable, value in graph.variables:
            children.append(self.add(variable.name.partition(":")[0], "variable", [], (value,)))
        return children

    def body(self, graph: Graph) -> list[Any]:
        """Returns the tree of a graph's nodes: ids, and groups for the subgraphs of its nodes."""
        children = [self.node(node) for node in graph.nodes]
        for variable, value in graph.updates:
            children.append(self.add(f"{variable.name.partition(':')[0]} becomes", "variable", [value], ()))
        return children

    def node(self, node: Node) -> Any:
        inner = []
        results: list[Value] = []
        for graph in subgraphs(node):
            inner.append({"name": graph.name, "children": [*self._given(graph, node), *self.body(graph)]})
            results += graph.outputs
        ins = [*node.inputs, *results]
        at = self.add(node.op.name, kind_of_node(node), ins, node.outputs, node.line)
        return {"name": node.op.name, "children": [*inner, at]} if inner else at

    def _given(self, graph: Graph, node: Node) -> list[Any]:
        """Adds nodes for the arguments of a branch or loop body, each fed by the corresponding input of the node."""
        given = node.inputs[len(node.inputs) - len(graph.inputs) :] if len(graph.inputs) <= len(node.inputs) else ()
        return [
            self.add(f"argument {i}", "input", [given[i]] if given else [], (value,))
            for i, value in enumerate(graph.inputs)
        ]


def kind_of(op: Any) -> str:
    """Returns the color class of an op."""
    if op.family in ("custom", "call"):
        return "call"
    if op.family == "bilinear":
        return "product"
    if op.family == "reduction" or op.name in ("sum", "mean"):
        return "reduction"
    return "movement" if op.moves_data else "elementwise" if op.family == "elementwise" else "other"


def kind_of_node(node: Node) -> str:
    """Returns the color class of a node."""
    return "call" if node.effect else kind_of(node.op)


def graph_data(graph: Graph) -> dict[str, Any]:
    """Returns the page data of a traced function."""
    lines = Lines()
    gatherer = _Gatherer(lines)
    children = [*gatherer.inputs(graph), *gatherer.body(graph)]
    results = {gatherer.made[value] for value in graph.outputs if value in gatherer.made}
    for node in gatherer.nodes:
        if node["id"] in results:
            node["target"] = True
    return {
        "kind": "function",
        "title": f"The graph of {graph.name}",
        "facts": [["operations", str(len(graph.nodes))], ["arguments", str(len(graph.inputs))],
                  ["variables", str(len(graph.variables))], ["effects", str(sum(n.effect for n in graph.nodes))]],
        "traced": True,
        "nodes": gatherer.nodes,
        "lines": lines.data,
        "tree": fold(children, {node["id"]: node for node in gatherer.nodes}),
        "sweep": [],
        "problems": [],
        "sources": [],
    }  # fmt: skip


def call_data(
    graph: Graph, outside: list[int | None], call: dict[str, Any], count: int, first: int, lines: Lines
) -> tuple[list[Any], list[dict[str, Any]]]:
    """Returns the tree and the nodes inside a call on a tape; `outside` has the ids of the call's arguments.

    The call node takes the results, the first `count` outputs, as inputs; the other outputs are residuals.
    """
    gatherer = _Gatherer(lines, first)
    for value, at in zip(graph.all_inputs, outside, strict=False):
        if at is not None:
            gatherer.made[value] = at
    tree = gatherer.body(graph)
    for node in gatherer.nodes:
        node |= {"onPath": call["onPath"], "call": call["id"]}
    results = {gatherer.made[value] for value in graph.outputs[:count] if value in gatherer.made}
    call["ins"] = sorted({*call["ins"], *results} - {call["id"]})
    return tree, gatherer.nodes
