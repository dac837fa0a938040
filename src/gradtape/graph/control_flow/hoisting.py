"""Hoists sums out of backward loops: the gradients of fixed inputs that are products are summed after the loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...core.tensor import Tensor
from ...engine.run.namespace import ops
from ..ir.graph import Graph, Node, Value
from ..passes.rewriting import Uses


class HoistedSums:
    """Sums over all iterations that a backward loop need not accumulate itself.

    `terms` are the addends of one iteration. A term that is a product `aᵀ b`, or a sum over rows, is computed after the
    loop, over all iterations at once: `operands` are the values that the loop must emit for it instead.
    """

    def __init__(self, graph: Graph, terms: Sequence[Value | None]) -> None:
        makers = Uses(graph).maker
        self.nodes: list[Node | None] = []
        for term in terms:
            node = None if term is None else makers.get(term)
            self.nodes.append(node if node is not None and _is_sum(node) else None)
        later = [node for node in self.nodes if node is not None]
        self.operands = list(dict.fromkeys(v for node in later for v in node.inputs))

    def total(self, i: int, stacked: dict[Value, Tensor]) -> Tensor:
        """Compute sum number `i` from the stacked operands of all iterations."""
        node = self.nodes[i]
        assert node is not None
        if node.op.name == "sum":
            (x,) = (stacked[v] for v in node.inputs)
            return ops.sum(x, axis=(0, *(axis + 1 for axis in node.attrs["axis"])), keepdims=False)
        a, b = (_rows(stacked[v]) for v in node.inputs)
        return ops.matmul(a, b, transpose_a=True)


def _is_sum(node: Node) -> bool:
    """Whether a node sums over the rows of its operands: aᵀ b, or a sum over the first axis and possibly others."""
    if any(v.constant is not None for v in node.inputs):
        return False
    if node.op.name == "sum":
        return 0 in node.attrs["axis"] and not node.attrs.get("keepdims")
    flat = all(len(v.shape) == 2 for v in node.inputs)
    turned = node.attrs.get("transpose_a") and not node.attrs.get("transpose_b")
    return node.op.name == "matmul" and flat and bool(turned)


def _rows(x: Tensor) -> Tensor:
    return ops.reshape(x, shape=(math.prod(x.dims[:-1]), x.dims[-1]))
