"""Optimization passes: constant folding, algebraic simplification, common subexpressions, dead code.

Each pass maps a graph to a graph with the same results. An optimized graph is for execution, not for differentiation:
ops that only matter to derivatives, such as `stop_gradient`, are removed. All effects stay, in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes
from ...engine.registry.op import Op
from ..ir.effects import guard, same
from ..ir.graph import Graph, Node, Value, subgraphs
from .peepholes import FEWER_PRODUCTS, IDENTITIES
from .rewriting import rewritten

_SMALL = 1 << 12  # elements up to which constants are compared by value, and folding may always create one
_MOST_ROUNDS = 4


def simplified(graph: Graph) -> Graph:
    """Apply the algebraic identities of the peephole table."""
    return rewritten(graph, IDENTITIES)


def fewer_products(graph: Graph) -> Graph:
    """Compute sums of matrix products as one product."""
    return dead_code(common_subexpressions(rewritten(graph, FEWER_PRODUCTS)))


def optimize(graph: Graph, for_xla: bool = False) -> Graph:
    """Run the passes on the graph and on the graphs nested in its nodes."""
    graph = graph.with_subgraphs(lambda inner: optimize(inner, for_xla))
    rounds = [one.run for one in PASSES if not for_xla or one.why_not_for_xla is None]
    for _ in range(_MOST_ROUNDS):
        before = len(graph.nodes)
        for run in rounds:
            graph = run(graph)
        if len(graph.nodes) == before:
            break
    return graph if for_xla else fewer_products(graph)


def dead_code(graph: Graph) -> Graph:
    """Remove the nodes that have no effect and whose outputs are unused."""
    wanted = set(graph.all_outputs)
    kept = []
    for node in reversed(graph.nodes):
        if node.effect or not wanted.isdisjoint(node.outputs):
            kept.append(node)
            wanted.update(node.inputs)
    return graph.substituted(kept[::-1])


def common_subexpressions(graph: Graph) -> Graph:
    """Merge nodes that apply the same op to the same inputs; also identical guards."""
    found: dict[Value, Value] = {}
    constants: dict[Any, Value] = {}
    seen: dict[Any, Node] = {}
    nodes = []

    def one(value: Value) -> Value:
        if value.constant is None:
            return found.get(value, value)
        return constants.setdefault(_constant_key(value), value)

    for node in graph.nodes:
        node = node._replace(inputs=tuple(map(one, node.inputs)))
        if not node.effect or node.op is guard:
            commutes = node.op.name in ("add", "mul", "multiply") and node.op.family in ("elementwise", "primitive")
            inputs = sorted(node.inputs, key=id) if commutes else node.inputs
            key = (id(node.op), *inputs, tuple((k, _key(v)) for k, v in sorted(node.attrs.items())))
            first = seen.setdefault(key, node)
            if first is not node:
                found.update(zip(node.outputs, first.outputs, strict=True))
                continue
        nodes.append(node)
    return graph.substituted(nodes, found)


def _constant_key(value: Value) -> Any:
    if value.dtype is dtypes.string or math.prod(value.shape) > _SMALL:
        return id(value.constant)
    return value.dtype, value.shape, np.asarray(value.constant).tobytes()


def attribute_key(value: Any) -> Any:
    """Returns a hash key that distinguishes attributes by type and bits: 1, 1.0 and True differ, so do 0.0 and -0.0.

    Raises TypeError for a large array, and for an object without a hash.
    """
    if type(value) is tuple or type(value) is list:
        return type(value), *map(attribute_key, value)
    if isinstance(value, np.ndarray):
        if value.dtype == object or value.size > _SMALL:
            raise TypeError("the array is too large for a hash key")
        return value.dtype, value.shape, value.tobytes()
    if type(value) is slice:
        return slice, attribute_key(value.start), attribute_key(value.stop), attribute_key(value.step)
    if type(value) is float:
        return float, value.hex()
    hash(value)
    return type(value), value


def _key(value: Any) -> Any:
    """Returns the hash key of an attribute, or its identity if it has none."""
    try:
        return attribute_key(value)
    except TypeError:
        return id(value)


def folded_constants(graph: Graph) -> Graph:
    """Evaluate the nodes whose inputs are all constants, unless an output would be larger than all of them."""
    found: dict[Value, Value] = {}
    nodes = []
    for node in graph.nodes:
        node = node.on(found)
        if all(v.constant is not None for v in node.inputs):
            if node.op is guard and same(node.inputs[0].constant, node.attrs["value"]):
                continue
            results = _computed(node)
            if results is not None:
                found.update(zip(node.outputs, results, strict=True))
                continue
        nodes.append(node)
    return graph.substituted(nodes, found)


class Pass(NamedTuple):
    """A map from graphs to graphs with the same results. It applies to all executors or says why not to XLA."""

    run: Callable[[Graph], Graph]
    why_not_for_xla: str | None = None


PASSES = [  # run in this order until the graph stops shrinking, then `fewer_products` for BLAS, which XLA does not call
    Pass(folded_constants, "XLA folds constants itself, and takes large ones as arguments"),
    Pass(simplified, "XLA has its own algebraic simplifier"),
    Pass(common_subexpressions, "XLA merges them itself, and must not merge what a memory budget computes twice"),
    Pass(dead_code),
]


def _computed(node: Node) -> list[Value] | None:
    """Returns the outputs of a node with constant inputs as constants, or None if the node is not to be folded."""
    largest = max([_SMALL, *(math.prod(v.shape) for v in node.inputs)])
    if node.effect or not isinstance(node.op, Op) or any(math.prod(v.shape) > largest for v in node.outputs):
        return None
    if any(subgraphs(node)) or any(v.dtype is dtypes.string for v in node.outputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = node.op.numpy(*[v.constant for v in node.inputs], **node.attrs)
    except Exception:
        return None  # the error belongs to the run, if it reaches this node
    results = result if node.several else (result,)
    return [Value(v.shape, v.dtype, y) for v, y in zip(node.outputs, results, strict=True)]
