"""Memory planning for NumPy: rematerializes some values of a graph so that a run keeps to a memory budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from math import inf
from typing import NamedTuple

from ....core import logger
from ....core.budgets import readable_bytes
from ....engine.run.progress import reporting
from ...ir.graph import Graph, Node
from ...passes.recomputation import Weights, recomputed
from .footprint import Layouts, largest, peak, seconds, size
from .lowering import Primitive

_PATIENCE = (0.5, 1.0)
_LITTLE_SLOWDOWN = 0.1  # relative: up to it, looser plans are not tried
_MAX_SLOWDOWN = 6.0  # relative
_ATTEMPTS = 3  # at a plan whose peak exceeds its target


class Plan(NamedTuple):
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
    with nullcontext() if for_once else reporting(f"planning the memory of function {graph.name}"):
        found = _planned(Plan(graph, plain, inf), layouts, weights, targets, max_slowdown)
    if not for_once:
        again = len(found.graph.nodes) - len(graph.nodes)
        report_plan(graph, again, found.peak, plain, limit, allowed)
    return found.graph


def _planned(best: Plan, layouts: Layouts, weights: Weights, targets: Sequence[float], max_slowdown: float) -> Plan:
    """Returns the fastest plan within the last target or, if none fits, the one with the lowest peak; at worst `best`.

    A plan for one of the earlier, tighter targets is returned if it is fast enough.
    """
    graph, allowed = best.graph, targets[-1]
    total = sum(map(weights.seconds, graph.nodes))

    def rank(plan: Plan) -> tuple[float, float]:
        return max(plan.peak, allowed), plan.seconds

    for target in targets:
        for patience in _PATIENCE:
            goal = target
            for _ in range(_ATTEMPTS):
                longest = min(max_slowdown * total, best.seconds if best.peak <= allowed else inf)
                found = recomputed(graph, weights, goal, patience, longest) if goal > 0 else None
                if found is None:
                    break
                planned = graph.substituted(found.nodes)
                plan = Plan(planned, peak(planned, Layouts(planned, layouts).root), found.seconds)
                best = min(best, plan, key=rank)
                if plan.peak <= target:
                    break
                goal -= plan.peak - target
        if best.peak <= allowed and best.seconds <= _LITTLE_SLOWDOWN * total:
            break
    return best


def report_plan(graph: Graph, again: int, peak: int, plain: int, limit: float, allowed: float) -> None:
    """Log how many nodes run again, and the peak with the plan and without (`plain`); warn if it exceeds `allowed`."""
    if peak > allowed:
        logger.warning(
            "function %s does not fit a memory budget of %s: a run takes %s of memory, the least that was found, "
            "and %s without a budget. Smaller batches need less; results, and what variables become, count",
            graph.name, readable_bytes(limit), readable_bytes(peak), readable_bytes(plain),
        )  # fmt: skip
    logger.info(
        "function %s is planned to %s of memory instead of %s: %d of %d ops run again",
        graph.name, readable_bytes(peak), readable_bytes(plain), again, len(graph.nodes),
    )  # fmt: skip
