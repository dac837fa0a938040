"""`tensorflow.python.framework.config`: the names without public counterpart."""

from __future__ import annotations

from gradtape.api.config.settings import disable_op_determinism, is_op_determinism_enabled

__all__ = ["disable_op_determinism", "is_op_determinism_enabled"]
