"""`tensorflow.python.training.moving_averages`: moving averages of variables."""

from __future__ import annotations

from typing import Any

import gradtape


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Moves a variable towards `value` by `1 - decay` of the difference."""
    decay = gradtape.cast(gradtape.convert_to_tensor(1.0) - decay, variable.dtype.base_dtype)
    return variable.assign_sub((variable - gradtape.cast(value, variable.dtype)) * decay)
