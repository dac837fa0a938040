"""Runs of elementwise steps on large arrays, computed block by block on all cores.

The steps of a run go over one shape; its arguments have that shape, or are stretched to it as a number, a row or a
column.
"""

from __future__ import annotations

import math

from ....backends.numpy import blocks
from ....backends.tuning import FUSED, THREADED
from ...ir.graph import Graph, Node, Value
from ...passes.runs import Run, Runs, inputs_of
from . import lowering
from .blockwise import Frame, Fused, frame_of

_WORK = 1 << 20  # elements times the costs of steps from which blocks, or another thread, pay


def fused(graph: Graph) -> Graph:
    """The lowered graph with runs of steps on large arrays made one node each."""
    nodes = graph.nodes
    runs = Runs(nodes)
    for i, node in enumerate(nodes):
        frame = _frame(node) if isinstance(node.op, lowering.Primitive) else None
        if frame is not None and math.prod(node.outputs[0].shape) >= FUSED:
            runs.place(i, frame)
    cores = 1 if _keeps_cores_busy(graph) and blocks.CORES <= 2 else blocks.CORES

    def pays(run: Run) -> bool:
        """Not if it is too little work, or one step, where there is one core to do it."""
        costs = [lowering.cost(nodes[i]) for i in run.members]
        return math.prod(run.shape) * sum(costs) >= _WORK and (cores > 1 or len(costs) - costs.count(0) > 1)

    def made(members: list[Node], outputs: list[Value], run: Run) -> Node:
        inputs = inputs_of(members)
        op = Fused(members, inputs, outputs, run.frame, cores)
        return Node(op, inputs, {}, tuple(outputs), True, members[-1].line)

    runs.keep(pays)
    return runs.joined(graph, made) if runs.of else graph


def _keeps_cores_busy(graph: Graph) -> bool:
    """Whether the graph multiplies large matrices: the threads that do it wait busily for the next product.

    Convolutions use threads of ours, which do not, and so do the products among them.
    """
    names = {node.op.name for node in graph.nodes}
    convolutions = ("conv", "conv_input", "conv_filter", "conv_filters")
    return names.isdisjoint(convolutions) and any(map(_is_large_product, graph.nodes))


def _is_large_product(node: Node) -> bool:
    if node.op.name != "matmul" or len(node.inputs[1].shape) != 2:
        return False
    summed = node.inputs[1].shape[1 if node.attrs.get("transpose_b") else 0]
    return math.prod(node.outputs[0].shape) * summed >= THREADED


def _frame(node: Node) -> Frame | None:
    """The frame that all arguments of a step fit into, or None."""
    frame: Frame | None = Frame()
    for v in node.inputs:
        other = frame_of(v, node.outputs[0].shape)
        frame = None if frame is None or other is None else frame.joined(other)
    return frame
