"""What becomes of variables when a run has succeeded: most take a new value, some have a product added where they are.

A step of gradient descent on a matrix is `w - c · aᵀ g`. Added to the variable's own memory, the product is never
written by itself, and nothing is copied. If somebody else knows that memory, the variable takes a new value after all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...backends.numpy import onednn
from ...backends.numpy.blocks import product
from ...core import dtypes
from ...engine.registry.op import registry
from ..ir.graph import Graph, Node, Value


class Replacement:
    """A variable takes the value that the graph gives for it."""

    def __init__(self, variable: Any, value: Value) -> None:
        self.variable = variable
        self.values = (value,)

    def carry_out(self, array: Any) -> None:
        """Makes it so."""
        self.variable._take(array)


class Descent:
    """`scale · a b` is added to a variable; the graph gives the two factors, or what they are the transposes of."""

    def __init__(self, variable: Any, product: Node, number: float, makers: dict[Value, Node]) -> None:
        self.variable = variable
        self.values, scale = unscaled(product, makers)
        self.scale = number * scale
        self._turned = turned = are_turned(product)
        self._add = onednn.FixedProduct(product.outputs[0].shape, inner_size(product), turned, self.scale, 1.0).into

    def carry_out(self, *factors: Any) -> None:
        """Makes it so."""
        if not self.variable._written(self._add, *factors):
            a, b = (x.T if turned else x for x, turned in zip(factors, self._turned, strict=True))
            self.variable._take(self.variable._settled() + self.scale * product(a, b))


def separated(graph: Graph) -> tuple[Graph, list[Replacement | Descent]]:
    """The graph without updates, whose last outputs are what its updates, in order, are carried out with."""
    used = Counter(v for node in graph.nodes for v in node.inputs)
    used.update(graph.all_outputs)
    makers = {node.outputs[0]: node for node in graph.nodes if len(node.outputs) == 1 and used[node.outputs[0]] == 1}
    before = {id(variable): value for variable, value in graph.variables}
    updates = [_update(variable, value, before.get(id(variable)), makers) for variable, value in graph.updates]
    given = tuple([value for update in updates for value in update.values])
    return replace(graph, outputs=(*graph.outputs, *given), updates=()), updates


def _update(variable: Any, value: Value, before: Value | None, makers: dict[Value, Node]) -> Replacement | Descent:
    node = makers.get(value)
    if node is not None and before is not None and before.dtype is dtypes.float32 and len(before.shape) == 2:
        for w, change, sign in sums(node):
            if w is before and change is not before:
                maker, number = _scaled_product(change, makers)
                if maker is not None and onednn.can_multiply(before.shape[0], inner_size(maker), before.shape[1]):
                    return Descent(variable, maker, sign * number, makers)
    return Replacement(variable, value)


def sums(node: Node) -> Sequence[tuple[Value, Value, float]]:
    """The ways in which a node is `c + y` or `c - y`: `c`, `y` and the sign."""
    if node.op is registry.get("add"):
        a, b = node.inputs
        return [(a, b, 1.0), (b, a, 1.0)]
    return [(node.inputs[0], node.inputs[1], -1.0)] if node.op is registry.get("sub") else []


def _scaled_product(value: Value, makers: dict[Value, Node]) -> tuple[Node | None, float]:
    """The product of two matrices that only makes `value`, or None, and the number it is multiplied by."""
    whole, number = _without_number(value, makers)
    maker = makers.get(whole)
    return maker if maker is not None and maker.op is registry.get("matmul") else None, number


def are_turned(product: Node) -> tuple[bool, bool]:
    """Whether the factors of a product of matrices are transposed."""
    return bool(product.attrs.get("transpose_a")), bool(product.attrs.get("transpose_b"))


def inner_size(product: Node) -> int:
    """How many numbers are multiplied for each element of a product."""
    return product.inputs[0].shape[-2 if are_turned(product)[0] else -1]


def unscaled(maker: Node, makers: dict[Value, Node]) -> tuple[tuple[Value, Value], float]:
    """The factors of a product without the numbers that only they are multiplied by, and these numbers' product."""
    (a, first), (b, second) = (_without_number(v, makers) for v in maker.inputs)
    return (a, b), first * second


def _without_number(value: Value, makers: dict[Value, Node]) -> tuple[Value, float]:
    """A value of the same shape and a number whose product `value` is."""
    maker = makers.get(value)
    if maker is not None and maker.op is registry.get("mul"):
        for number, other in (maker.inputs, maker.inputs[::-1]):
            if number.constant is not None and not number.shape and other.shape == value.shape and number.constant != 0:
                return other, float(number.constant)
    return value, 1.0
