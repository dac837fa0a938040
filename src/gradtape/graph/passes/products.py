"""Products of matrices in a form that costs less: sums of them, and numbers times them.

The gradient of a matrix that is used many times, as in a recurrent layer, is Σ aᵀ g, and one large product:
Σ aᵢᵀ gᵢ = [a₁; a₂; ...]ᵀ [g₁; g₂; ...]: concatenating rows costs less than it saves, up to some number of them.

A step of gradient descent multiplies the gradient of a matrix by a number: c (aᵀ g) = aᵀ (c g), and g is smaller.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ...engine.registry.op import registry
from ..ir.graph import Graph, Node, Value

_MOST_ROWS = 2048  # beyond this many rows, one product is as fast as several
_SMALLER = 2  # times that a factor must have fewer elements than the product
_SMALLEST_NUMBER = 2.0**-20  # times less, what is multiplied may vanish


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


def scaled_products(graph: Graph) -> Graph:
    """The graph in which numbers times products multiply the smaller factor instead."""
    used = Counter(v for node in graph.nodes for v in node.inputs)
    used.update(graph.all_outputs)
    products = {
        node.outputs[0]: node
        for node in graph.nodes
        if node.op is registry.get("matmul") and node.outputs[0].dtype.is_floating and used[node.outputs[0]] == 1
    }
    nodes: list[Node] = []
    for node in graph.nodes:
        number, product = _number_and_product(node, products)
        if product is None:
            nodes.append(node)
            continue
        smaller = min(product.inputs, key=lambda v: math.prod(v.shape))
        scaled = Value(smaller.shape, smaller.dtype)
        nodes.append(node._replace(inputs=(number, smaller), outputs=(scaled,)))
        factors = tuple(scaled if v is smaller else v for v in product.inputs)
        nodes.append(product._replace(inputs=factors, outputs=node.outputs))
    return graph.substituted(nodes)


def _number_and_product(node: Node, products: dict[Value, Node]) -> tuple[Any, Node | None]:
    """The parts of `c (a b)` where it is better computed otherwise, or None for the product."""
    if node.op is registry.get("mul"):
        for number, value in (node.inputs, node.inputs[::-1]):
            product = products.get(value)
            if product is None or number.constant is None or number.shape or product.inputs[0] is product.inputs[1]:
                continue
            elements = _SMALLER * min(math.prod(v.shape) for v in product.inputs)
            if _SMALLEST_NUMBER <= abs(number.constant) <= 1 and elements <= math.prod(value.shape):
                return number, product
    return None, None


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
