"""Elementwise kernels taken apart into single NumPy functions, which can share results, write in place and be fused.

A kernel is a formula over arrays: run on symbols, it leaves the list of ufuncs it calls. What cannot be written down
so (a kernel that looks at values or shapes) stays one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ....backends.tuning import FEW
from ....core import dtypes
from ...ir.graph import Graph, Node, Value

_LONG = 12  # steps of a formula that takes the place of one function, where there are many numbers


class Primitive:
    """One NumPy function as the op of a node. `writes` says that it takes the array to write to as a last argument."""

    family = "primitive"
    moves_data = True

    def __init__(self, name: str, function: Callable[..., Any], writes: bool = False) -> None:
        self.name = self.title = name
        self.numpy = function
        self.writes = writes
        self.fresh = name != "view"

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


view = Primitive("view", lambda x, *, dtype: x.view(dtype))
where = Primitive("where", np.where)
cast = Primitive("astype", lambda x, *, dtype: x.astype(dtype))


@cache
def of_ufunc(ufunc: np.ufunc) -> Primitive:
    """The primitive that runs a ufunc."""
    return Primitive(ufunc.__name__, ufunc, writes=True)


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


class _NotAFormula(Exception):
    """The kernel does something else than calling ufuncs on its arguments."""


_formulas: dict[Any, Graph | None] = {}


def _formula_of(node: Node) -> Graph | None:
    """A node's kernel as a graph of primitives, in which shapes do not matter; or None."""
    op = node.op
    if node.several or len(node.outputs) != 1 or any(v.dtype.numpy.kind not in "biufc" for v in node.inputs):
        return None
    if op.family != "elementwise" and not (op.name == "cast" and op.family == "linear"):
        return None
    key = (op, tuple(v.dtype for v in node.inputs), tuple(sorted(node.attrs.items())))
    try:
        if key not in _formulas:
            _formulas[key] = _traced(op, node)
    except TypeError:
        return None  # an attribute that cannot be a key
    formula, shape = _formulas[key], node.outputs[0].shape
    if formula is None or (len(formula.nodes) > _LONG and math.prod(shape) < FEW):
        return None
    # For single numbers, kernels that select know a shorter way.
    return formula if shape or all(step.op.writes for step in formula.nodes) else None


def _traced(op: Any, node: Node) -> Graph | None:
    """What the kernel does with symbols."""
    nodes: list[Node] = []
    symbols = [_Symbol(nodes, Value((), v.dtype), np.ones(1, v.dtype.numpy)) for v in node.inputs]
    try:
        with np.errstate(all="ignore"):
            result = op.numpy(*symbols, **node.attrs)
    except Exception:  # whatever it was, the kernel is no mere formula
        return None
    if type(result) is not _Symbol or result.dtype != node.outputs[0].dtype.numpy:
        return None
    return Graph(op.name, tuple(symbol.value for symbol in symbols), tuple(nodes), (result.value,))


def _inlined(formula: Graph, node: Node, nodes: list[Node]) -> Value:
    """Adds the steps of a node's formula; returns its result."""
    made = dict(zip(formula.inputs, node.inputs, strict=True))
    for step in formula.nodes:
        inputs = tuple([made.get(v, v) for v in step.inputs])
        if step.outputs == formula.outputs:
            y = node.outputs[0]
        else:
            y = Value(np.broadcast_shapes(*(v.shape for v in inputs)), step.outputs[0].dtype)
        nodes.append(step._replace(inputs=inputs, outputs=(y,), line=node.line))
        made[step.outputs[0]] = y
    return made[formula.outputs[0]]


class _Symbol(NDArrayOperatorsMixin):
    """Stands for an array; `example` has its dtype. A kernel that has a formula for many numbers shows that one."""

    size = FEW

    def __init__(self, nodes: list[Node], value: Value, example: Any) -> None:
        self.nodes = nodes
        self.value = value
        self.example = example

    @property
    def dtype(self) -> Any:
        return self.example.dtype

    def _step(self, op: Primitive, given: Sequence[Any], example: Any, **attrs: Any) -> _Symbol:
        """What an op gives on symbols and numbers, which are of the dtype that NumPy computes with."""
        common = np.result_type(*[x.dtype for x in given if type(x) is _Symbol])
        dtype = example.dtype if op is where else common
        inputs = tuple([x.value if type(x) is _Symbol else _number(x, dtype) for x in given])
        y = Value((), dtypes.of_numpy(example.dtype))
        self.nodes.append(Node(op, inputs, attrs, (y,)))
        return _Symbol(self.nodes, y, example)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1 or ufunc.signature is not None or ufunc is np.power:
            raise _NotAFormula  # an array's own power knows small exponents
        return self._step(of_ufunc(ufunc), inputs, ufunc(*map(_example, inputs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where or len(args) != 3 or kwargs:
            raise _NotAFormula
        return self._step(where, args, np.where(*map(_example, args)))

    def view(self, dtype: Any) -> _Symbol:
        return self._step(view, (self,), self.example.view(dtype), dtype=np.dtype(dtype))

    def astype(self, dtype: Any, copy: bool = True) -> _Symbol:
        if self.dtype == dtype:
            return self
        if self.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise _NotAFormula
        return self._step(cast, (self,), self.example.astype(dtype), dtype=np.dtype(dtype))

    def __bool__(self) -> bool:
        raise _NotAFormula


def _example(x: Any) -> Any:
    return x.example if type(x) is _Symbol else x


def _number(x: Any, dtype: Any) -> Value:
    if not isinstance(x, int | float | complex | np.generic) or np.result_type(dtype, x) != dtype:
        raise _NotAFormula
    return Value((), dtypes.of_numpy(dtype), dtype.type(x))
