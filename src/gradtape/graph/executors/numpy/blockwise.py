"""Kernel fusion on the CPU: one function for a run of elementwise steps, applied to large arrays block by block.

A block of every array fits the cache, and intermediate values never leave it: see `backends/numpy/programs.py`. Each
core gets one contiguous part with few large blocks, because every ufunc call briefly takes the GIL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ....backends.numpy import blocks
from ....backends.numpy.memory import empty
from ....backends.numpy.programs import ArrayStep, ArraySymbol, BlockProgram
from ....backends.tuning import REPEATED_ROW
from ....engine.registry.op import Unregistered
from ...ir.graph import Graph, Node, Value
from ...passes.optimize import dead_code
from . import lowering

_LONGEST_ROW = 1 << 16  # elements
_STEPS_IN_CACHE = 4  # this many cached steps take as long as one pass over main memory


class Frame(NamedTuple):
    """How a run lays out its elements: in rows of `width`, 0 if the layout does not matter.

    `columns` says that some argument has one number per row: then the width is exact, else it may be a multiple.
    """

    width: int = 0
    columns: bool = False

    def joined(self, other: Frame) -> Frame | None:
        """Return the frame that fits both, or None."""
        if not other.width or self == other:
            return self
        if not self.width:
            return other
        narrow, wide = sorted((self, other))
        if wide.width % narrow.width or narrow.columns:
            return None
        return wide


def frame_of(value: Value, shape: tuple[int, ...]) -> Frame | None:
    """Return the frame that an argument requires when broadcast to `shape`, or None if none is possible."""
    given = (1,) * (len(shape) - len(value.shape)) + value.shape
    if given == shape or math.prod(given) == 1:
        return Frame()
    wide = [i for i, n in enumerate(given) if n != 1]
    first, end = wide[0], wide[-1] + 1
    if given[first:] == shape[first:]:
        width = math.prod(shape[first:])
        return Frame(width) if width <= _LONGEST_ROW else None
    width = math.prod(shape[end:])
    if given[:end] == shape[:end] and width <= _LONGEST_ROW:
        return Frame(width, columns=True)
    return None


class Fused(Unregistered):
    """A run of elementwise steps as one op."""

    family = "fused"
    never_aliases = True

    def __init__(
        self, members: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], frame: Frame, cores: int
    ) -> None:
        self.name = self.title = "_".join(dict.fromkeys(n.op.name for n in members if n.op is not lowering.view))
        self._members, self._given, self._made = members, inputs, outputs
        self._program = _program(members, inputs, outputs)
        self._shape = shape = outputs[0].shape
        self._dtypes = [v.dtype.numpy for v in outputs]
        size, width = math.prod(shape), frame.width or 1
        if frame.width and not frame.columns:
            width *= math.gcd(size // width, max(1, REPEATED_ROW // width))
        self._count = size // width
        self._rows = (width,) if frame.width else ()
        self._inputs = [self._layout(v, width) for v in inputs]
        self._cores = cores

    def for_some(self, wanted: Sequence[bool]) -> Fused:
        """Return the op for a subset of the outputs, computed by the same steps."""
        part = copy(self)
        part._made = [v for v, flag in zip(self._made, wanted, strict=True) if flag]
        part._members = dead_code(Graph("block", tuple(self._given), tuple(self._members), tuple(part._made))).nodes
        part._program = _program(part._members, self._given, part._made)
        part._dtypes = [v.dtype.numpy for v in part._made]
        return part

    @property
    def passes(self) -> float:
        """The running time relative to one pass over the arguments and results."""
        return 1 + sum(map(lowering.cost, self._members)) / _STEPS_IN_CACHE

    def _layout(self, value: Value, width: int) -> tuple[Callable[[Any], Any], bool]:
        """Return the function that lays out an argument, and whether it is split into blocks."""
        size = math.prod(value.shape)
        if size == math.prod(self._shape):
            full = (self._count, *self._rows)
            return (lambda x: np.ascontiguousarray(x).reshape(full)), True
        if size == 1:
            return (lambda x: np.asarray(x).reshape(())), False
        frame = frame_of(value, self._shape)
        if frame is not None and frame.columns:
            return (lambda x: np.ascontiguousarray(x).reshape(-1, 1)), True
        return (lambda x: np.tile(x.reshape(-1), width // size)), False

    def numpy(self, *arrays: Any) -> tuple[Any, ...]:
        """Compute the outputs block by block on all cores."""
        outputs = tuple([empty(self._shape, dtype) for dtype in self._dtypes])
        laid = [lay(x) for x, (lay, _) in zip(arrays, self._inputs, strict=True)]
        laid += [y.reshape((self._count, *self._rows)) for y in outputs]
        cut = [*[cut for _, cut in self._inputs], *[True] * len(outputs)]
        blocks.in_blocks(self._program, laid, cut, self._cores)
        return outputs


def _program(members: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value]) -> BlockProgram:
    """Compile the steps from blocks of the inputs to blocks of the outputs."""
    symbols = {v: ArraySymbol(v.dtype.numpy) for v in (*inputs, *[v for node in members for v in node.outputs])}
    steps = [
        ArrayStep(
            node.op.numpy,
            tuple([symbols[v] if v in symbols else np.asarray(v.constant)[()] for v in node.inputs]),
            node.attrs, symbols[node.outputs[0]],
        )
        for node in members
    ]  # fmt: skip
    return BlockProgram([symbols[v] for v in inputs], steps, [symbols[v] for v in outputs])
