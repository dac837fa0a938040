"""Looking into what the engine does: checks of ops, and, in time, explanations, profiles and pictures."""

from .opcheck import CHECKS, check_op

__all__ = ["CHECKS", "check_op"]
