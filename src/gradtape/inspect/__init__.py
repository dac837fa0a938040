"""Inspects computations: why a gradient is None or NaN, what a step costs, whether it is correct, how it looks.

Depends on `graph`, the tape and the layers below; a tape finds this package, and the logs that explanations need,
through `engine.tape.inspection`. `records` reads tapes back; each other folder answers one kind of question.
"""

from .causes.explain import explain
from .causes.missing import why_missing
from .causes.nonfinite import Diagnosis, diagnose
from .causes.reasons import Cause, Explanation, Reason
from .causes.reported import tracing
from .checks.gradient_check import GradientCheck, check_gradients
from .checks.opcheck import CHECKS, check_op
from .checks.precision import PrecisionAudit, audit_precision
from .checks.rule_check import RuleCheck, check_rules
from .costs.flow import Flow, flow
from .costs.memory import LiveTapes, Memory, live_tapes, memory
from .costs.profile import Profile, profile
from .recordings.compare import Comparison, compare
from .recordings.recordings import LoadedTape, load_tape, save_tape
from .records import checked, event_log
from .reports.report import report
from .reports.steps import Step, Steps, record_steps

__all__ = [
    "CHECKS",
    "Cause",
    "Comparison",
    "Diagnosis",
    "Explanation",
    "Flow",
    "GradientCheck",
    "LiveTapes",
    "LoadedTape",
    "Memory",
    "PrecisionAudit",
    "Profile",
    "Reason",
    "RuleCheck",
    "Step",
    "Steps",
    "audit_precision",
    "check_gradients",
    "check_op",
    "check_rules",
    "checked",
    "compare",
    "diagnose",
    "event_log",
    "explain",
    "flow",
    "live_tapes",
    "load_tape",
    "memory",
    "profile",
    "record_steps",
    "report",
    "save_tape",
    "tracing",
    "why_missing",
]  # fmt: skip
