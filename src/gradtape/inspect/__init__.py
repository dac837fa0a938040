"""Looking into a computation: why a gradient is None or NaN, what a step costs, whether it is right, how it looks.

Uses graph, the tape and what is below; a tape finds it by way of `engine.tape.inspection`, and so it does the logs
that note what explanations need.
"""

from .compare import Comparison, compare
from .explain import Cause, Explanation, Reason, explain
from .flow import Flow, flow
from .gradient_check import GradientCheck, check_gradients
from .memory import LiveTapes, Memory, live_tapes, memory
from .missing import report_missing, why_missing
from .nonfinite import Diagnosis, diagnose
from .opcheck import CHECKS, check_op
from .precision import PrecisionAudit, audit_precision
from .profile import Profile, profile
from .recordings import LoadedTape, load_tape, save_tape
from .report import report
from .rule_check import RuleCheck, check_rules
from .witness import tracing

__all__ = [
    "CHECKS", "Cause", "Comparison", "Diagnosis", "Explanation", "Flow", "GradientCheck", "LiveTapes", "LoadedTape",
    "Memory", "PrecisionAudit", "Profile", "Reason", "RuleCheck", "audit_precision", "check_gradients", "check_op",
    "check_rules", "compare", "diagnose", "explain", "flow", "live_tapes", "load_tape", "memory", "profile", "report",
    "report_missing", "save_tape", "tracing", "why_missing",
]  # fmt: skip
