"""Lowers elementwise kernels to single NumPy functions, which can share results, write in place and be fused.

A kernel without a formula, such as one that branches on values or shapes, stays one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ....backends.tuning import FEW
from ....core import dtypes
from ....engine.registry.formula import Formula, FormulaSymbol, trace_formula
from ....engine.registry.op import Unregistered, op_named
from ...ir.graph import Graph, Node, Value

_LONG = 12  # a formula with more steps than this replaces its kernel for large arrays only

_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "absolute", "square", "maximum", "minimum", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_not", "astype",
})  # fmt: skip
_EXPENSIVE = 5  # cost of any other function, such as an exponential


class Primitive(Unregistered):
    """One NumPy function as the op of a node. `writes` says that it takes an `out` array as its last argument."""

    family = "primitive"

    def __init__(self, name: str, function: Callable[..., Any], writes: bool = False) -> None:
        self.name = self.title = name
        self.numpy, self.writes = function, writes
        self.never_aliases = name != "view"


view = Primitive("view", np.ndarray.view)
where = Primitive("where", np.where)
cast = Primitive("astype", np.ndarray.astype)


def cost(node: Node) -> int:
    """The running time of a primitive relative to an addition."""
    return 0 if node.op is view else 1 if node.op.name in _CHEAP else _EXPENSIVE


_OTHERS = {op.numpy: op for op in (view, where, cast)}


@cache
def _primitive(function: Any) -> Primitive:
    """Returns the primitive that runs a step of a formula."""
    return _OTHERS.get(function) or Primitive(function.__name__, function, writes=True)


def lowered(graph: Graph) -> Graph:
    """Lower the elementwise nodes of a graph to primitives where possible."""
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
    """Insert the casts to float32 that NumPy needs around nodes on bfloat16, and that traces for XLA omit."""
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.op.moves_data or not any(v.dtype is dtypes.bfloat16 for v in node.inputs):
            nodes.append(node)
            continue
        inputs = [_cast(v, dtypes.float32, nodes) if v.dtype is dtypes.bfloat16 else v for v in node.inputs]
        wide = {v: Value(v.shape, dtypes.float32) for v in node.outputs if v.dtype is dtypes.bfloat16}
        nodes.append(node._replace(inputs=tuple(inputs), outputs=tuple([wide.get(v, v) for v in node.outputs])))
        nodes += [Node(op_named("cast"), (v,), {"dtype": y.dtype}, (y,)) for y, v in wide.items()]
    return graph if len(nodes) == len(graph.nodes) else graph.substituted(nodes)


def _cast(value: Value, dtype: dtypes.DType, nodes: list[Node]) -> Value:
    result = Value(value.shape, dtype)
    nodes.append(Node(op_named("cast"), (value,), {"dtype": dtype}, (result,)))
    return result


_formulas: dict[Any, Formula | None] = {}


def _formula_of(node: Node) -> Formula | None:
    """Returns the formula of a node's kernel, or None where the whole kernel is preferable."""
    op = node.op
    if node.several or len(node.outputs) != 1 or any(v.dtype.numpy.kind not in "biufc" for v in node.inputs):
        return None
    if op.family != "elementwise" and not (op.name == "cast" and op.family == "linear"):
        return None
    key = (op, tuple(v.dtype for v in node.inputs), tuple(sorted(node.attrs.items())))
    try:
        if key not in _formulas:
            formula = trace_formula(partial(op.numpy, **node.attrs), [v.dtype.numpy for v in node.inputs])
            right = formula is not None and formula.result.dtype == node.outputs[0].dtype.numpy
            _formulas[key] = formula if right else None
    except TypeError:
        return None  # an unhashable attribute
    formula, shape = _formulas[key], node.outputs[0].shape
    if formula is None or (len(formula.steps) > _LONG and math.prod(shape) < FEW):
        return None
    # For scalars, kernels that select values have a shorter path.
    return formula if shape or all(_primitive(step.function).writes for step in formula.steps) else None


def _inlined(formula: Formula, node: Node, nodes: list[Node]) -> Value:
    """Append the steps of a node's formula and return its result."""
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
