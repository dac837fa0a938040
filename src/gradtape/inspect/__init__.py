"""Looking into a computation: why a gradient is None or NaN, what a step costs, whether it is right, how it looks."""

from ..engine.witness import tracing
from .explain import Cause, Explanation, Reason, explain, report_missing
from .nonfinite import Diagnosis, diagnose
from .opcheck import CHECKS, check_op

__all__ = [
    "CHECKS", "Cause", "Diagnosis", "Explanation", "Reason", "check_op", "diagnose", "explain", "report_missing",
    "tracing",
]  # fmt: skip
