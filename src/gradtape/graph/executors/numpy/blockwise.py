"""Kernel fusion on the CPU: one function for a run of elementwise steps, applied to large arrays block by block.

A block of every array fits the cache, and intermediate values never leave it: see `backends/numpy/programs.py`. Each
core gets one contiguous part with few large blocks, because every ufunc call briefly takes the GIL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....backends.numpy import blocks
from ....backends.numpy.blocks import Frame
from ....backends.numpy.programs import ArrayStep, ArraySymbol, BlockProgram
from ....engine.registry.op import Unregistered
from ...ir.graph import Graph, Node, Value
from ...passes.optimize import dead_code
from . import lowering

_STEPS_IN_CACHE = 4  # this many cached steps take as long as one pass over main memory


class Fused(Unregistered):
    """A run of elementwise steps as one op."""

    family = "fused"
    never_aliases = is_repeatable = True

    def __init__(
        self, members: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], frame: Frame, cores: int
    ) -> None:
        self.name = self.title = "_".join(dict.fromkeys(n.op.name for n in members if n.op is not lowering.view))
        self._members, self._given, self._made = members, inputs, outputs
        self._program = _program(members, inputs, outputs)
        self._shape = outputs[0].shape
        self._dtypes = [v.dtype.numpy for v in outputs]
        self._frame, self._cores = frame, cores

    def for_some(self, wanted: Sequence[bool]) -> Fused:
        """Returns the op for a subset of the outputs, computed by the same steps."""
        outputs = [v for v, flag in zip(self._made, wanted, strict=True) if flag]
        graph = dead_code(Graph("block", tuple(self._given), tuple(self._members), tuple(outputs)))
        return Fused(graph.nodes, self._given, outputs, self._frame, self._cores)

    @property
    def passes(self) -> float:
        """The running time relative to one pass over the arguments and results."""
        return 1 + sum(map(lowering.cost, self._members)) / _STEPS_IN_CACHE

    def numpy(self, *arrays: Any) -> tuple[Any, ...]:
        """Compute the outputs block by block on all cores."""
        outputs = tuple([np.empty(self._shape, dtype) for dtype in self._dtypes])
        blocks.in_blocks(self._program, arrays, outputs, self._frame, self._cores)
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
