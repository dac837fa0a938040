"""`tensorflow.python.util.variable_utils`."""

from __future__ import annotations

from typing import Any

import gradtape
from gradtape.core import nest


def convert_variables_to_tensors(values: Any) -> Any:
    """Replaces variables of a structure by tensors; composite tensors define their own conversion."""

    def converted(x: Any) -> Any:
        if isinstance(x, gradtape.Variable):
            return gradtape.convert_to_tensor(x)
        convert = getattr(x, "_convert_variables_to_tensors", None)
        return x if convert is None else convert()

    return nest.map_structure(converted, values)
