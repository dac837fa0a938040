"""Inspects computations: why a gradient is None or NaN, what a step costs, whether it is correct, how it looks.

Depends on `graph`, the tape and the layers below. `records` reads tapes back; each other folder answers one kind of
question.
"""

import importlib
from typing import Any

from .causes.explain import explain
from .causes.missing import why_missing
from .causes.nonfinite import Diagnosis, diagnose
from .causes.reasons import Cause, Explanation, Reason
from .causes.reported import tracing
from .checks.gradient_check import GradientCheck, check_gradients
from .checks.opcheck import CHECKS, check_op
from .checks.precision import PrecisionAudit, audit_precision
from .checks.rule_check import RuleCheck, check_rules
from .costs.example_norms import ExampleNorms, example_norms
from .costs.flow import Flow, flow
from .costs.memory import LiveTapes, Memory, live_tapes, memory
from .costs.overview import Overview, overview
from .costs.profile import Profile, profile
from .costs.sparsity import Sparsity, sparsity
from .recordings.compare import Comparison, compare
from .recordings.recordings import save_tape
from .records import checked, event_log
from .reports.report import report
from .reports.steps import Step, Steps, record_steps

__all__ = [
    "CHECKS", "Cause", "Comparison", "Diagnosis", "ExampleNorms", "Explanation", "Flow", "GradientCheck", "LiveTapes",
    "LoadedTape", "Memory", "Overview", "PrecisionAudit", "Profile", "Reason", "RuleCheck", "Sparsity", "Step",
    "Steps", "audit_precision", "check_gradients", "check_op", "check_rules", "checked", "compare", "diagnose",
    "event_log", "example_norms", "explain", "flow", "live_tapes", "load_tape", "memory", "overview", "profile",
    "record_steps", "report", "save_tape", "sparsity", "tracing", "why_missing",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A loaded tape is a `GradientTape`, which the public API defines: it is imported when it is first used."""
    if name in ("LoadedTape", "load_tape"):
        return getattr(importlib.import_module("gradtape.api.debugging.recordings"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
