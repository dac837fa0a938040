"""Abstract tensors: shape and dtype of a large tensor of a scratch graph, whose values do not matter (zeros).

Contractions, convolutions, reductions and elementwise ops on them compute shapes only. Other ops run on zeros. Results
that are small or integers, which may be sizes, are concrete.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...ops.linalg.contraction import split_equation

ABSTRACT_MIN_ELEMENTS = 1024


class AbstractTensor(Tensor):
    """A tensor of zeros that holds its shape only."""

    __slots__ = ("_dims",)

    level = -1  # below everything that interprets ops
    module = None  # fast paths ask whether two tensors are on one device

    def __init__(self, dims: tuple[int, ...], dtype: DType) -> None:
        self._dims, self.dtype = dims, dtype
        self.tracer = None

    @property
    def dims(self) -> tuple[int, ...]:
        return self._dims

    @property
    def array(self) -> Any:
        return np.broadcast_to(np.zeros((), self.dtype.numpy), self._dims)

    def elementwise(self, op: Any, inputs: Sequence[Tensor], dtype: DType) -> Any:
        """Run an elementwise op as any other: this is what the fast path calls for tensors of this level."""
        return dispatch.run(op, inputs, {})

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Run `op` for the shapes and dtypes of its results; what a tape records runs on zeros."""
        if dispatch.thread.recorders and any(x.tracer is not None for x in inputs):
            return dispatch.run(op, list(map(concrete, inputs)), attrs)
        shape = _SHAPES.get(op.name, _elementwise_shape if op.family == "elementwise" else None)
        if shape is not None:
            try:
                reduced = shape(op, inputs, attrs)
            except ValueError:  # the op itself says what is wrong
                reduced = None
            if reduced is not None:
                dims, given, attrs_of_given = reduced
                return abstracted(dispatch.run(op, given, attrs_of_given), dims)
        return abstracted(dispatch.run(op, list(map(concrete, inputs)), attrs))


Reduced = tuple[tuple[int, ...], list[Tensor], dict[str, Any]]  # the result's shape; an op of the same kind, but cheap


def concrete(x: Tensor) -> Tensor:
    """Returns a plain tensor of zeros for an abstract one, with its tracers."""
    if type(x) is not AbstractTensor:
        return x
    found = wrap(x.array, x.dtype)
    found.tracer = x.tracers
    return found


def abstracted(result: Any, dims: tuple[int, ...] | None = None) -> Any:
    """Makes large results abstract; `dims` are the sizes of a result that was computed on a part."""
    if type(result) is tuple:
        return tuple([abstracted(x, dims) for x in result])
    if type(result) is not Tensor:
        return result
    sizes = result.dims if dims is None else dims
    if math.prod(sizes) < ABSTRACT_MIN_ELEMENTS or result.dtype is dtypes.string:
        return result if dims is None else wrap(np.broadcast_to(result.array, sizes), result.dtype)
    if dims is None and not result.dtype.is_floating:
        return result
    return AbstractTensor(sizes, result.dtype)


def run_merged(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any], unknown: tuple[int, int]) -> Any:
    """Runs an elementwise op whose shapes differ where a size is unknown: it becomes that of the other operand.

    `unknown` are the sizes of an example that stand for unknown ones, of the first axis and of the others. Returns
    NotImplemented if known sizes differ.
    """
    rank = max(len(x.dims) for x in inputs)
    sizes = []
    for axis, column in enumerate(zip(*((1,) * (rank - len(x.dims)) + x.dims for x in inputs), strict=True)):
        found = {n for n in column if n != 1}
        for size in unknown[:: -1 if axis else 1]:
            if len(found) > 1:
                found.discard(size)
        if len(found) > 1:
            return NotImplemented
        sizes.append(found.pop() if found else 1)
    return abstracted(dispatch.run(op, [_part(x) for x in inputs], attrs), tuple(sizes))


def _part(x: Tensor, dims: tuple[int, ...] = ()) -> Tensor:
    return wrap(np.zeros(dims, x.dtype.numpy), x.dtype)


def _elementwise_shape(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Reduced | None:
    if any(x.dtype is dtypes.string for x in inputs):
        return None
    return np.broadcast_shapes(*(x.dims for x in inputs)), [_part(x) for x in inputs], attrs


def _matmul_shape(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Reduced | None:
    a, b = (x.dims for x in inputs)
    if attrs or len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        return None
    return (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1]), [_part(x, (1, 1)) for x in inputs], attrs


def _contraction_shape(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Reduced | None:
    *terms, output = split_equation(attrs["equation"])
    sizes: dict[str, int] = {}
    for term, x in zip(terms, inputs, strict=True):
        for letter, size in zip(term, x.dims, strict=True):
            if sizes.setdefault(letter, size) != size:
                return None
    given = [_part(x, (1,) * len(x.dims)) for x in inputs]
    return tuple([sizes[letter] for letter in output]), given, attrs


def _convolution_shape(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Reduced | None:
    """Convolves one image of one channel."""
    x, w = inputs
    if x.dims[-1] != w.dims[-2] * attrs["groups"]:
        return None
    given = [_part(x, (1, *x.dims[1:-1], 1)), _part(w, (*w.dims[:-2], 1, 1))]
    alone = {**attrs, "groups": 1}
    y = dispatch.run(op, given, alone)
    return (x.dims[0], *y.dims[1:-1], w.dims[-1]), given, alone


def _transposed_convolution_shape(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Reduced | None:
    """Spreads one value of one channel over a window."""
    y, w = inputs
    windows = [(n - 1) * hole + 1 for n, hole in zip(w.dims[:-2], attrs["dilations"], strict=True)]
    padded = [n + sum(pair) for n, pair in zip(attrs["size"], attrs["paddings"], strict=True)]
    places = [(n - k) // step + 1 for n, k, step in zip(padded, windows, attrs["strides"], strict=True)]
    if y.dims[1:] != (*places, w.dims[-1]):
        return None
    alone = {**attrs, "groups": 1, "size": tuple(windows), "paddings": ((0, 0),) * len(windows)}
    given = [_part(y, (1,) * len(y.dims)), _part(w, (*w.dims[:-2], 1, 1))]
    return (y.dims[0], *attrs["size"], w.dims[-2] * attrs["groups"]), given, alone


def _same_shape(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Reduced | None:
    """For ops along an axis, such as softmax."""
    return inputs[0].dims, [_part(inputs[0], (1,) * len(inputs[0].dims))], attrs


def _reduced_shape(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Reduced | None:
    dims, keepdims = inputs[0].dims, attrs.get("keepdims", False)
    axes = {axis % len(dims) for axis in attrs["axis"]}
    sizes = [1 if i in axes else n for i, n in enumerate(dims) if keepdims or i not in axes]
    return tuple(sizes), [_part(inputs[0], (1,) * len(dims))], attrs


_REDUCTIONS = "sum mean max min prod logsumexp euclidean_norm".split()
_SHAPES = {
    "matmul": _matmul_shape, "contract": _contraction_shape, "conv": _convolution_shape,
    "conv_input": _transposed_convolution_shape, "softmax": _same_shape, "log_softmax": _same_shape,
    **dict.fromkeys(_REDUCTIONS, _reduced_shape),
}  # fmt: skip
