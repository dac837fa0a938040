"""The report on a function that was planned to a memory budget."""

from __future__ import annotations

import logging

from ...core.budgets import readable_bytes
from ..ir.graph import Graph

logger = logging.getLogger("gradtape")


def report_plan(graph: Graph, again: int, peak: int, plain: int, limit: float, allowed: float) -> None:
    """Log how many nodes of a graph run again, and the peak bytes of a run with the plan and without (`plain`).

    Warn if the peak exceeds `allowed`, which is the limit plus the largest op.
    """
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
