"""Large products and convolutions as oneDNN computes them: prepared, and with what is added to them as part of them.

oneDNN adds while it writes the result: the bias of a layer, and what a residual layer goes around.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ...backends.numpy import onednn
from ...core import dtypes
from ...engine.registry.op import registry
from ...ops.convolution import conv_plus_row
from ..ir.graph import Graph, Node, Value
from .descents import are_turned, inner_size, sums, unscaled
from .fused_ops import Joint

_LARGE = 1 << 16  # elements of a product


conv_add = Joint("conv_add", conv_plus_row)


def with_sums(graph: Graph) -> Graph:
    """The graph in which sums with products and convolutions are one node with them, where oneDNN computes them."""
    used = Counter(v for node in graph.nodes for v in node.inputs)
    used.update(graph.all_outputs)
    makers = {node.outputs[0]: node for node in graph.nodes if len(node.outputs) == 1 and used[node.outputs[0]] == 1}
    instead: dict[Value, Node] = {}
    gone: set[Value] = set()
    for node in graph.nodes:
        for c, y, sign in sums(node):
            maker = instead.get(y) if y in makers and y in instead else makers.get(y)
            joint = None if maker is None or y in gone else _joint(node, maker, c, sign, makers)
            if joint is not None:
                instead[node.outputs[0]] = joint
                gone.add(y)
                break
    if not instead:
        return graph
    kept = [node for node in graph.nodes if not node.outputs or node.outputs[0] not in gone]
    return graph.substituted([instead.get(node.outputs[0], node) if node.outputs else node for node in kept])


def _joint(node: Node, maker: Node, c: Value, sign: float, makers: dict[Value, Node]) -> Node | None:
    """The node that does the work of `maker` and adds `c`, or None."""
    (y,), (total,) = maker.outputs, node.outputs
    if any(v.dtype is not dtypes.float32 for v in (c, *maker.inputs)) or y.shape != total.shape:
        return None
    is_row = bool(c.shape) and c.shape[-1:] == y.shape[-1:] and math.prod(c.shape) == c.shape[-1]
    if maker.op is registry.get("conv"):
        if not is_row or sign < 0 or not _computed(y, math.prod(maker.inputs[1].shape[:-1])):
            return None
        return node._replace(op=conv_add, inputs=(*maker.inputs, c), attrs=maker.attrs)
    if not (is_row or c.shape == y.shape):
        return None
    if isinstance(maker.op, _ProductSum):
        return _with_term(node, maker.op, (*maker.inputs, c)) if sign > 0 else None
    # Adding to what is in the nearest cache, and adding instead of turning the first factor round, costs less.
    if maker.op is not registry.get("matmul") or are_turned(maker)[0] or len(maker.inputs[1].shape) > 2:
        return None
    if math.prod(y.shape) < _LARGE or not _computed(y, inner_size(maker)):
        return None
    (a, b), scale = unscaled(maker, makers)
    return _with_term(node, _ProductSum(are_turned(maker)[1], sign * scale), (a, b, c))


class _ProductSum(Joint):
    """The op of a product of matrices, the second of which may come as its transpose, to which arrays are added."""

    def __init__(self, turned: bool, scale: float, numpy: Any = None) -> None:
        super().__init__("matmul_add", numpy)
        self.turned, self.scale = turned, scale


def _with_term(node: Node, op: _ProductSum, inputs: tuple[Value, ...]) -> Node | None:
    a, b, *added = (v.shape for v in inputs)
    run = None if len(added) > onednn.MOST_ADDED else onednn.fixed_sum(a, b, tuple(added), op.turned, op.scale)
    if run is None:
        return None
    return node._replace(op=_ProductSum(op.turned, op.scale, run), inputs=inputs, attrs={})


def with_fixed_products(graph: Graph) -> Graph:
    """The graph in which products of matrices that oneDNN computes are prepared for their shapes."""
    return graph.substituted([_fixed(node) if node.op is registry.get("matmul") else node for node in graph.nodes])


def _fixed(node: Node) -> Node:
    (a, b), (y,) = node.inputs, node.outputs
    if len(b.shape) != 2 or y.dtype is not dtypes.float32:
        return node
    turned = are_turned(node)
    if len(a.shape) == 2:
        run = onednn.fixed_product(a.shape, b.shape, turned)
    else:
        can = not turned[0] and _computed(y, inner_size(node))
        run = onednn.fixed_sum(a.shape, b.shape, (), turned[1], 1.0) if can else None
    return node if run is None else node._replace(op=Joint("matmul", run), attrs={})


def _computed(y: Value, inner: int) -> bool:
    """Whether oneDNN computes what has `inner` terms for each element of `y`."""
    return onednn.can_multiply(math.prod(y.shape[:-1]), inner, y.shape[-1])
