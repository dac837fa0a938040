"""What is added to a large product or convolution, as part of it: oneDNN adds while it writes the result.

That is the bias of a layer, and what a residual layer goes around.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..backends import onednn
from ..engine.blocks import product
from ..engine.op import registry
from ..ops.convolution import conv_plus_row
from .descents import sums, unscaled
from .graph import Graph, Node, Value

_LARGE = 1 << 16  # elements of a product


class Joint:
    """The op that computes and adds."""

    family = "opaque"
    effect = False

    def __init__(self, name: str, numpy: Callable[..., Any]) -> None:
        self.name = self.title = name
        self.numpy = numpy

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def _matmul_add(a: Any, b: Any, c: Any, *, transpose_b: bool, scale: float) -> Any:
    """`c + scale * (a @ b)`, where `a` may have further axes in front, and `c` fewer."""
    b = b.T if transpose_b else b
    rows, added = (x.reshape(-1, x.shape[-1]) for x in (a, c))
    y = onednn.product_sum(rows, b, added, scale)
    if y is None:
        y = product(rows, b)
        y *= scale
        y += added
    return y.reshape(*a.shape[:-1], b.shape[-1])


matmul_add = Joint("matmul_add", _matmul_add)
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
            maker = makers.get(y)
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
    if maker.op is not registry.get("matmul") or not (is_row or c.shape == y.shape):
        return None
    a, b = maker.inputs
    # Adding to what is in the nearest cache, and adding instead of turning the first factor round, costs less.
    if maker.attrs.get("transpose_a") or len(b.shape) > 2 or math.prod(y.shape) < _LARGE:
        return None
    if not _computed(y, a.shape[-1]):
        return None
    factors, scale = unscaled(maker, makers)
    attrs = {"transpose_b": bool(maker.attrs.get("transpose_b")), "scale": sign * scale}
    return node._replace(op=matmul_add, inputs=(*factors, c), attrs=attrs)


def _computed(y: Value, inner: int) -> bool:
    """Whether oneDNN computes what has `inner` terms for each element of `y`."""
    return onednn.can_add(math.prod(y.shape[:-1]), inner, y.shape[-1])
