"""A program of XLA's that keeps to a memory budget: some values are computed again, in stages that XLA keeps apart.

XLA says what a program takes once it is compiled. That differs from what the plan counts on, as XLA fuses ops, and
needs memory of its own: so the plan is made anew, for less, until the program fits.
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
_LONGEST = 1.0  # so much of a run may be computed again: tighter plans gain little, and take long to compile
_LOOSER = 1.05  # the step to the next plan, where one computes too much again


def plan_memory(graph: Graph, budget: int | float, plain: Any, build: Callable[[Graph], Any]) -> Any:
    """What `build` makes of the graph such that a run takes at most `budget` beside its largest op.

    That is bytes, or a fraction of what a run takes without a plan, of `plain`, which `build` made of the graph as it
    is. What it makes says in `peak` what a run takes.
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
    """The graph, which is to become two programs, within the budget as far as the plan can tell; without stages.

    A fraction is one of what the plan counts on.
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
    """The plan that holds least, of `goal` bytes to less than `most`, and does not take too long; and its bytes."""
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
