"""Graphs for device tensors: replayed op by op, with each run of elementwise ops fused into one kernel launch.

An optimizer's update of a variable, a dozen ops with three results, becomes a single launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...backends.arrays import ArrayModule
from ...core.dtypes import COMPLEX, NARROW, STRING
from ...engine.registry.devices import ops_of
from ...engine.registry.formula import Formula, FormulaStep, FormulaSymbol, neutral, trace_formula
from ...engine.registry.op import Op, Unregistered, bind
from ..ir.graph import Graph, Node, Value
from ..passes.optimize import optimize
from ..passes.runs import Runs, inputs_of

_NOT_JOINED = COMPLEX | NARROW | STRING


def for_devices(graph: Graph) -> Graph:
    """Optimize the graph and fuse its runs of elementwise ops, also inside its subgraphs."""
    return _joined(optimize(graph))


def _joined(graph: Graph) -> Graph:
    graph = graph.with_subgraphs(_joined)
    runs = Runs(graph.nodes)
    for i, node in enumerate(graph.nodes):
        if _can_join(node):
            runs.place(i, _ANY)
    runs.keep(lambda run: len(run.members) > 1)

    def made(members: list[Node], results: list[Value], run: Any) -> Node:
        inputs = inputs_of(members)
        return Node(Together(members, inputs, results), inputs, {}, tuple(results), True, members[-1].line)

    return runs.joined(graph, made) if runs.of else graph


class _Any:
    """The one frame that all nodes share: a kernel broadcasts its inputs itself."""

    def joined(self, other: _Any) -> _Any:
        return self


_ANY = _Any()


def _can_join(node: Node) -> bool:
    elementwise = isinstance(node.op, Op) and (node.op.family == "elementwise" or node.op.name == "cast")
    return elementwise and not any(v.dtype.kind & _NOT_JOINED for v in (*node.inputs, *node.outputs))


class Together(Unregistered):
    """A run of elementwise ops fused into one op."""

    name = title = "together"
    family = "elementwise"
    moves_data = False

    def __init__(self, members: Sequence[Node], inputs: Sequence[Value], results: Sequence[Value]) -> None:
        self._members, self._inputs, self._results = members, inputs, results

    def numpy(self, *arrays: Any) -> tuple[Any, ...]:
        """Compute the members one by one on the host."""
        return self._one_by_one(lambda op: op.numpy, arrays)

    def device_kernel(self, module: ArrayModule) -> Callable[..., tuple[Any, ...]]:
        """Return one fused kernel for device arrays if the run has a formula, else one launch per op."""
        formula = self._formula()
        kernel = None if formula is None else module.fuse(formula)
        if kernel is None:
            ops = ops_of(module)
            return lambda *arrays: self._one_by_one(lambda op: getattr(ops, op.name), arrays)
        return kernel if formula.others else lambda *arrays: (kernel(*arrays),)  # type: ignore[union-attr]

    def _one_by_one(self, function_of: Callable[[Op], Callable[..., Any]], arrays: Sequence[Any]) -> tuple[Any, ...]:
        known = dict(zip(self._inputs, arrays, strict=True))
        for node in self._members:
            known[node.outputs[0]] = function_of(node.op)(*[known[v] for v in node.inputs], **node.attrs)
        return tuple([known[v] for v in self._results])

    def _formula(self) -> Formula | None:
        """Concatenate the formulas of all members; None if one of them has none."""
        symbols = {v: FormulaSymbol.of(v.dtype.numpy) for v in self._inputs}
        steps: list[FormulaStep] = []
        for node in self._members:
            kernel = partial(bind(node.op.kernel, neutral), **node.attrs)
            part = trace_formula(kernel, [v.dtype.numpy for v in node.inputs])
            if part is None or part.result.dtype != node.outputs[0].dtype.numpy:
                return None
            at = dict(zip(part.inputs, [symbols[v] for v in node.inputs], strict=True))
            for step in part.steps:
                inputs = [at.get(x, x) if isinstance(x, FormulaSymbol) else x for x in step.inputs]
                steps.append(step._replace(inputs=tuple(inputs)))
            symbols[node.outputs[0]] = at.get(part.result, part.result)
        first, *others = [symbols[v] for v in self._results]
        return Formula(tuple([symbols[v] for v in self._inputs]), steps, first, tuple(others))
