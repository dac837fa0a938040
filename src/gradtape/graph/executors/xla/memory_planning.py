"""Memory planning for XLA: rematerializes values, in stages separated by optimization barriers.

XLA reports a program's memory only after compilation. It differs from the plan's estimate because XLA fuses ops and
needs workspace: therefore planning is repeated with a lower goal until the program fits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from ...ir.graph import Graph, Node
from ...passes.optimize import common_subexpressions, dead_code
from ...passes.recomputation import Recomputed, Weights, profile, recomputed
from ..budgets import PlanOutcome
from ..numpy.footprint import Layouts, largest, seconds, size
from .stage_partitioning import in_stages

logger = logging.getLogger("gradtape")

_ATTEMPTS = 3
_PATIENCE = 0.5
_LONGEST = 1.0  # maximal recomputed fraction of a run: tighter plans gain little and compile slowly
_LOOSER = 1.05  # growth of the goal after a plan that recomputes too much


def plan_memory(graph: Graph, budget: int | float, plain: Any, build: Callable[[Graph], Any]) -> Any:
    """Return what `build` makes of the graph, such that a run takes at most `budget` plus its largest op.

    The budget is in bytes, or a fraction of the peak of `plain`, which `build` made of the unplanned graph. Built
    programs report the peak memory of a run as `peak`.
    """
    if plain.peak is None:
        logger.warning(
            "function %s has a memory budget, and XLA does not say what it takes on this device: there is no plan",
            graph.name,
        )
        return plain
    limit = budget * plain.peak if isinstance(budget, float) else budget
    if plain.peak <= limit:
        return plain
    whole = dead_code(common_subexpressions(graph))
    allowed = limit + largest(whole)
    best, again, goal, last = plain, 0, float(limit), float(plain.peak)
    for _ in range(_ATTEMPTS):
        goal, found = _planned(whole, goal, last)
        if found is None:
            break
        built = build(in_stages(whole.substituted(found.nodes), whole.nodes))
        if built.peak < best.peak:
            best, again = built, len(found.nodes) - len(whole.nodes)
        if built.peak <= allowed:
            break
        last = goal
        goal = max(goal - (built.peak - allowed), goal / 2)
    PlanOutcome(best.peak, plain.peak, again, len(whole.nodes)).report(graph.name, limit, allowed)
    return best


def planned(graph: Graph, budget: int | float) -> Graph:
    """Plan a graph that will be split into two programs, by the cost model alone and without stages.

    A fractional budget is relative to the estimated peak.
    """
    whole = dead_code(common_subexpressions(graph))
    weights = _weights(whole)
    plain = max(profile(whole, weights), default=0)
    limit = budget * plain if isinstance(budget, float) else budget
    if plain <= limit:
        return whole
    _, found = _planned(whole, limit, plain)
    result = whole if found is None else whole.substituted(found.nodes)
    again = len(result.nodes) - len(whole.nodes)
    peak = max(profile(result, _weights(result)))
    PlanOutcome(peak, plain, again, len(whole.nodes)).report(graph.name, limit, limit + largest(whole))
    return result


def _weights(graph: Graph) -> Weights:
    return Weights(Layouts(graph).root, size, seconds, _overwrites)


def _planned(graph: Graph, goal: float, most: float) -> tuple[float, Recomputed | None]:
    """Return the goal and the plan with the lowest memory between `goal` and `most` bytes that is not too slow."""
    weights = _weights(graph)
    longest = _LONGEST * sum(map(seconds, graph.nodes))
    while goal < most:
        found = recomputed(graph, weights, goal, _PATIENCE, longest)
        if found is not None:
            return goal, found
        goal *= _LOOSER
    return goal, None


def _overwrites(node: Node) -> bool:
    return bool(node.op.family == "elementwise")
