"""The report on a function that was planned to a memory budget."""

from __future__ import annotations

import logging
from typing import NamedTuple

from ...core.budgets import readable_bytes

logger = logging.getLogger("gradtape")


class PlanOutcome(NamedTuple):
    """Peak bytes of the planned run and of the plain run, and how many of the ops are rematerialized."""

    peak: int
    plain: int
    again: int
    ops: int

    def report(self, name: str, limit: float, allowed: float) -> None:
        """Log the outcome; warn if the peak exceeds `allowed`, which is the limit plus the largest op."""
        taken, plain = readable_bytes(self.peak), readable_bytes(self.plain)
        if self.peak > allowed:
            logger.warning(
                "function %s does not fit a memory budget of %s: a run takes %s of memory, the least that was found, "
                "and %s without a budget. Smaller batches need less; results, and what variables become, count",
                name, readable_bytes(limit), taken, plain,
            )  # fmt: skip
        logger.info(
            "function %s is planned to %s of memory instead of %s: %d of %d ops run again",
            name, taken, plain, self.again, self.ops,
        )  # fmt: skip
