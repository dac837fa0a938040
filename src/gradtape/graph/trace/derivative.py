"""Differentiates a graph into two: a forward graph that also outputs residuals, and a backward graph that uses them.

The graph is replayed under a tape in a new trace. The nodes that depend on a cotangent form the backward graph; the
values that they use of the other nodes are the residuals (`kept`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.run.randomness import Stream
from ...engine.tape.tape import Tape
from ..ir.effects import imagining
from ..ir.graph import Graph, Node, Value, replay
from .lazy_tensors import ones_like
from .trace import Trace
from .traced import Untraceable


class Cotangents:
    """How the outputs of a backward graph form the cotangents of the inputs: None, a tensor, or `IndexedSlices`."""

    def __init__(self, found: Sequence[Any]) -> None:
        self._tensors: list[Tensor] = []
        self.places: tuple[Value, ...] = ()
        self.forms: list[Any] = []  # None, an output's index, or the index of slices' values and a dense shape
        for g in found:
            if type(g) is IndexedSlices:
                self.forms.append((len(self._tensors), g.dense_shape))
                self._tensors += [g.values, g.indices]
            else:
                self.forms.append(None if g is None else len(self._tensors))
                self._tensors += [] if g is None else [g]

    @classmethod
    def of_forms(cls, forms: Sequence[Any]) -> Cotangents:
        """Returns cotangents with these forms."""
        found = cls([])
        found.forms = list(forms)
        return found

    def taken(self) -> list[Tensor]:
        """Returns the output tensors and drop them, as they keep their trace alive."""
        tensors, self._tensors = self._tensors, []
        return tensors

    def of(self, outputs: Sequence[Any]) -> list[Any]:
        """Assemble the cotangents from the outputs of a run."""
        found: list[Any] = []
        for form in self.forms:
            if type(form) is tuple:
                at, shape = form
                found.append(IndexedSlices(outputs[at], outputs[at + 1], shape))
            else:
                found.append(None if form is None else outputs[form])
        return found

    def place(self, i: int) -> Value | None:
        """Returns the value of input `i`'s cotangent in the backward graph, if it is a single tensor."""
        form = self.forms[i]
        return self.places[form] if type(form) is int else None


class Derivative:
    """`forward` returns the graph's outputs and then `kept`; `backward` takes `kept`, then a cotangent per output.

    `joint` maps inputs and cotangents to the input cotangents in one graph, for higher-order derivatives.
    """

    def __init__(
        self, graph: Graph, inputs: Sequence[Tensor], wanted: Sequence[bool], given: Sequence[bool] | None = None,
        evenly: bool = False, streams: dict[int, Stream] | None = None, for_xla: bool = False,
        lazy: bool = False,
    ) -> None:  # fmt: skip
        """Differentiate with respect to the inputs `wanted`, with cotangents for the outputs `given` (default: all).

        With `evenly`, all residuals have a static shape; the backward graph recomputes the others. `streams` maps the
        ids of the original random streams to those that the derivative draws from; missing ones are added. Outside of
        any trace, `for_xla` says whether XLA will run the graphs, and `lazy` whether values are computed lazily.
        """
        self.wanted = tuple(wanted)
        trace = Trace(graph.name, for_xla=for_xla, lazy=lazy)
        # The derivative of a branch or a loop shares the streams of the derivative around it.
        shared = trace.enclosing.random.replacements if streams is None and trace.enclosing is not None else streams
        trace.random.replacements = shared
        with trace.entered(), imagining():
            xs = [trace.input(x) for x in inputs]
            with Tape(persistent=True, watch_accessed_variables=False) as tape:
                tape.watch([x for x, flag in zip(xs, wanted, strict=True) if flag and x.dtype.differentiable])
                results = replay(graph, xs)
            outputs = [y for y, flag in zip(results, given or [True] * len(graph.outputs), strict=False) if flag]
            gs = [trace.input(ones_like(y, trace.evaluator.is_lazy)) for y in outputs]
            sources = [x for x, flag in zip(xs, wanted, strict=True) if flag]
            found = iter(tape.vjp(outputs, gs, sources) if sources and outputs else [])
            self.cotangents = Cotangents([next(found, None) if flag else None for flag in wanted])
        del tape
        self.joint = trace.graph(self.cotangents.taken())
        self.cotangents.places = self.joint.outputs
        places = [trace.place_of(y) for y in results]
        trace.release()
        count = len(xs)
        own, cotangents = self.joint.inputs[:count], self.joint.inputs[count:]
        before, after = _parted(self.joint.nodes, cotangents)
        if evenly:
            after = _with_uneven(before, after)
        made = {value for node in before for value in node.outputs}
        used = [v for node in after for v in node.inputs] + list(self.joint.outputs)
        again = {value for node in after for value in node.outputs}
        self.kept = kept = tuple(dict.fromkeys(v for v in used if (v in made or v in own) and v not in again))
        split = len(graph.outputs)
        read = zip(graph.variables, own[len(graph.inputs) :], strict=True)
        self.forward = replace(
            graph, inputs=own[: len(graph.inputs)], nodes=before, outputs=(*places[:split], *kept),
            variables=tuple((variable, place) for (variable, _), place in read),
            updates=tuple((v, place) for (v, _), place in zip(graph.updates, places[split:], strict=True)),
        )  # fmt: skip
        self.backward = Graph(f"{graph.name}_gradient", (*kept, *cotangents), after, self.joint.outputs)


def _parted(nodes: Sequence[Node], cotangents: Sequence[Value]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Split the nodes into those that do not depend on the cotangents and those that do."""
    later = set(cotangents)
    before, after = [], []
    for node in nodes:
        if any(value in later for value in node.inputs):
            later.update(node.outputs)
            after.append(node)
        else:
            before.append(node)
    return tuple(before), tuple(after)


def _with_uneven(before: Sequence[Node], after: Sequence[Node]) -> tuple[Node, ...]:
    """Returns `after`, preceded by the nodes of `before` that recompute the values of dynamic shape that it uses."""
    uneven = _uneven(before)
    needed = {v for node in after for v in node.inputs}
    again = []
    for node in reversed(before):
        if any(v in needed and v in uneven for v in node.outputs):
            if node.effect:
                raise Untraceable("the derivative of a loop in a loop would have to print or draw random numbers again")
            needed.update(node.inputs)
            again.append(node)
    return (*reversed(again), *after)


def _uneven(nodes: Sequence[Node]) -> set[Value]:
    """Returns the values whose shape depends on the number of iterations of a loop."""
    found: set[Value] = set()
    for node in nodes:
        rounds = node.attrs.get("rounds")
        if rounds is not None:
            if rounds.count is None:
                found.update(node.outputs[rounds.carried :])
        elif "branches" in node.attrs:
            for branch in node.attrs["branches"]:
                inside = _uneven(branch.nodes)
                found.update(y for y, v in zip(node.outputs, branch.outputs, strict=True) if v in inside)
        elif not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found
