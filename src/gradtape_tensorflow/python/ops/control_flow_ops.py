"""`tensorflow.python.ops.control_flow_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape

from .control_flow_util import get_enclosing_xla_context

__all__ = ["get_enclosing_xla_context"]


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """Returns the value after `dependencies` have run."""
    with gradtape.control_dependencies(dependencies):
        return gradtape.nest.map_structure(gradtape.identity, output_tensor)
