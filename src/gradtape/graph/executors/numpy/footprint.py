"""The cost model of a run on NumPy: peak memory, and a rough estimate of the running time of nodes.

Whether an op returns a view is found empirically: its kernel runs once on zero arrays backed by anonymous memory,
which the operating system does not allocate until it is written to.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core import dtypes
from ....engine.registry.op import Op
from ...ir.graph import Graph, Node, Value, subgraphs
from .buffers import overwritten
from .lowering import Primitive, cost, view

_FLOPS = 3e10  # FLOP/s of a product
_BYTES = 4e9  # bytes per second of a pass over arrays
_CALL = 1e-6  # seconds per kernel call

Strides = tuple[int, ...] | None  # None for a C-contiguous array


def size(value: Value) -> int:
    """The size of a value in bytes."""
    return math.prod(value.shape) * value.dtype.size


class Layouts:
    """Which values of a graph are views, and of what; `known` shares the results of earlier trials."""

    def __init__(self, graph: Graph, known: Layouts | None = None) -> None:
        self.root: dict[Value, Value] = {}
        self._strides: dict[Value, Strides] = {}
        self._tried: dict[Any, list[tuple[int | None, Strides]]] = {} if known is None else known._tried
        for node in graph.nodes:
            if node.op is view:
                self.root[node.outputs[0]] = self.root.get(node.inputs[0], node.inputs[0])
            elif type(node.op) is Op and not node.op.never_aliases and not node.effect and not any(subgraphs(node)):
                self._try(node)
            elif isinstance(node.op, Primitive):
                self._strides[node.outputs[0]] = self._as_first(node)

    def _as_first(self, node: Node) -> Strides:
        """The strides of a ufunc's result: NumPy keeps the axis order of the first full-size argument."""
        y = node.outputs[0]
        for v in node.inputs:
            strides = self._strides.get(v)
            if v.shape == y.shape and strides is not None and 0 not in strides:
                order = sorted(range(len(strides)), key=lambda axis: strides[axis])
                found, step = [0] * len(order), y.dtype.size
                for axis in order:
                    found[axis] = step
                    step *= y.shape[axis]
                return tuple(found)
        return None

    def _try(self, node: Node) -> None:
        if any(v.dtype.numpy.kind == "O" or 0 in v.shape for v in (*node.inputs, *node.outputs)):
            return
        forms = tuple([(v.shape, v.dtype, self._strides.get(v)) for v in node.inputs])
        try:
            key = (node.op, forms, tuple(sorted((k, repr(v)) for k, v in node.attrs.items())))
            if key not in self._tried:
                self._tried[key] = _tried(node, forms)
        except Exception:  # a kernel that rejects zeros: assume a new array
            return
        for y, (of, strides) in zip(node.outputs, self._tried[key], strict=True):
            self._strides[y] = strides
            if of is not None:
                self.root[y] = self.root.get(node.inputs[of], node.inputs[of])


def _tried(node: Node, forms: Sequence[Any]) -> list[tuple[int | None, Strides]]:
    """For each output of a node: the index of the input that it is a view of, and its strides."""
    given = [
        _nothing(*form) if v.constant is None else np.asarray(v.constant)
        for form, v in zip(forms, node.inputs, strict=True)
    ]
    with np.errstate(all="ignore"):
        result = node.op.numpy(*given, **node.attrs)
    found: list[tuple[int | None, Strides]] = []
    for y in result if node.several else (result,):
        of = next((i for i, x in enumerate(given) if np.may_share_memory(x, y)), None)
        plain = not isinstance(y, np.ndarray) or y.flags.c_contiguous or min(y.strides, default=0) < 0
        found.append((of, None if plain else y.strides))
    return found


def _nothing(shape: tuple[int, ...], dtype: dtypes.DType, strides: Strides) -> Any:
    """Returns an array of zeros in anonymous memory, which is not allocated until written to."""
    held = dtype.size + sum((n - 1) * step for n, step in zip(shape, strides or (), strict=False))
    buffer = mmap.mmap(-1, held if strides else max(1, math.prod(shape) * dtype.size))
    return np.ndarray(shape, dtype.numpy, buffer, strides=strides)


def peak(graph: Graph, root: dict[Value, Value]) -> int:
    """The peak memory of a run in bytes, without its inputs and constants."""
    from ...passes.recomputation import profile  # imported lazily: only budgets need it

    place = dict(root)
    over = overwritten(graph)
    for i, node in enumerate(graph.nodes):
        for v in node.outputs:
            if v in place:
                place[v] = place.get(place[v], place[v])
        if i in over:
            place[node.outputs[0]] = place.get(over[i], over[i])
    return max(profile(graph, place, size), default=0)


def largest(graph: Graph) -> int:
    """The most bytes of inputs and outputs of a single node."""
    return max((sum(map(size, {*node.inputs, *node.outputs})) for node in graph.nodes), default=0)


def seconds(node: Node) -> float:
    """Estimate the running time of a node; only the ratios between nodes matter."""
    op = node.op
    inner = sum(seconds(part) for graph in subgraphs(node) for part in graph.nodes)
    if inner:
        rounds = getattr(node.attrs.get("rounds"), "count", None)
        return inner * (rounds or 1)
    moved = sum(map(size, node.inputs)) + sum(map(size, node.outputs))
    if op is view or op.name == "reshape":
        return _CALL
    if op.family == "bilinear":
        return _CALL + _products(node) / _FLOPS
    passes = cost(node) if isinstance(op, Primitive) else getattr(op, "passes", 4 if op.family == "opaque" else 1)
    return _CALL + passes * moved / _BYTES


def _products(node: Node) -> float:
    """The floating-point operations of a bilinear op."""
    a, b, y = (math.prod(v.shape) for v in (*node.inputs[:2], node.outputs[0]))
    if node.op.name == "matmul":
        summed = node.inputs[0].shape[-2 if node.attrs.get("transpose_a") else -1]
        return 2.0 * y * summed
    if node.op.name == "conv":
        return 2.0 * y * b / node.inputs[1].shape[-1]
    return 2.0 * math.sqrt(float(a) * b * y)
