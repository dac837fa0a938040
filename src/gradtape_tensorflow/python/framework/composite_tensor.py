"""`tensorflow.python.framework.composite_tensor`: values that consist of tensors."""

from __future__ import annotations

from typing import Any

import gradtape


def convert_variables_to_tensors(values: Any) -> Any:
    """Returns a nested structure with tensors in place of variables, those in composites too."""
    return gradtape.nest.map_structure(
        lambda x: gradtape.convert_to_tensor(x) if isinstance(x, gradtape.Variable) else x,
        values,
        expand_composites=True,
    )
