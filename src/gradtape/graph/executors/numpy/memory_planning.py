"""Memory planning for NumPy: rematerializes some values of a graph so that a run keeps to a memory budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...ir.graph import Graph, Node
from ...passes.recomputation import Weights, recomputed
from ..budgets import PlanOutcome
from .footprint import Layouts, largest, peak, seconds, size
from .lowering import Primitive

_PATIENCE = (0.5, 1.0)
_LITTLE_SLOWDOWN = 0.1  # relative: up to it, looser plans are not tried
_MAX_SLOWDOWN = 6.0  # relative
_ATTEMPTS = 3  # at a plan whose peak exceeds its target


@dataclass(frozen=True)
class Plan:
    """A graph, the peak bytes of a run, and the running time of its rematerialized nodes."""

    graph: Graph
    peak: int
    seconds: float


def _writes_in_place(node: Node) -> bool:
    return isinstance(node.op, Primitive) and node.op.writes


def plan_memory(
    graph: Graph, budget: int | float, for_once: bool = False, overwrites: Callable[[Node], bool] = _writes_in_place,
    max_slowdown: float = _MAX_SLOWDOWN,
) -> Graph:  # fmt: skip
    """Rewrite the graph so that the peak memory of a run is at most `budget` plus its largest op.

    The budget is in bytes, or a fraction of the unplanned peak. Variables and arguments do not count, as they exist
    anyway; results and new variable values do. A program that runs once (`for_once`) is planned quickly and silently.
    A node that `overwrites` may write its result over a dead argument.
    """
    layouts = Layouts(graph)
    plain = peak(graph, layouts.root)
    limit = budget * plain if isinstance(budget, float) else budget
    if plain <= limit:
        return graph
    allowed = limit + largest(graph)
    targets = (allowed,) if for_once else (limit, (limit + allowed) / 2, allowed)
    times = {id(node): seconds(node) for node in graph.nodes}
    weights = Weights(layouts.root, size, lambda node: times[id(node)], overwrites)
    found = _planned(graph, layouts, weights, targets, max_slowdown) or Plan(graph, plain, 0.0)
    if for_once:
        return found.graph
    again = len(found.graph.nodes) - len(graph.nodes)
    PlanOutcome(found.peak, plain, again, len(graph.nodes)).report(graph.name, limit, allowed)
    return found.graph


def _planned(
    graph: Graph, layouts: Layouts, weights: Weights, targets: Sequence[float], max_slowdown: float
) -> Plan | None:
    """Return the fastest plan within the last target or, if none fits, the one with the lowest peak.

    A plan for one of the earlier, tighter targets is returned if it is fast enough.
    """
    allowed = targets[-1]
    total = sum(map(weights.seconds, graph.nodes))
    best: Plan | None = None
    for target in targets:
        for patience in _PATIENCE:
            goal = target
            for _ in range(_ATTEMPTS):
                fits = best is not None and best.peak <= allowed
                longest = best.seconds if best and fits else max_slowdown * total
                found = recomputed(graph, weights, goal, patience, longest)
                if found is None:
                    break
                planned = graph.substituted(found.nodes)
                plan = Plan(planned, peak(planned, Layouts(planned, layouts).root), found.seconds)
                if best is None or _rank(plan, allowed) < _rank(best, allowed):
                    best = plan
                if plan.peak <= target:
                    break
                goal -= plan.peak - target
                if goal <= 0:
                    break
        if best is not None and best.peak <= allowed and best.seconds <= _LITTLE_SLOWDOWN * total:
            break
    return best


def _rank(plan: Plan, allowed: float) -> tuple[float, float]:
    return max(plan.peak, allowed), plan.seconds
