"""Memory planning for XLA: rematerializes values, in stages separated by optimization barriers.

XLA reports a program's memory only after compilation. It differs from the plan's estimate because XLA fuses ops and
needs workspace: therefore planning is repeated with a lower goal until the program fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core import logger
from ....engine.run.progress import reporting
from ...ir.graph import Graph, Node
from ...passes.optimize import common_subexpressions, dead_code
from ...passes.recomputation import Recomputed, Weights, recomputed
from ..numpy import memory_planning
from ..numpy.footprint import Layouts, largest, seconds, size
from .stage_partitioning import in_stages

_ATTEMPTS = 3
_PATIENCE = 0.5
_MAX_SLOWDOWN = 1.0  # relative: tighter plans gain little and compile slowly
_LOOSER = 1.05  # growth of the goal after a plan that recomputes too much


def plan_memory(graph: Graph, budget: int | float, plain: Any, build: Callable[[Graph], Any]) -> Any:
    """Returns what `build` makes of the graph, such that a run takes at most `budget` plus its largest op.

    The budget is in bytes, or a fraction of the peak of `plain`, which `build` made of the unplanned graph. The `peak`
    of a compiled graph is None if XLA does not report it. Then, and on a mesh of devices, there is no plan.
    """
    if plain.peak is None or plain.placement is not None:
        where = "this device" if plain.placement is None else "a mesh of devices"
        message = "XLA does not say what function %s takes on %s: there is no plan, and the memory budget does not hold"
        logger.warning(message, graph.name, where)
        return plain
    limit = budget * plain.peak if isinstance(budget, float) else budget
    if plain.peak <= limit:
        return plain
    whole = dead_code(common_subexpressions(graph))
    allowed = limit + largest(whole)
    best, peak, again, goal, last = plain, plain.peak, 0, float(limit), float(plain.peak)
    for attempt in range(1, _ATTEMPTS + 1):
        with reporting(f"planning the memory of function {graph.name}"):
            goal, found = _planned(whole, goal, last)
        if found is None:
            break
        with reporting(f"compiling plan {attempt} of at most {_ATTEMPTS} for the memory of function {graph.name}"):
            built = build(in_stages(whole.substituted(found.nodes), whole.nodes))
        assert built.peak is not None
        if built.peak < peak:
            best, peak, again = built, built.peak, len(found.nodes) - len(whole.nodes)
        if built.peak <= allowed:
            break
        last = goal
        goal = max(goal - (built.peak - allowed), goal / 2)
    memory_planning.report_plan(whole, again, peak, plain.peak, limit, allowed)
    return best


def planned(graph: Graph, budget: int | float) -> Graph:
    """Plan a graph that will be split into two programs, by the cost model alone and without stages."""
    return memory_planning.plan_memory(
        dead_code(common_subexpressions(graph)), budget, overwrites=_overwrites, max_slowdown=_MAX_SLOWDOWN
    )


def _planned(graph: Graph, goal: float, most: float) -> tuple[float, Recomputed | None]:
    """Returns the goal and the plan with the lowest memory between `goal` and `most` bytes that is not too slow."""
    weights = Weights(Layouts(graph).root, size, seconds, _overwrites)
    longest = _MAX_SLOWDOWN * sum(map(seconds, graph.nodes))
    while goal < most:
        found = recomputed(graph, weights, goal, _PATIENCE, longest)
        if found is not None:
            return goal, found
        goal *= _LOOSER
    return goal, None


def _overwrites(node: Node) -> bool:
    return bool(node.op.family == "elementwise")
