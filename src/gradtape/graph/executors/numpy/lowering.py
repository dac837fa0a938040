"""Elementwise kernels taken apart into single NumPy functions, which can share results, write in place and be fused.

What has no steps, as a kernel that looks at values or shapes, stays one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ....backends.tuning import FEW
from ....core import dtypes
from ....engine.registry.formula import Formula, FormulaSymbol, traced
from ....engine.registry.op import Unregistered, registry
from ...ir.graph import Graph, Node, Value

_LONG = 12  # steps of a formula that takes the place of one function, where there are many numbers

_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "absolute", "square", "maximum", "minimum", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_not", "astype",
})  # fmt: skip
_EXPENSIVE = 5  # what another function costs, such as an exponential


class Primitive(Unregistered):
    """One NumPy function as the op of a node. `writes` says that it takes the array to write to as a last argument."""

    family = "primitive"

    def __init__(self, name: str, function: Callable[..., Any], writes: bool = False) -> None:
        self.name = self.title = name
        self.numpy = function
        self.writes = writes
        self.never_aliases = name != "view"


view = Primitive("view", lambda x, *, dtype: x.view(dtype))
where = Primitive("where", np.where)
cast = Primitive("astype", lambda x, *, dtype: x.astype(dtype))


def cost(node: Node) -> int:
    """How long a primitive runs, compared with an addition."""
    return 0 if node.op is view else 1 if node.op.name in _CHEAP else _EXPENSIVE


_OTHERS = {np.where: where, np.ndarray.view: view, np.ndarray.astype: cast}


@cache
def _primitive(function: Any) -> Primitive:
    """The primitive that runs a step of a formula."""
    return _OTHERS.get(function) or Primitive(function.__name__, function, writes=True)


def lowered(graph: Graph) -> Graph:
    """The graph with elementwise nodes taken apart, as far as that is possible."""
    found: dict[Value, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        node = node.on(found)
        formula = _formula_of(node)
        if formula is None:
            nodes.append(node)
        else:
            found[node.outputs[0]] = _inlined(formula, node, nodes)
    return graph.substituted(nodes, found)


def in_single(graph: Graph) -> Graph:
    """The graph with the casts around each node on bfloat16 that NumPy needs, and a trace for XLA leaves out."""
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.op.moves_data or not any(v.dtype is dtypes.bfloat16 for v in node.inputs):
            nodes.append(node)
            continue
        inputs = [_cast(v, dtypes.float32, nodes) if v.dtype is dtypes.bfloat16 else v for v in node.inputs]
        wide = {v: Value(v.shape, dtypes.float32) for v in node.outputs if v.dtype is dtypes.bfloat16}
        nodes.append(node._replace(inputs=tuple(inputs), outputs=tuple([wide.get(v, v) for v in node.outputs])))
        nodes += [Node(registry["cast"], (v,), {"dtype": y.dtype}, (y,)) for y, v in wide.items()]
    return graph if len(nodes) == len(graph.nodes) else graph.substituted(nodes)


def _cast(value: Value, dtype: dtypes.DType, nodes: list[Node]) -> Value:
    result = Value(value.shape, dtype)
    nodes.append(Node(registry["cast"], (value,), {"dtype": dtype}, (result,)))
    return result


_formulas: dict[Any, Formula | None] = {}


def _formula_of(node: Node) -> Formula | None:
    """The steps of a node's kernel, or None where it is better left whole."""
    op = node.op
    if node.several or len(node.outputs) != 1 or any(v.dtype.numpy.kind not in "biufc" for v in node.inputs):
        return None
    if op.family != "elementwise" and not (op.name == "cast" and op.family == "linear"):
        return None
    key = (op, tuple(v.dtype for v in node.inputs), tuple(sorted(node.attrs.items())))
    try:
        if key not in _formulas:
            formula = traced(partial(op.numpy, **node.attrs), [v.dtype.numpy for v in node.inputs])
            right = formula is not None and formula.result.dtype == node.outputs[0].dtype.numpy
            _formulas[key] = formula if right else None
    except TypeError:
        return None  # an attribute that cannot be a key
    formula, shape = _formulas[key], node.outputs[0].shape
    if formula is None or (len(formula.steps) > _LONG and math.prod(shape) < FEW):
        return None
    # For single numbers, kernels that select know a shorter way.
    return formula if shape or all(_primitive(step.function).writes for step in formula.steps) else None


def _inlined(formula: Formula, node: Node, nodes: list[Node]) -> Value:
    """Adds the steps of a node's formula; returns its result."""
    made = dict(zip(formula.inputs, node.inputs, strict=True))
    for step in formula.steps:
        inputs = tuple([
            made[x] if type(x) is FormulaSymbol else Value((), dtypes.of_numpy(x.dtype), x) for x in step.inputs
        ])
        if step.output is formula.result:
            y = node.outputs[0]
        else:
            y = Value(np.broadcast_shapes(*(v.shape for v in inputs)), dtypes.of_numpy(step.output.dtype))
        nodes.append(Node(_primitive(step.function), inputs, step.attrs, (y,), line=node.line))
        made[step.output] = y
    return made[formula.result]
