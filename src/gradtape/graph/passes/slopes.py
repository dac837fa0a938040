"""Derivatives that oneDNN computes in one pass: those of softmax, and of gelu.

In a graph they are what the rules of differentiation leave: `(g - sum(g y)) y`, and `g` times the slope.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...backends.numpy import onednn
from ...backends.numpy.blocks import SHARED
from ...core import dtypes
from ...engine.registry.op import registry
from ..ir.graph import Graph, Node, Value
from .fused_ops import Joint


class _Gelu(NamedTuple):
    """The ops of one kind of gelu."""

    value: Joint
    gradient: Joint
    gradient_and_sum: Joint


def _gelu(name: str) -> _Gelu:
    def value(x: Any) -> Any:
        y = onednn.mapped(name, x) if x.flags.c_contiguous else None
        return registry[name].numpy(x) if y is None else y

    def gradient_and_sum(g: Any, x: Any) -> tuple[Any, Any]:
        contiguous = x.flags.c_contiguous and g.flags.c_contiguous
        both = onednn.vjp_and_summed(name, x, g) if contiguous else None
        if both is not None:
            return both
        of_x = g * registry[f"{name}_slope"].numpy(x)
        return of_x, of_x.reshape(-1, of_x.shape[-1]).sum(0)

    return _Gelu(
        Joint(name, value), Joint(f"{name}_gradient", lambda g, x: gradient_and_sum(g, x)[0]),
        Joint(f"{name}_gradient_and_sum", gradient_and_sum),
    )  # fmt: skip


def _softmax_gradient(g: Any, y: Any) -> Any:
    x = onednn.softmax_gradient(g, y)
    return (g - np.sum(g * y, -1, keepdims=True)) * y if x is None else x


_GELUS = {name: _gelu(name) for name in ("gelu", "gelu_tanh")}
_SLOPES = {f"{name}_slope": gelu for name, gelu in _GELUS.items()}
softmax_gradient = Joint("softmax_gradient", _softmax_gradient)


def with_whole_slopes(graph: Graph, smallest: int = SHARED) -> Graph:
    """The graph in which gelu, its derivative and that of softmax are one node each, where oneDNN computes them."""
    names = {node.op.name for node in graph.nodes}
    if names.isdisjoint((*_GELUS, *_SLOPES, "softmax")) or onednn.version() is None:
        return graph
    used = Counter(v for node in graph.nodes for v in node.inputs)
    used.update(graph.all_outputs)
    makers = {node.outputs[0]: node for node in graph.nodes if len(node.outputs) == 1}

    def made(value: Value, *names: str) -> Node | None:
        node = makers.get(value)
        known = node is not None and node.op.name in names and node.op is registry.get(node.op.name)
        return node if known and used[value] == 1 else None

    def better(node: Node) -> Node:
        y = node.outputs[0] if len(node.outputs) == 1 else None
        if y is None or y.dtype is not dtypes.float32 or math.prod(y.shape) < smallest:
            return node
        name = node.op.name
        if name in _GELUS and node.op is registry.get(name):
            return node._replace(op=_GELUS[name].value)
        if node.op is registry.get("mul"):
            for a, b in (node.inputs, node.inputs[::-1]):
                slope = made(b, *_SLOPES)
                if slope is not None and a.shape == b.shape == y.shape:
                    return node._replace(op=_SLOPES[slope.op.name].gradient, inputs=(a, slope.inputs[0]))
                difference = made(a, "sub")
                if difference is not None and _is_weighed(difference, b, made):
                    return node._replace(op=softmax_gradient, inputs=(difference.inputs[0], b))
        return node

    return graph.substituted(_with_sums([better(node) for node in graph.nodes]))


def _with_sums(nodes: list[Node]) -> list[Node]:
    """The nodes, with the sum of the rows of a gradient, such as that of a bias, as a part of it."""
    with_sum = {id(gelu.gradient): gelu.gradient_and_sum for gelu in _GELUS.values()}
    at = {node.outputs[0]: i for i, node in enumerate(nodes) if id(node.op) in with_sum}
    kept = list(nodes)
    gone: set[int] = set()
    for i, node in enumerate(nodes):
        if node.op is not registry.get("sum") or node.inputs[0] not in at:
            continue
        (value,) = node.inputs
        if node.attrs["axis"] == tuple(range(len(value.shape) - 1)) and len(node.outputs[0].shape) == 1:
            first = at.pop(value)
            both = (value, node.outputs[0])
            kept[first] = nodes[first]._replace(op=with_sum[id(nodes[first].op)], outputs=both, several=True)
            gone.add(i)
    return [node for i, node in enumerate(kept) if i not in gone]


def _is_weighed(difference: Node, y: Value, made: Callable[..., Node | None]) -> bool:
    """Whether it is `g - sum(g y)`, with the sum along the last axis."""
    g, total = difference.inputs
    reduced = made(total, "sum")
    if reduced is None or g.shape != y.shape or not y.shape:
        return False
    if reduced.attrs["axis"] != (len(y.shape) - 1,) or not reduced.attrs.get("keepdims"):
        return False
    product = made(reduced.inputs[0], "mul")
    return product is not None and set(product.inputs) == {g, y}
