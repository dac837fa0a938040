"""Derivatives that oneDNN computes in one pass: those of softmax, and of gelu.

In a graph they are what the rules of differentiation leave: `(g - sum(g y)) y`, and `g` times the slope.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..backends import onednn
from ..engine.blocks import SHARED
from ..engine.op import registry
from .epilogues import Joint
from .graph import Graph, Node, Value


def _gelu(x: Any) -> Any:
    y = onednn.mapped("gelu_tanh", x) if x.flags.c_contiguous else None
    return registry["gelu_tanh"].numpy(x) if y is None else y


def _gelu_gradient(g: Any, x: Any) -> Any:
    return _gelu_gradient_and_sum(g, x)[0]


def _gelu_gradient_and_sum(g: Any, x: Any) -> tuple[Any, Any]:
    contiguous = x.flags.c_contiguous and g.flags.c_contiguous
    both = onednn.pulled_and_summed("gelu_tanh", x, g) if contiguous else None
    if both is not None:
        return both
    value = g * registry["gelu_tanh_slope"].numpy(x)
    return value, value.reshape(-1, value.shape[-1]).sum(0)


def _softmax_gradient(g: Any, y: Any) -> Any:
    x = onednn.softmax_gradient(g, y)
    return (g - np.sum(g * y, -1, keepdims=True)) * y if x is None else x


gelu = Joint("gelu_tanh", _gelu)
gelu_gradient = Joint("gelu_tanh_gradient", _gelu_gradient)
gelu_gradient_and_sum = Joint("gelu_tanh_gradient_and_sum", _gelu_gradient_and_sum)
softmax_gradient = Joint("softmax_gradient", _softmax_gradient)


def with_whole_slopes(graph: Graph, smallest: int = SHARED) -> Graph:
    """The graph in which gelu, its derivative and that of softmax are one node each, where oneDNN computes them."""
    names = {node.op.name for node in graph.nodes}
    if names.isdisjoint(("gelu_tanh", "gelu_tanh_slope", "softmax")) or onednn.version() is None:
        return graph
    used = Counter(v for node in graph.nodes for v in node.inputs)
    used.update(graph.all_outputs)
    makers = {node.outputs[0]: node for node in graph.nodes if len(node.outputs) == 1}

    def made(value: Value, name: str) -> Node | None:
        node = makers.get(value)
        return node if node is not None and node.op is registry.get(name) and used[value] == 1 else None

    def better(node: Node) -> Node:
        y = node.outputs[0] if len(node.outputs) == 1 else None
        if y is None or y.dtype is not dtypes.float32 or math.prod(y.shape) < smallest:
            return node
        if node.op is registry.get("gelu_tanh"):
            return node._replace(op=gelu)
        if node.op is registry.get("mul"):
            for a, b in (node.inputs, node.inputs[::-1]):
                slope = made(b, "gelu_tanh_slope")
                if slope is not None and a.shape == b.shape == y.shape:
                    return node._replace(op=gelu_gradient, inputs=(a, slope.inputs[0]))
                difference = made(a, "sub")
                if difference is not None and _is_weighed(difference, b, made):
                    return node._replace(op=softmax_gradient, inputs=(difference.inputs[0], b))
        return node

    return graph.substituted(_with_sums([better(node) for node in graph.nodes]))


def _with_sums(nodes: list[Node]) -> list[Node]:
    """The nodes, with the sum of the rows of a gradient, such as that of a bias, as a part of it."""
    at = {node.outputs[0]: i for i, node in enumerate(nodes) if node.op is gelu_gradient}
    kept = list(nodes)
    gone: set[int] = set()
    for i, node in enumerate(nodes):
        if node.op is not registry.get("sum") or node.inputs[0] not in at:
            continue
        (value,) = node.inputs
        if node.attrs["axis"] == tuple(range(len(value.shape) - 1)) and len(node.outputs[0].shape) == 1:
            first = at.pop(value)
            both = (value, node.outputs[0])
            kept[first] = nodes[first]._replace(op=gelu_gradient_and_sum, outputs=both, several=True)
            gone.add(i)
    return [node for i, node in enumerate(kept) if i not in gone]


def _is_weighed(difference: Node, y: Value, made: Callable[[Value, str], Node | None]) -> bool:
    """Whether it is `g - sum(g y)`, with the sum along the last axis."""
    g, total = difference.inputs
    reduced = made(total, "sum")
    if reduced is None or g.shape != y.shape or not y.shape:
        return False
    if reduced.attrs["axis"] != (len(y.shape) - 1,) or not reduced.attrs.get("keepdims"):
        return False
    product = made(reduced.inputs[0], "mul")
    return product is not None and set(product.inputs) == {g, y}
