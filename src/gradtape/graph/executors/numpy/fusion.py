"""The fusion pass: finds runs of elementwise steps on large arrays, to compute block by block on all cores.

All steps of a run have one shape; each argument has that shape, or is a scalar, a row or a column broadcast to it.
"""

from __future__ import annotations

import math

from ....backends.numpy import blocks
from ....backends.numpy.blocks import Frame, frame_of
from ....backends.tuning import FUSED, THREADED
from ...ir.dynamic_sizes import dynamic_values
from ...ir.graph import Graph, Node, Value
from ...passes.runs import Run, Runs, inputs_of
from . import lowering
from .blockwise import Fused

_WORK = 1 << 20  # elements times step cost above which blocks, or another thread, pay off


def fused(graph: Graph) -> Graph:
    """Fuse each run of steps on large arrays of a lowered graph into one node."""
    nodes = graph.nodes
    runs = Runs(nodes)
    dynamic = dynamic_values(graph)
    for i, node in enumerate(nodes):
        frame = _frame(node) if isinstance(node.op, lowering.Primitive) and node.outputs[0] not in dynamic else None
        if frame is not None and math.prod(node.outputs[0].shape) >= FUSED:
            runs.place(i, frame)
    cores = 1 if _keeps_cores_busy(graph) and blocks.CORES <= 2 else blocks.CORES

    def pays(run: Run) -> bool:
        """Whether the work is large enough and, on a single core, there is more than one step."""
        costs = [lowering.cost(nodes[i]) for i in run.members]
        return math.prod(run.shape) * sum(costs) >= _WORK and (cores > 1 or len(costs) - costs.count(0) > 1)

    def made(members: list[Node], outputs: list[Value], run: Run) -> Node:
        inputs = inputs_of(members)
        op = Fused(members, inputs, outputs, run.frame, cores)
        return Node(op, inputs, {}, tuple(outputs), True, members[-1].line)

    runs.keep(pays)
    return runs.joined(graph, made) if runs.of else graph


def _keeps_cores_busy(graph: Graph) -> bool:
    """Whether the graph multiplies large matrices: BLAS threads busy-wait for the next product.

    Convolutions run on our own threads, which do not busy-wait, and so do the products inside them.
    """
    if any(node.op.name in ("conv", "conv_input", "conv_filter", "conv_filters") for node in graph.nodes):
        return False
    products = [node for node in graph.nodes if node.op.name == "matmul" and len(node.inputs[1].shape) == 2]
    summed = [node.inputs[1].shape[1 if node.attrs.get("transpose_b") else 0] for node in products]
    return any(math.prod(p.outputs[0].shape) * n >= THREADED for p, n in zip(products, summed, strict=True))


def _frame(node: Node) -> Frame | None:
    """Returns the frame that fits all arguments of a step, or None."""
    frame: Frame | None = Frame()
    for v in node.inputs:
        other = frame_of(v, node.outputs[0].shape)
        frame = None if frame is None or other is None else frame.joined(other)
    return frame
