"""Matrix products out of loops: what does not wait for the round before is one large product for all rounds.

`hoisted` takes products of rows with what is fixed in front of a loop. `Sums` leaves sums of products, which a backward
loop makes for what is fixed, until after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...core.tensor import Tensor
from ...engine.registry.batching import BatchedTensor, leave
from ...engine.run import dispatch
from ...engine.run.namespace import ops
from ..ir.graph import Graph, Node, Value, replay
from ..passes.optimize import dead_code
from ..passes.rewriting import Uses
from .counted_loops import Rounds, Staged, narrowed


def hoisted(inputs: list[Tensor], rounds: Rounds, body: Graph) -> Staged:
    """The loop with products of rows and fixed values computed before it, and their rows handed to the body."""
    free, products = _movable(body, rounds)
    if rounds.count is None or not products:
        return inputs, rounds, body
    first = rounds.carried
    end = first + rounds.scanned
    made = tuple(node.outputs[0] for node in products)
    before = dead_code(Graph("rows", body.inputs[first:], tuple(free), made))
    level = dispatch.next_level()
    rows = [BatchedTensor(x, level) for x in inputs[first:end]]
    stacked = [leave(y, level, rounds.count) for y in replay(before, [*rows, *inputs[end:]])]
    handed = [Value(v.shape, v.dtype) for v in made]
    found = dict(zip(made, handed, strict=True))
    nodes = [node.on(found) for node in body.nodes if node not in products]
    changed = replace(body.substituted(nodes, found), inputs=(*body.inputs[:end], *handed, *body.inputs[end:]))
    given = [*inputs[:end], *stacked, *inputs[end:]]
    return narrowed(given, rounds._replace(scanned=rounds.scanned + len(handed)), dead_code(changed))


def _movable(body: Graph, rounds: Rounds) -> tuple[list[Node], list[Node]]:
    """The nodes that depend on rows and fixed values only, and the matrix products of rows among them."""
    rows = set(body.inputs[rounds.carried : rounds.carried + rounds.scanned])
    known = set(body.inputs[rounds.carried :])
    free, products = [], []
    for node in body.nodes:
        if node.effect or not all(v.constant is not None or v in known for v in node.inputs):
            continue
        free.append(node)
        known.update(node.outputs)
        if not rows.isdisjoint(node.inputs):
            rows.update(node.outputs)
            if node.op.name == "matmul":
                products.append(node)
    return free, products


class Sums:
    """Sums over all rounds that a backward loop need not make itself.

    `terms` are what one round adds to each sum. A term that is a product, or a sum over rows, is left until after the
    loop: `operands` are what the loop must emit for it instead.
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
        """Sum number `i`, from the operands of all rounds."""
        node = self.nodes[i]
        assert node is not None
        if node.op.name == "sum":
            (x,) = (stacked[v] for v in node.inputs)
            result: Tensor = ops.sum(x, axis=(0, *(axis + 1 for axis in node.attrs["axis"])), keepdims=False)
        else:
            a, b = (_rows(stacked[v]) for v in node.inputs)
            result = ops.matmul(a, b, transpose_a=True)
        return result


def _is_sum(node: Node) -> bool:
    """Whether a node sums over the rows of its operands: aᵀ b, or a sum over the first axis and maybe others."""
    if any(v.constant is not None for v in node.inputs):
        return False
    if node.op.name == "sum":
        return 0 in node.attrs["axis"] and not node.attrs.get("keepdims")
    flat = all(len(v.shape) == 2 for v in node.inputs)
    return node.op.name == "matmul" and flat and _flags(node.attrs) == (True, False)


def _flags(attrs: dict[str, Any]) -> tuple[bool, bool]:
    return bool(attrs.get("transpose_a")), bool(attrs.get("transpose_b"))


def _rows(x: Tensor) -> Tensor:
    result: Tensor = ops.reshape(x, shape=(math.prod(x.dims[:-1]), x.dims[-1]))
    return result
