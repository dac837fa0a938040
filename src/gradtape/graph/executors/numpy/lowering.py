"""Elementwise kernels taken apart into single NumPy functions, which can share results, write in place and be fused.

A kernel is a formula over arrays: run on symbols, it leaves the list of ufuncs it calls. What cannot be written down
so (a kernel that looks at values or shapes) stays one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

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
        node = node._replace(inputs=tuple(found.get(v, v) for v in node.inputs))
        steps = _steps_of(node)
        if steps is None:
            nodes.append(node)
        else:
            found[node.outputs[0]] = _instantiated(node, steps, nodes)
    return graph.substituted(nodes, found)


class _Step(NamedTuple):
    """`op(*arguments)`; an argument is the number of an input or, counted on from there, of a step; or a constant."""

    op: Primitive
    arguments: tuple[int | np.generic, ...]
    attrs: dict[str, Any]
    dtype: Any


class _NotAFormula(Exception):
    """The kernel does something else than calling ufuncs on its arguments."""


_expansions: dict[Any, tuple[list[_Step], int] | None] = {}


def _steps_of(node: Node) -> tuple[list[_Step], int] | None:
    """The steps of a node's kernel and the number of the result, or None."""
    op = node.op
    if node.several or len(node.outputs) != 1 or any(v.dtype.numpy.kind not in "biufc" for v in node.inputs):
        return None
    y = node.outputs[0]
    if op.family != "elementwise" and not (op.name == "cast" and op.family == "linear"):
        return None
    key = (op, tuple(v.dtype for v in node.inputs), tuple(sorted(node.attrs.items())))
    try:
        if key not in _expansions:
            _expansions[key] = _expanded(op, node)
    except TypeError:
        return None  # an attribute that cannot be a key
    expansion = _expansions[key]
    if expansion is None or (len(expansion[0]) > _LONG and math.prod(y.shape) < FEW):
        return None
    if y.shape:
        return expansion
    # For single numbers, kernels that select know a shorter way.
    return expansion if all(step.op.writes for step in expansion[0]) else None


def _expanded(op: Any, node: Node) -> tuple[list[_Step], int] | None:
    recorder = _Recorder(len(node.inputs))
    symbols = [_Symbol(recorder, i, np.ones(1, v.dtype.numpy)) for i, v in enumerate(node.inputs)]
    try:
        with np.errstate(all="ignore"):
            result = op.numpy(*symbols, **node.attrs)
    except Exception:  # whatever it was, the kernel is no mere formula
        return None
    if type(result) is not _Symbol or result.dtype != node.outputs[0].dtype.numpy:
        return None
    return recorder.steps, result.number


class _Recorder:
    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.steps: list[_Step] = []

    def add(self, op: Primitive, arguments: Sequence[Any], attrs: dict[str, Any], example: Any) -> _Symbol:
        symbols = [a for a in arguments if type(a) is _Symbol]
        common = np.result_type(*(s.dtype for s in symbols)) if op is not where else example.dtype
        given = tuple(a.number if type(a) is _Symbol else _scalar(a, common) for a in arguments)
        self.steps.append(_Step(op, given, attrs, example.dtype))
        return _Symbol(self, self.inputs + len(self.steps) - 1, example)


def _scalar(x: Any, dtype: Any) -> np.generic:
    """A number in a formula, in the dtype NumPy computes with."""
    if not isinstance(x, int | float | complex | np.generic) or np.result_type(dtype, x) != dtype:
        raise _NotAFormula
    return dtype.type(x)


class _Symbol(NDArrayOperatorsMixin):
    """Stands for an array; `example` has its dtype. A kernel that has a formula for many numbers shows that one."""

    size = FEW

    def __init__(self, recorder: _Recorder, number: int, example: Any) -> None:
        self.recorder = recorder
        self.number = number
        self.example = example

    @property
    def dtype(self) -> Any:
        return self.example.dtype

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1 or ufunc.signature is not None or ufunc is np.power:
            raise _NotAFormula  # an array's own power knows small exponents
        example = ufunc(*[x.example if type(x) is _Symbol else x for x in inputs])
        return self.recorder.add(of_ufunc(ufunc), inputs, {}, example)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where or len(args) != 3 or kwargs:
            raise _NotAFormula
        example = np.where(*[x.example if type(x) is _Symbol else x for x in args])
        return self.recorder.add(where, args, {}, example)

    def view(self, dtype: Any) -> _Symbol:
        return self.recorder.add(view, (self,), {"dtype": np.dtype(dtype)}, self.example.view(dtype))

    def astype(self, dtype: Any, copy: bool = True) -> _Symbol:
        if self.dtype == dtype:
            return self
        if self.dtype.kind == "c" and np.dtype(dtype).kind != "c":
            raise _NotAFormula
        return self.recorder.add(cast, (self,), {"dtype": np.dtype(dtype)}, self.example.astype(dtype))

    def __bool__(self) -> bool:
        raise _NotAFormula


def _instantiated(node: Node, expansion: tuple[list[_Step], int], nodes: list[Node]) -> Value:
    """Adds the steps of a node and returns its result."""
    steps, result = expansion
    values: list[Value] = list(node.inputs)
    for number, step in enumerate(steps, len(node.inputs)):
        inputs = tuple(
            Value((), dtypes.of_numpy(a.dtype), a) if isinstance(a, np.generic) else values[a] for a in step.arguments
        )
        shape = np.broadcast_shapes(*(v.shape for v in inputs))
        is_last = number == result
        y = node.outputs[0] if is_last else Value(shape, dtypes.of_numpy(step.dtype))
        nodes.append(Node(step.op, inputs, step.attrs, (y,), False, node.line))
        values.append(y)
    return values[result]
