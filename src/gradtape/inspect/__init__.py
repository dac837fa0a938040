"""Looking into a computation: why a gradient is None or NaN, what a step costs, whether it is right, how it looks."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "explain": ("explain", "report_missing", "Cause", "Explanation", "Reason"),
    "nonfinite": ("diagnose", "Diagnosis"),
    "gradient_check": ("check_gradients", "GradientCheck"),
    "rule_check": ("check_rules", "RuleCheck"),
    "flow": ("flow", "Flow"),
    "profile": ("profile", "Profile"),
    "memory": ("memory", "Memory", "live_tapes", "LiveTapes"),
    "report": ("report",),
    "opcheck": ("CHECKS", "check_op"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["tracing", *_HOME_OF]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name == "tracing":
        from ..engine.witness import tracing

        return tracing
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gradtape.inspect' has no attribute {name!r}; it has {', '.join(sorted(__all__))}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
