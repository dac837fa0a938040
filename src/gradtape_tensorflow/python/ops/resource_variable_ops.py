"""`tensorflow.python.ops.resource_variable_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def is_resource_variable(var: Any) -> bool:
    """Returns whether `var` is a variable."""
    return isinstance(var, gradtape.Variable) or hasattr(var, "_should_act_as_resource_variable")
