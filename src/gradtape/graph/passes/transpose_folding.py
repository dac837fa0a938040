"""Large products, and the transposes that they take over: a product with its axes in any order is a contraction.

`contract(transpose(x), y)` is a contraction of `x` itself with other letters, and so is `transpose(contract(x, y))`.
A transpose between a product and elementwise steps with numbers goes to the product's side of them. For who computes
contractions of arrays as they lie in memory, all these transposes cost nothing.
"""

from __future__ import annotations

import math
from collections import Counter

from ...core import dtypes
from ...engine.registry.op import registry
from ...ops.contraction import contract, equation_of_matmul, split_equation
from ..ir.graph import Graph, Node, Value
from .fused_ops import Joint

Order = tuple[int, ...]

_LARGE = 1 << 22  # multiplications of a product; for fewer, calling another library takes longer than it saves
_MANY = 1 << 28  # and of all large ones: a short program competes with the Python code around it for the interpreter

large_contract = Joint("large_contract", contract.numpy, "bilinear")  # worth the call of another library


def turned_products(graph: Graph, large: int = _LARGE, many: int = _MANY, batches: bool = False) -> Graph:
    """The graph with large contractions in place of products and transposes, if they are much work in all.

    With `batches`, products of two single matrices stay as they are.
    """
    equations: dict[int, str] = {}
    total = 0
    for i, node in enumerate(graph.nodes):
        equation = _equation(node)
        if equation is None or (batches and not _is_batch(equation)):
            continue
        work = _work(node, equation)
        if work >= large:
            equations[i] = equation
            total += work
    if total < many or (batches and not equations):
        return graph
    walk = _Walk(graph)
    for i, node in enumerate(graph.nodes):
        if i in equations:
            node = node._replace(op=large_contract, attrs={"equation": equations[i]})
        walk.add(node)
    return graph.substituted(walk.nodes)


def _equation(node: Node) -> str | None:
    """The contraction of float32 that a node is, if it is one."""
    if any(v.dtype is not dtypes.float32 for v in node.inputs):
        return None
    if node.op is registry.get("contract"):
        return str(node.attrs["equation"])
    if node.op is registry.get("matmul"):
        a, b = node.inputs
        return equation_of_matmul(a.shape, b.shape, **node.attrs)
    return None


def _is_batch(equation: str) -> bool:
    first, second, output = split_equation(equation)
    return not set(first).isdisjoint(set(second) & set(output))


def _work(node: Node, equation: str) -> int:
    """How many multiplications it takes."""
    first, second, _ = split_equation(equation)
    a, b = node.inputs
    return math.prod(dict(zip(first + second, a.shape + b.shape, strict=True)).values())


class _Walk:
    """The nodes so far, where each value is made, and how often it is used."""

    def __init__(self, graph: Graph) -> None:
        self.nodes: list[Node] = []
        self._at: dict[Value, int] = {}
        self._used = Counter(v for node in graph.nodes for v in node.inputs)
        self._used.update(graph.all_outputs)

    def add(self, node: Node) -> None:
        """Takes in a node, or what it is together with those before it."""
        if node.op is large_contract:
            node = self._with_inputs_as_they_lie(node)
        elif node.op is registry.get("transpose"):
            if self._turn(node.inputs[0], node.attrs["perm"], node.outputs[0]):
                return
        elif _is_elementwise(node):
            order = self._common_order(node)
            if order is not None:
                self._add_before_transpose(node, order)
                return
        self._append(node)

    def _append(self, node: Node) -> None:
        self._at.update(dict.fromkeys(node.outputs, len(self.nodes)))
        self.nodes.append(node)

    def _transpose(self, value: Value) -> Node | None:
        """The transpose that makes a value, if one does."""
        node = self.nodes[self._at[value]] if value in self._at else None
        return node if node is not None and node.op is registry.get("transpose") else None

    def _with_inputs_as_they_lie(self, node: Node) -> Node:
        """A contraction of what is transposed for it."""
        first, second, output = split_equation(node.attrs["equation"])
        inputs, letters = [], []
        for value, given in zip(node.inputs, (first, second), strict=True):
            turned = self._transpose(value)
            if turned is not None:
                value = turned.inputs[0]
                given = "".join(given[i] for i in _inverse(turned.attrs["perm"]))
            inputs.append(value)
            letters.append(given)
        return node._replace(inputs=tuple(inputs), attrs={"equation": f"{letters[0]},{letters[1]}->{output}"})

    def _turn(self, value: Value, order: Order, turned: Value) -> bool:
        """Makes `turned`, the transpose of `value`, where a product makes `value`, if nobody else uses that."""
        if value not in self._at or self._used[value] != 1:
            return False
        at = self._at[value]
        node = self.nodes[at]
        if node.op is large_contract:
            first, second, output = split_equation(node.attrs["equation"])
            equation = f"{first},{second}->{''.join(output[i] for i in order)}"
            self.nodes[at] = node._replace(attrs={"equation": equation}, outputs=(turned,))
        elif _is_elementwise(node) and len(arrays := [v for v in node.inputs if v.shape]) == 1:
            inner = Value(turned.shape, arrays[0].dtype)
            self._used[inner] = 1
            if not self._turn(arrays[0], order, inner):
                return False
            inputs = tuple(inner if v is arrays[0] else v for v in node.inputs)
            self.nodes[at] = node._replace(inputs=inputs, outputs=(turned,))
        else:
            return False
        self._at[turned] = at
        return True

    def _common_order(self, node: Node) -> Order | None:
        """The one order that all arrays a step is given were transposed into, for it alone."""
        orders = set()
        for value in node.inputs:
            if value.shape:
                turned = self._transpose(value)
                orders.add(None if turned is None or self._used[value] != 1 else tuple(turned.attrs["perm"]))
        return orders.pop() if len(orders) == 1 else None

    def _add_before_transpose(self, node: Node, order: Order) -> None:
        """Adds the step on what was transposed, and the transpose of its result."""
        sources = tuple(self.nodes[self._at[v]].inputs[0] if v.shape else v for v in node.inputs)
        y = node.outputs[0]
        made = Value(tuple(y.shape[i] for i in _inverse(order)), y.dtype)
        self._used[made] = 1
        self._append(node._replace(inputs=sources, outputs=(made,)))
        self._append(Node(registry["transpose"], (made,), {"perm": order}, (y,), False, node.line))


def _is_elementwise(node: Node) -> bool:
    return getattr(node.op, "family", "") == "elementwise" and len(node.outputs) == 1 and not node.several


def _inverse(order: Order) -> Order:
    return tuple(sorted(range(len(order)), key=order.__getitem__))
