"""Batches of products as oneDNN computes them, on arrays as they lie in memory: the heads of attention, mostly.

Transposes around a batch are part of it (see `turning`), and so are the numbers its factors are multiplied by. Batches
that are put side by side, as the gradients of queries, keys and values are, are written there at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...backends.numpy import onednn
from ...engine.registry.op import registry
from ...ops.contraction import contract
from ..ir.graph import Graph, Node, Value
from .fused_ops import Joint
from .optimize import dead_code
from .transpose_folding import large_contract, turned_products

_LARGE = 1 << 20  # multiplications of a batch; for fewer, NumPy is as fast
_MODERATE = 2.0**-20, 2.0**20  # factors beyond may be there to keep a product from overflow or from vanishing


class _Part(NamedTuple):
    """A part of an array along its last axis: `scale` times a contraction of two arrays, or one array."""

    equation: str | None
    scale: float
    shape: tuple[int, ...]  # of the contraction
    width: int


def with_contractions(graph: Graph, large: int = _LARGE) -> Graph:
    """The graph with large batches of products and what is around them in one node, where oneDNN computes them."""
    if onednn.version() is None:
        return graph
    turned = turned_products(graph, large, 0, batches=True)
    if turned is graph:
        return graph
    turned = dead_code(turned)
    used = Counter(v for node in turned.nodes for v in node.inputs)
    used.update(turned.all_outputs)
    in_batches = Counter(v for node in turned.nodes if node.op is large_contract for v in node.inputs)
    makers = {node.outputs[0]: node for node in turned.nodes if len(node.outputs) == 1}
    batches: dict[Value, Node] = {}
    for node in turned.nodes:
        if node.op is large_contract:
            factors, scale = [], 1.0
            for v in node.inputs:
                number, other = _number_times(makers.get(v), v) if used[v] == in_batches[v] else (1.0, v)
                factors.append(other)
                scale *= number
            batches[node.outputs[0]] = node._replace(inputs=tuple(factors), attrs={**node.attrs, "scale": scale})

    def better(node: Node) -> Node:
        if node.op is large_contract:
            node = batches[node.outputs[0]]
            return node._replace(op=Joint("contract", partial(_contract, **node.attrs)), attrs={})
        if node.op is registry.get("concat") and node.attrs["axis"] == len(node.outputs[0].shape) - 1:
            made = [_batch_in(v, makers, batches, used) for v in node.inputs]
            if any(made):
                return _side_by_side(node, made)
        return node

    return turned.substituted([better(node) for node in turned.nodes])


def _number_times(maker: Node | None, value: Value) -> tuple[float, Value]:
    """A number and a value of the same shape whose product `value` is."""
    if maker is not None and maker.op is registry.get("mul"):
        for number, other in (maker.inputs, maker.inputs[::-1]):
            if number.constant is None or number.shape or other.shape != value.shape:
                continue
            factor = float(number.constant)
            if _MODERATE[0] <= abs(factor) <= _MODERATE[1]:
                return factor, other
    return 1.0, value


def _batch_in(value: Value, makers: Any, batches: dict[Value, Node], used: Counter[Value]) -> Node | None:
    """The batch of products that a value is, if only its last axes have been made one."""
    maker = makers.get(value)
    inner = maker.inputs[0] if maker is not None and maker.op is registry.get("reshape") else value
    front = len(value.shape) - 1
    if inner not in batches or used[value] != 1 or used[inner] != 1 or inner.shape[:front] != value.shape[:front]:
        return None
    return batches[inner]


def _side_by_side(node: Node, batches: Sequence[Node | None]) -> Node:
    parts, inputs = [], []
    for value, batch in zip(node.inputs, batches, strict=True):
        if batch is None:
            parts.append(_Part(None, 1.0, value.shape, value.shape[-1]))
            inputs.append(value)
        else:
            parts.append(_Part(**batch.attrs, shape=batch.outputs[0].shape, width=value.shape[-1]))
            inputs += batch.inputs
    y = node.outputs[0]
    return node._replace(op=Joint("contracts", partial(_contracts, parts, y.shape)), inputs=tuple(inputs), attrs={})


def _contract(a: Any, b: Any, *, equation: str, scale: float, y: Any = None) -> Any:
    result = onednn.contract(equation, a, b, scale, y)
    if result is not None:
        return result
    result = contract.numpy(a, b, equation=equation)
    if scale != 1:
        result = result * np.float32(scale)
    if y is not None:
        y[...] = result
    return result


def _contracts(parts: Sequence[_Part], shape: tuple[int, ...], *arrays: Any) -> Any:
    y = np.empty(shape, np.float32)
    given = iter(arrays)
    at = 0
    for part in parts:
        target = y[..., at : at + part.width].reshape(part.shape)  # a view: only the last axis is taken apart
        if part.equation is None:
            target[...] = next(given)
        else:
            _contract(next(given), next(given), equation=part.equation, scale=part.scale, y=target)
        at += part.width
    return y
