"""Sums of products of matrices in a form that costs less.

The gradient of a matrix that is used many times, as in a recurrent layer, is Σ aᵀ g, and one large product:
Σ aᵢᵀ gᵢ = [a₁; a₂; ...]ᵀ [g₁; g₂; ...]: concatenating rows costs less than it saves, up to some number of them.
"""

from __future__ import annotations

from collections import Counter

from ...engine.registry.op import registry
from ..ir.graph import Graph, Node, Value

_MOST_ROWS = 2048  # beyond this many rows, one product is as fast as several


def gathered_products(graph: Graph) -> Graph:
    """The graph with sums of products `aᵀ g` made one product of rows put one under another."""
    used = Counter(v for node in graph.nodes for v in node.inputs)
    used.update(graph.all_outputs)
    terms: dict[Value, list[Node]] = {}  # the products that a value is the sum of
    for node in graph.nodes:
        if _is_product(node):
            terms[node.outputs[0]] = [node]
        elif node.op is registry.get("add") and all(v in terms and used[v] == 1 for v in node.inputs):
            joined = terms[node.inputs[0]] + terms[node.inputs[1]]
            if sum(term.inputs[0].shape[0] for term in joined) <= _MOST_ROWS:
                terms[node.outputs[0]] = joined
    parts = {v for node in graph.nodes if node.outputs and node.outputs[0] in terms for v in node.inputs if v in terms}
    gone: set[Value] = set()
    gathered: dict[Value, list[Node]] = {}
    for value, products in terms.items():
        if len(products) > 1 and value not in parts:
            gathered[value] = products
            gone.update(_inside(value, graph, terms))
    if not gathered:
        return graph
    nodes: list[Node] = []
    for node in graph.nodes:
        y = node.outputs[0] if node.outputs else None
        if y in gathered:
            nodes += _one_product(node, gathered[y])
        elif y not in gone:
            nodes.append(node)
    return graph.substituted(nodes)


def _is_product(node: Node) -> bool:
    if node.op is not registry.get("matmul") or node.attrs.get("transpose_b") or not node.attrs.get("transpose_a"):
        return False
    a, g = node.inputs
    return len(a.shape) == len(g.shape) == 2 and a.shape[0] * 4 <= _MOST_ROWS and a.dtype.is_floating


def _inside(value: Value, graph: Graph, terms: dict[Value, list[Node]]) -> set[Value]:
    """What is only there to make `value`, a sum of products."""
    makers = {node.outputs[0]: node for node in graph.nodes if node.outputs and node.outputs[0] in terms}
    found: set[Value] = set()
    stack = [value]
    while stack:
        node = makers[stack.pop()]
        if not _is_product(node):
            found.update(node.inputs)
            stack.extend(node.inputs)
    return found


def _one_product(node: Node, products: list[Node]) -> list[Node]:
    columns: list[Value] = []
    made: list[Node] = []
    rows = sum(term.inputs[0].shape[0] for term in products)
    for i in (0, 1):
        parts = tuple(term.inputs[i] for term in products)
        joined = Value((rows, parts[0].shape[1]), parts[0].dtype)
        made.append(Node(registry["concat"], parts, {"axis": 0}, (joined,), False, node.line))
        columns.append(joined)
    attrs = {"transpose_a": True, "transpose_b": False}
    return [*made, Node(registry["matmul"], tuple(columns), attrs, node.outputs, False, node.line)]
