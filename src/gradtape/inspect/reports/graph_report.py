"""What the page shows of a traced function: its graph, with the graphs of branches and loops inside their nodes."""

from __future__ import annotations

from typing import Any

from ...engine.run.source_lines import Line
from ...graph.ir.graph import Graph, Node, Value, subgraphs
from ..records.reading import line_data
from .grouping import in_pieces


class _Gatherer:
    """Numbers the values and nodes of a graph and of those inside it."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.made: dict[Value, int] = {}

    def add(self, op: str, kind: str, ins: list[Value], outputs: tuple[Value, ...], line: Line | None = None) -> int:
        at = len(self.nodes)
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
            node["line"] = line_data(line)
        self.nodes.append(node)
        for value in outputs:
            self.made[value] = at
        return at

    def graph(self, graph: Graph) -> list[Any]:
        """The tree of a graph: ids, and groups for the graphs inside its nodes."""
        children: list[Any] = [
            self.add(f"argument {i}", "input", [], (value,)) for i, value in enumerate(graph.inputs)
        ]
        for variable, value in graph.variables:
            children.append(self.add(variable.name.partition(":")[0], "variable", [], (value,)))
        for node in graph.nodes:
            children.append(self.node(node))
        for variable, value in graph.updates:
            name = variable.name.partition(":")[0]
            children.append(self.add(f"{name} becomes", "variable", [value], ()))
        for value in graph.outputs:
            if value in self.made:
                self.nodes[self.made[value]]["target"] = True
        return children

    def node(self, node: Node) -> Any:
        inner = [{"name": g.name, "children": self.graph(g)} for g in subgraphs(node)]
        at = self.add(node.op.name, kind_of_node(node), list(node.inputs), node.outputs, node.line)
        return {"name": node.op.name, "children": [*inner, at]} if inner else at


def kind_of(op: Any) -> str:
    """Which colour an op has."""
    if op.family in ("custom", "call"):
        return "call"
    if op.family == "bilinear":
        return "product"
    if op.family == "reduction" or op.name in ("sum", "mean"):
        return "reduction"
    return "movement" if op.moves_data else "elementwise" if op.family == "elementwise" else "other"


def kind_of_node(node: Node) -> str:
    """Which colour a node has."""
    return "call" if node.effect else kind_of(node.op)


def graph_data(graph: Graph) -> dict[str, Any]:
    """Everything the page shows of a traced function."""
    gatherer = _Gatherer()
    children = gatherer.graph(graph)
    return {
        "kind": "function",
        "title": f"The graph of {graph.name}",
        "facts": [["operations", str(len(graph.nodes))], ["arguments", str(len(graph.inputs))],
                  ["variables", str(len(graph.variables))], ["effects", str(sum(n.effect for n in graph.nodes))]],
        "traced": True,
        "nodes": gatherer.nodes,
        "tree": in_pieces(children),
        "problems": [],
        "sources": [],
    }  # fmt: skip
