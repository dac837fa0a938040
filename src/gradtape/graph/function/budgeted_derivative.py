"""The derivative of a graph under a memory budget: forward and backward pass are planned as one graph, then split.

The values that are live at the split are the residuals of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ...core.tensor import Tensor, wrap
from ..ir.effects import Check
from ..ir.graph import Graph, Node, replay
from ..trace.derivative import Derivative


def _not_run(*arrays: Any) -> Any:
    raise AssertionError("the nodes before and after this one are run by two programs")


_hand_over = Check("hand_over", _not_run)  # maps the outputs to their cotangents


class BudgetedDerivative:
    """Forward and backward graphs as in `Derivative`, split from the joint graph as rescheduled by `planned`."""

    def __init__(self, derivative: Derivative, graph: Graph, planned: Callable[[Graph], Graph]) -> None:
        self.cotangents = derivative.cotangents
        self.joint = derivative.joint
        forward, backward = derivative.forward, derivative.backward
        count = len(graph.outputs)
        given = (*forward.outputs[:count], *(value for _, value in forward.updates))
        gs = backward.inputs[len(derivative.kept) :]
        turn = Node(_hand_over, given, {}, gs, True)
        whole = replace(
            forward, nodes=(*forward.nodes, turn, *backward.nodes), outputs=(*given, *backward.outputs), updates=()
        )
        whole = planned(whole)
        at = next(i for i, node in enumerate(whole.nodes) if node.op is _hand_over)
        before, turn, after = whole.nodes[:at], whole.nodes[at], whole.nodes[at + 1 :]
        results = whole.outputs[len(given) :]
        made = {*whole.all_inputs, *(v for node in before for v in node.outputs)}
        used = [*(v for node in after for v in node.inputs), *results]
        # Results of effects are residuals too: replaying the joint graph for other cotangents must not repeat effects.
        done = [node for node in forward.nodes if node.effect]
        self._given = tuple(v for node in done for v in node.outputs if v in made)
        self.kept = tuple(dict.fromkeys([*self._given, *(v for v in used if v in made)]))
        places = whole.outputs[: len(given)]
        updates = tuple((v, place) for (v, _), place in zip(forward.updates, places[count:], strict=True))
        self.forward = replace(whole, nodes=before, outputs=(*places[:count], *self.kept), updates=updates)
        self.backward = Graph(backward.name, (*self.kept, *turn.outputs), after, results)
        left = set(map(id, done))
        nodes = tuple([node for node in self.joint.nodes if id(node) not in left])
        self._whole = replace(self.joint, inputs=(*self.joint.inputs, *self._given), nodes=nodes)

    def cotangents_of(self, inputs: Iterable[Tensor], kept: Iterable[Any], gs: Iterable[Tensor]) -> list[Any]:
        """Compute the cotangents of the inputs op by op, for output cotangents of any kind."""
        done = [wrap(array, v.dtype) for v, array in zip(self._given, kept, strict=False)]
        return self.cotangents.of(replay(self._whole, [*inputs, *gs, *done]))
