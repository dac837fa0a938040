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
from ...passes.recomputation import Recomputed, Weights, recomputed
from ..budgets import Outcome
from ..numpy.footprint import Layouts, largest, seconds, size
from .stages import in_stages

logger = logging.getLogger("gradtape")

_ATTEMPTS = 3
_PATIENCE = 0.5
_LONGEST = 1.0  # so much of a run may be computed again: tighter plans gain little, and take long to compile
_LOOSER = 1.1  # the step to the next plan, where one computes too much again
_STAGES = 8  # a stage makes no more than one part in so many of the limit, or one product

# XLA for CPUs removes barriers before it looks for what is computed twice. Without this pass they stay; running them
# costs nothing.
OPTIONS = {"cpu": {"xla_disable_hlo_passes": "cse_barrier_expander"}}


def within(graph: Graph, budget: int | float, plain: Any, build: Callable[[Graph], Any]) -> Any:
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
        built = build(in_stages(whole, found.nodes, limit / _STAGES))
        if built.peak < best.peak:
            best, again = built, len(found.nodes) - len(whole.nodes)
        if built.peak <= allowed:
            break
        last = goal
        goal = max(goal - (built.peak - allowed), goal / 2)
    Outcome(best.peak, plain.peak, again, len(whole.nodes)).report(graph.name, limit, allowed)
    return best


def _planned(graph: Graph, goal: float, most: float) -> tuple[float, Recomputed | None]:
    """The plan that holds least, of `goal` bytes to less than `most`, and does not take too long; and its bytes."""
    weights = Weights(Layouts(graph).root, size, seconds, _overwrites)
    longest = _LONGEST * sum(map(seconds, graph.nodes))
    while goal < most:
        found = recomputed(graph, weights, goal, _PATIENCE, longest)
        if found is not None:
            return goal, found
        goal *= _LOOSER
    return goal, None


def _overwrites(node: Node) -> bool:
    return bool(node.op.family == "elementwise")
